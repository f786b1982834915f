"""Points: the values of metrics alone, for runs that want no intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from karat.model.evidence import Evidence
from karat.model.metric import Events, Metric
from karat.stats.intervals import Estimate, number
from karat.stats.spread import Sample

NOT_WANTED = "intervals were not asked for"


def points(
    metrics: Sequence[Metric], evidences: Sequence[Evidence], official: Mapping[str, float]
) -> list[Estimate]:
    """The estimates of all metrics, in their order, without intervals."""
    samples = {evidence.name: Sample(evidence) for evidence in evidences}
    return [
        estimate for metric in metrics for estimate in _of(metric, samples[metric.reads], official)
    ]


def _of(metric: Metric, sample: Sample, official: Mapping[str, float]) -> list[Estimate]:
    with np.errstate(all="ignore"):
        if isinstance(metric, Events):
            values = metric.score(sample.evidence, None, False).values
        else:
            values = metric.values(sample.totals)
    out = []
    for name, ours, n in zip(metric.names, values, sample.behind(metric), strict=True):
        value = number(official.get(name, float(ours)))
        reason = metric.about.undefined if value is None else ""
        out.append(Estimate(name=name, value=value, n=n, reason=reason, no_interval=NOT_WANTED))
    return out
