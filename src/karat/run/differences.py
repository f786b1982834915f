"""Differences of two aligned systems: in all metrics, in slices, and adjusted for how many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec
import numpy as np

from karat.model.metric import Events, Metric
from karat.model.report import Difference, SliceDifference
from karat.run.aligning import Aligned, Contestant, Influences
from karat.stats.compare import PairedEstimate, paired_all
from karat.stats.intervals import Settings
from karat.stats.multiple import benjamini_hochberg, holm, within


def differences(
    aligned: Aligned, a: Contestant, b: Contestant, settings: Settings
) -> list[Difference]:
    """A minus B in every metric that both have."""
    found = _paired(aligned, settings, a.official, b.official)
    about = abouts(aligned.metrics)
    return [_difference(one, about[one.name]) for one in found]


def _paired(
    aligned: Aligned,
    settings: Settings,
    official_a: Mapping[str, float],
    official_b: Mapping[str, float],
) -> list[PairedEstimate]:
    """The paired estimates of two aligned systems."""
    return paired_all(
        aligned.metrics, aligned.first, aligned.second, settings, official_a, official_b
    )


def abouts(metrics: Iterable[Metric]) -> dict[str, tuple[str, str, bool]]:
    """Direction, scale and whether it is a main score, by name."""
    found: dict[str, tuple[str, str, bool]] = {}
    for metric in metrics:
        about = metric.about
        for name in metric.names:
            main = about.main
            if isinstance(metric, Events) and "main" in metric.facts:
                main = name in metric.facts["main"]
            found[name] = (about.better, about.scale, main)
    return found


def main_metrics(aligned: Aligned) -> list[Metric]:
    """The metrics that short tables show."""
    about = abouts(aligned.metrics)
    return [m for m in aligned.metrics if any(about[name][2] for name in m.names)]


def _difference(found: PairedEstimate, about: tuple[str, str, bool]) -> Difference:
    better, scale, main = about
    # One unit that changes sides says nothing, whatever a test makes of it.
    told = (found.n if found.clusters is None else found.clusters) > 1
    return Difference(
        name=found.name,
        value=found.difference,
        low=found.low,
        high=found.high,
        se=found.se,
        p=found.p if told else None,
        test=found.test if told else "",
        smallest_seen=found.smallest_seen,
        wins=found.wins,
        ties=found.ties,
        losses=found.losses,
        better=better,
        scale=scale,
        main=main,
        reason=found.reason,
        no_interval=found.no_interval,
    )


def over_systems(found: list[list[Difference]]) -> list[list[Difference]]:
    """The same differences with Holm's p over the systems, metric by metric."""
    every = [one for differences in found for one in differences]
    adjusted = iter(within([one.name for one in every], [one.p for one in every], holm))
    return [
        [msgspec.structs.replace(one, adjusted_p=next(adjusted)) for one in differences]
        for differences in found
    ]


def in_slices(aligned: Aligned, settings: Settings) -> list[SliceDifference]:
    """The main metrics in each level of each field."""
    about = abouts(aligned.metrics)
    main = main_metrics(aligned)
    metrics = main or aligned.metrics[:1]
    n, out = len(aligned.ids), []
    for facet in aligned.facets.values():
        sizes = np.bincount(facet.codes[facet.codes >= 0], minlength=len(facet.levels))
        for level in np.flatnonzero(sizes).tolist():
            which = np.flatnonzero(facet.codes == level)
            sides = [
                (a.take(which), b.take(which))
                for a, b in zip(aligned.first, aligned.second, strict=True)
                if a.n == b.n == n and not isinstance(b, Influences)
            ]
            names = {a.name for a, _ in sides}
            part = replace(
                aligned,
                metrics=[metric for metric in metrics if metric.reads in names],
                first=[a for a, _ in sides],
                second=[b for _, b in sides],
            )
            found = _paired(part, settings, {}, {})
            told = [
                _difference(one, about[one.name]) for one in found if about[one.name][2] or not main
            ]
            clusters = next((one.clusters for one in found), None)
            out.append(
                SliceDifference(
                    field=facet.name,
                    level=facet.levels[level],
                    n=int(sizes[level]),
                    clusters=clusters,
                    differences=told,
                )
            )
    return out


def over_slices(found: list[list[SliceDifference]]) -> list[list[SliceDifference]]:
    """The same with q, all slices of all systems taken as one family, metric by metric."""
    every = [one for parts in found for part in parts for one in part.differences]
    names = [one.name for one in every]
    qs = iter(within(names, [one.p for one in every], benjamini_hochberg))
    return [
        [
            msgspec.structs.replace(
                part,
                differences=[msgspec.structs.replace(one, q=next(qs)) for one in part.differences],
            )
            for part in parts
        ]
        for parts in found
    ]
