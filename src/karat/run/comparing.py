"""Several systems on the same items: each one's scores, and what it does better than the baseline.

The page reads as the run goes: measure each, bring them over the same cells, take differences,
adjust for how many were taken, and say what that means.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import msgspec

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.model.report import SCHEMA, Comparison, Difference, Input, Report, System
from karat.model.signature import Signature
from karat.model.task import Card, Labelled, Request
from karat.run import keeping, pipeline, signing, verdicts
from karat.run.aligning import Aligned, Contestant, align
from karat.run.differences import differences, in_slices, main_metrics, over_slices, over_systems
from karat.stats.intervals import Settings
from karat.stats.resample import FEW_CLUSTERS

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
    help_line = "'karat score --keep-evidence --out RUN.json' writes one"
    try:
        content = Path(baseline).read_bytes()
        if content.lstrip()[:1] == b"<":
            raise UsageError(f"{baseline} is a page, and pages hold no evidence", help=help_line)
        found = Report.from_json(content)
    except OSError as error:
        raise UsageError(f"{baseline}: {error.strerror or 'cannot be read'}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"{baseline} is no run file: {error}", help=help_line) from error
    if found.schema != SCHEMA:
        raise UsageError(
            f"{baseline} has shape {found.schema}; this version of karat reads {SCHEMA}",
            help=help_line,
        )
    return os.fspath(baseline), found


def system_names(requests: Sequence[Request], given: Sequence[str] = ()) -> list[str]:
    """What the systems are called: as given, else by file with as many folders as tell it apart."""
    if given:
        if len(given) != len(requests) or len(set(given)) != len(given):
            raise UsageError(f"{len(requests)} systems need as many different names")
        return list(given)
    files = [keeping.run_name(one) for one in requests]
    paths = [
        PurePath(next((source.name for source in (*one.predictions, *one.gold)), ""))
        for one in requests
    ]
    for last in (files, [path.name for path in paths]):
        for depth in range(max(len(path.parts) for path in paths)):
            names = [
                "/".join((*path.parent.parts[-depth:], name) if depth else (name,))
                for path, name in zip(paths, last, strict=True)
            ]
            if len(set(names)) == len(names):
                return names
    return [f"{name} {at}" for at, name in enumerate(files, 1)]


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
    problems.join(own)
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
    inference = settings.inference
    found = over_systems(
        [differences(a, one, first, inference) for a, one in zip(aligned, others, strict=True)]
    )
    slices = over_slices([in_slices(a, inference) for a in aligned])
    return [
        Comparison(
            system=one.name,
            baseline=first.name,
            differences=told,
            slices=parts,
            sentence=verdicts.sentence(one.name, first.name, told, settings.level),
        )
        for one, told, parts in zip(others, found, slices, strict=True)
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
    for system, other, told in pairs:
        for one in told:
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
        aligned = replace(aligned, metrics=main_metrics(aligned))
        found.append(differences(aligned, b, a, settings.inference))
    return [(b.name, a.name, told) for (b, a), told in zip(pairs, over_systems(found), strict=True)]


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
        problem_counts=problems.counts,
        inputs=_inputs(runs),
        notes=[*_notes(runs, clusters), *_doubts(comparisons, 1 - settings.level)],
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
    """What the task says of all systems or of one, what was not kept, a word on few clusters."""
    told = [one.task.notes(one.pairs, one.request.options) for one in runs.measured]
    names = runs.names[-len(runs.measured) :]
    notes = []
    for note in dict.fromkeys(note for each in told for note in each):
        having = [name for name, each in zip(names, told, strict=True) if note in each]
        notes.append(note if len(having) == len(names) else f"{', '.join(having)}: {note}")
    kept = runs.stored.evidence if runs.stored is not None else None
    if kept is not None and kept.left_out:
        lost = kept.left_out
        shown = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
        notes.append(f"the stored run kept no evidence of {shown}: no tests there")
    if clusters is not None and clusters < FEW_CLUSTERS:
        notes.append(f"intervals rest on {clusters} clusters only, so they are wide and rough")
    return notes


def _doubts(comparisons: Sequence[Comparison], alpha: float) -> list[str]:
    """Where interval and test disagree: a score that jumps has no derivative to rely on.

    A class that one system alone predicts, once, moves a macro average by a whole class.
    """
    found = []
    for comparison in comparisons:
        names = [
            one.name
            for one in comparison.differences
            if one.main and one.p is not None and one.p > 4 * alpha and _without_zero(one)
        ]
        if names:
            found.append(
                f"{comparison.system}: the interval of {', '.join(names)} leaves out 0 and the "
                "test does not agree; a few items decide there, so believe the test"
            )
    return found


def _without_zero(one: Difference) -> bool:
    return one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)


def _signature(runs: Runs, settings: CompareSettings) -> Signature:
    signed = signing.sign(runs.measured[0], settings.run.interval, settings.seed)
    digests = {role: value for role, value in signed.inputs.items() if role.startswith("gold")}
    for one in _inputs(runs):
        if one.role != "gold":
            # A system of several files has a number behind its name from the second on.
            taken = sum(role.rstrip("0123456789") == one.role for role in digests)
            digests[f"{one.role}{taken + 1 if taken else ''}"] = one.digest
    options = dict(signed.options)
    for other in runs.measured[1:]:
        for name, value in signing.changed_options(other.card, other.request).items():
            # A file of the system's own, such as its no-answer probabilities.
            if options.get(name) != value:
                options[name] = f"{options.get(name, '')},{value}"
    definitions = {**signed.definitions, "swaps": str(settings.trials)}
    return msgspec.structs.replace(signed, inputs=digests, definitions=definitions, options=options)
