"""Reliability: whether a confidence of 0.8 means right in 8 of 10 cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat.model.exact import exact_group_sums
from karat.model.metric import Scored
from karat.model.pairs import BoolArray, Facet, FloatArray, Which

BINS = 10


@dataclass(frozen=True, slots=True)
class Reliability:
    """Evidence of calibration: the top label's confidence and whether it was right."""

    confidence: FloatArray
    correct: BoolArray
    cluster: Facet | None = None
    weights: FloatArray | None = None
    name: str = "reliability"

    @property
    def n(self) -> int:
        """How many items there are."""
        return len(self.confidence)

    def take(self, which: Which) -> Reliability:
        """The evidence of the chosen items alone."""
        return Reliability(
            self.confidence[which],
            self.correct[which],
            None if self.cluster is None else self.cluster.take(which),
            None if self.weights is None else self.weights[which],
            self.name,
        )


class Bins(NamedTuple):
    """Bins of confidence: weight, mean confidence, accuracy, and the gap by chance."""

    weight: FloatArray
    confidence: FloatArray
    accuracy: FloatArray
    chance: FloatArray


def binned(evidence: Reliability, weights: FloatArray | None = None) -> Bins:
    """The reliability curve. Bin b holds (b/10, (b+1)/10]; empty bins are NaN.

    `chance` is the expected gap of a bin whose outcomes follow the stated confidences: the mean
    of |N(0, v)| is sqrt(2 v / pi), with v the variance of the sum of those outcomes.
    """
    p = evidence.confidence
    w = evidence.weights
    if weights is not None:
        w = weights if w is None else w * weights
    bin_of = np.clip(np.ceil(p * BINS).astype(np.int64) - 1, 0, BINS - 1)

    def total(values: FloatArray) -> FloatArray:
        return exact_group_sums(values if w is None else values * w, bin_of, BINS)

    weight = total(np.ones(len(p)))
    variance = total(p * (1 - p) * (1.0 if w is None else w))
    with np.errstate(invalid="ignore", divide="ignore"):
        return Bins(
            weight,
            total(p) / weight,
            total(evidence.correct.astype(np.float64)) / weight,
            np.sqrt(2 * variance / np.pi) / weight,
        )


def score_calibration(evidence: Reliability, weights: FloatArray | None, influence: bool) -> Scored:
    """ECE and MCE, and what a perfectly calibrated model of the same size would get.

    Gaps have no useful derivative at 0, so influence is not given even where it is asked for.
    """
    del influence
    bins = binned(evidence, weights)
    filled = bins.weight > 0
    if not filled.any():
        return Scored(np.full(2, np.nan))
    gap = np.abs(bins.accuracy - bins.confidence)[filled]
    share = bins.weight[filled] / bins.weight.sum()
    chance = bins.chance[filled]
    return Scored(
        np.array([(share * gap).sum(), gap.max()]),
        chance=np.array([(share * chance).sum(), np.nan]),
    )
