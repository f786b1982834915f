"""The bootstrap: scores under resampled weights; metrics of the same evidence share the draws."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from karat.model.evidence import Counts
from karat.model.metric import Events, Ratio, Smooth, Totals
from karat.model.pairs import Facet, FloatArray, IntArray
from karat.model.state import BUCKETS, mixed
from karat.stats.spread import Sample, ones, values_of
from karat.stats.units import Sums, Units, add_up, fold
from karat.stats.weights import resamples

MOST_ROWS = 1 << 16
FEW_CLUSTERS = 20


def bucket(n: int) -> IntArray:
    """(n,): the bucket of each row, a fixed hash of its index."""
    return (mixed(np.arange(n, dtype=np.uint64)) % np.uint64(BUCKETS)).astype(np.int64)


def drawable(evidence: Counts, units: Units) -> Units:
    """What the bootstrap draws: the units or, where too many rows differ, 4,096 buckets of them.

    A bucket holds the sum of the rows that a fixed hash sends there. Rows that many items share
    are split up item by item, since items of one bucket are drawn together.
    """
    if len(units.count) <= MOST_ROWS:
        return units
    if units.clustered:
        table = add_up(units.table, bucket(units.table.rows), BUCKETS, None, units.exact)
        count = np.ones(BUCKETS, dtype=np.int64)
        return Units(table, count, units.exact, units.unit, units.n, clustered=True)
    names = tuple(f"{i:04d}" for i in range(BUCKETS))
    facet = Facet("bucket", bucket(evidence.n).astype(np.int32), names)
    return fold(replace(evidence, cluster=facet))


def resampled(
    metrics: Sequence[Ratio | Smooth], units: Units, draws: int, seed: int, purpose: str
) -> list[FloatArray]:
    """(draws, names) for each metric, from one pass over the resampled totals."""
    out = [np.full((draws, len(metric.names)), np.nan) for metric in metrics]
    sums, done = Sums.of(units), 0
    for weights in resamples(units.count, draws, seed, purpose):
        totals = Totals(units.table.layout, sums.totals(weights))
        for values, metric in zip(out, metrics, strict=True):
            values[done : done + len(weights)] = values_of(metric, totals)
        done += len(weights)
    return out


def wanted(metric: Events, sample: Sample, bootstrap: int) -> int:
    """How many draws: those asked for, else those without which the metric's interval is wrong.

    Few clusters drawn anew are too much alike: Student's t over them is the more honest.
    """
    few = sample.clusters is not None and sample.drawn < FEW_CLUSTERS
    return bootstrap or (0 if few else int(metric.facts.get("resamples", 0)))


@runtime_checkable
class Redrawn(Protocol):
    """Evidence that an earlier run drew from: its draws were kept, its events were not."""

    def redrawn(self, names: Sequence[str], design: str) -> FloatArray | None:
        """(draws, names): the kept draws, None where they are of another design."""


def design(sample: Sample, draws: int, seed: int) -> str:
    """What decides which units are drawn: resamples of equal designs correspond one by one."""
    codes = b"" if sample.clusters is None else np.asarray(sample.clusters[0], "<i4").tobytes()
    units = hashlib.sha256(codes).hexdigest()[:16]
    return f"{draws} of {sample.drawn}|seed:{seed}|units:{units}|numpy:{np.__version__}"


def resampled_events(
    metric: Events, sample: Sample, draws: int, seed: int, purpose: str
) -> FloatArray:
    """(draws, names): an event metric scored again under each draw of its items or clusters."""
    out = np.full((draws, len(metric.names)), np.nan)
    done = 0
    for block in resamples(ones(sample.drawn), draws, seed, purpose):
        for drawn in block.astype(np.float64):
            weights = drawn if sample.clusters is None else drawn[sample.clusters[0]]
            with np.errstate(all="ignore"):
                out[done] = metric.score(sample.evidence, weights, False).values
            done += 1
    return out
