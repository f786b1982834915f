"""The Python face of karat."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from karat.errors import DataError
from karat.model.problem import Problem, Problems
from karat.model.report import Input, Report
from karat.model.task import Card, Declared, Request
from karat.run import arguments
from karat.run.arguments import Progress, Say

SEED = 12345


class Check(msgspec.Struct, kw_only=True):
    """What `check` found. `hidden` counts, by code, the problems past the first 20 of a file.

    `notes` say how sound files were read, where that was decided from the data.
    """

    schema: int = 1
    task: str = ""
    ok: bool = True
    counts: dict[str, int] = {}
    problems: list[Problem] = []
    hidden: dict[str, int] = {}
    inputs: list[Input] = []
    notes: list[str] = []

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return self.counts.get("error", 0)


def _silent(text: str) -> None:
    """The default of `say`."""


def score(
    gold: Any,
    predictions: Any = None,
    *,
    task: str | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    weights: str | None = None,
    bootstrap: int = 0,
    confidence: float | None = 0.95,
    seed: int = SEED,
    require: str | Sequence[str] = (),
    gate: Literal["value", "bound"] = "value",
    options: Mapping[str, Any] | None = None,
    examples: int = 0,
    keep_evidence: bool = False,
    say: Say | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> Report:
    """Returns the Report of predictions weighed against gold.

    `gold` and `predictions` are paths (a comma list for several files, "-" for standard input),
    bytes, dicts as a JSON file would hold them, lists of records, or pandas, polars and Arrow
    tables; predictions may be left out where gold carries its own. Task options are given as
    keywords or in `options`. `confidence=None` leaves the intervals out; `keep_evidence` makes the
    Report one that `compare` can take as a baseline. Raises DataError, with all problems, where the
    inputs have errors.
    """
    from karat.run import pipeline

    card, request = arguments.prepared(
        gold,
        predictions,
        task,
        {**(options or {}), **more},
        say or _silent,
        progress,
        by=_tuple(by),
        cluster=cluster,
        weights=weights,
    )
    settings = pipeline.RunSettings(
        level=confidence,
        bootstrap=bootstrap,
        seed=seed,
        require=_tuple(require),
        gate=gate,
        examples=examples,
        keep_evidence=keep_evidence,
    )
    _check_written(card, [request])
    report = pipeline.score(card, request, settings)
    _write(card, request, report, say or _silent)
    return report


def compare(
    gold: Any,
    *systems: Any,
    names: Sequence[str] = (),
    baseline: Report | str | os.PathLike[str] | None = None,
    fail_if_worse: str | Sequence[str] = (),
    task: str | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    weights: str | None = None,
    bootstrap: int = 0,
    confidence: float = 0.95,
    seed: int = SEED,
    trials: int = 10_000,
    options: Mapping[str, Any] | None = None,
    say: Say | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> Report:
    """Returns the Report of several systems on the same items; the first one is the baseline.

    Systems are whatever `score` takes as predictions. `baseline` may instead be a Report, or the
    file of one, that was made with `keep_evidence`. `fail_if_worse` holds rules such as
    "f1_macro=0.01", which gate on the worse end of a difference's interval. An option that names a
    file may be a comma list, one file a system. Raises DataError where the systems' items differ.
    """
    from karat.run import comparing

    settings = comparing.CompareSettings(
        level=confidence,
        bootstrap=bootstrap,
        seed=seed,
        trials=trials,
        fail_if_worse=_tuple(fail_if_worse),
    )
    stored = None
    if baseline is not None:
        stored = comparing.stored(baseline)
    card, requests = arguments.of_systems(
        gold,
        systems,
        task,
        {**(options or {}), **more},
        say or _silent,
        progress,
        by=_tuple(by),
        cluster=cluster,
        weights=weights,
    )
    called = comparing.system_names(requests, names)
    _check_written(card, requests)
    report = comparing.compare(card, list(zip(called, requests, strict=True)), settings, stored)
    _write(card, requests[0], report, say or _silent)
    return report


def _tuple(thing: str | Sequence[str]) -> tuple[str, ...]:
    """Several words, also where there is only one."""
    return (thing,) if isinstance(thing, str) else tuple(thing)


def _check_written(card: Card, requests: Sequence[Request]) -> None:
    """Return if no option would write over a file that is read."""
    from karat.present.writing import spare_inputs

    read = [source.name for request in requests for source in (*request.gold, *request.predictions)]
    for option in card.options:
        path = requests[0].options.get(option.name)
        if option.writes and path is not None:
            spare_inputs(path, read, f"--{option.name.replace('_', '-')}")


def _write(card: Card, request: Request, report: Report, say: Say) -> None:
    """Write the files that the task's own options name."""
    for option in card.options:
        if option.writes and request.options.get(option.name) is not None:
            module, _, attribute = option.writes.partition(":")
            say(getattr(importlib.import_module(module), attribute)(report, request.options))


def stress(
    config: str | os.PathLike[str] | None = None,
    *,
    task: str | None = None,
    ref: Any = None,
    ref_predictions: Any = None,
    evaluation: Any = None,
    eval_predictions: Any = None,
    perturbed: Any = None,
    perturbed_predictions: Any = None,
    name: str = "",
    class_names: Sequence[str] = (),
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    embeddings: Sequence[str] = (),
    tests: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    seed: int | None = None,
    fail_on: Literal["fail", "warning"] = "fail",
    failing_rows: str | os.PathLike[str] | None = None,
    allow_code: bool = False,
    options: Mapping[str, Any] | None = None,
    **more: Any,
) -> Report:
    """Returns the Report of a test run of evaluation data against reference data.

    Either `config` is the path of a run configuration, or `task`, `ref` and `evaluation` (paths or
    rows, each with its predictions) say the same; what is declared then are names of metadata and
    embeddings. `tests` are test settings as in a configuration, or the file of them; they take the
    place of its own. `failing_rows` names a CSV file
    for every row that a warning or failure concerns. Raises DataError with all problems.
    """
    from karat.run import stressing

    problems = Problems()
    given = {"path": perturbed, "predictions": perturbed_predictions}
    if config is not None:
        stressing.refuse_beside(
            task=task,
            ref=ref,
            ref_predictions=ref_predictions,
            eval=evaluation,
            eval_predictions=eval_predictions,
            class_names=class_names,
            numeric=numeric,
            categorical=categorical,
            embeddings=embeddings,
        )
        found = stressing.configured(config, given, tests, problems, name, allow_code)
    else:
        sides = {"ref": (ref, ref_predictions), "eval": (evaluation, eval_predictions)}
        declared = Declared(
            tuple(class_names) or None, tuple(numeric), tuple(categorical), tuple(embeddings)
        )
        found = stressing.described(task, sides, declared, given, tests, problems, name)
    own = arguments.known_options(found.card, {**(options or {}), **more})
    settings = stressing.StressSettings(seed, fail_on, own)
    done = stressing.stress(found, settings, problems)
    if failing_rows is not None:
        from karat.present import failingrows, writing

        writing.write_atomically(failing_rows, failingrows.render(done.rows()))
    return done.report


def check(
    gold: Any,
    predictions: Any = None,
    *,
    task: str | None = None,
    options: Mapping[str, Any] | None = None,
    say: Say | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
    **more: Any,
) -> Check:
    """Returns every problem of the inputs; nothing is scored.

    `gold` may also be the path of a run configuration: then everything that run would read is
    checked, the configuration itself included.
    """
    from karat.run import configuration, pipeline

    problems = Problems()
    if predictions is None and task is None and configuration.looks_like_one(gold):
        found = configuration.check_configuration(gold, problems, allow_code=allow_code)
        if found is None:
            return _checked("", problems, [])
        return _checked(found.card.name, problems, configuration.inputs_of(found))
    try:
        card, request = arguments.prepared(
            gold,
            predictions,
            task,
            {**(options or {}), **more},
            say or _silent,
            progress,
            purpose="check",
        )
    except DataError as stopped:
        return _checked("", stopped.problems, [])
    work = card.load()
    pairs = work.read(card, request, problems)
    checked = _checked(card.name, problems, pipeline.inputs_of(request))
    if pairs is not None and not problems.errors:
        checked.notes = list(work.notes(pairs, request.options))
    return checked


def convert(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    task: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Problem]:
    """Returns the warnings of turning files of one format into another; `output` is then there.

    `source` and `target` are formats that `karat convert --list` names; the source is told from
    the data, and the target from the output's extension, where they can be. Raises DataError, with
    all problems, where the inputs have errors; then nothing is written.
    """
    from karat.run import convert as conversion

    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    _, problems = conversion.convert(paths, output, source, target, options, task)
    return list(problems)


def _checked(task: str, problems: Problems, inputs: list[Input]) -> Check:
    """What the collected problems come to."""
    return Check(
        task=task,
        ok=not problems.errors,
        counts=problems.counts,
        problems=list(problems),
        hidden=problems.hidden,
        inputs=inputs,
    )
