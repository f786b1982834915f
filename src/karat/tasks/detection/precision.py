"""The ranked evidence of a detector, and the average precisions and recalls read from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.model.metric import Scored
from karat.model.pairs import Facet, FloatArray, IntArray, Which
from karat.tasks.detection.boxes import Rules
from karat.tasks.detection.evaluate import Accumulated, Evaluated
from karat.tasks.detection.wanted import Wanted, summary_names
from karat.tasks.detection.weighed import (
    Curves,
    Layer,
    averages,
    curves,
    recall_slopes,
    slopes,
)

MOST_INFLUENCE = 40_000_000
"""So many (category, image) influences at most are kept."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Evidence of ordered metrics: the matched boxes of all images, and which images are kept.

    An image that is kept twice weighs twice, so taking images is weighing them.
    """

    evaluated: Evaluated
    arrays: Accumulated
    layers: Sequence[Layer]
    rules: Rules
    rule: str
    images: int
    index: IntArray
    cluster: Facet | None = None
    weights: FloatArray | None = None
    name: str = "matches"

    @property
    def n(self) -> int:
        """How many images are kept."""
        return len(self.index)

    def take(self, which: Which) -> Matches:
        """The evidence of the chosen images alone."""
        return Matches(
            self.evaluated,
            self.arrays,
            self.layers,
            self.rules,
            self.rule,
            self.images,
            self.index[which],
            None if self.cluster is None else self.cluster.take(which),
            None if self.weights is None else self.weights[which],
            self.name,
        )

    def image_weights(self, weights: FloatArray | None) -> FloatArray:
        """The weight of every image there is."""
        own = self.weights
        if own is not None:
            weights = own if weights is None else own * weights
        return np.bincount(self.index, weights, self.images).astype(np.float64)


def score_summary(evidence: Matches, weights: FloatArray | None, influence: bool) -> Scored:
    """The averages of the summary."""
    return _score(evidence, weights, influence, summary_names(evidence.rules))


def score_classes(evidence: Matches, weights: FloatArray | None, influence: bool) -> Scored:
    """The average precision of each category."""
    w = evidence.image_weights(weights)
    layer = evidence.layers[0]
    found = curves(layer, w, evidence.rules.recalls, evidence.rule)
    values = found.average.mean(axis=0)
    k = layer.categories
    if not influence or k * evidence.images > MOST_INFLUENCE:
        return Scored(values)
    every = np.arange(layer.thresholds)
    matrix = slopes(layer, w, found, every, evidence.images)
    return Scored(values, [_spread_out(row, evidence, w) for row in matrix])


def _score(
    evidence: Matches, weights: FloatArray | None, influence: bool, wanted: Sequence[Wanted]
) -> Scored:
    w = evidence.image_weights(weights)
    found: dict[int, Curves] = {}
    values = np.full(len(wanted), np.nan)
    rows: list[FloatArray | None] = []
    for place, one in enumerate(wanted):
        layer = evidence.layers[one.area]
        if one.area not in found:
            found[one.area] = curves(layer, w, evidence.rules.recalls, evidence.rule)
        mine = found[one.area]
        known = mine.truths > 0
        chosen = np.array(one.thresholds)
        table = averages(layer, w, mine, one.limit) if one.recall else mine.average
        if known.any():
            values[place] = table[chosen][:, known].mean()
        if influence:
            if one.recall:
                matrix = recall_slopes(layer, w, mine, one.limit, evidence.images)
            else:
                matrix = slopes(layer, w, mine, chosen, evidence.images)
            row = matrix[known].sum(axis=0) / max(int(known.sum()), 1)
            rows.append(_spread_out(row, evidence, w))
    return Scored(values, rows if influence else None)


def _spread_out(row: FloatArray, evidence: Matches, weights: FloatArray) -> FloatArray:
    """The influence of each kept image: its part of what all of its copies have."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(weights > 0, row / weights, 0.0)[evidence.index]
    return each if evidence.weights is None else each * evidence.weights
