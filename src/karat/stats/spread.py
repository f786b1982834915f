"""Spread: the values of a metric and the variance of each, from whatever evidence it reads.

Here the two kinds of metric meet: those of totals and those of ordered events. What comes after
(intervals, slices, comparisons) sees values, influence and counts only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from karat.model.direction import RANGES
from karat.model.evidence import Counts, Evidence
from karat.model.metric import Events, Metric, Ratio, Smooth, Totals
from karat.model.pairs import FloatArray, IntArray
from karat.stats.influence import Influence, gradient, influence
from karat.stats.units import Units, cluster_codes, fold


@dataclass
class Sample:
    """Evidence, with what is folded out of it once and shared by all metrics that read it."""

    evidence: Evidence

    def __post_init__(self) -> None:
        weights = getattr(self.evidence, "weights", None)
        if weights is not None and bool((weights == 0).any()):
            self.evidence = self.evidence.take(weights != 0)

    @cached_property
    def units(self) -> Units:
        """What is drawn."""
        assert isinstance(self.evidence, Counts)
        return fold(self.evidence)

    @cached_property
    def items(self) -> Units:
        """The items, as if they stood alone."""
        assert isinstance(self.evidence, Counts)
        return fold(self.evidence, clustered=False) if self.units.clustered else self.units

    @cached_property
    def totals(self) -> Totals:
        """The weighted totals."""
        return self.units.totals()

    def behind(self, metric: Metric) -> list[int]:
        """How many items are behind each name of a metric: those that it is about, else all."""
        if metric.about.over is None:
            return [self.evidence.n] * len(metric.names)
        counts = np.broadcast_to(metric.about.over(self._unweighted), len(metric.names))
        return [round(count) for count in counts.tolist()]

    @cached_property
    def _unweighted(self) -> Totals:
        """The totals with every item counted once."""
        assert isinstance(self.evidence, Counts)
        if self.evidence.weights is None:
            return self.totals
        return fold(replace(self.evidence, weights=None), clustered=False).totals()

    @cached_property
    def clusters(self) -> tuple[Any, int] | None:
        """(cluster of each item, how many), None where items stand alone."""
        cluster = self.evidence.cluster
        return None if cluster is None else cluster_codes(cluster)

    @property
    def drawn(self) -> int:
        """How many units are drawn: clusters, or items."""
        return self.evidence.n if self.clusters is None else self.clusters[1]

    @property
    def unit(self) -> str:
        """What is drawn, in a word."""
        return "item" if self.evidence.cluster is None else self.evidence.cluster.name


@dataclass(frozen=True, slots=True)
class Spread:
    """Values, what each would be by chance, and their variances over drawn units and over items.

    `touched` counts the clusters that a score depends on at all: a score of one domain rests on
    the few clusters of that domain. None where items stand alone.
    """

    values: FloatArray
    chance: FloatArray
    variance: FloatArray
    alone: FloatArray
    touched: FloatArray | None = None


def spread(metric: Metric, sample: Sample) -> Spread:
    """The spread of each name of a metric. NaN is: no value, no chance, no variance."""
    with np.errstate(all="ignore"):
        if isinstance(metric, Events):
            return _events_spread(metric, sample)
        return _totals_spread(metric, sample)


def values_of(metric: Ratio | Smooth, totals: Totals) -> FloatArray:
    """(..., names): the values, NaN where undefined."""
    with np.errstate(all="ignore"):
        return np.asarray(metric.values(totals), dtype=np.float64)


def refusal(metric: Metric) -> str:
    """Why a metric shows no interval, empty where it does."""
    return "" if isinstance(metric, Ratio) else metric.no_interval


def agrees(se: float, value: float, metric: Metric) -> bool:
    """Whether a standard error is nothing but rounding."""
    if isinstance(metric, Ratio):
        return se <= 1e-10 * abs(value)
    # A numeric derivative is off by 1e-8 or so.
    noise = 1e-7 if isinstance(metric, Smooth) else 1e-10
    return se <= noise * max(abs(value), RANGES.get(metric.about.scale, (0.0, 0.0))[1])


def at_end(value: float, metric: Metric) -> bool:
    """Whether a smooth score stands at an end of its range, where it has no slope to go by."""
    return isinstance(metric, Smooth) and value in RANGES.get(metric.about.scale, ())


def clipped(low: float, high: float, metric: Metric) -> tuple[float, float]:
    """An interval cut to the range of the scale."""
    floor, ceiling = RANGES.get(metric.about.scale, (-math.inf, math.inf))
    return max(low, floor), min(high, ceiling)


def event_influence(columns: Sequence[FloatArray | None], sample: Sample) -> Influence:
    """The influence of each drawn unit, from that of each item; NaN where there is none."""
    n = sample.evidence.n
    filled = [np.full(n, np.nan) if column is None else column for column in columns]
    if sample.clusters is None:
        return Influence.dense(filled)
    codes, groups = sample.clusters
    return Influence.dense([_by_cluster(column, codes, groups) for column in filled])


def ones(n: int) -> IntArray:
    """(n,): one unit a row."""
    return np.ones(n, dtype=np.int64)


def _by_cluster(column: FloatArray, codes: Any, groups: int) -> FloatArray:
    """(groups,): sums of one column."""
    return np.asarray(np.bincount(codes, weights=column, minlength=groups), dtype=np.float64)


def _totals_spread(metric: Ratio | Smooth, sample: Sample) -> Spread:
    """The spread of a metric of totals."""
    values = values_of(metric, sample.totals)
    nothing = np.full(len(metric.names), np.nan)
    chance = nothing
    if isinstance(metric, Smooth) and metric.chance is not None:
        chance = np.asarray(metric.chance(sample.totals), dtype=np.float64).reshape(1)
    if refusal(metric) or not np.isfinite(values).any():
        return Spread(values, chance, nothing, nothing)
    slopes = gradient(metric, sample.units, sample.totals)
    drawn = influence(sample.units.table, slopes)
    variance = drawn.variance(sample.units.count)
    if not sample.units.clustered:
        return Spread(values, chance, variance, variance)
    alone = influence(sample.items.table, slopes).variance(sample.items.count)
    touched = drawn.touched(sample.units.count)
    # Clusters without a part in the score say nothing about its spread.
    variance = variance * corrected(touched, sample.drawn)
    return Spread(values, chance, variance, alone, touched)


def corrected(touched: FloatArray, drawn: int) -> FloatArray:
    """m / (m - 1) for the touched clusters in place of all drawn ones; NaN where there is one."""
    if drawn < 2:
        return np.ones(len(touched))
    few = np.where(touched > 1, touched / (touched - 1), np.nan)
    return np.asarray(few / (drawn / (drawn - 1)))


def _events_spread(metric: Events, sample: Sample) -> Spread:
    """The spread of a metric of events."""
    evidence = sample.evidence
    nothing = np.full(len(metric.names), np.nan)
    if not evidence.n:
        return Spread(nothing, nothing, nothing, nothing)
    scored = metric.score(evidence, None, not metric.no_interval)
    chance = nothing if scored.chance is None else scored.chance
    if scored.influence is None or metric.no_interval:
        return Spread(scored.values, chance, nothing, nothing)
    alone = np.array([_column_variance(column) for column in scored.influence])
    variance = alone
    if sample.clusters is not None:
        codes, groups = sample.clusters
        variance = np.array(
            [
                _column_variance(None if column is None else _by_cluster(column, codes, groups))
                for column in scored.influence
            ]
        )
    return Spread(scored.values, chance, variance, alone)


def _column_variance(column: FloatArray | None) -> float:
    """M / (M - 1) * sum of (influence - mean)^2 of one dense column; NaN below 2 units."""
    if column is None or len(column) < 2:
        return math.nan
    away = column - column.mean()
    return float(np.square(away, out=away).sum() * (len(column) / (len(column) - 1)))
