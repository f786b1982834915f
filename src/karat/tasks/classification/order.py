"""AUROC and average precision from one sort a class, with the influence of every item.

The influence of an item is the derivative of the score by the item's weight. For AUROC it is
DeLong's structural component; for average precision, the infinitesimal jackknife. Summed by
cluster it gives the clustered interval without drawing anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat.model.metric import Scored
from karat.model.pairs import BoolArray, CodeArray, Facet, FloatArray, IntArray, Which
from karat.tasks.classification.columns import Scores


@dataclass(frozen=True, slots=True)
class Ordered:
    """Evidence of ordered metrics: the labels, and every class's scores over all items."""

    labels: CodeArray
    scores: Scores
    classes: int
    cluster: Facet | None = None
    weights: FloatArray | None = None
    index: IntArray | None = None
    name: str = "order"

    @property
    def n(self) -> int:
        """How many items are kept."""
        return len(self.labels)

    def take(self, which: Which) -> Ordered:
        """The evidence of the chosen items alone."""
        index = np.arange(self.n) if self.index is None else self.index
        return Ordered(
            self.labels[which],
            self.scores,
            self.classes,
            None if self.cluster is None else self.cluster.take(which),
            None if self.weights is None else self.weights[which],
            index[which],
            self.name,
        )


class Sorted(NamedTuple):
    """One class's items by descending score, with the end of each run of equal scores."""

    order: IntArray
    first: IntArray
    last: IntArray


def descending(scores: FloatArray) -> Sorted:
    """The order of the scores, and for each place the first and last place with the same score."""
    order = np.argsort(-scores)
    ranked = scores[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    lengths = np.diff(np.r_[starts, len(ranked)])
    first = np.repeat(starts, lengths)
    if len(starts) < len(ranked):
        # Which of equal scores a sort puts first depends on the processor: rows in their order do
        # not, at a fraction of what a stable sort takes.
        run = first.astype(np.int64) * len(ranked)
        order = np.sort(run + order) - run
    return Sorted(order, first, first + np.repeat(lengths, lengths) - 1)


class Curve(NamedTuple):
    """Ranking quality of one class. `pairs[k]` is AUROC against class k alone (NaN for itself)."""

    auroc: float
    precision: float
    pairs: FloatArray
    auroc_influence: FloatArray | None
    precision_influence: FloatArray | None
    pairs_influence: FloatArray | None


def one_class(
    scores: FloatArray,
    labels: CodeArray,
    label: int,
    classes: int,
    weights: FloatArray | None,
    influence: bool,
) -> Curve:
    """AUROC of a class against the rest and against each other class, and its average precision."""
    n = len(labels)
    w = np.ones(n) if weights is None else weights
    order, first, last = descending(scores)
    hit = (labels == label)[order]
    weight = w[order]
    up = np.cumsum(weight * hit)
    total_hit = up[-1]
    seen = np.cumsum(weight)
    total = seen[-1]
    before = np.where(first > 0, up[first - 1], 0.0)
    # Share of the positives above each place, half of those level with it.
    above = (before + up[last]) / 2 / total_hit
    other = total - total_hit
    auroc = float((weight * ~hit * above).sum() / other) if other > 0 else float("nan")
    by_class = np.bincount(labels[order], weights=weight * above, minlength=classes)
    mass: FloatArray = np.bincount(labels, weights=w, minlength=classes).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = np.where(mass > 0, by_class / mass, np.nan)
    pairs[label] = np.nan
    # Items of weight 0 may stand first; nothing has been seen there, and they count for nothing.
    seen = np.where(seen > 0, seen, 1.0)
    precision_at = up[last] / seen[last]
    precision = float((weight * hit * precision_at).sum() / total_hit)
    if not influence:
        return Curve(auroc, precision, pairs, None, None, None)
    below = _negatives_below(weight * ~hit, first, last)
    v = np.empty(n)
    v[order] = np.where(hit, (below / other - auroc) / total_hit, (above - auroc) / other)
    return Curve(
        auroc,
        precision,
        pairs,
        v,
        _precision_influence(
            order, first, last, hit, weight, seen, precision_at, precision, total_hit
        ),
        _pairs_influence(order, first, last, hit, weight, labels, label, mass, pairs, above),
    )


def _negatives_below(negative: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    """For each place the weight of negatives with a lower score, half of those level with it."""
    down = np.cumsum(negative)
    before = np.where(first > 0, down[first - 1], 0.0)
    return np.asarray(down[-1] - (before + down[last]) / 2)


def _precision_influence(
    order: IntArray,
    first: IntArray,
    last: IntArray,
    hit: BoolArray,
    weight: FloatArray,
    seen: FloatArray,
    precision_at: FloatArray,
    value: float,
    total_hit: float,
) -> FloatArray:
    """d AP / d weight: an item moves its own term, and every precision at or below its place."""
    mass = weight * hit / seen[last]
    # Suffix sums over this place's run of ties and everything below it.
    tail = np.cumsum(mass[::-1])[::-1][first]
    tail_precision = np.cumsum((mass * precision_at)[::-1])[::-1][first]
    out = np.empty(len(order))
    out[order] = (hit * (precision_at - value) + hit * tail - tail_precision) / total_hit
    return out


def _pairs_influence(
    order: IntArray,
    first: IntArray,
    last: IntArray,
    hit: BoolArray,
    weight: FloatArray,
    labels: CodeArray,
    label: int,
    mass: FloatArray,
    pairs: FloatArray,
    above: FloatArray,
) -> FloatArray:
    """d (sum of the one-against-one AUROCs of this class) / d weight."""
    sorted_labels = labels[order]
    share = np.where(mass > 0, 1 / np.where(mass > 0, mass, 1), 0.0)
    below = _negatives_below(weight * ~hit * share[sorted_labels], first, last)
    positive = (below - np.nansum(pairs)) / mass[label]
    negative = (above - np.where(np.isnan(pairs), 0.0, pairs)[sorted_labels]) * share[sorted_labels]
    out = np.empty(len(order))
    out[order] = np.where(hit, positive, negative)
    return out


def score_order(evidence: Ordered, weights: FloatArray | None, influence: bool) -> Scored:
    """Macro AUROC one-vs-rest and one-vs-one, macro average precision, then both for each class.

    Classes without positives or without negatives have no AUROC and stay out of the means.
    """
    k, n = evidence.classes, evidence.n
    w = (
        weights
        if evidence.weights is None
        else evidence.weights * (1.0 if weights is None else weights)
    )
    mass = np.bincount(evidence.labels, weights=w, minlength=k)
    present = [c for c in range(k) if mass[c] > 0]
    each = np.full((2, k), np.nan)
    pair_sum, macro = 0.0, np.zeros((3, n)) if influence else None
    single: list[FloatArray | None] = [None] * (2 * k)
    keep_each = influence and k * n <= 50_000_000
    for c in present:
        curve = one_class(
            evidence.scores.column(c, evidence.index), evidence.labels, c, k, w, influence
        )
        each[:, c] = curve.auroc, curve.precision
        pair_sum += float(np.nansum(curve.pairs))
        if macro is not None and curve.auroc_influence is not None:
            assert curve.pairs_influence is not None
            assert curve.precision_influence is not None
            macro[0] += np.nan_to_num(curve.auroc_influence)
            macro[1] += curve.pairs_influence
            macro[2] += curve.precision_influence
            if keep_each:
                single[c], single[k + c] = curve.auroc_influence, curve.precision_influence
    pairs = len(present) * (len(present) - 1)
    defined = np.isfinite(each)
    counts = defined.sum(axis=1)
    means = np.where(counts > 0, np.nansum(each, axis=1) / np.maximum(counts, 1), np.nan)
    values = np.r_[means[0], pair_sum / pairs if pairs else np.nan, means[1], each[0], each[1]]
    if macro is None:
        return Scored(values)
    scale = np.array([max(counts[0], 1), max(pairs, 1), max(counts[1], 1)])[:, None]
    rows = [row if w is None else row * w for row in macro / scale]
    return Scored(values, [*rows, *(s if s is None or w is None else s * w for s in single)])
