"""Two independent samples: how far a score moved from one to the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.model.evidence import Counts, Evidence
from karat.model.metric import Events, Metric
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

    Scores of sums are resampled on each side (whole clusters where there are any); ordered scores
    use their influence, for which the variances of independent sides add.
    """
    sides = [{e.name: Sample(e) for e in evidences} for evidences in (first, second)]
    out: list[Moved] = []
    for metric in metrics:
        if metric.reads in sides[0] and metric.reads in sides[1]:
            out += _moved(metric, sides[0][metric.reads], sides[1][metric.reads], settings)
    return out


def _moved(metric: Metric, first: Sample, second: Sample, settings: Settings) -> list[Moved]:
    spreads = [spread(metric, side) for side in (first, second)]
    draws = None
    if (
        not isinstance(metric, Events)
        and not refusal(metric)
        and min(first.drawn, second.drawn) > 1
    ):
        draws = _draws(metric, second, settings, "second") - _draws(
            metric, first, settings, "first"
        )
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


def _draws(metric: Metric, side: Sample, settings: Settings, which: str) -> FloatArray:
    """(draws, names): the metric under resamples of one side."""
    assert not isinstance(metric, Events)
    assert isinstance(side.evidence, Counts)
    units = drawable(side.evidence, side.units)
    purpose = f"between/{which}/{metric.reads}"
    return resampled([metric], units, settings.bootstrap or DRAWS, settings.seed, purpose)[0]


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
