"""Several systems on the same items: each one's scores, and what it does better than the baseline.

The page reads as the run goes: measure each, bring them over the same cells, take differences,
adjust for how many were taken, and say what that means.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from karat.errors import DataError, UsageError
from karat.model.metric import Events, Metric
from karat.model.problem import Problems
from karat.model.report import (
    Comparison,
    Difference,
    Input,
    Report,
    SliceDifference,
    System,
)
from karat.model.signature import Signature
from karat.model.task import Card, Labelled, Request
from karat.run import keeping, pipeline, signing, verdicts
from karat.run.aligning import Aligned, Contestant, Influences, align
from karat.stats.compare import PairedEstimate, paired_all
from karat.stats.intervals import FEW_CLUSTERS, Settings
from karat.stats.multiple import benjamini_hochberg, holm

LETTERS = "abcdefghijklmnoprstuvwxyz"


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """How to infer and what to require. `trials` is how often sides are swapped for a p."""

    level: float = 0.95
    bootstrap: int = 0
    seed: int = 12345
    trials: int = 10_000
    fail_if_worse: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.trials < 100:
            raise UsageError(f"{self.trials} trials say nothing", help="use 1,000 or more")
        for rule in self.fail_if_worse:
            verdicts.parse(rule)
        pipeline.RunSettings(level=self.level, bootstrap=self.bootstrap)

    @property
    def run(self) -> pipeline.RunSettings:
        """The same for the scores of each system."""
        return pipeline.RunSettings(level=self.level, bootstrap=self.bootstrap, seed=self.seed)

    @property
    def inference(self) -> Settings:
        """The same for the engine."""
        return replace(self.run.inference, permutations=self.trials)


@dataclass(frozen=True, slots=True)
class Runs:
    """Everything measured: the systems in order, a stored baseline in front."""

    card: Card
    names: list[str]
    measured: list[pipeline.Measured]
    stored: Report | None
    contestants: list[Contestant]


def stored(baseline: Report | str | os.PathLike[str]) -> tuple[str, Report]:
    """(what messages call it, the Report) of a run that may serve as baseline."""
    if isinstance(baseline, Report):
        return "the baseline", baseline
    try:
        return os.fspath(baseline), Report.from_json(Path(baseline).read_bytes())
    except OSError as error:
        raise UsageError(f"{baseline}: {error.strerror or 'cannot be read'}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{baseline} is no run file: {error}", help="'karat score --out RUN.json' writes one"
        ) from error


def system_names(requests: Sequence[Request], given: Sequence[str] = ()) -> list[str]:
    """What the systems are called: as given, else by file, else by its whole path."""
    if given:
        if len(given) != len(requests) or len(set(given)) != len(given):
            raise UsageError(f"{len(requests)} systems need as many different names")
        return list(given)
    files = [keeping.run_name(one) for one in requests]
    if len(set(files)) < len(files):
        sides = [one.predictions or one.gold for one in requests]
        files = [",".join(source.name for source in side) for side in sides]
    if len(set(files)) < len(files):
        files = [f"{name} {at}" for at, name in enumerate(files, 1)]
    return files


def compare(
    card: Card,
    requests: Sequence[tuple[str, Request]],
    settings: CompareSettings,
    baseline: tuple[str, Report] | None = None,
) -> Report:
    """The Report of a comparison; the first request is the baseline unless one is stored."""
    problems = Problems()
    measured = [_measure(card, request, problems) for _, request in requests]
    if problems.errors:
        raise DataError(problems)
    runs = _runs(card, [name for name, _ in requests], measured, baseline)
    first = runs.contestants[0]
    aligned = [align(one, first, open_items=card.open_items) for one in runs.contestants[1:]]
    comparisons = _comparisons(runs, aligned, settings)
    systems = _systems(runs, comparisons, settings)
    return _report(runs, aligned, systems, comparisons, settings, problems)


def _measure(card: Card, request: Request, problems: Problems) -> Any:
    """One system, measured; what is wrong with it is told together with the others' defects."""
    own = Problems()
    found = None
    try:
        found = pipeline.measure(card, request, own)
    except DataError as stopped:
        own = stopped.problems
    known = {(p.code, p.file, p.line, p.key, p.message) for p in problems}
    for problem in own:
        if (problem.code, problem.file, problem.line, problem.key, problem.message) not in known:
            problems.take(problem)
    return found


def _runs(
    card: Card,
    names: list[str],
    measured: list[pipeline.Measured],
    baseline: tuple[str, Report] | None,
) -> Runs:
    """All systems over one list of labels."""
    kept: list[Contestant] = []
    if baseline is not None:
        file, stored = baseline
        if stored.evidence is None:
            raise UsageError(
                f"{file} holds no evidence to compare with",
                help="score the baseline with --keep-evidence --out RUN.json",
            )
        keeping.check_same(stored.evidence, measured[0], file)
        name = stored.evidence.name
        kept = [
            replace(
                keeping.restore(stored.evidence), name=f"{name} (stored)" if name in names else name
            )
        ]
    seen = {label for one in kept for label in one.labels}
    for one in measured:
        if isinstance(one.task, Labelled):
            seen |= set(one.task.labels(one.pairs))
    labels = tuple(sorted(seen))
    fresh = [_contestant(n, m, labels) for n, m in zip(names, measured, strict=True)]
    everyone = [*kept, *fresh]
    if len(everyone) < 2:
        raise UsageError("a comparison needs two systems", help="GOLD BASELINE SYSTEM ...")
    stored_report = baseline[1] if baseline else None
    return Runs(card, [one.name for one in everyone], measured, stored_report, everyone)


def _contestant(name: str, measured: pipeline.Measured, labels: tuple[str, ...]) -> Contestant:
    """One system over the labels of all."""
    task, pairs, options = measured.task, measured.pairs, measured.request.options
    evidence, metrics = measured.evidence, measured.metrics
    if isinstance(task, Labelled) and task.labels(pairs) != labels:
        wide = task.relabelled(pairs, labels)
        evidence, metrics = task.measure(wide, options), task.metrics(wide, options)
    official = measured.official
    own = labels if isinstance(task, Labelled) else ()
    return Contestant(name, pairs.ids, evidence, metrics, official, own, pairs.facets)


def _comparisons(
    runs: Runs, aligned: Sequence[Aligned], settings: CompareSettings
) -> list[Comparison]:
    """Every system against the baseline, adjusted for how many there are."""
    first, others = runs.contestants[0], runs.contestants[1:]
    found = [_differences(a, one, first, settings) for a, one in zip(aligned, others, strict=True)]
    found = _holm(found)
    slices = [_slices(a, settings.inference) for a in aligned]
    slices = _adjusted_slices(slices)
    return [
        Comparison(
            system=one.name,
            baseline=first.name,
            differences=differences,
            slices=parts,
            sentence=verdicts.sentence(one.name, first.name, differences, settings.level),
        )
        for one, differences, parts in zip(others, found, slices, strict=True)
    ]


def _differences(
    aligned: Aligned, a: Contestant, b: Contestant, settings: CompareSettings
) -> list[Difference]:
    """A minus B in every metric that both have."""
    found = _paired(aligned, settings.inference, a.official, b.official)
    about = _abouts(aligned.metrics)
    return [_difference(one, about[one.name]) for one in found]


def _paired(
    aligned: Aligned,
    settings: Settings,
    official_a: Mapping[str, float],
    official_b: Mapping[str, float],
) -> list[PairedEstimate]:
    """The paired estimates; what was kept as influence cannot be drawn again."""
    if any(isinstance(one, Influences) for one in aligned.second):
        settings = replace(settings, bootstrap=0)
    return paired_all(
        aligned.metrics, aligned.first, aligned.second, settings, official_a, official_b
    )


def _abouts(metrics: Iterable[Metric]) -> dict[str, tuple[str, str, bool]]:
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


def _holm(found: list[list[Difference]]) -> list[list[Difference]]:
    """The same differences with Holm's p over the systems, metric by metric."""
    ps: dict[str, list[float | None]] = {}
    for differences in found:
        for one in differences:
            ps.setdefault(one.name, []).append(one.p)
    adjusted = {name: iter(holm(values)) for name, values in ps.items()}
    return [
        [msgspec.structs.replace(one, adjusted_p=next(adjusted[one.name])) for one in differences]
        for differences in found
    ]


def _slices(aligned: Aligned, settings: Settings) -> list[SliceDifference]:
    """The main metrics in each level of each field."""
    about = _abouts(aligned.metrics)
    main = [m for m in aligned.metrics if any(about[name][2] for name in m.names)]
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
            differences = [
                _difference(one, about[one.name]) for one in found if about[one.name][2] or not main
            ]
            clusters = next((one.clusters for one in found), None)
            out.append(
                SliceDifference(
                    field=facet.name,
                    level=facet.levels[level],
                    n=int(sizes[level]),
                    clusters=clusters,
                    differences=differences,
                )
            )
    return out


def _adjusted_slices(found: list[list[SliceDifference]]) -> list[list[SliceDifference]]:
    """The same with q, all slices of all systems taken as one family."""
    every = [one for parts in found for part in parts for one in part.differences]
    qs = iter(benjamini_hochberg([one.p for one in every]))
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


def _systems(
    runs: Runs, comparisons: Sequence[Comparison], settings: CompareSettings
) -> list[System]:
    """Every system with its scores and those it beats."""
    beats = _beats(runs, comparisons, settings)
    scores = [pipeline.estimated(one, settings.run) for one in runs.measured]
    if runs.stored is not None:
        scores.insert(0, runs.stored.scores)
    return [
        System(
            name=name,
            letter=LETTERS[at] if at < len(LETTERS) else str(at + 1),
            stored=runs.stored is not None and at == 0,
            scores=scores[at],
            beats={metric: losers for metric, losers in beats[name].items() if losers},
        )
        for at, name in enumerate(runs.names)
    ]


def _beats(
    runs: Runs, comparisons: Sequence[Comparison], settings: CompareSettings
) -> dict[str, dict[str, list[str]]]:
    """By system and metric, those it surely beats: the baseline's family, then the others'."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in runs.names}
    pairs = [(one.system, one.baseline, one.differences) for one in comparisons]
    pairs += _among_the_rest(runs, settings)
    for system, other, differences in pairs:
        for one in differences:
            ahead = verdicts.better_by(one)
            if not ahead or not verdicts.surely(one, 1 - settings.level):
                continue
            winner, loser = (system, other) if ahead > 0 else (other, system)
            found[winner].setdefault(one.name, []).append(loser)
    return found


def _among_the_rest(
    runs: Runs, settings: CompareSettings
) -> list[tuple[str, str, list[Difference]]]:
    """The differences between systems that are no baseline, in the main metrics."""
    rest = runs.contestants[1:]
    pairs = [(b, a) for at, a in enumerate(rest) for b in rest[at + 1 :]]
    found = []
    for b, a in pairs:
        aligned = align(b, a, open_items=runs.card.open_items)
        about = _abouts(aligned.metrics)
        main = [m for m in aligned.metrics if any(about[name][2] for name in m.names)]
        aligned = replace(aligned, metrics=main)
        found.append(_differences(aligned, b, a, settings))
    return [
        (b.name, a.name, differences)
        for (b, a), differences in zip(pairs, _holm(found), strict=True)
    ]


def _report(
    runs: Runs,
    aligned: Sequence[Aligned],
    systems: list[System],
    comparisons: list[Comparison],
    settings: CompareSettings,
    problems: Problems,
) -> Report:
    pairs, card = runs.measured[0].pairs, runs.card
    scores = [score for system in systems for score in system.scores]
    clusters = max((s.clusters for s in scores if s.clusters is not None), default=None)
    comparisons = [_with_values(one, systems) for one in comparisons]
    return Report(
        kind="compare",
        task=card.name,
        title=card.title,
        item=pairs.item,
        n=max(len(one.ids) for one in aligned),
        clusters=clusters,
        unit=pairs.cluster.name if pairs.cluster is not None else pairs.item,
        level=settings.level,
        systems=systems,
        comparisons=comparisons,
        gates=verdicts.judge(comparisons, settings.fail_if_worse),
        problems=list(problems),
        problem_counts={level: problems.count(level) for level in ("error", "warning", "note")},
        inputs=_inputs(runs),
        notes=_notes(runs, clusters),
        signature=_signature(runs, settings),
    )


def _with_values(comparison: Comparison, systems: Sequence[System]) -> Comparison:
    """The comparison with both systems' own values beside each difference."""
    values = {one.name: {score.name: score.value for score in one.scores} for one in systems}
    mine, theirs = values[comparison.system], values[comparison.baseline]
    told = [
        msgspec.structs.replace(
            one, system_value=mine.get(one.name), baseline_value=theirs.get(one.name)
        )
        for one in comparison.differences
    ]
    return msgspec.structs.replace(comparison, differences=told)


def _inputs(runs: Runs) -> list[Input]:
    """Gold once, then the predictions of every system under its name."""
    found = [one for one in pipeline.inputs_of(runs.measured[0].request) if one.role == "gold"]
    sides = [pipeline.inputs_of(one.request) for one in runs.measured]
    if runs.stored is not None:
        sides.insert(0, runs.stored.inputs)
    for name, side in zip(runs.names, sides, strict=True):
        found += [msgspec.structs.replace(one, role=name) for one in side if one.role != "gold"]
    return found


def _notes(runs: Runs, clusters: int | None) -> list[str]:
    """What the task says, what was not kept, and a word on few clusters."""
    one = runs.measured[0]
    notes = list(one.task.notes(one.pairs, one.request.options))
    if (
        runs.stored is not None
        and runs.stored.evidence is not None
        and runs.stored.evidence.left_out
    ):
        lost = runs.stored.evidence.left_out
        more = f" and {len(lost) - 8} more" if len(lost) > 8 else ""
        notes.append(
            f"the stored run kept no evidence of {', '.join(lost[:8])}{more}: no tests there"
        )
    if clusters is not None and clusters < FEW_CLUSTERS:
        notes.append(f"intervals rest on {clusters} clusters only, so they are wide and rough")
    return notes


def _signature(runs: Runs, settings: CompareSettings) -> Signature:
    signed = signing.sign(runs.measured[0], settings.run.interval, settings.seed)
    digests = {role: value for role, value in signed.inputs.items() if role.startswith("gold")}
    for one in _inputs(runs):
        if one.role != "gold":
            # A system of several files has a number behind its name from the second on.
            taken = sum(role.rstrip("0123456789") == one.role for role in digests)
            digests[f"{one.role}{taken + 1 if taken else ''}"] = one.digest
    definitions = {**signed.definitions, "swaps": str(settings.trials)}
    return msgspec.structs.replace(signed, inputs=digests, definitions=definitions)
