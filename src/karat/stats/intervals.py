"""Estimates: every score with its interval, and with the reason where there is none.

The interval is the delta method's over independent units (clusters where there are any) with
Student's t; Wilson's for a proportion of few items or near 0 or 1; the percentile bootstrap's
when asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.model.evidence import Counts, Evidence
from karat.model.metric import Events, Metric, Ratio, Smooth
from karat.model.pairs import FloatArray
from karat.stats.influence import summed
from karat.stats.quantiles import normal_quantile, t_quantile
from karat.stats.resample import drawable, resampled, resampled_events, wanted
from karat.stats.spread import Sample, Spread, agrees, at_end, clipped, refusal, spread

AGREE = "every unit agrees, so the spread cannot be estimated"
ONE_UNIT = "one unit has no spread"
AT_END = "at the end of its range the score has no slope that would tell its spread"
NO_FORMULA = "there is no closed form for this score; a bootstrap gives an interval"


@dataclass(frozen=True, slots=True)
class Settings:
    """How intervals are made. `bootstrap` is the number of resamples, 0 for closed forms.

    `wilson_below` is the number of items under which a proportion has Wilson's interval;
    `permutations` is the number of trials of a randomisation test.
    """

    level: float = 0.95
    bootstrap: int = 0
    seed: int = 12345
    wilson_below: int = 300
    permutations: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A score and what is known of its uncertainty. Nothing here is ever NaN.

    `value` is None where the score is undefined, and `reason` says why; `low` and `high` are None
    where there is no interval, and `no_interval` says why. `clusters` is how many clusters were
    drawn, None where items stand alone.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    n: int = 0
    clusters: int | None = None
    unit: str = "item"
    design_effect: float | None = None
    chance: float | None = None
    method: str = ""
    reason: str = ""
    no_interval: str = ""


def estimate(
    metric: Metric,
    evidence: Evidence,
    settings: Settings | None = None,
    values: Mapping[str, float] | None = None,
) -> list[Estimate]:
    """One estimate for each name of a metric. `values` are official values, which replace ours."""
    return estimates([metric], [evidence], settings, values)


def estimates(
    metrics: Sequence[Metric],
    evidences: Sequence[Evidence],
    settings: Settings | None = None,
    values: Mapping[str, float] | None = None,
) -> list[Estimate]:
    """The estimates of all metrics, in their order; evidence is folded and resampled once."""
    samples = {evidence.name: Sample(evidence) for evidence in evidences}
    return of_samples(metrics, samples, settings or Settings(), values or {})


def of_samples(
    metrics: Sequence[Metric],
    samples: Mapping[str, Sample],
    settings: Settings,
    official: Mapping[str, float],
) -> list[Estimate]:
    """The estimates of all metrics over evidence that may be folded already."""
    draws = _all_draws(metrics, samples, settings)
    out: list[Estimate] = []
    for place, metric in enumerate(metrics):
        sample = samples[metric.reads]
        found = _Found(metric, sample, spread(metric, sample), settings, draws.get(place))
        out += [found.estimate(c, official.get(name)) for c, name in enumerate(metric.names)]
    return out


def wilson(p: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion p of n."""
    z = normal_quantile(0.5 + level / 2)
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
    # At 0 and 1 the bound is the proportion itself; rounding must not say otherwise.
    return (0.0 if p == 0 else max(low, 0.0)), (1.0 if p == 1 else min(high, 1.0))


def number(x: float) -> float | None:
    """The number as a Python float, None where it is not finite."""
    return float(x) if math.isfinite(x) else None


class _Found:
    """Everything known of one metric, from which the estimate of each name is drawn up."""

    def __init__(
        self,
        metric: Metric,
        sample: Sample,
        spread: Spread,
        settings: Settings,
        draws: FloatArray | None,
    ) -> None:
        self.metric, self.sample, self.spread = metric, sample, spread
        self.settings, self.draws = settings, draws
        self.tail = 0.5 + settings.level / 2
        self.behind = sample.behind(metric)
        self.bases: FloatArray | None = None
        if isinstance(metric, Ratio) and metric.proportion and _plain(sample):
            self.bases = summed(metric.den, sample.totals, len(metric.names))

    def units(self, c: int) -> int:
        """How many units the score rests on: of clusters, those that have a part in it."""
        touched = self.spread.touched
        return self.sample.drawn if touched is None else int(touched[c])

    def estimate(self, c: int, official: float | None) -> Estimate:
        """The estimate of name c."""
        sample, clustered = self.sample, self.sample.clusters is not None
        value = float(self.spread.values[c]) if official is None else float(official)
        if math.isfinite(value):
            found = self.interval(c, value)
        else:
            found = {"reason": self.metric.about.undefined}
        return Estimate(
            name=self.metric.names[c],
            value=number(value),
            n=self.behind[c],
            unit=sample.unit,
            clusters=self.units(c) if clustered else None,
            chance=number(self.spread.chance[c]),
            **found,
        )

    def interval(self, c: int, value: float) -> dict[str, Any]:
        """Interval, method and design effect, or the reason why there is no interval."""
        metric, sample = self.metric, self.sample
        if refusal(metric):
            return {"no_interval": refusal(metric)}
        if self.draws is None and self.bases is not None:
            found = self.wilson(c, float(self.bases[c]))
            if found:
                return found
        if self.units(c) < 2:
            return {"no_interval": ONE_UNIT}
        if self.draws is not None:
            return self.design_effect(c) | self.percentile(self.draws[:, c], value)
        variance = float(self.spread.variance[c])
        if not math.isfinite(variance):
            return {"no_interval": NO_FORMULA}
        se = math.sqrt(variance)
        if agrees(se, value, metric):
            return {"no_interval": AGREE}
        if at_end(value, metric):
            return {"no_interval": AT_END}
        reach = t_quantile(self.tail, self.units(c) - 1) * se
        low, high = clipped(value - reach, value + reach, metric)
        method = "delta method, t" if sample.clusters is None else "clustered delta method, t"
        return {"low": low, "high": high, "se": se, "method": method} | self.design_effect(c)

    def design_effect(self, c: int) -> dict[str, Any]:
        """How many times larger the variance is than if the items stood alone."""
        variance, alone = float(self.spread.variance[c]), float(self.spread.alone[c])
        if self.sample.clusters is None or not alone > 0:
            return {}
        if agrees(math.sqrt(alone), float(self.spread.values[c]), self.metric):
            return {}
        return {"design_effect": number(variance / alone)}

    def wilson(self, c: int, n: float) -> dict[str, Any]:
        """Wilson's interval where it is better than the delta method's, else nothing."""
        factor = self.metric.factor if isinstance(self.metric, Ratio) else 1.0
        p = float(self.spread.values[c]) / factor
        if n <= 0 or not 0 <= p <= 1 or (n >= self.settings.wilson_below and 0.05 <= p <= 0.95):
            return {}
        low, high = wilson(p, n, self.settings.level)
        se = number(
            math.sqrt(float(self.spread.variance[c])) if self.sample.drawn > 1 else math.nan
        )
        return {"low": low * factor, "high": high * factor, "se": se, "method": "wilson"}

    def percentile(self, draws: FloatArray, value: float) -> dict[str, Any]:
        """The percentile interval; undefined draws are dropped, but not more than 5 %.

        A score that items seen twice push upwards asks to have its draws moved onto its value.
        """
        least = math.ceil(2 / (1 - self.settings.level) - 1e-9)
        if len(draws) < least:
            few = f"{len(draws)} resamples are too few for its tails; at least {least} are needed"
            return {"no_interval": few}
        valid = draws[np.isfinite(draws)]
        lost = len(draws) - len(valid)
        if lost > 0.05 * len(draws) or len(valid) < 2:
            return {"no_interval": f"undefined in {lost} of {len(draws)} resamples"}
        se = float(valid.std(ddof=1))
        if agrees(se, float(valid[0]), self.metric):
            return {"no_interval": AGREE}
        tail = (1 - self.settings.level) / 2
        low, high = map(float, np.quantile(valid, [tail, 1 - tail]))
        method = f"bootstrap percentile, {len(draws)} resamples"
        if isinstance(self.metric, Events) and self.metric.facts.get("centred"):
            off = float(valid.mean()) - value
            low, high = clipped(low - off, high - off, self.metric)
            method += ", centred"
        method += f", {lost} undefined left out" if lost else ""
        return {"low": low, "high": high, "se": se, "method": method}


def _plain(sample: Sample) -> bool:
    """Whether items stand alone and weigh the same."""
    return sample.clusters is None and getattr(sample.evidence, "weights", None) is None


def _all_draws(
    metrics: Sequence[Metric], samples: Mapping[str, Sample], settings: Settings
) -> dict[int, FloatArray]:
    """The bootstrap draws of each metric that has them, by its place."""
    out: dict[int, FloatArray] = {}
    for name, sample in samples.items():
        purpose = f"bootstrap/{name}"
        totals: list[tuple[int, Ratio | Smooth]] = []
        for place, metric in enumerate(metrics):
            if metric.reads != name or refusal(metric) or sample.drawn < 2:
                continue
            if isinstance(metric, Events):
                # A metric may ask for draws of its own where no closed form does it justice.
                draws = wanted(metric, sample, settings.bootstrap)
                if draws > 0:
                    out[place] = resampled_events(metric, sample, draws, settings.seed, purpose)
            elif settings.bootstrap > 0:
                totals.append((place, metric))
        if totals and isinstance(sample.evidence, Counts):
            units = drawable(sample.evidence, sample.units)
            chosen = [metric for _, metric in totals]
            found = resampled(chosen, units, settings.bootstrap, settings.seed, purpose)
            out |= {place: values for (place, _), values in zip(totals, found, strict=True)}
    return out
