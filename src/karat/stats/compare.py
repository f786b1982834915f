"""Two systems on the same items: the difference, its interval and a test.

Everything is paired: the influence of a unit on the difference is the difference of its
influences, and a randomisation test lets whole units (clusters where there are any) change sides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.errors import UsageError
from karat.model.evidence import Evidence
from karat.model.metric import Events, Metric, Ratio, Smooth, Totals
from karat.model.pairs import FloatArray, IntArray
from karat.stats.influence import added, gradient, influence
from karat.stats.intervals import ONE_UNIT, Settings, number
from karat.stats.pairing import Pairing, swappable
from karat.stats.quantiles import binomial_half_p, normal_quantile, t_p, t_quantile
from karat.stats.resample import Redrawn, design, resampled_events, wanted
from karat.stats.spread import (
    Sample,
    agrees,
    corrected,
    event_influence,
    ones,
    refusal,
    values_of,
)
from karat.stats.units import Sums
from karat.stats.weights import swaps

SAME = "the two systems do the same on every unit"
LEVEL = "the difference is equally large on every unit, so it shows no spread"
MOST_WORK = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEstimate:
    """What system A does better than system B: the value of A minus the value of B.

    `smallest_seen` is the difference that a test on this many items would find four times out of
    five. Wins are items on which A is the better, where the score has a value for each item.
    """

    name: str
    difference: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    p: float | None = None
    test: str = ""
    smallest_seen: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    n: int = 0
    clusters: int | None = None
    reason: str = ""
    no_interval: str = ""


def paired(
    metric: Metric, evidence_a: Evidence, evidence_b: Evidence, settings: Settings | None = None
) -> list[PairedEstimate]:
    """One paired difference, A minus B, for each name of a metric."""
    return paired_all([metric], [evidence_a], [evidence_b], settings)


def paired_all(
    metrics: Sequence[Metric],
    evidences_a: Sequence[Evidence],
    evidences_b: Sequence[Evidence],
    settings: Settings | None = None,
    values_a: Mapping[str, float] | None = None,
    values_b: Mapping[str, float] | None = None,
) -> list[PairedEstimate]:
    """The paired differences of all metrics, in their order; each evidence is swapped once.

    `values_a` and `values_b` are official values, which replace ours in the differences.
    """
    settings = settings or Settings()
    sides = _sides(evidences_a, evidences_b)
    official = (values_a or {}, values_b or {})
    found: dict[int, list[PairedEstimate]] = {}
    for name, (a, b) in sides.items():
        places = [place for place, metric in enumerate(metrics) if metric.reads == name]
        totals: list[tuple[int, Ratio | Smooth]] = []
        for place in places:
            metric = metrics[place]
            if isinstance(metric, Events):
                found[place] = _of_events(metric, a, b, settings, official)
            else:
                totals.append((place, metric))
        if totals:
            pairing = Pairing(a, b)
            trials = _trials([metric for _, metric in totals], pairing, settings)
            for (place, read), trial in zip(totals, trials, strict=True):
                found[place] = _of_totals(read, pairing, trial, settings, official)
    return [estimate for place in sorted(found) for estimate in found[place]]


def _sides(a: Sequence[Evidence], b: Sequence[Evidence]) -> dict[str, tuple[Sample, Sample]]:
    """The two samples of each evidence by name."""
    others = {evidence.name: evidence for evidence in b}
    out = {}
    for evidence in a:
        other = others.get(evidence.name)
        if other is None:
            continue
        if other.n != evidence.n:
            raise UsageError(
                f"the two systems have {evidence.n} and {other.n} items",
                help="a paired comparison needs predictions of both for the same items",
            )
        out[evidence.name] = (Sample(evidence), Sample(other))
    return out


@dataclass(frozen=True, slots=True)
class _Trials:
    """A randomisation test of one metric: how many trials went as far, by name, of how many."""

    extreme: IntArray
    draws: int


def _trials(
    metrics: Sequence[Ratio | Smooth], pairing: Pairing, settings: Settings
) -> list[_Trials]:
    """The approximate randomisation tests of all metrics, from one set of swaps."""
    change, count = swappable(pairing)
    draws = settings.permutations
    work = max(len(change.row), 1)
    draws = max(min(draws, MOST_WORK // work), min(draws, 1000))
    sums = Sums.of_table(change, max(int(count.sum()), 1))
    first, second = pairing.totals_a.sums, pairing.totals_b.sums
    layout = change.layout
    seen = [values_of(m, pairing.totals_a) - values_of(m, pairing.totals_b) for m in metrics]
    floors = [
        np.abs(found) - 1e-12 * np.abs(values_of(metric, pairing.totals_a))
        for found, metric in zip(seen, metrics, strict=True)
    ]
    extreme = [np.zeros(len(metric.names), dtype=np.int64) for metric in metrics]
    for block in swaps(count, draws, settings.seed, f"swaps/{pairing.name}"):
        moved = sums.totals(block)
        here, there = Totals(layout, first + moved), Totals(layout, second - moved)
        for place, metric in enumerate(metrics):
            apart = np.abs(values_of(metric, here) - values_of(metric, there))
            # A trial without a value counts against the claim.
            extreme[place] += (~(apart < floors[place])).sum(axis=0)
    return [_Trials(hits, draws) for hits in extreme]


def _of_totals(
    metric: Ratio | Smooth,
    pairing: Pairing,
    trials: _Trials,
    settings: Settings,
    official: tuple[Mapping[str, float], Mapping[str, float]],
) -> list[PairedEstimate]:
    """The paired differences of a metric of totals."""
    first, second = values_of(metric, pairing.totals_a), values_of(metric, pairing.totals_b)
    variance, units = np.full(len(metric.names), np.nan), np.full(len(metric.names), pairing.drawn)
    if not refusal(metric):
        with np.errstate(all="ignore"):
            variance, units = _variance(metric, pairing)
    out = []
    for c, name in enumerate(metric.names):
        a = official[0].get(name, float(first[c]))
        b = official[1].get(name, float(second[c]))
        found = _difference(metric, a, b, float(variance[c]), int(units[c]), settings)
        if found["difference"] is not None:
            p = (int(trials.extreme[c]) + 1) / (trials.draws + 1)
            test = f"approximate randomisation, {trials.draws} trials"
            found |= {"p": p, "test": test}
            found |= _by_item(metric, pairing)
        out.append(PairedEstimate(name=name, n=pairing.n, clusters=pairing.clusters, **found))
    return out


def _variance(metric: Ratio | Smooth, pairing: Pairing) -> tuple[FloatArray, FloatArray]:
    """(names,): the variance of each difference, and how many units it rests on."""
    mine = gradient(metric, pairing.units_a, pairing.totals_a)
    gone = gradient(metric, pairing.units_b, pairing.totals_b)
    count = pairing.units_a.count
    moved = added(
        [
            influence(pairing.units_a.table, mine),
            influence(pairing.units_b.table, gone).scaled(-1),
        ]
    )
    variance = moved.variance(count)
    if pairing.clusters is None:
        return variance, np.full(len(variance), pairing.drawn)
    # As for a single score: clusters without a part in it say nothing about its spread.
    touched = moved.touched(count)
    return variance * corrected(touched, pairing.drawn), touched


def _difference(
    metric: Metric, a: float, b: float, variance: float, units: int, settings: Settings
) -> dict[str, Any]:
    """The difference with its interval, or the reason why there is none."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return {"difference": None, "reason": metric.about.undefined}
    out: dict[str, Any] = {"difference": a - b}
    if refusal(metric):
        return out | {"no_interval": refusal(metric)}
    if units < 2:
        return out | {"no_interval": ONE_UNIT}
    if not math.isfinite(variance):
        return out | {"no_interval": "there is no closed form for this difference"}
    se = math.sqrt(variance)
    largest = max(abs(a), abs(b))
    if agrees(se, largest, metric):
        return out | {"no_interval": SAME if agrees(abs(a - b), largest, metric) else LEVEL}
    tail = 0.5 + settings.level / 2
    reach = t_quantile(tail, units - 1) * se
    seen = (normal_quantile(tail) + normal_quantile(0.8)) * se
    return out | {"low": a - b - reach, "high": a - b + reach, "se": se, "smallest_seen": seen}


def _by_item(metric: Ratio | Smooth, pairing: Pairing) -> dict[str, Any]:
    """Wins, ties and losses by item, and McNemar's test where an item is right or wrong.

    An item is won by the system whose part in it raises the score more. For a mean that is the
    larger value; where the two have different denominators (spans that were predicted), a
    denominator weighs as much as the score of both systems together.
    """
    if not isinstance(metric, Ratio) or len(metric.names) > 1:
        return {}
    items = pairing.items
    hits_a, hits_b = items.sums_a(metric.num), items.sums_b(metric.num)
    bases_a, bases_b = items.sums_a(metric.den), items.sums_b(metric.den)
    if bool((bases_a < 0).any() or (bases_b < 0).any()):
        return {}
    ahead = metric.factor * (hits_a - hits_b)
    alike = np.array_equal(bases_a, bases_b)
    if not alike:
        base = float(((bases_a + bases_b) * items.count).sum())
        common = float(((hits_a + hits_b) * items.count).sum()) / base
        ahead -= metric.factor * common * (bases_a - bases_b)
    up, down = int(items.count[ahead > 0].sum()), int(items.count[ahead < 0].sum())
    ties = int(items.count.sum()) - up - down
    lower = metric.about.better == "lower"
    out: dict[str, Any] = {}
    if metric.about.better in {"higher", "lower"}:
        wins, losses = (down, up) if lower else (up, down)
        out = {"wins": wins, "ties": ties, "losses": losses}
    whole = alike and bool(
        ((bases_a == 1) & np.isin(hits_a, (0, 1)) & np.isin(hits_b, (0, 1))).all()
    )
    if metric.proportion and whole and pairing.clusters is None and not pairing.weighted:
        out |= {"p": binomial_half_p(up, up + down), "test": "mcnemar"}
    return out


def _of_events(
    metric: Events,
    a: Sample,
    b: Sample,
    settings: Settings,
    official: tuple[Mapping[str, float], Mapping[str, float]],
) -> list[PairedEstimate]:
    """The paired differences of an event metric: a t test on influence, or a paired bootstrap."""
    empty = np.full(len(metric.names), np.nan)
    first, second, variance, draws = empty, empty, empty, None
    if a.evidence.n:
        with np.errstate(all="ignore"):
            mine = metric.score(a.evidence, None, not metric.no_interval)
            gone = metric.score(b.evidence, None, not metric.no_interval)
        first, second = mine.values, gone.values
        if mine.influence is not None and gone.influence is not None and not metric.no_interval:
            sides = [event_influence(mine.influence, a), event_influence(gone.influence, b)]
            variance = added([sides[0], sides[1].scaled(-1)]).variance(ones(a.drawn))
    times = wanted(metric, a, settings.bootstrap)
    if times and a.drawn > 1 and not metric.no_interval:
        draws = _paired_draws(metric, a, b, times, settings.seed)
    clusters = None if a.clusters is None else a.drawn
    out = []
    for c, name in enumerate(metric.names):
        one = official[0].get(name, float(first[c]))
        two = official[1].get(name, float(second[c]))
        found = _difference(metric, one, two, float(variance[c]), a.drawn, settings)
        if found["difference"] is not None:
            found |= _event_test(found, None if draws is None else draws[:, c], a.drawn, settings)
        out.append(PairedEstimate(name=name, n=a.evidence.n, clusters=clusters, **found))
    return out


def _paired_draws(metric: Events, a: Sample, b: Sample, times: int, seed: int) -> FloatArray | None:
    """(draws, names): differences under the same resamples of both systems.

    None where those of a kept run are not the same.
    """
    purpose, gone = f"bootstrap/{a.evidence.name}", None
    if isinstance(b.evidence, Redrawn):
        gone = b.evidence.redrawn(metric.names, design(a, times, seed))
        if gone is None or len(gone) != times:
            return None
    else:
        gone = resampled_events(metric, b, times, seed, purpose)
    return resampled_events(metric, a, times, seed, purpose) - gone


def _event_test(
    found: Mapping[str, Any], draws: FloatArray | None, drawn: int, settings: Settings
) -> dict[str, Any]:
    """p and the name of its test, and the bootstrap's interval where that was asked for."""
    difference, se = found["difference"], found.get("se")
    if difference == 0 and found.get("no_interval") == SAME:
        return {"p": 1.0, "test": "t test on influence"}
    if draws is not None and len(valid := draws[np.isfinite(draws)]) >= 0.95 * len(draws):
        tail = (1 - settings.level) / 2
        low, high = np.quantile(valid, [tail, 1 - tail])
        side = min(int((valid <= 0).sum()), int((valid >= 0).sum()))
        p = min(1.0, 2 * (side + 1) / (len(valid) + 1))
        out: dict[str, Any] = {"p": p, "test": f"paired bootstrap, {len(draws)} resamples"}
        if low == high:
            return out
        se = float(valid.std(ddof=1))
        seen = (normal_quantile(1 - tail) + normal_quantile(0.8)) * se
        out |= {"se": se, "smallest_seen": seen, "no_interval": ""}
        return out | {"low": float(low), "high": float(high)}
    if se is not None:
        return {"p": number(t_p(difference / se, drawn - 1)), "test": "t test on influence"}
    return {}
