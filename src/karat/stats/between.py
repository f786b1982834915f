"""Two independent samples: how far a score moved from one to the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.model.evidence import Counts, Evidence
from karat.model.metric import Events, Metric, Ratio, Smooth
from karat.model.pairs import FloatArray
from karat.stats.intervals import Settings, number
from karat.stats.quantiles import normal_quantile
from karat.stats.resample import drawable, resampled
from karat.stats.spread import Sample, refusal, spread

DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A score on both sides, and second minus first with its interval and standard error."""

    name: str
    first: float | None
    second: float | None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None


def moved(
    metrics: Sequence[Metric],
    first: Sequence[Evidence],
    second: Sequence[Evidence],
    settings: Settings,
) -> list[Moved]:
    """Every score that both sides have, in the order of the metrics.

    Scores of sums are resampled on each side (whole clusters where there are any), those of the
    same evidence under the same draws; ordered scores use their influence, for which the variances
    of independent sides add.
    """
    sides = [{e.name: Sample(e) for e in evidences} for evidences in (first, second)]
    kept = [m for m in metrics if all(m.reads in side for side in sides)]
    draws = [
        _drawn_changes(name, kept, sides[0][name], sides[1][name], settings)
        for name in dict.fromkeys(m.reads for m in kept)
    ]
    found = {at: change for one in draws for at, change in one.items()}
    return [
        moved
        for at, m in enumerate(kept)
        for moved in _moved(m, sides[0][m.reads], sides[1][m.reads], found.get(at), settings)
    ]


def _drawn_changes(
    reads: str, metrics: Sequence[Metric], first: Sample, second: Sample, settings: Settings
) -> dict[int, FloatArray]:
    """Place of a metric of sums that reads this evidence -> (draws, names) of its changes."""
    if min(first.drawn, second.drawn) < 2:
        return {}
    chosen: dict[int, Ratio | Smooth] = {
        at: metric
        for at, metric in enumerate(metrics)
        if metric.reads == reads and not isinstance(metric, Events) and not refusal(metric)
    }
    if not chosen:
        return {}
    sides = []
    for side, which in ((first, "first"), (second, "second")):
        assert isinstance(side.evidence, Counts)
        units = drawable(side.evidence, side.units)
        purpose, times = f"between/{which}/{reads}", settings.bootstrap or DRAWS
        sides.append(resampled(list(chosen.values()), units, times, settings.seed, purpose))
    return {at: after - before for at, before, after in zip(chosen, *sides, strict=True)}


def _moved(
    metric: Metric, first: Sample, second: Sample, draws: FloatArray | None, settings: Settings
) -> list[Moved]:
    spreads = [spread(metric, side) for side in (first, second)]
    out = []
    for c, name in enumerate(metric.names):
        a, b = (number(float(s.values[c])) for s in spreads)
        if a is None or b is None:
            out.append(Moved(name=name, first=a, second=b))
            continue
        variance = float(spreads[0].variance[c] + spreads[1].variance[c])
        found = _interval(b - a, variance, None if draws is None else draws[:, c], settings)
        out.append(Moved(name=name, first=a, second=b, change=b - a, **found))
    return out


def _interval(
    change: float, variance: float, draws: FloatArray | None, settings: Settings
) -> Mapping[str, float | None]:
    tail = (1 - settings.level) / 2
    if draws is not None:
        valid = draws[np.isfinite(draws)]
        if len(valid) >= 0.95 * len(draws):
            low, high = np.quantile(valid, [tail, 1 - tail])
            return {"low": float(low), "high": float(high), "se": float(valid.std(ddof=1))}
        return {}
    if not math.isfinite(variance) or variance <= 0:
        return {}
    se = math.sqrt(variance)
    reach = normal_quantile(1 - tail) * se
    return {"low": change - reach, "high": change + reach, "se": se}
