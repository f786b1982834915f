"""Both sides of a stress run as object detection sees them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.problem import Problems
from karat.model.seen import Boxes, Seen, Trials
from karat.model.task import Card, Request
from karat.read.place import Place
from karat.tasks.detection import cache, measure
from karat.tasks.detection.predictions import Predicted
from karat.tasks.detection.scene import DetectionPairs
from karat.tasks.detection.sides import check_sides


def observe(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Seen]:
    """What each side holds, after both were checked."""
    found = check_sides(card, requests, configuration, problems)
    if problems.errors:
        return {}
    return {
        name: _seen(one.side.data, one.side.predicted, one.pairs, requests[name])
        for name, one in found.items()
    }


def _seen(
    data: cache.Data,
    predicted: Predicted | None,
    pairs: DetectionPairs | None,
    request: Request,
) -> Seen:
    labelled = data.count >= 0
    classes = max(int(data.classes.max(initial=-1)) + 1, predicted.width if predicted else 0)
    names = request.declared.class_names or tuple(map(str, range(classes)))
    boxes = _boxes(data, data, data.row, data.classes, None) if labelled.any() else None
    reader = data.reader
    if predicted is None:
        return Seen(reader.name, len(data.count), reader.line_of, labelled, names, boxes=boxes)
    row = np.repeat(np.arange(len(predicted.count)), predicted.count)
    found = _boxes(data, predicted, row, predicted.top, predicted.confidence)
    return Seen(
        reader.name,
        len(data.count),
        reader.line_of,
        labelled,
        names,
        boxes=boxes,
        predicted_boxes=found,
        exclusive=predicted.exclusive,
        trials=() if pairs is None or not labelled.any() else _trials(pairs, request),
    )


def _boxes(
    data: cache.Data,
    side: cache.Data | Predicted,
    row: IntArray,
    label: IntArray,
    score: FloatArray | None,
) -> Boxes:
    """Boxes in fractions where the sizes of the images are known; pixels stay pixels elsewhere."""
    corners = side.corners
    placed = corners[:, [0, 2, 1, 3]]
    if len(corners) and float(np.abs(corners).max()) > 2:
        size = np.stack([data.width, data.height], axis=1)[row]
        known = np.asarray((size > 0).all(axis=1), dtype=bool)
        placed = np.where(known[:, None], placed / np.tile(np.maximum(size, 1), 2), placed)
    return Boxes(row, label.astype(np.int64), placed, score, side.clipped)


def _trials(pairs: DetectionPairs, request: Request) -> tuple[Trials, ...]:
    """Recall of true boxes and precision of boxes from the score cut on, by class and by area."""
    scene, found = pairs.gold, pairs.pred.detections
    became = measure.outcome(pairs, measure.evaluated(pairs))
    kept = became.counted[found.score[became.counted] >= measure.cut_of(request.options)]
    hits = kept[became.truth[kept] >= 0]
    truths, names = scene.truths, scene.class_names
    hit = np.zeros(truths.n, dtype=bool)
    hit[became.truth[hits]] = True
    plain = np.flatnonzero(~truths.crowd)
    right = np.asarray(became.truth[kept] >= 0)
    there, here = scene.records[truths.image[plain]], scene.records[found.image[kept]]
    category, seen = truths.category[plain].astype(np.int64), found.category[kept].astype(np.int64)
    area, own = truths.area[plain], found.area[kept]
    return (
        *_by_kind("label", "recall", names, category, area, hit[plain], there),
        *_by_kind("prediction", "precision", names, seen, own, right, here),
    )


def _by_kind(
    what: str,
    metric: str,
    names: tuple[str, ...],
    category: IntArray,
    area: FloatArray,
    hit: BoolArray,
    row: IntArray,
) -> tuple[Trials, Trials]:
    none = np.zeros(len(category), dtype=np.int64)
    return (
        Trials(f"class of {what}", metric, names, category, hit, row),
        Trials(f"area of {what}", metric, (), none, hit, row, value=np.asarray(area)),
    )
