"""Both sides of object detection put together, from COCO files or from caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.errors import DataError
from karat.model.pairs import CodeArray, FloatArray, IntArray, Pairs
from karat.model.problem import Problems
from karat.model.task import Card, Request, Source
from karat.read.fields import Selected
from karat.read.place import Place
from karat.tasks.detection import coco, suspicions
from karat.tasks.detection.boxes import Detections, Truths
from karat.tasks.detection.counted import computed_facets
from karat.tasks.detection.ids import Numbering, check_labels, check_results
from karat.tasks.detection.predictions import Predicted
from karat.tasks.detection.records import BOXES
from karat.tasks.detection.rows import Side, fields_of, read_side
from karat.tasks.detection.scene import DetectionPairs, Found, Scene, Vectors
from karat.tasks.detection.settings import chooser, refuse_cache_options, rules_of
from karat.tasks.detection.units import place_of, to_boxes


def read(card: Card, request: Request, problems: Problems) -> DetectionPairs | None:
    """The pairs of a request, None where there is nothing sound to pair."""
    chooser(request.options)
    try:
        if _is_coco(request.gold[0]):
            return _read_coco(card, request, problems)
        pairs = pairs_of(card, request, read_side(request, problems), problems)
        return None if problems.errors else pairs
    except DataError as stopped:
        problems.join(stopped.problems)
        return None


# --- COCO --------------------------------------------------------------------------------------


def _is_coco(source: Source) -> bool:
    return source.rows is None and not source.check() and source.peek().shape == "object"


def _read_coco(card: Card, request: Request, problems: Problems) -> DetectionPairs | None:
    refuse_cache_options(request.options)
    fields = fields_of(request)
    for source in request.predictions:
        if faults := source.check():
            raise DataError(faults)
    labels = coco.read_labels(request.gold[0], fields, problems)
    if labels is None or not request.predictions:
        if labels is not None:
            check_labels(labels, coco.Document(request.gold[0], problems, "annotations"))
            if request.purpose == "score":
                text = "no predictions: give a file of results"
                problems.add("prediction-missing", text, file=request.gold[0].name)
        if request.predictions:
            coco.read_results(request.predictions[0], problems)
        return None
    note = coco.Document(request.gold[0], problems, "annotations")
    check_labels(labels, note)
    results = coco.read_results(request.predictions[0], problems)
    numbering = Numbering.of(labels)
    if results is None:
        return None
    file = coco.Document(request.predictions[0], problems)
    check_results(results, labels, file)
    fields.add(labels.images, lambda _: note.place())
    selected = fields.finish(problems, request.gold[0].name)
    if problems.errors:
        return None
    scene = _coco_scene(labels, numbering, request, problems)
    rules, relative = rules_of(request.options, scene.sized, pixels=True)
    detections = _coco_detections(results, numbering)
    if relative:
        scene, detections = _relative(scene, detections)
    boxes = np.bincount(detections.image, minlength=scene.n)
    found = Found(detections, boxes, rules)

    _look(scene, found, note, file)
    if problems.errors:
        return None
    return _pairs(card, request, scene, found, selected, numbering.image_order)


def _look(scene: Scene, found: Found, note: coco.Document, file: coco.Document) -> None:
    """Report what is suspicious about two COCO files."""

    def where(detection: int) -> tuple[Place, str]:
        record = int(found.detections.record[detection])
        return file.place(record), file.key(record, "bbox")

    def gold(truth: int) -> tuple[Place, str]:
        record = int(scene.truths.record[truth])
        return note.place(record), note.key(record, "bbox")

    suspicions.look(scene, found, file.place(), where, gold)


def _coco_scene(
    labels: coco.Labels, numbering: Numbering, request: Request, problems: Problems
) -> Scene:
    order, classes = numbering.image_order, numbering.category_order
    kept = numbering.category_of(labels.category) >= 0
    truths = Truths(
        numbering.image_of(labels.image[kept]).astype(np.int32),
        numbering.category_of(labels.category[kept]).astype(np.int32),
        labels.box[kept],
        labels.area[kept],
        labels.crowd[kept],
        np.flatnonzero(kept),
    )
    names = [labels.category_names[i] or str(labels.category_ids[i]) for i in classes]
    if len(set(names)) < len(names):
        names = [str(i) for i in numbering.category_ids]
    return Scene(
        format="coco",
        truths=truths,
        names=[str(i) for i in numbering.image_ids],
        classes=numbering.category_ids,
        class_names=_class_names(request, names, problems),
        width=labels.width[order],
        height=labels.height[order],
        unit="pixels",
        records=order,
        request=request,
    )


def _coco_detections(results: coco.Results, numbering: Numbering) -> Detections:
    category = numbering.category_of(results.category)
    kept = np.flatnonzero(category >= 0)
    every: Any = slice(None) if len(kept) == len(category) else kept
    box = results.box[every]
    return Detections(
        numbering.image_of(results.image[every]).astype(np.int32),
        category[every].astype(np.int32),
        box,
        np.asarray(box[:, 2] * box[:, 3]),
        results.score[every],
        kept,
    )


# --- caches ------------------------------------------------------------------------------------


def pairs_of(card: Card, request: Request, side: Side, problems: Problems) -> DetectionPairs | None:
    """The images of a side beside their predictions, after a look at what is suspicious.

    None where there are no predictions, or where either file has errors.
    """
    data, predicted = side.data, side.predicted
    if predicted is None or not side.agree:
        return None
    labelled = np.flatnonzero(data.count >= 0)
    images = np.full(len(data.count), -1, dtype=np.int32)
    images[labelled] = np.arange(len(labelled), dtype=np.int32)
    size = np.stack([data.width, data.height], axis=1)
    scene = _cache_scene(side, images, size, predicted.width, request, problems)
    detections, which = _cache_detections(predicted, images, size, side.unit)
    rules, relative = rules_of(request.options, scene.sized, side.unit == "pixels")
    if relative:
        scene, detections = _relative(scene, detections)
    present = data.present
    sizes = np.repeat(present.sizes(np.arange(len(data.count))), predicted.count)
    vectors = Vectors(
        predicted.top.astype(np.int32),
        predicted.confidence,
        predicted.squares,
        predicted.known,
        np.cumsum(sizes) - sizes,
        present,
    )
    boxes = predicted.count[labelled]
    found = Found(detections, boxes, rules, vectors, which, predicted.exclusive)

    def where(detection: int) -> tuple[Place, str]:
        record, index = place_of(predicted, int(detections.record[detection]))
        return predicted.reader.place(record), f"{BOXES}[{index}]"

    def gold(truth: int) -> tuple[Place, str]:
        record, index = place_of(data, truth)
        return data.reader.place(record), f"label[{index}]"

    suspicions.look(scene, found, predicted.reader.place(), where, gold)
    return _pairs(card, request, scene, found, side.selected, labelled)


def _cache_scene(
    side: Side,
    images: CodeArray,
    size: FloatArray,
    width: int,
    request: Request,
    problems: Problems,
) -> Scene:
    """The labelled images; `images` numbers them by row, `width` is how long vectors are."""
    data, labelled = side.data, np.flatnonzero(images >= 0)
    box, area = to_boxes(data.corners, data.row, size, side.unit)
    truths = Truths(
        images[data.row],
        data.classes.astype(np.int32),
        box,
        area,
        np.zeros(len(box), dtype=bool),
        np.arange(len(box)),
    )
    classes = max(width, int(data.classes.max(initial=-1)) + 1)
    return Scene(
        format="cache",
        truths=truths,
        names=[data.names[i] or str(i) for i in labelled],
        classes=np.arange(classes),
        class_names=_class_names(request, list(map(str, range(classes))), problems),
        width=data.width[labelled],
        height=data.height[labelled],
        unit=side.unit,
        records=labelled,
        request=request,
    )


def _cache_detections(
    predicted: Predicted, images: CodeArray, size: FloatArray, unit: str
) -> tuple[Detections, IntArray]:
    """The detections in the labelled images, and the box of each."""
    row = np.repeat(np.arange(len(predicted.count)), predicted.count)
    boxes, areas = to_boxes(predicted.corners, row, size, unit)
    mine = images[row[predicted.box]]
    kept = np.flatnonzero(mine >= 0)
    which = predicted.box[kept]
    found = Detections(
        mine[kept],
        predicted.best[kept].astype(np.int32),
        boxes[which],
        areas[which],
        predicted.score[kept],
        which,
    )
    return found, which


# --- both --------------------------------------------------------------------------------------


def _relative(scene: Scene, found: Detections) -> tuple[Scene, Detections]:
    """The same with areas as fractions of the image, whatever the coordinates are."""
    truths = scene.truths
    if scene.unit == "pixels":
        size = scene.width * scene.height
        areas = truths.area / size[truths.image], found.area / size[found.image]
    else:
        areas = truths.box[:, 2] * truths.box[:, 3], found.box[:, 2] * found.box[:, 3]
    scene = replace(scene, truths=replace(truths, area=np.asarray(areas[0])))
    return scene, replace(found, area=np.asarray(areas[1]))


def _class_names(request: Request, names: Sequence[str], problems: Problems) -> tuple[str, ...]:
    """Given names, or those of the file; a wrong number of them is a problem.

    Names that a run configuration declares were compared with both sides by then.
    """
    given, declared = request.options.get("class_names"), request.declared.class_names
    wanted = len(names)
    if declared is not None and len(declared) == wanted:
        names = declared
    if given:
        names = [name.strip() for name in str(given).split(",")]
    if len(names) != wanted or len(set(names)) != wanted:
        text = f"{len(set(names))} different class names but {wanted} classes"
        problems.add("class-names-length", text, key="class_names")
    return tuple(names)


def _pairs(
    card: Card,
    request: Request,
    scene: Scene,
    found: Found,
    selected: Selected,
    rows: IntArray,
) -> DetectionPairs:
    facets = {name: facet.take(rows) for name, facet in selected.facets.items()}
    facets.update(computed_facets(request.by, facets, scene, found))
    return Pairs(
        n=scene.n,
        gold=scene,
        pred=found,
        ids=scene.names,
        item=card.item,
        facets={name: facets[name] for name in request.by},
        cluster=None if selected.cluster is None else selected.cluster.take(rows),
        weights=None if selected.weights is None else selected.weights[rows],
    )
