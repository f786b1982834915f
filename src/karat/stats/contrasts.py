"""How a slice differs from all other items, metric by metric.

Both sides of a difference are slices of the same data: where clusters span them their influences
are joined cluster by cluster, else the two are independent and their variances add. A few units
do not show their own spread (three right answers have none at all), so a small side is not
believed to vary less than a sample of its size from the whole data would.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.model.metric import Events, Metric, Ratio, Smooth
from karat.model.pairs import FloatArray, IntArray
from karat.stats.influence import Influence, added, gradient, influence, summed
from karat.stats.intervals import Estimate, Settings
from karat.stats.parts import Part
from karat.stats.quantiles import normal_p, normal_quantile, t_p, t_quantile
from karat.stats.spread import Sample, agrees, event_influence, ones, refusal, values_of

SMALL = 50
"""A side of fewer units is small."""

SILENT = 1e-10
"""Where a side's own variance is less than this share of the expected one, all its units agree."""

ALL = "the slice is all there is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One metric in one slice, and its value minus that of all other items.

    `p` is two-sided; `q` is adjusted for all slices once `adjusted` has seen them.
    """

    estimate: Estimate
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Apart:
    """The other items' values, the variances of both sides and of their difference, the units."""

    values: FloatArray
    inside: FloatArray
    outside: FloatArray
    variance: FloatArray
    units: FloatArray
    others: FloatArray

    @classmethod
    def unknown(cls, values: FloatArray) -> _Apart:
        """Values without a variance."""
        nothing = np.full(len(values), np.nan)
        return cls(values, *[nothing] * 5)


def contrasts(
    metric: Metric, part: Part, estimates: Sequence[Estimate], settings: Settings
) -> list[Contrast]:
    """The differences of one metric to the rest."""
    if len(part.items) == part.cut.whole.evidence.n:
        return [Contrast(estimate=estimate, reason=ALL) for estimate in estimates]
    with np.errstate(all="ignore"):
        apart = _apart_events(metric, part) if isinstance(metric, Events) else _apart(metric, part)
        apart = _floored(metric, part, apart)
    exact = None
    if isinstance(metric, Ratio) and metric.proportion and not part.clustered:
        exact = _proportions(metric, part)
    out = []
    for c, estimate in enumerate(estimates):
        value, other = estimate.value, float(apart.values[c])
        if value is None or not math.isfinite(other):
            reason = estimate.reason or f"in the rest {metric.about.undefined}"
            out.append(Contrast(estimate=estimate, reason=reason))
            continue
        found: dict[str, Any] = {"difference": value - other}
        if refusal(metric):
            found["reason"] = refusal(metric)
        elif exact is not None and isinstance(metric, Ratio):
            found |= _adjusted_proportions(exact, c, metric.factor, settings)
        else:
            found |= _welch(metric, part, apart, c, value - other, settings)
        out.append(Contrast(estimate=estimate, **found))
    return out


def _apart(metric: Ratio | Smooth, part: Part) -> _Apart:
    """The other items' values and all variances, for a metric of totals."""
    units, totals = part.rest()
    values = values_of(metric, totals)
    if refusal(metric) or part.inside.drawn < 2 or units.drawn < 2:
        return _Apart.unknown(values)
    mine = part.inside
    here = influence(mine.units.table, gradient(metric, mine.units, mine.totals))
    there = influence(units.table, gradient(metric, units, totals))
    return _joined(part, values, (here, mine.units.count), (there, units.count))


def _apart_events(metric: Events, part: Part) -> _Apart:
    """The same for a metric of ordered evidence."""
    rest = Sample(part.cut.whole.evidence.take(part.others()))
    wanted = not metric.no_interval
    there = metric.score(rest.evidence, None, wanted)
    here = metric.score(part.inside.evidence, None, wanted)
    missing = here.influence is None or there.influence is None
    if missing or not wanted or part.inside.drawn < 2 or rest.drawn < 2:
        return _Apart.unknown(there.values)
    assert here.influence is not None
    assert there.influence is not None
    mine = event_influence(here.influence, part.inside)
    other = event_influence(there.influence, rest)
    count = ones(rest.drawn)
    if rest.clusters is not None and part.cut.whole.clusters is not None:
        codes, groups = part.cut.whole.clusters
        place = np.unique(codes[part.others()]).astype(np.int64)
        other = Influence(other.names, place[other.row], other.name, other.value)
        count = np.zeros(groups, dtype=np.int64)
        count[place] = 1
    sides = (mine, ones(part.inside.drawn)), (other, count)
    return _joined(part, there.values, *sides)


def _joined(
    part: Part,
    values: FloatArray,
    here: tuple[Influence, IntArray],
    there: tuple[Influence, IntArray],
) -> _Apart:
    """The variances of both sides and of their difference, joined where clusters span them."""
    inside, outside = here[0].variance(here[1]), there[0].variance(there[1])
    units, others = here[0].touched(here[1]), there[0].touched(there[1])
    if not part.clustered:
        return _Apart(values, inside, outside, inside + outside, units, others)
    drawn, left = int(here[1].sum()), int(there[1].sum())
    mine = here[0]
    moved = Influence(mine.names, part.present[mine.row], mine.name, mine.value)
    # Each side has its own M / (M - 1); the square root puts it on the influence itself.
    both = added(
        [
            moved.scaled(math.sqrt(drawn / (drawn - 1))),
            there[0].scaled(-math.sqrt(left / (left - 1))),
        ]
    )
    squares = np.bincount(both.name, np.square(both.value), both.names)
    variance = np.asarray(squares, dtype=np.float64)
    return _Apart(values, inside, outside, variance, units, others)


def _floored(metric: Metric, part: Part, apart: _Apart) -> _Apart:
    """The same, where small sides have at least the variance of the whole data at their size."""
    small = [apart.units < SMALL, apart.others < SMALL]
    # Only here is the whole data asked, which costs a pass over it.
    if not (np.any(small) or (apart.inside == 0).any() or (apart.outside == 0).any()):
        return apart
    whole = part.cut.spread(metric)
    share: FloatArray | float = part.share()
    if isinstance(metric, Ratio):
        names = len(metric.names)
        share = summed(metric.den, part.inside.totals, names)
        share = share / summed(metric.den, part.cut.whole.totals, names)
    drawn = part.cut.whole.drawn if whole.touched is None else whole.touched
    raised = []
    for side, few, portion, units in (
        (apart.inside, small[0], share, apart.units),
        (apart.outside, small[1], 1 - share, apart.others),
    ):
        # So many items, in so many clusters: neither lets the score vary less than in the whole.
        floor = np.fmax(whole.alone / portion, whole.variance * drawn / units)
        floor = np.fmax(side, floor)
        raised.append(np.where(few | (side <= SILENT * floor), floor, side))
    inside, outside = raised
    before, after = apart.inside + apart.outside, inside + outside
    # What clusters on both sides have in common still cancels to the same part.
    variance = np.where(before > 0, apart.variance * after / before, after)
    return replace(apart, inside=inside, outside=outside, variance=variance)


def _welch(
    metric: Metric, part: Part, apart: _Apart, c: int, difference: float, settings: Settings
) -> dict[str, Any]:
    """Interval and p by Student's t with Welch's degrees of freedom."""
    variance = float(apart.variance[c])
    units, others = float(apart.units[c]), float(apart.others[c])
    if not (math.isfinite(variance) and min(units, others) > 1):
        few = min(part.inside.drawn, units, others) < 2
        reason = "too few units on one side" if few else "there is no closed form"
        return {"reason": reason}
    se = math.sqrt(variance)
    if agrees(se, max(abs(difference), float(abs(apart.values[c]))), metric):
        return {"reason": "every unit agrees on both sides"}
    inside, outside = float(apart.inside[c]), float(apart.outside[c])
    spare = inside**2 / (units - 1) + outside**2 / (others - 1)
    df = max((inside + outside) ** 2 / spare, 1.0) if spare > 0 else 1.0
    reach = t_quantile(0.5 + settings.level / 2, df) * se
    low, high = difference - reach, difference + reach
    return {"low": low, "high": high, "p": t_p(difference / se, df)}


def _proportions(metric: Ratio, part: Part) -> tuple[FloatArray, ...] | None:
    """(hits, items) inside and outside, None where items have weights."""
    if getattr(part.cut.whole.evidence, "weights", None) is not None:
        return None
    names, (_, totals) = len(metric.names), part.rest()
    mine = part.inside.totals
    return (
        summed(metric.num, mine, names),
        summed(metric.den, mine, names),
        summed(metric.num, totals, names),
        summed(metric.den, totals, names),
    )


def _adjusted_proportions(
    counts: tuple[FloatArray, ...], c: int, factor: float, settings: Settings
) -> dict[str, Any]:
    """Agresti and Caffo's interval: one success and one failure more on each side.

    It also serves slices in which all items agree, where a variance could not be estimated.
    """
    hits, n, other_hits, other_n = (float(column[c]) for column in counts)
    p, q = (hits + 1) / (n + 2), (other_hits + 1) / (other_n + 2)
    se = math.sqrt(p * (1 - p) / (n + 2) + q * (1 - q) / (other_n + 2))
    reach = normal_quantile(0.5 + settings.level / 2) * se
    low, high = max(p - q - reach, -1.0), min(p - q + reach, 1.0)
    return {"low": factor * low, "high": factor * high, "p": normal_p((p - q) / se)}
