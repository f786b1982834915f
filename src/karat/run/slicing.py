"""Every metric for every slice, in the Report's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.errors import UsageError
from karat.model.pairs import Facet
from karat.model.report import Slice, SliceScore
from karat.stats import slices as cut
from karat.stats.contrasts import Contrast
from karat.stats.intervals import Settings
from karat.stats.points import points

MOST_LEVELS = 5_000
MOST_REMEASURED = 100
AGAIN = "measured again inside the slice, so it is not compared with the rest"

if TYPE_CHECKING:
    from karat.run.pipeline import Measured


def refuse_endless(facets: Mapping[str, Facet]) -> None:
    """Return if no field has so many values that a slice of each would be a mistake."""
    for name, facet in facets.items():
        if len(facet.levels) > MOST_LEVELS:
            raise UsageError(
                f"{name} has {len(facet.levels):,} values, too many to slice by "
                f"({MOST_LEVELS:,} at most)",
                help="name a field of fewer values; numbers are cut into bins",
            )


def slices(measured: Measured, settings: Settings) -> list[Slice]:
    """The slices of all wanted fields, each field's worst first, adjusted as one family."""
    found: list[cut.SliceEstimate] = []
    for facet in measured.pairs.facets.values():
        parts = cut.slices(measured.metrics, measured.evidence, facet, settings)
        found += _remeasured(measured, facet, parts)
    return [_slice(part) for part in cut.adjusted(found)]


def _remeasured(
    measured: Measured, facet: Facet, parts: list[cut.SliceEstimate]
) -> list[cut.SliceEstimate]:
    """The same parts, with values for scores whose unit is larger than an item.

    A task that has `subset(pairs, which)` is measured again inside each slice, where there are not
    too many of them.
    """
    subset = getattr(measured.task, "subset", None)
    whole = {e.name for e in measured.evidence if e.n != measured.pairs.n}
    if subset is None or not whole or len(parts) > MOST_REMEASURED:
        return parts
    larger = {n for metric in measured.metrics if metric.reads in whole for n in metric.names}
    task, options = measured.task, measured.request.options
    out = []
    for part in parts:
        inside = subset(measured.pairs, facet.codes == facet.levels.index(part.level))
        evidence = task.measure(inside, options)
        official = task.official(inside, evidence, options)
        values = {e.name: e for e in points(task.metrics(inside, options), evidence, official)}
        scores = [
            replace(score, estimate=replace(values[score.estimate.name], no_interval=AGAIN))
            if score.estimate.name in larger and score.estimate.name in values
            else score
            for score in part.scores
        ]
        out.append(replace(part, scores=tuple(scores)))
    return out


def _slice(part: cut.SliceEstimate) -> Slice:
    return Slice(
        field=part.facet,
        level=part.level,
        n=part.n,
        clusters=part.clusters,
        scores=[_score(contrast) for contrast in part.scores],
    )


def _score(found: Contrast) -> SliceScore:
    estimate = found.estimate
    return SliceScore(
        name=estimate.name,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        difference=found.difference,
        difference_low=found.low,
        difference_high=found.high,
        p=found.p,
        q=found.q,
        reason=estimate.reason or estimate.no_interval or found.reason,
    )
