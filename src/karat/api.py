"""The Python face of karat."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from karat import tasks
from karat.errors import DataError, UsageError
from karat.model.problem import Problem, Problems
from karat.model.report import Input, Report
from karat.model.task import Card, Declared, Request
from karat.read.source import Source
from karat.run import detect

SEED = 12345

Say = Callable[[str], None]
Progress = Callable[[str, int, "int | None"], None]


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

    card, request = _prepare(
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
    if sum(_is_stdin(one) for one in (gold, *systems)) > 1:
        raise UsageError("standard input can be only one of the files")
    stored = None
    if baseline is not None:
        stored = comparing.stored(baseline)
    told = {**(options or {}), **more}
    named = any(o.gold and told.get(o.name) is not None for c in tasks.cards() for o in c.options)
    if named:
        gold, systems = None, (gold, *systems)
    fields: dict[str, Any] = {"by": _tuple(by), "cluster": cluster, "weights": weights}
    if gold is not None and (not isinstance(gold, str) or _is_stdin(gold)):
        gold = Source.of(gold)
    prepared = [
        _prepare(
            one if named else gold,
            None if named else one,
            task,
            _of_system(told, at, len(systems)),
            (say or _silent) if at == 0 else _silent,
            progress,
            **fields,
        )
        for at, one in enumerate(systems)
    ]
    cards = {card.name: card for card, _ in prepared}
    if len(cards) != 1:
        what = f"the systems look like {', '.join(cards)}" if cards else "there are no systems"
        raise UsageError(what, help="say which task with --task; GOLD BASELINE SYSTEM ...")
    requests = [request for _, request in prepared]
    called = comparing.system_names(requests, names)
    (card,) = cards.values()
    _check_written(card, requests)
    report = comparing.compare(card, list(zip(called, requests, strict=True)), settings, stored)
    _write(card, requests[0], report, say or _silent)
    return report


def _tuple(thing: str | Sequence[str]) -> tuple[str, ...]:
    """Several words, also where there is only one."""
    return (thing,) if isinstance(thing, str) else tuple(thing)


def _of_system(options: Mapping[str, Any], at: int, systems: int) -> dict[str, Any]:
    """The options of one system: of a comma list of files, as long as the systems, its own file."""
    paths = {o.name for c in tasks.cards() for o in c.options if o.kind == "path" and not o.gold}
    own = dict(options)
    for name in paths & own.keys():
        value = own[name]
        if isinstance(value, str) and value.count(",") == systems - 1 and not Path(value).exists():
            own[name] = value.split(",")[at]
    return own


def _check_written(card: Card, requests: Sequence[Request]) -> None:
    """Return if no option would write over a file that is read."""
    from karat.present.jsonfile import same_file

    read = [source.name for request in requests for source in (*request.gold, *request.predictions)]
    for option in card.options:
        path = requests[0].options.get(option.name)
        if option.writes and path is not None and any(same_file(path, one) for one in read):
            flag = f"--{option.name.replace('_', '-')}"
            raise UsageError(f"{flag} {path}: is one of the inputs", help="choose another name")


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
    own = _known_options(found.card, {**(options or {}), **more})
    settings = stressing.StressSettings(seed, fail_on, own)
    done = stressing.stress(found, settings, problems)
    if failing_rows is not None:
        from karat.present import failingrows, jsonfile

        jsonfile.write_atomically(failing_rows, failingrows.render(done.rows()))
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
        card, request = _prepare(
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


def _prepare(
    gold: Any,
    predictions: Any,
    task: str | None,
    options: Mapping[str, Any],
    say: Say,
    progress: Progress | None,
    **fields: Any,
) -> tuple[Card, Request]:
    """The task and the request that the arguments mean."""
    for name, value in fields.items():
        for one in value if isinstance(value, tuple) else (value,):
            if one == "":
                raise UsageError(f"{name} is empty", help="name a field, or leave it out")
            if one is not None and not isinstance(one, str):
                raise UsageError(f"{name} takes names of fields, not {one!r}")
    if _is_stdin(gold) and _is_stdin(predictions):
        raise UsageError("standard input can be only one of the two sides")
    left, right = (
        _sources(thing, side, progress)
        for thing, side in ((gold, "<gold>"), (predictions, "<predictions>"))
    )
    named = _named_gold(options, progress)
    if named:
        if right:
            raise UsageError("GOLD is left out where an option names the gold files")
        left, right = named, left
    if not left:
        raise UsageError("there is no gold", help="gold comes first, predictions after")
    card = detect.choose(left, right, task, say)
    for side, files in (("gold", left), ("predictions", right)):
        if len(files) > 1 and side not in card.several:
            called = ", ".join(file.name or "''" for file in files)
            raise UsageError(f"{card.name} takes one file of {side}, not {len(files)}: {called}")
    return card, Request(left, right, options=_known_options(card, options), **fields)


def _is_stdin(thing: Any) -> bool:
    # A data frame compared with text is a frame of answers, or an error.
    return isinstance(thing, str) and thing == "-"


def _sources(thing: Any, side: str, progress: Progress | None) -> tuple[Source, ...]:
    """The inputs of one side. A path may be a comma list; what has no name is called `side`."""
    if thing is None:
        return ()
    several = isinstance(thing, str) and "," in thing and not Path(thing).exists()
    parts = thing.split(",") if several else [thing]
    return tuple(_source(part, side, progress) for part in parts)


def _named_gold(options: Mapping[str, Any], progress: Progress | None) -> tuple[Source, ...]:
    """The gold files that options name, in the order of the tasks' options."""
    names = [o.name for card in tasks.cards() for o in card.options if o.gold]
    return tuple(
        _source(options[name], "<gold>", progress)
        for name in names
        if options.get(name) is not None
    )


def _source(thing: Any, side: str, progress: Progress | None) -> Source:
    """One input, which says how far it has been read."""
    made = Source.of(thing, None if isinstance(thing, (str, os.PathLike)) else side)
    if progress is not None and made.rows is None:
        name, total = made.name, None
        if isinstance(thing, (str, os.PathLike)) and Path(thing).is_file():
            total = Path(thing).stat().st_size
        made.on_bytes = lambda done: progress(name, done, total)
    return made


def _known_options(card: Card, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, if the task has all of them and their values are among the choices."""
    known = {option.name: option for option in card.options}
    for name, value in options.items():
        if name not in known:
            having = [c.name for c in tasks.cards() if any(o.name == name for o in c.options)]
            whose = f"{name} belongs to {', '.join(having)}; " if having else ""
            raise UsageError(
                f"{card.name} has no option {name!r}",
                help=f"{whose}it has {', '.join(sorted(known)) or 'none'}",
            )
        choices = known[name].choices
        given = value if isinstance(value, (list, tuple)) else (value,)
        for one in given:
            if choices and one is not None and one not in choices:
                raise UsageError(
                    f"{name} cannot be {one!r}", help=f"choose from {', '.join(choices)}"
                )
    return {
        name: (tuple(value) if isinstance(value, (list, tuple)) else (value,))
        if known[name].many
        else value
        for name, value in options.items()
        if value is not None and not (isinstance(value, tuple) and not value)
    }
