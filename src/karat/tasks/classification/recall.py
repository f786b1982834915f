"""Precision over recall, class by class, and where the predicted classes stand on it."""

from __future__ import annotations

import numpy as np

from karat.model.pairs import BoolArray, CodeArray, FloatArray
from karat.model.report import Curve, Series
from karat.tasks.classification.order import Ordered

MOST_CLASSES = 6
THRESHOLDS: FloatArray = np.concatenate([np.zeros(1), 1 / (1 + np.exp(-np.linspace(-10, 10, 63)))])
"""Cuts from sure to sure: as dense near 0 and near 1 as models are, exact at every one of them."""


def precision_recall(evidence: Ordered, top: CodeArray, names: tuple[str, ...]) -> Curve | None:
    """One class against the rest at every threshold; of two classes the second.

    `top` is the predicted class of each item: the mark on each line. None where no class can be
    drawn.
    """
    labels, weights = evidence.labels, evidence.weights
    sizes = np.bincount(labels, weights, minlength=evidence.classes)
    shown = np.argsort(-sizes, kind="stable")[:MOST_CLASSES].tolist()
    if evidence.classes == 2:
        shown = [1]
    series = []
    for c in shown:
        scores = evidence.scores.column(c, evidence.index)
        hit, said = labels == c, top == c
        if not sizes[c]:
            continue
        found = above(scores, weights)
        right = above(scores[hit], None if weights is None else weights[hit])
        some = np.diff(found, prepend=0.0) > 0
        x, y = right[some] / sizes[c], right[some] / found[some]
        chosen, both = (_mass(which, weights) for which in (said, said & hit))
        mark = [float(both / sizes[c]), float(both / chosen)] if chosen else []
        series.append(Series(name=names[c], x=x.tolist(), y=y.tolist(), mark=mark))
    if not series:
        return None
    told = (
        f", the {MOST_CLASSES} most frequent classes" if len(shown) < evidence.classes > 2 else ""
    )
    return Curve(
        name="precision_recall",
        title="Precision and recall",
        x="recall",
        y="precision",
        series=series,
        note=f"Each class against the rest{told}; the ring is what the predicted classes reach.",
    )


def above(scores: FloatArray, weights: FloatArray | None) -> FloatArray:
    """The weight of the items at or above each threshold, from the highest threshold down."""
    if weights is None:
        under = np.searchsorted(np.sort(scores), THRESHOLDS)
        return np.asarray(len(scores) - under[::-1], dtype=np.float64)
    order = np.argsort(scores, kind="stable")
    mass: FloatArray = np.concatenate([np.zeros(1), np.cumsum(weights[order])])
    return np.asarray(mass[-1] - mass[np.searchsorted(scores[order], THRESHOLDS)])[::-1]


def _mass(which: BoolArray, weights: FloatArray | None) -> float:
    return float(which.sum() if weights is None else weights[which].sum())
