"""Slices: every metric in every level of a facet, and how the level differs from all other items.

Both sides of a difference are slices of the same data: where clusters span them their influences
are joined cluster by cluster, else the two are independent and their variances add.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.model.evidence import Columns, Counts, Evidence, Table
from karat.model.metric import About, Events, Metric, Ratio, Smooth, Totals
from karat.model.pairs import Facet, FloatArray, IntArray
from karat.stats.influence import Influence, added, gradient, influence, summed
from karat.stats.intervals import Estimate, Settings, of_samples
from karat.stats.multiple import benjamini_hochberg
from karat.stats.quantiles import normal_p, normal_quantile, t_p, t_quantile
from karat.stats.spread import Sample, agrees, event_influence, ones, refusal, values_of
from karat.stats.units import Codes, Units, add_up, select, sparse, whole_codes

ALL = "the slice is all there is"
GROUPS = "this score is over groups, which the field does not split"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceEstimate:
    """All metrics of one level of a facet."""

    facet: str
    level: str
    n: int
    clusters: int | None = None
    scores: tuple[Contrast, ...] = ()


def slices(
    metrics: Sequence[Metric],
    evidences: Sequence[Evidence],
    facet: Facet,
    settings: Settings | None = None,
    min_n: int = 1,
) -> list[SliceEstimate]:
    """The levels of a facet with at least `min_n` items, the surely worst first.

    Items without a value (code -1) are in no slice, but among the others of each.
    """
    settings = settings or Settings()
    cuts = {e.name: _Cut(e, facet) for e in evidences if e.n == len(facet)}
    sizes = np.bincount(facet.codes[facet.codes >= 0], minlength=len(facet.levels))
    out = []
    for level in np.flatnonzero(sizes >= max(min_n, 1)).tolist():
        parts = {name: cut.part(level) for name, cut in cuts.items()}
        scores = _scores(metrics, parts, settings)
        clusters = next((part.inside.drawn for part in parts.values() if part.clustered), None)
        out.append(
            SliceEstimate(
                facet=facet.name,
                level=facet.levels[level],
                n=int(sizes[level]),
                clusters=clusters,
                scores=tuple(scores),
            )
        )
    return _worst_first(out, metrics)


def adjusted(found: Iterable[SliceEstimate]) -> list[SliceEstimate]:
    """The same slices with q, by Benjamini and Hochberg over every p of every slice given."""
    found = list(found)
    qs = iter(benjamini_hochberg([score.p for part in found for score in part.scores]))
    return [
        replace(part, scores=tuple(replace(score, q=next(qs)) for score in part.scores))
        for part in found
    ]


class _Cut:
    """Evidence ready to be cut by the levels of a facet."""

    def __init__(self, evidence: Evidence, facet: Facet) -> None:
        weights = getattr(evidence, "weights", None)
        if weights is not None and bool((weights == 0).any()):
            evidence, facet = evidence.take(weights != 0), facet.take(weights != 0)
        self.whole = Sample(evidence)
        self.codes = facet.codes
        self.order = np.argsort(facet.codes, kind="stable")
        self.edges = np.searchsorted(facet.codes[self.order], np.arange(len(facet.levels) + 1))
        self.sizes = ones(evidence.n)
        if self.whole.clusters is not None:
            codes, groups = self.whole.clusters
            self.sizes = np.bincount(codes, minlength=groups)

    def part(self, level: int) -> _Part:
        """One level and all the rest."""
        items = self.order[self.edges[level] : self.edges[level + 1]]
        inside = Sample(self.whole.evidence.take(items))
        # Clusters of the slice by their place among all; both are in the order of their names.
        present: IntArray = np.arange(len(items))
        if self.whole.clusters is not None:
            present = np.unique(self.whole.clusters[0][items]).astype(np.int64)
        return _Part(self, items, inside, present)


@dataclass
class _Part:
    """A slice of one evidence beside all other items of it."""

    cut: _Cut
    items: IntArray
    inside: Sample
    present: IntArray
    _rest: tuple[Units, Totals] | None = None

    @property
    def clustered(self) -> bool:
        """Whether clusters are drawn."""
        return self.cut.whole.clusters is not None

    def rest(self) -> tuple[Units, Totals]:
        """The units of all other items, and their totals."""
        if self._rest is None:
            units = self._clusters_left() if self.clustered else self._items_left()
            self._rest = units, units.totals()
        return self._rest

    def _clusters_left(self) -> Units:
        """All clusters less what the slice has of them; those it has wholly are not counted."""
        full, mine = self.cut.whole.units, self.inside.units
        a, b = sparse(full.table), sparse(mine.table)
        both = Table(
            a.rows,
            a.layout,
            np.concatenate([a.row, self.present[b.row]]),
            np.concatenate([a.cell, b.cell]),
            np.concatenate([a.value, -b.value]),
        )
        left = add_up(both, np.arange(a.rows), a.rows, None, full.exact)
        assert self.cut.whole.clusters is not None
        codes = self.cut.whole.clusters[0][self.items]
        sizes = self.cut.sizes - np.bincount(codes, minlength=a.rows)
        count = (sizes > 0).astype(np.int64)
        return Units(left, count, full.exact, full.unit, int(sizes.sum()), clustered=True)

    def _items_left(self) -> Units:
        """The rows of the other items: the same rows with smaller counts."""
        evidence, full = self.cut.whole.evidence, self.cut.whole.units
        assert isinstance(evidence, Counts)
        n = evidence.n - len(self.items)
        plain = evidence.weights is None
        if isinstance(full.table, Columns) or (plain and evidence.codes is None):
            count = full.count.copy()
            count[self.items] = 0
            return replace(full, count=count, n=n)
        if plain:
            codes: Codes = whole_codes(evidence)
            count = np.bincount(codes, minlength=evidence.table.rows)
            count -= np.bincount(codes[self.items], minlength=evidence.table.rows)
            kept = np.flatnonzero(count)
            table = select(evidence.table, kept)
            return Units(table, count[kept], evidence.exact, "item", n, clustered=False)
        return Sample(evidence.take(self.others())).units

    def others(self) -> IntArray:
        """The places of all other items."""
        keep = np.ones(self.cut.whole.evidence.n, dtype=bool)
        keep[self.items] = False
        return np.flatnonzero(keep)


def _scores(
    metrics: Sequence[Metric], parts: Mapping[str, _Part], settings: Settings
) -> list[Contrast]:
    """All metrics of one slice, in their order."""
    samples = {name: part.inside for name, part in parts.items()}
    known = [metric for metric in metrics if metric.reads in parts]
    found = iter(of_samples(known, samples, settings, {}))
    out: list[Contrast] = []
    for metric in metrics:
        if metric.reads not in parts:
            nothing = (Estimate(name=name, value=None, reason=GROUPS) for name in metric.names)
            out += [Contrast(estimate=estimate, reason=GROUPS) for estimate in nothing]
            continue
        estimates = [next(found) for _ in metric.names]
        out += _contrasts(metric, parts[metric.reads], estimates, settings)
    return out


@dataclass(frozen=True, slots=True)
class _Apart:
    """The other items' values, and the variances: of each side and of the difference."""

    values: FloatArray
    inside: FloatArray
    outside: FloatArray
    variance: FloatArray
    drawn: int


def _contrasts(
    metric: Metric, part: _Part, estimates: Sequence[Estimate], settings: Settings
) -> list[Contrast]:
    """The differences of one metric to the rest."""
    if len(part.items) == part.cut.whole.evidence.n:
        return [Contrast(estimate=estimate, reason=ALL) for estimate in estimates]
    with np.errstate(all="ignore"):
        apart = _apart_events(metric, part) if isinstance(metric, Events) else _apart(metric, part)
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


def _apart(metric: Ratio | Smooth, part: _Part) -> _Apart:
    """The other items' values and all variances, for a metric of totals."""
    units, totals = part.rest()
    values = values_of(metric, totals)
    nothing = np.full(len(metric.names), np.nan)
    if refusal(metric) or part.inside.drawn < 2 or units.drawn < 2:
        return _Apart(values, nothing, nothing, nothing, units.drawn)
    mine = part.inside
    here = influence(mine.units.table, gradient(metric, mine.units, mine.totals))
    there = influence(units.table, gradient(metric, units, totals))
    return _joined(part, values, (here, mine.units.count), (there, units.count))


def _apart_events(metric: Events, part: _Part) -> _Apart:
    """The same for a metric of ordered evidence."""
    nothing = np.full(len(metric.names), np.nan)
    rest = Sample(part.cut.whole.evidence.take(part.others()))
    wanted = not metric.no_interval
    there = metric.score(rest.evidence, None, wanted)
    here = metric.score(part.inside.evidence, None, wanted)
    missing = here.influence is None or there.influence is None
    if missing or not wanted or part.inside.drawn < 2 or rest.drawn < 2:
        return _Apart(there.values, nothing, nothing, nothing, rest.drawn)
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
    part: _Part,
    values: FloatArray,
    here: tuple[Influence, IntArray],
    there: tuple[Influence, IntArray],
) -> _Apart:
    """The variances of both sides and of their difference, joined where clusters span them."""
    inside, outside = here[0].variance(here[1]), there[0].variance(there[1])
    drawn, left = int(here[1].sum()), int(there[1].sum())
    if not part.clustered:
        return _Apart(values, inside, outside, inside + outside, left)
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
    return _Apart(values, inside, outside, variance, left)


def _welch(
    metric: Metric, part: _Part, apart: _Apart, c: int, difference: float, settings: Settings
) -> dict[str, Any]:
    """Interval and p by Student's t with Welch's degrees of freedom."""
    variance = float(apart.variance[c])
    if not math.isfinite(variance):
        few = min(part.inside.drawn, apart.drawn) < 2
        reason = "too few units on one side" if few else "there is no closed form"
        return {"reason": reason}
    se = math.sqrt(variance)
    if agrees(se, max(abs(difference), float(abs(apart.values[c]))), metric):
        return {"reason": "every unit agrees on both sides"}
    inside, outside = float(apart.inside[c]), float(apart.outside[c])
    spare = inside**2 / (part.inside.drawn - 1) + outside**2 / (apart.drawn - 1)
    df = max((inside + outside) ** 2 / spare, 1.0) if spare > 0 else 1.0
    reach = t_quantile(0.5 + settings.level / 2, df) * se
    low, high = difference - reach, difference + reach
    return {"low": low, "high": high, "p": t_p(difference / se, df)}


def _proportions(metric: Ratio, part: _Part) -> tuple[FloatArray, ...] | None:
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


def _worst_first(found: list[SliceEstimate], metrics: Sequence[Metric]) -> list[SliceEstimate]:
    """The slices ordered by how bad they are for sure, on the main metric."""
    place, about = _main(metrics)
    if about is None:
        return found

    def surely_bad(part: SliceEstimate) -> tuple[bool, float]:
        score = part.scores[place]
        if score.low is None or score.high is None:
            return True, 0.0
        if about.better == "higher":
            return False, score.high
        if about.better == "lower":
            return False, -score.low
        return False, -max(score.low, -score.high)

    return sorted(found, key=surely_bad)


def _main(metrics: Sequence[Metric]) -> tuple[int, About | None]:
    """(place of its first name, what is known of it) of the first main metric, or of the first."""
    place, first = 0, None
    for metric in metrics:
        if metric.about.main:
            return place, metric.about
        first = first or metric.about
        place += len(metric.names)
    return 0, first
