"""Tables and curves of a detector: classes, confusions, kinds of error, cuts, doubtful labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.report import Curve, Series, Table
from karat.tasks.detection.evaluate import Accumulated
from karat.tasks.detection.measure import OVERLAP, Outcome, cut_of
from karat.tasks.detection.scene import DetectionPairs
from karat.tasks.detection.summary import by_class
from karat.tasks.detection.tide import KINDS, Errors
from karat.tasks.detection.together import across_classes

MATRIX_CLASSES = 30
MOST = 50
DOUBTFUL = 20
SURE = 0.8


def classes_table(
    pairs: DetectionPairs, arrays: Accumulated, became: Outcome, options: Mapping[str, Any]
) -> Table:
    """Every class with its scores and how often it occurs."""
    scene, found = pairs.gold, pairs.pred.detections
    k = len(scene.classes)
    kept = became.counted[found.score[became.counted] >= cut_of(options)]
    hits = kept[became.truth[kept] >= 0]
    tp = np.bincount(found.category[hits], minlength=k)
    pred = np.bincount(found.category[kept], minlength=k)
    gold = np.bincount(scene.truths.category[~scene.truths.crowd], minlength=k)
    rows = [
        [
            name,
            None if np.isnan(ap) else float(ap),
            float(t / p) if p else None,
            float(t / g) if g else None,
            int(g),
            int(p),
        ]
        for name, ap, t, p, g in zip(
            scene.class_names, by_class(arrays), tp, pred, gold, strict=True
        )
        if p or g
    ]
    columns = ["class", "AP", "precision", "recall", "gold", "predicted"]
    return Table(name="classes", title="By class", columns=columns, rows=rows, kind="classes")


def confusion(pairs: DetectionPairs, options: Mapping[str, Any]) -> Table:
    """Classes against classes, with what was missed and what is not there ("background")."""
    scene, found = pairs.gold, pairs.pred.detections
    names = [*scene.class_names, "background"]
    k = len(scene.classes)
    kept = found.take(np.flatnonzero(found.score >= cut_of(options)))
    truth, ignored = across_classes(scene.truths, kept, scene.n)
    on = truth >= 0
    missed = np.flatnonzero(~scene.truths.crowd)
    missed = missed[~np.isin(missed, truth[on])]
    gold = np.concatenate(
        [
            scene.truths.category[truth[on]],
            np.full(int((~on & (ignored == 0)).sum()), k),
            scene.truths.category[missed],
        ]
    ).astype(np.int64)
    mine = np.concatenate(
        [kept.category[on], kept.category[~on & (ignored == 0)], np.full(len(missed), k)]
    ).astype(np.int64)
    table = np.bincount(gold * (k + 1) + mine, minlength=(k + 1) ** 2).reshape(k + 1, k + 1)
    title = "Confusion matrix"
    if k <= MATRIX_CLASSES:
        rows = [[name, *map(int, line)] for name, line in zip(names, table, strict=True)]
        columns = ["gold \\ predicted", *names]
        return Table(name="confusion", title=title, columns=columns, rows=rows, kind="confusion")
    np.fill_diagonal(table, 0)
    flat = table.reshape(-1)
    most = np.argsort(-flat, kind="stable")[:MOST]
    rows = [[names[i // (k + 1)], names[i % (k + 1)], int(flat[i])] for i in most if flat[i]]
    return Table(
        name="confusion",
        title="Most frequent confusions",
        columns=["gold", "predicted", "boxes"],
        rows=rows,
        kind="confusions",
    )


def errors_table(found: Errors) -> Table:
    """The kinds of error, how often they occur and what each costs."""
    sizes = [int((found.kind == i).sum()) for i in range(5)] + [len(found.missed)]
    rows = [
        [kind, size, float(cost)]
        for kind, size, cost in zip(KINDS, sizes, found.cost.tolist(), strict=True)
    ]
    base = f" ({found.base:.3f})" if found.base >= 0 else ""
    note = f"cost: how much AP50{base} would rise if these errors alone were put right"
    return Table(
        name="errors",
        title="Kinds of error",
        columns=["kind", "boxes", "AP50 cost"],
        rows=rows,
        kind="errors",
        note=note,
    )


def cuts_table(pairs: DetectionPairs, became: Outcome, options: Mapping[str, Any]) -> Table:
    """Precision, recall and F1 at the score cut, and where F1 is best."""
    score, hit, gold = _swept(pairs, became)
    tp, n = np.cumsum(hit), np.arange(1, len(hit) + 1)
    last = np.flatnonzero(np.r_[score[1:] != score[:-1], True]) if len(score) else n[:0]
    rows: list[list[Any]] = []
    cut = cut_of(options)
    at = int((score >= cut).sum())
    rows.append(["given", cut, *_rates(int(tp[at - 1]) if at else 0, at, gold)])
    if len(last) and gold:
        f1 = 2 * tp[last] / (n[last] + gold)
        best = int(last[int(np.argmax(f1))])
        rows.append(["best F1", float(score[best]), *_rates(int(tp[best]), best + 1, gold)])
    columns = ["cut", "score", "precision", "recall", "f1"]
    return Table(name="cuts", title="Score cuts", columns=columns, rows=rows)


def _swept(pairs: DetectionPairs, became: Outcome) -> tuple[FloatArray, BoolArray, int]:
    """Scores of the counted detections, falling, which are right, and how many truths there are."""
    counted = became.counted
    score = pairs.pred.detections.score[counted]
    order = np.argsort(-score, kind="stable")
    gold = int((~pairs.gold.truths.crowd).sum())
    return score[order], became.truth[counted][order] >= 0, gold


def _rates(tp: int, found: int, gold: int) -> list[float | None]:
    total = found + gold
    return [
        tp / found if found else None,
        tp / gold if gold else None,
        2 * tp / total if total else None,
    ]


def doubtful_labels(pairs: DetectionPairs, found: Errors) -> Table:
    """Sure detections that the labels contradict: look at these labels first."""
    scene, boxes = pairs.gold, pairs.pred.detections
    reasons = {0: "wrong class?", 1: "loose box?", 4: "missing label?"}
    sure = np.flatnonzero(np.isin(found.kind, list(reasons)) & (boxes.score >= SURE))
    sure = sure[np.argsort(-boxes.score[sure], kind="stable")][:DOUBTFUL]
    rows = []
    for i in sure.tolist():
        truth = int(found.truth[i])
        label = scene.class_names[scene.truths.category[truth]] if truth >= 0 else ""
        rows.append(
            [
                scene.names[boxes.image[i]],
                reasons[int(found.kind[i])],
                scene.class_names[boxes.category[i]],
                label,
                float(boxes.score[i]),
            ]
        )
    columns = ["image", "doubt", "predicted", "label", "score"]
    return Table(name="doubtful_labels", title="Doubtful labels", columns=columns, rows=rows)


def precision_recall(
    pairs: DetectionPairs, arrays: Accumulated, classes: Table, options: Mapping[str, Any]
) -> Curve:
    """Precision over recall, mean over classes, at a few overlaps.

    The mark is what the score cut reaches, by the table of the classes.
    """
    rules = pairs.pred.rules
    table = arrays.precision[:, :, :, 0, -1]
    known = table[0, 0] > -1
    series: list[Series] = []
    x = rules.recalls.tolist()
    if known.any():
        for overlap in (0.5, 0.75):
            for t in np.flatnonzero(rules.overlaps == overlap).tolist():
                y = table[t][:, known].mean(axis=1)
                mark = _mark(classes) if overlap == OVERLAP else []
                series.append(Series(name=f"IoU {overlap:g}", x=x, y=y.tolist(), mark=mark))
        if len(rules.overlaps) > 1:
            y = table[:, :, known].mean(axis=(0, 2))
            series.append(Series(name="mean over IoU", x=x, y=y.tolist()))
    return Curve(
        name="precision_recall",
        title="Precision and recall",
        x="recall",
        y="precision",
        series=series,
        note=f"Mean over classes; the ring is what boxes of score >= {cut_of(options):g} reach.",
    )


def _mark(classes: Table) -> list[float]:
    """Mean recall and mean precision of the classes that have each."""
    sides = [
        [row[classes.columns.index(name)] for row in classes.rows]
        for name in ("recall", "precision")
    ]
    known = [[value for value in side if value is not None] for side in sides]
    return [sum(side) / len(side) for side in known] if all(known) else []


def reliability(sums: FloatArray, bins: int) -> Curve:
    """How often boxes of each confidence have the right class."""
    count, confidence, right = sums[:bins], sums[bins : 2 * bins], sums[2 * bins :]
    filled: IntArray = np.flatnonzero(count)
    series = Series(
        name="accuracy",
        x=(confidence[filled] / count[filled]).tolist(),
        y=(right[filled] / count[filled]).tolist(),
        size=count[filled].tolist(),
    )
    return Curve(
        name="reliability",
        title="Reliability of matched boxes",
        x="mean confidence",
        y="accuracy",
        series=[series],
        kind="reliability",
    )


def shown(tables: Sequence[Table]) -> list[Table]:
    """The tables that have rows."""
    return [table for table in tables if table.rows]
