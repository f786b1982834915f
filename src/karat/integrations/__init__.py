"""Adapters that log a Report to trackers of experiments; each needs its tracker installed."""

from __future__ import annotations

from collections.abc import Iterator

from karat.model.report import Report, Score


def scores_of(report: Report) -> Iterator[tuple[str, Score]]:
    """(name, score) of a run, or of every system of a comparison as `system/name`."""
    for score in report.scores:
        yield score.name, score
    for system in report.systems:
        for score in system.scores:
            yield f"{system.name}/{score.name}", score
