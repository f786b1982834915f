"""A stress run: both sides read and measured as `score` would, every test, one Report."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

import karat
from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.model.report import Gate, Input, Report
from karat.model.seen import Seen
from karat.model.suite import Category, FailingRow, Run, RunInput, Summary, Test, worst
from karat.model.task import Card, Declared, Request
from karat.read.place import Place
from karat.run import configuration
from karat.run.configuration import Configuration, inputs_of
from karat.run.observing import observe
from karat.run.signing import sign_stress
from karat.suite.judge import Outcome
from karat.suite.limits import CATEGORIES, limits
from karat.suite.observed import Observed
from karat.suite.performance import Scored, as_metrics
from karat.suite.tests import Material, run

SEED = 42


@dataclass(frozen=True, slots=True)
class StressSettings:
    """How to run: the seed (None: the configuration's), what fails, and the task's options."""

    seed: int | None = None
    fail_on: Literal["fail", "warning"] = "fail"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stressed:
    """The Report, and every row that it concerns (the Report itself shows the first ones)."""

    report: Report
    outcomes: Sequence[Outcome]

    def rows(self) -> list[FailingRow]:
        """All rows of all cases that warn or fail, in the order of the tests."""
        return [
            FailingRow(
                test=outcome.limit.name,
                subject=found.case.subject,
                status=found.case.status,
                row=row,
            )
            for outcome in self.outcomes
            for found in outcome.found
            if found.side is not None and found.case.status in ("warning", "fail")
            for row in found.side.rows(found.rows)
        ]


def configured(
    path: str | os.PathLike[str],
    perturbed: Mapping[str, Any],
    tests: Mapping[str, Any] | str | os.PathLike[str] | None,
    problems: Problems,
    name: str,
    allow_code: bool,
) -> Configuration:
    """The configuration of a file, with what was given beside it."""
    found = configuration.load(Path(path), problems, allow_code=allow_code)
    if found is None:
        raise DataError(problems)
    if tests is not None:
        found = replace(found, tests=configuration.settings(tests, problems))
    if problems.errors:
        raise DataError(problems)
    return replace(
        found,
        run_name=name or found.run_name,
        perturbation=_beside(perturbed) or found.perturbation,
    )


def refuse_beside(**given: Any) -> None:
    """Raise UsageError for what a configuration says itself."""
    both = [name for name, value in given.items() if value is not None and not _empty(value)]
    if both:
        raise UsageError(f"a configuration says this itself: {', '.join(both)}; give one of them")


def _empty(value: Any) -> bool:
    return isinstance(value, Sequence) and not len(value)


def described(
    task: str | None,
    sides: Mapping[Any, tuple[Any, Any]],
    declared: Declared,
    perturbed: Mapping[str, Any],
    tests: Mapping[str, Any] | str | os.PathLike[str] | None,
    problems: Problems,
    name: str,
) -> Configuration:
    """The configuration that task and files describe."""
    lacking = [f"{side} data" for side, (data, _) in sides.items() if data is None]
    if sum(isinstance(one, str) and one == "-" for side in sides.values() for one in side) > 1:
        raise UsageError("standard input can be only one of the files")
    if task is None or lacking:
        what = ", ".join([*(["a task"] if task is None else []), *lacking])
        raise UsageError(f"a stress run needs a configuration, or {what} beside what was given")
    made = configuration.of_files(
        task,
        sides,
        declared,
        name=name,
        tests=None if tests is None else configuration.settings(tests, problems),
        perturbation=_beside(perturbed),
    )
    if problems.errors:
        raise DataError(problems)
    return made


def _beside(perturbed: Mapping[str, Any]) -> dict[str, Any]:
    """The perturbed inputs; their paths are relative to where we are, not to the configuration."""
    if perturbed["predictions"] is None:
        if perturbed["path"] is not None:
            raise UsageError("perturbed inputs need their predictions (perturbed_predictions)")
        return {}
    found = {"predictions_path": perturbed["predictions"]}
    if perturbed["path"] is not None:
        found["eval_path"] = perturbed["path"]
    return {key: Path(p).resolve() if isinstance(p, str) else p for key, p in found.items()}


def stress(
    config: Configuration, settings: StressSettings, problems: Problems | None = None
) -> Stressed:
    """The stress run of a config. Raises DataError with all problems of its inputs."""
    problems = problems or Problems()
    began, started = time.perf_counter(), dt.datetime.now(dt.UTC)
    card = config.card
    requests: dict[str, Request] = {
        side: msgspec.structs.replace(request, options=settings.options)
        for side, request in config.requests()
    }
    place = Place(problems, config.path.name)
    sides = observe(card, requests, place, problems)
    if problems.errors or not sides:
        raise DataError(problems)
    sides = {name: replace(side, ignored=config.ignored) for name, side in sides.items()}
    perturbed = _perturbed(card, config, requests["eval"], sides["eval"], problems)
    scored = {name: _scored(card, requests[name], sides[name]) for name in sides}
    seed = settings.seed if settings.seed is not None else config.seed
    material = Material(
        sides["ref"],
        sides["eval"],
        scored["ref"],
        scored["eval"],
        SEED if seed is None else seed,
        perturbed,
    )
    outcomes = run(material, card.config_name or "", limits(config.tests))
    tests = [outcome.test() for outcome in outcomes]
    report = _report(config, material, tests, settings, problems)
    report.run = Run(
        name=config.run_name,
        task=card.name,
        seed=material.seed,
        tool_version=karat.__version__,
        config_sha256=_digest(report),
        inputs=[
            RunInput(path=one.name, sha256=one.digest, rows=one.records)
            for one in report.inputs
            if one.role != "configuration"
        ],
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.perf_counter() - began, 3),
    )
    return Stressed(report, outcomes)


def _scored(card: Card, request: Request, side: Observed) -> Scored | None:
    """What the engine measures of a side, None where it has no labels or no predictions."""
    seen = side.seen
    if not seen.labelled.any():
        return None
    task = card.load()
    pairs = task.read(card, msgspec.structs.replace(request, purpose="score"), Problems())
    if pairs is None:
        return None
    evidence = task.measure(pairs, request.options)
    return Scored(evidence, task.metrics(pairs, request.options))


def _perturbed(
    card: Card,
    config: Configuration,
    request: Request,
    side: Observed,
    problems: Problems,
) -> Seen | None:
    """The second cache of evaluation, None where none is given."""
    again = config.perturbed(request)
    if again is None:
        return None
    place = Place(problems, config.path.name)
    found = observe(card, {"perturbed": again}, place, problems)
    if problems.errors or not found:
        raise DataError(problems)
    seen = found["perturbed"].seen
    if seen.n != side.n:
        text = f"{seen.n} rows for {side.n} of evaluation; row i is row i with a changed input"
        problems.add("count-mismatch", text, file=seen.file)
        raise DataError(problems)
    return seen


def _report(
    config: Configuration,
    material: Material,
    tests: Sequence[Test],
    settings: StressSettings,
    problems: Problems,
) -> Report:
    card, counts = config.card, {"pass": 0, "warning": 0, "fail": 0, "skip": 0}
    for test in tests:
        counts[test.status] += 1
    report = Report(
        kind="stress",
        task=card.name,
        title=f"{card.title}, stress test",
        item=card.item,
        n=material.other.n,
        problems=list(problems),
        problem_counts=problems.counts,
        inputs=_inputs(config, material),
        notes=_notes(card, config),
    )
    report.summary = Summary(status=worst([test.status for test in tests]), counts=counts)
    report.metrics = as_metrics(material.moved)
    report.categories = _categories(tests)
    report.tests = list(tests)
    report.gates = [_gate(tests, settings)]
    report.signature = sign_stress(card, config.tests, report, material.seed)
    return report


def _categories(tests: Sequence[Test]) -> list[Category]:
    found = []
    for name in CATEGORIES:
        inside = [test for test in tests if test.category == name]
        if inside:
            status = worst([test.status for test in inside])
            found.append(Category(name=name, status=status, tests=[t.name for t in inside]))
    return found


def _gate(tests: Sequence[Test], settings: StressSettings) -> Gate:
    """What decides the exit status."""
    bad = ("fail", "warning") if settings.fail_on == "warning" else ("fail",)
    failing = [test.name for test in tests if test.status in bad]
    rule = "no test warns or fails" if settings.fail_on == "warning" else "no test fails"
    text = f"{len(failing)} of {len(tests)} do: {', '.join(failing)}" if failing else "none does"
    return Gate(rule=rule, passed=not failing, value=float(len(failing)), text=text)


def _inputs(config: Configuration, material: Material) -> list[Input]:
    """The files of the run, those of data with the rows of their side."""
    rows = {"ref": material.ref.n, "eval": material.other.n}
    return [
        one
        if one.role == "configuration"
        else msgspec.structs.replace(one, records=rows[one.role.split()[0]])
        for one in inputs_of(config)
    ]


def _digest(report: Report) -> str | None:
    return next((one.digest for one in report.inputs if one.role == "configuration"), None)


def _notes(card: Card, config: Configuration) -> list[str]:
    notes = ["a test warns or fails only where the effect is large and the data enough to tell"]
    if card.config_name in ("Text Classification", "Natural Language Inference"):
        blind = (
            "confidence and accuracy estimated from it cannot see that inputs mean something else"
        )
        notes.append(blind)
    if not (config.declared.numeric or config.declared.categorical):
        notes.append("no metadata is declared, so its kinds were told from the values")
    return notes
