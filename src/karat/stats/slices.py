"""Slices: every metric in every level of a facet, and how the level differs from the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.model.direction import badness
from karat.model.evidence import Evidence
from karat.model.metric import About, Metric
from karat.model.pairs import Facet
from karat.stats.contrasts import Contrast, contrasts
from karat.stats.intervals import Estimate, Settings, of_samples
from karat.stats.multiple import benjamini_hochberg, within
from karat.stats.parts import Cut, Part

GROUPS = "this score is over groups, which the field does not split"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceEstimate:
    """All metrics of one level of a facet."""

    facet: str
    level: str
    n: int
    clusters: int | None = None
    scores: tuple[Contrast, ...] = ()


def slices(
    metrics: Sequence[Metric],
    evidences: Sequence[Evidence],
    facet: Facet,
    settings: Settings | None = None,
    min_n: int = 1,
) -> list[SliceEstimate]:
    """The levels of a facet with at least `min_n` items, the worst first.

    Items without a value (code -1) are in no slice, but among the others of each.
    """
    settings = settings or Settings()
    cuts = {e.name: Cut(e, facet) for e in evidences if e.n == len(facet)}
    sizes = np.bincount(facet.codes[facet.codes >= 0], minlength=len(facet.levels))
    out = []
    for level in np.flatnonzero(sizes >= max(min_n, 1)).tolist():
        parts = {name: cut.part(level) for name, cut in cuts.items()}
        scores = _scores(metrics, parts, settings)
        clusters = next((part.inside.drawn for part in parts.values() if part.clustered), None)
        out.append(
            SliceEstimate(
                facet=facet.name,
                level=facet.levels[level],
                n=int(sizes[level]),
                clusters=clusters,
                scores=tuple(scores),
            )
        )
    return _worst_first(out, metrics)


def adjusted(found: Iterable[SliceEstimate]) -> list[SliceEstimate]:
    """The same slices with q, by Benjamini and Hochberg over all of them.

    Each score is a family of its own: among the slices that stand out in one score, few do so by
    chance, whatever other scores there are.
    """
    found = list(found)
    every = [score for part in found for score in part.scores]
    names = [score.estimate.name for score in every]
    qs = iter(within(names, [score.p for score in every], benjamini_hochberg))
    return [
        replace(part, scores=tuple(replace(score, q=next(qs)) for score in part.scores))
        for part in found
    ]


def _scores(
    metrics: Sequence[Metric], parts: Mapping[str, Part], settings: Settings
) -> list[Contrast]:
    """All metrics of one slice, in their order."""
    samples = {name: part.inside for name, part in parts.items()}
    known = [metric for metric in metrics if metric.reads in parts]
    found = iter(of_samples(known, samples, settings, {}))
    out: list[Contrast] = []
    for metric in metrics:
        if metric.reads not in parts:
            nothing = (Estimate(name=name, value=None, reason=GROUPS) for name in metric.names)
            out += [Contrast(estimate=estimate, reason=GROUPS) for estimate in nothing]
            continue
        estimates = [next(found) for _ in metric.names]
        out += contrasts(metric, parts[metric.reads], estimates, settings)
    return out


def _worst_first(found: list[SliceEstimate], metrics: Sequence[Metric]) -> list[SliceEstimate]:
    """The slices ordered by how bad they are on the main metric, those alike by how surely."""
    place, about = _main(metrics)
    if about is None:
        return found

    def order(part: SliceEstimate) -> tuple[bool, float, bool, float]:
        score = part.scores[place].estimate
        ends = [badness(end, about.better, about.near) for end in (score.low, score.high)]
        return *badness(score.value, about.better, about.near), *max(ends)

    return sorted(found, key=order)


def _main(metrics: Sequence[Metric]) -> tuple[int, About | None]:
    """(place of its first name, what is known of it) of the first main metric, or of the first."""
    place, first = 0, None
    for metric in metrics:
        if metric.about.main:
            return place, metric.about
        first = first or metric.about
        place += len(metric.names)
    return 0, first
