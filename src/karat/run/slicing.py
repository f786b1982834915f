"""Every metric for every slice, in the Report's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.model.report import Slice, SliceScore
from karat.stats import slices as cut
from karat.stats.intervals import Settings

if TYPE_CHECKING:
    from karat.run.pipeline import Measured


def slices(measured: Measured, settings: Settings) -> list[Slice]:
    """The slices of all wanted fields, each field's worst first, adjusted as one family."""
    found: list[cut.SliceEstimate] = []
    for facet in measured.pairs.facets.values():
        found += cut.slices(measured.metrics, measured.evidence, facet, settings)
    return [_slice(part) for part in cut.adjusted(found)]


def _slice(part: cut.SliceEstimate) -> Slice:
    return Slice(
        field=part.facet,
        level=part.level,
        n=part.n,
        clusters=part.clusters,
        scores=[_score(contrast) for contrast in part.scores],
    )


def _score(found: cut.Contrast) -> SliceScore:
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
