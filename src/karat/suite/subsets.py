"""Subsets: whether some rows fare worse than the rest, and whether they lost more than the rest.

Two ways to measure. Where things go right or wrong one by one (rows, mentions, boxes), Fisher's
exact test of a subset against all others; where the score is an F1 of rows together, the contrast
of the slices. A warning needs q < 0.05 within its family (one way to cut the data) and q < 0.2
within all subsets of the test; a failure needs q < 0.005 within all: two such tests together then
cry wolf in 1 % of the runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from karat.model.metric import Metric
from karat.model.pairs import Facet, FloatArray, IntArray
from karat.model.seen import Trials
from karat.model.suite import Plot
from karat.stats import slices as cut
from karat.stats.contrasts import Contrast
from karat.stats.intervals import Settings, estimate, wilson
from karat.stats.multiple import benjamini_hochberg
from karat.stats.quantiles import normal_p
from karat.suite.facets import Cut, quantile_codes
from karat.suite.judge import ALPHA, FAMILY, MIN_SUBSET, Found, Z, judged, level, points
from karat.suite.limits import Limit
from karat.suite.observed import Observed
from karat.suite.performance import Scored, unseen

DOUBT = 0.2
"""What the q over all subsets of a test must be below for a warning."""

SURE = ALPHA / 2
"""What the q over all subsets of a test must be below for a failure."""

F1 = ("f1_micro", "f1")
"""The score of subsets of rows, where rows are not right or wrong as a whole."""


def families(ref: Observed, other: Observed, cuts: Sequence[Cut]) -> list[tuple[Trials, Trials]]:
    """The trials of both sides, kind by kind, with the same levels."""
    found = []
    there = {(one.family, one.metric): one for one in ref.trials}
    for mine in other.trials:
        base = there.get((mine.family, mine.metric))
        base = base or replace(mine, code=mine.code[:0], hit=mine.hit[:0], row=mine.row[:0],
                               value=None if mine.value is None else mine.value[:0])  # fmt: skip
        found.append(_aligned(base, mine))
    if ref.correct is not None and other.correct is not None:
        found += [(_of_rows(ref, one.ref), _of_rows(other, one.other)) for one in cuts]
    return found


def _aligned(ref: Trials, other: Trials) -> tuple[Trials, Trials]:
    """Both under one list of levels; numbers are cut at the terciles of the reference."""
    if ref.value is not None and other.value is not None:
        base = ref.value if len(ref.value) else other.value
        codes, levels = quantile_codes(base, [ref.value, other.value], 3)
        a, b = (code.astype(np.int64) for code in codes)
        return replace(ref, code=a, levels=levels), replace(other, code=b, levels=levels)
    names = tuple(dict.fromkeys((*ref.levels, *other.levels)))
    place = {name: i for i, name in enumerate(names)}
    sides = []
    for one in (ref, other):
        lookup = np.array([*(place[name] for name in one.levels), -1], dtype=np.int64)
        sides.append(replace(one, code=lookup[one.code], levels=names))
    return sides[0], sides[1]


def _of_rows(side: Observed, facet: Facet) -> Trials:
    """Rows with a label as trials: right or wrong."""
    assert side.correct is not None
    rows = np.flatnonzero(side.seen.labelled)
    codes = facet.codes[rows].astype(np.int64)
    return Trials(facet.name, "accuracy", facet.levels, codes, side.correct[rows], rows, MIN_SUBSET)


@dataclass(frozen=True)
class Tally:
    """Hits and trials of each kind, and of all."""

    trials: Trials
    hits: FloatArray
    n: FloatArray
    all_hits: float
    all_n: float

    @classmethod
    def of(cls, trials: Trials) -> Tally:
        """The counts of one side."""
        known = trials.code >= 0
        width = len(trials.levels)
        return cls(
            trials,
            np.bincount(trials.code[known], trials.hit[known], width).astype(np.float64),
            np.bincount(trials.code[known], minlength=width).astype(np.float64),
            float(trials.hit.sum()),
            float(len(trials.hit)),
        )

    @cached_property
    def alone(self) -> bool:
        """Whether every trial has a row of its own."""
        return bool((np.diff(self.trials.row) > 0).all())

    def drop(self, kind: int) -> tuple[float, float]:
        """(rate of the rest less that of the kind, its variance with one hit and miss added)."""
        h, n = float(self.hits[kind]), float(self.n[kind])
        hr, nr = self.all_hits - h, self.all_n - n
        variance = 0.0
        for x, m in ((h, n), (hr, nr)):
            p = (x + 1) / (m + 2)
            variance += p * (1 - p) / (m + 2)
        return hr / nr - h / n, variance * self.stretch(kind)

    def stretch(self, kind: int) -> float:
        """How much more the drop varies than if the trials of a row were independent, at least 1.

        Mentions of one text and boxes of one image are found or missed together.
        """
        if self.alone:
            return 1.0
        h, n = float(self.hits[kind]), float(self.n[kind])
        hr, nr = self.all_hits - h, self.all_n - n
        inside = self.trials.code == kind
        p, pr = h / n, hr / nr
        away = np.where(inside, -(self.trials.hit - p) / n, (self.trials.hit - pr) / nr)
        rows = np.bincount(self.trials.row, away)
        usual = p * (1 - p) / n + pr * (1 - pr) / nr
        return max(float(rows @ rows) / usual, 1.0) if usual > 0 else 1.0

    def judgeable(self, kind: int, least: int) -> bool:
        """Whether there is enough of the kind, and of the rest."""
        return bool(self.n[kind] >= least and self.all_n - self.n[kind] >= least)


def subset_performance(
    ref: Observed,
    other: Observed,
    cuts: Sequence[Cut],
    sides: tuple[Scored | None, Scored | None],
    limit: Limit,
) -> list[Found]:
    """Every subset of evaluation against the rest of it."""
    found = [_weaker(base, mine, limit, other) for base, mine in families(ref, other, cuts)]
    if other.correct is None and sides[1] is not None:
        found += [_weaker_slices(one, sides[1], ref, other, limit) for one in cuts]
    return _gated(found, limit)


def _weaker(base: Trials, trials: Trials, limit: Limit, side: Observed) -> list[Found]:
    """One family: Fisher's exact test of each kind, one-sided; no surer than whole rows allow."""
    from scipy import stats

    before, tally, out = Tally.of(base), Tally.of(trials), []
    for kind in range(len(trials.levels)):
        if not tally.judgeable(kind, trials.least):
            continue
        h, n = int(tally.hits[kind]), int(tally.n[kind])
        value, variance = tally.drop(kind)
        p = float(stats.hypergeom.cdf(h, int(tally.all_n), int(tally.all_hits), n))
        mine, se = h / n, math.sqrt(variance)
        if not tally.alone:
            p = max(p, _upper(value / se))
        name = f"{trials.family} = {trials.levels[kind]}"
        wrong = (trials.code == kind) & ~trials.hit
        text = f"{trials.metric} {mine:.3f} in {n}, {mine + value:.3f} in the rest"
        table = {
            "family": trials.family,
            "metric": trials.metric,
            "subset": mine,
            "rest": mine + value,
            "all": tally.all_hits / tally.all_n,
            "drop to all": tally.all_hits / tally.all_n - mine,
        }
        out.append(
            judged(
                limit, name, value, f"drop of {trials.metric} against the rest", text,
                p=min(p, 1.0), low=value - Z * se, high=value + Z * se,
                n_ref=int(before.n[kind]), n_eval=n, underpowered=unseen(limit, se),
                side=side, rows=np.unique(trials.row[wrong]), table=table,
                plot=_rates(trials, tally, kind),
            )
        )  # fmt: skip
    return out


def _upper(z: float) -> float:
    """How likely a normal number is above z."""
    return normal_p(z) / 2 if z > 0 else 1 - normal_p(z) / 2


def _rates(trials: Trials, tally: Tally, kind: int, most: int = 12) -> Plot:
    """The rates of the family with Wilson's intervals; this kind first."""
    others = [k for k in range(len(trials.levels)) if k != kind and tally.n[k] > 0]
    shown = [kind, *sorted(others, key=lambda k: -tally.n[k])[: most - 1]]
    rates = [float(tally.hits[k] / tally.n[k]) for k in shown]
    bounds = [wilson(rate, float(tally.n[k])) for rate, k in zip(rates, shown, strict=True)]
    return Plot(
        kind="points",
        labels=[trials.levels[k] for k in shown],
        eval=[*rates],
        low=[low for low, _ in bounds],
        high=[high for _, high in bounds],
    )


def _metric(scored: Scored) -> Metric | None:
    return next((m for m in scored.metrics if len(m.names) == 1 and m.names[0] in F1), None)


def _facet(one: Facet, side: Observed) -> Facet:
    """The facet over the rows that are scored."""
    return one.take(np.flatnonzero(side.seen.labelled))


def _contrasts(
    facet: Facet, scored: Scored, side: Observed
) -> Iterator[tuple[str, int, Contrast, IntArray]]:
    """(level, rows, its F1 against the rest, the rows) for every level that can be judged."""
    metric = _metric(scored)
    if metric is None:
        return
    own = _facet(facet, side)
    rows = np.flatnonzero(side.seen.labelled)
    for part in cut.slices([metric], scored.evidence, own, Settings(), min_n=MIN_SUBSET):
        score = part.scores[0]
        ready = None not in (score.estimate.value, score.difference, score.low, score.high, score.p)
        if ready and len(own) - part.n >= MIN_SUBSET:
            chosen = rows[own.codes == facet.levels.index(part.level)]
            yield part.level, part.n, score, chosen


def _weaker_slices(
    one: Cut, scored: Scored, ref: Observed, side: Observed, limit: Limit
) -> list[Found]:
    """One family: F1 of each level against the rest, one-sided."""
    out = []
    whole, before = _overall(scored), _facet(one.ref, ref)
    for name, n, score, rows in _contrasts(one.other, scored, side):
        assert score.difference is not None
        assert score.p is not None
        assert score.estimate.value is not None
        assert score.low is not None
        assert score.high is not None
        value, mine = -score.difference, score.estimate.value
        p = score.p / 2 if value > 0 else 1 - score.p / 2
        se = (score.high - score.low) / (2 * Z)
        text = f"F1 {mine:.3f} in {n} rows, {mine + value:.3f} in the rest"
        out.append(
            judged(
                limit, f"{one.name} = {name}", value, "drop of f1 against the rest", text,
                p=p, low=-score.high, high=-score.low,
                n_ref=int((before.codes == one.ref.levels.index(name)).sum()), n_eval=n,
                underpowered=unseen(limit, se), side=side, rows=rows,
                table={"family": one.name, "metric": "f1", "subset": mine, "rest": mine + value,
                       "all": whole, "drop to all": None if whole is None else whole - mine},
                plot=points([("subset", mine, None, None), ("rest", mine + value, None, None)]),
            )
        )  # fmt: skip
    return out


def subset_degradation(
    ref: Observed,
    other: Observed,
    cuts: Sequence[Cut],
    sides: tuple[Scored | None, Scored | None],
    limit: Limit,
) -> list[Found]:
    """Every subset's change from reference, against the change of all rows."""
    found = [_lost(a, b, limit, other) for a, b in families(ref, other, cuts)]
    if other.correct is None and sides[0] is not None and sides[1] is not None:
        found += [_lost_slices(one, sides, (ref, other), limit) for one in cuts]
    return _gated(found, limit)


def _lost(ref: Trials, other: Trials, limit: Limit, side: Observed) -> list[Found]:
    """One family. A kind's rate less that of all is (1 - its share) of its rate less the rest's."""
    first, second, out = Tally.of(ref), Tally.of(other), []
    for kind in range(len(other.levels)):
        if not all(tally.judgeable(kind, other.least) for tally in (first, second)):
            continue
        value, variance, changes = 0.0, 0.0, [0.0, 0.0]
        for sign, tally in ((-1.0, first), (1.0, second)):
            apart, spread = tally.drop(kind)
            share = 1 - tally.n[kind] / tally.all_n
            value += sign * share * apart
            variance += share**2 * spread
            changes[0] += sign * tally.hits[kind] / tally.n[kind]
            changes[1] += sign * tally.all_hits / tally.all_n
        wrong = (other.code == kind) & ~other.hit
        name = f"{other.family} = {other.levels[kind]}"
        out.append(
            _degraded(
                limit, name, value, variance, other.family, other.metric, changes,
                (int(first.n[kind]), int(second.n[kind])), side, np.unique(other.row[wrong]),
            )
        )  # fmt: skip
    return out


def _lost_slices(
    one: Cut, sides: tuple[Scored | None, Scored | None], seen: tuple[Observed, Observed],
    limit: Limit,
) -> list[Found]:  # fmt: skip
    """The same by F1, whose share of the whole is that of its rows."""
    assert sides[0] is not None
    assert sides[1] is not None
    before = {name: (n, s) for name, n, s, _ in _contrasts(one.ref, sides[0], seen[0])}
    overall = [_overall(side) for side in (sides[0], sides[1])]
    out = []
    for name, n, score, rows in _contrasts(one.other, sides[1], seen[1]):
        if name not in before or None in overall:
            continue
        old_n, old = before[name]
        variance = 0.0
        for count, found, side in ((old_n, old, seen[0]), (n, score, seen[1])):
            assert found.low is not None
            assert found.high is not None
            se = (found.high - found.low) / (2 * Z)
            variance += ((1 - count / max(int(side.seen.labelled.sum()), 1)) * se) ** 2
        assert score.estimate.value is not None
        assert old.estimate.value is not None
        assert overall[0] is not None
        assert overall[1] is not None
        changes = [score.estimate.value - old.estimate.value, overall[1] - overall[0]]
        value = changes[1] - changes[0]
        label = f"{one.name} = {name}"
        out.append(
            _degraded(limit, label, value, variance, one.name, "f1", changes, (old_n, n),
                      seen[1], rows)
        )  # fmt: skip
    return out


def _overall(scored: Scored) -> float | None:
    metric = _metric(scored)
    if metric is None:
        return None
    evidence = next(e for e in scored.evidence if e.name == metric.reads)
    return estimate(metric, evidence)[0].value


def _degraded(
    limit: Limit,
    name: str,
    value: float,
    variance: float,
    family: str,
    metric: str,
    changes: Sequence[float],
    sizes: tuple[int, int],
    side: Observed,
    rows: IntArray,
) -> Found:
    """A subset that changed by `changes[0]` where all rows changed by `changes[1]`."""
    se = math.sqrt(max(variance, 1e-300))
    p = _upper(value / se)
    text = f"{metric} changed by {changes[0]:+.3f}, by {changes[1]:+.3f} over all"
    return judged(
        limit, name, float(value), f"loss of {metric} beyond that of all", text,
        p=p, low=float(value - Z * se), high=float(value + Z * se),
        n_ref=sizes[0], n_eval=sizes[1],
        underpowered=unseen(limit, se),
        side=side, rows=rows,
        table={"family": family, "metric": metric, "change": float(changes[0]),
               "change of all": float(changes[1])},
        plot=points([("this subset", changes[0], None, None), ("all", changes[1], None, None)]),
    )  # fmt: skip


def _gated(found: Sequence[list[Found]], limit: Limit, alpha: float = FAMILY) -> list[Found]:
    """All cases, with q in their family; what is to fail must also stand among all of them."""
    cases = [one for family in found for one in family]
    overall = benjamini_hochberg([one.case.p for one in cases])
    everywhere = {id(one): q for one, q in zip(cases, overall, strict=True)}
    for family in found:
        own = benjamini_hochberg([one.case.p for one in family])
        for one, q in zip(family, own, strict=True):
            case, all_q = one.case, everywhere[id(one)]
            case.q = q
            case.table = {**case.table, "q over all subsets": all_q}
            if case.value is None or q is None or all_q is None:
                continue
            case.status = level(limit, case.value) if q < alpha and all_q < DOUBT else "pass"
            if case.status == "fail" and all_q >= SURE:
                case.status = "warning"
            if case.status == "pass":
                one.rows = one.rows[:0]
                case.rows, case.rows_total = [], 0
    return cases
