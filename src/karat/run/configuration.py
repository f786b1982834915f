"""The run configuration: a JSON file that names reference and evaluation data, and what to test.

Every fault of the file is reported at once. Paths in it are relative to its folder, and messages
name files the way the configuration does.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from karat import tasks
from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.model.report import Input
from karat.model.task import Card, Declared, Request
from karat.read.place import Place, show
from karat.read.source import Source
from karat.read.strictjson import Malformed, StrictReader, ordinary
from karat.run import shape, switches
from karat.run.loading import load_rows
from karat.suite.stopwords import STOP_WORDS

SIDES: tuple[Side, ...] = ("ref", "eval")
Side = Literal["ref", "eval"]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where the data and the predictions of one side are; `loader` is set where code loads them.

    Paths, or rows in memory where the run was not described by a file.
    """

    data: Any = None
    predictions: Any = None
    embeddings: tuple[str, ...] = ()
    loader: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A run configuration that has no fault of its own; the data it names may have."""

    path: Path
    run_name: str
    model_task: str
    inputs: Mapping[Side, Inputs]
    declared: Declared
    tests: Mapping[str, Any]
    seed: int | None
    allow_code: bool = False
    perturbation: Mapping[str, Any] = field(default_factory=dict)
    ignored: Collection[str] = ()
    """Words that n-grams leave out."""
    _made: dict[Side, Request] = field(default_factory=dict, repr=False, compare=False)

    @property
    def card(self) -> Card:
        """The card of its task."""
        return tasks.card(self.model_task)

    def requests(self) -> list[tuple[Side, Request]]:
        """What to read on each side; the same objects every time, which know what was read."""
        for side in SIDES:
            if side not in self._made:
                self._made[side] = self._request(self.inputs[side])
        return list(self._made.items())

    def _request(self, inputs: Inputs) -> Request:
        if inputs.loader:
            gold = Source.of(load_rows(inputs.loader, self.path.parent), inputs.loader["name"])
        else:
            gold = self._source("" if inputs.data is None else inputs.data)
        cached = inputs.predictions
        predictions = () if cached is None else (self._source(cached),)
        declared = Declared(
            self.declared.class_names,
            self.declared.numeric,
            self.declared.categorical,
            inputs.embeddings,
        )
        return Request((gold,), predictions, declared=declared, purpose="check")

    def perturbed(self, request: Request) -> Request | None:
        """What to read of the perturbed inputs, None where there are none.

        Without data of their own they stand for the rows of evaluation.
        """
        path = self.perturbation.get("predictions_path")
        if path is None:
            return None
        own = self.perturbation.get("eval_path")
        gold = (self._source(own),) if own else request.gold
        return msgspec.structs.replace(request, gold=gold, predictions=(self._source(path),))

    def _source(self, thing: Any) -> Source:
        if not isinstance(thing, str):
            return Source.of(thing)
        return Source.of(str(self.path.parent / thing), thing)


def of_files(
    task: str,
    sides: Mapping[Side, tuple[Any, Any]],
    declared: Declared,
    *,
    name: str = "",
    tests: Mapping[str, Any] | None = None,
    perturbation: Mapping[str, Any] | None = None,
) -> Configuration:
    """The configuration of (data, predictions) on each side; paths stay relative to where we are.

    `task` is a task's name here or in configurations.
    """
    card = tasks.card(task)
    if card.config_name is None:
        known = ", ".join(one.name for one in tasks.cards() if one.config_name)
        raise UsageError(f"there is no stress test for {card.name}", help=f"there is for {known}")
    inputs = {
        side: Inputs(data, predictions, declared.embeddings)
        for side, (data, predictions) in sides.items()
    }
    return Configuration(
        Path(),
        name,
        card.config_name,
        inputs,
        declared,
        tests or {},
        None,
        perturbation=perturbation or {},
    )


def looks_like_one(thing: Any) -> bool:
    """Whether an input is a run configuration, to judge by the keys in its first bytes."""
    if not isinstance(thing, (str, Path)) or not Path(thing).is_file():
        return False
    with Path(thing).open("rb") as file:
        head = file.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"{") and (b'"data_info"' in head or b'"model_task"' in head)


def inputs_of(configuration: Configuration) -> list[Input]:
    """The files that the run reads, with their content hashes."""
    found = []
    if configuration.path.is_file():
        digest = _digest(configuration.path)
        found = [Input(role="configuration", name=configuration.path.name, digest=digest)]
    for side, request in configuration.requests():
        roles = ((side, request.gold), (f"{side} predictions", request.predictions))
        found += [
            Input(role=role, name=source.name, digest=source.digest(), records=source.records)
            for role, sources in roles
            for source in sources
            if not source.check()
        ]
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load(path: str | Path, problems: Problems, *, allow_code: bool = False) -> Configuration | None:
    """The configuration in a file, None where it has errors; all of them are reported."""
    path = Path(path)
    before = problems.errors
    place = Place(problems, path.name)
    content = _read(path, place)
    if content is None:
        return None
    shape.check_configuration(content, place)
    if "model_task" in content and isinstance(content["model_task"], str):
        _check_task(content["model_task"], place)
    tests = _tests(content, path, place)
    content = ordinary(content)
    inputs = _inputs(content, place, allow_code)
    if problems.errors > before or inputs is None:
        return None
    profile = content.get("data_profiling_info") or {}
    names = profile.get("class_names")
    declared = Declared(
        class_names=None if names is None else tuple(names),
        numeric=tuple(profile.get("custom_numeric_metadata") or ()),
        categorical=tuple(profile.get("custom_categorical_metadata") or ()),
    )
    return Configuration(
        path,
        content.get("run_name") or "",
        content["model_task"],
        inputs,
        declared,
        tests,
        content.get("random_seed"),
        allow_code,
        content.get("perturbation_info") or {},
        STOP_WORDS if profile.get("ngram_filter_stop_words") else (),
    )


def check_configuration(
    path: str | Path, problems: Problems, *, allow_code: bool = False
) -> Configuration | None:
    """The configuration, after everything that the run would read was read and checked."""
    configuration = load(path, problems, allow_code=allow_code)
    if configuration is None:
        return None
    card = configuration.card
    try:
        requests = configuration.requests()
    except DataError as error:
        problems.join(error.problems)
        return configuration
    home = importlib.import_module(f"{card.module.rpartition('.')[0]}.sides")
    place = Place(problems, configuration.path.name)
    home.check_sides(card, dict(requests), place, problems)
    return configuration


def _read(path: Path, place: Place) -> dict[str, Any] | None:
    """The object in a JSON file."""
    source = Source.of(path, place.file)
    faults = source.check()
    place.problems.take_all(faults)
    if faults:
        return None
    try:
        text = source.data().decode("utf-8")
    except DataError as error:
        place.problems.join(error.problems)
        return None
    except UnicodeDecodeError as error:
        place.add("encoding", f"byte 0x{error.object[error.start]:02x} is not UTF-8; re-save it")
        return None
    strict = StrictReader()
    try:
        value, end = strict.read(text, len(text) - len(text.lstrip()))
        if text[end:].strip():
            raise Malformed("not valid JSON: more follows behind the object", end)
    except Malformed as error:
        line = text.count("\n", 0, error.at) + 1
        Place(place.problems, place.file, line).add("json-syntax", error.message)
        return None
    if not strict.report(value, place):
        return None
    if not isinstance(value, dict):
        place.add("config-type", "the file must hold one JSON object")
        return None
    return value


def _check_task(name: str, place: Place) -> None:
    if name not in shape.TASKS:
        message = f"{show(name)} is not one of {', '.join(shape.TASKS)}"
        place.add("config-task", message, "model_task", help=shape.near(name, shape.TASKS))


def _tests(content: Mapping[str, Any], path: Path, place: Place) -> dict[str, Any]:
    """The test settings, from the file itself or from the one it names."""
    tests = content.get("tests_config")
    elsewhere = content.get("tests_config_path")
    if tests is None and isinstance(elsewhere, str):
        return _settings_in(path.parent / elsewhere, Place(place.problems, elsewhere))
    if not isinstance(tests, dict):
        return {}
    switches.check(tests, "tests_config", place)
    return dict(ordinary(tests))


def settings(
    given: Mapping[str, Any] | str | os.PathLike[str], problems: Problems
) -> Mapping[str, Any]:
    """Test settings that stand beside a configuration, or in a file of their own; checked."""
    if not isinstance(given, Mapping):
        return _settings_in(Path(given), Place(problems, os.fspath(given)))
    switches.check(given, "", Place(problems, "tests"))
    return given


def _settings_in(path: Path, place: Place) -> dict[str, Any]:
    found = _read(path, place) or {}
    switches.check(found, "", place)
    return dict(ordinary(found))


def _inputs(
    content: Mapping[str, Any], place: Place, allow_code: bool
) -> dict[Side, Inputs] | None:
    """Where the data of both sides is, None where that cannot be said."""
    info = content.get("data_info")
    if not isinstance(info, dict):
        return None
    predictions = content.get("prediction_info")
    cached = predictions if isinstance(predictions, dict) else {}
    split = "ref_data_info" in info or "eval_data_info" in info
    found: dict[Side, Inputs] = {}
    for side in SIDES:
        part = info.get(f"{side}_data_info") if split else info
        key = f"data_info.{side}_data_info" if split else "data_info"
        if not isinstance(part, dict):
            return None
        own = part.get("prediction_info") if split else None
        path = own.get("path") if isinstance(own, dict) else cached.get(f"{side}_path")
        loader = _loader(part, side, split)
        if loader and not _may_load(loader, key, side, place, allow_code):
            return None
        data = part.get("file_name" if split else f"{side}_path")
        embeddings = part.get("embeddings")
        found[side] = Inputs(
            None if loader else _text(data), _text(path), _embedding_names(embeddings), loader
        )
    return found


def _loader(part: Mapping[str, Any], side: Side, split: bool) -> dict[str, Any]:
    """What loads the rows, where that is not a file."""
    kind = shape.kind_of(part) if split else part.get("type")
    if kind in (None, "default"):
        return {}
    loader = {**part, "kind": kind, "side": side, "name": f"{side} data"}
    if kind == "custom" and not split:
        loader["load_func_name"] = f"get_{side}_data"
    if kind == "huggingface":
        default = "train" if side == "ref" else "test"
        loader["split"] = part.get("split_name" if split else f"{side}_split") or default
        if side == "eval" and part.get("eval_label_key"):
            loader["label_key"] = part["eval_label_key"]
    return loader


def _may_load(
    loader: Mapping[str, Any], key: str, side: Side, place: Place, allow_code: bool
) -> bool:
    if loader["kind"] == "data_collector":
        message = "data collectors cannot be read; export the rows to a file"
        place.add("config-unsupported", message, key)
        return False
    if loader["kind"] == "custom" and not allow_code:
        message = "data would be loaded by running Python code, which is refused unless allowed"
        # One message for both sides, where they share the setting.
        if side == "ref" or key != "data_info":
            place.add("config-code", message, f"{key}.load_path")
        return False
    return True


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _embedding_names(embeddings: Any) -> tuple[str, ...]:
    if not isinstance(embeddings, Sequence) or isinstance(embeddings, str):
        return ()
    return tuple(one["key"] for one in embeddings if isinstance(one, dict) and "key" in one)
