"""StereoSet's own file, dev.json, as rows: candidates spread to c1 to c3, words cut at BLANK."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from karat.errors import DataError
from karat.model.problem import Problem, Problems
from karat.model.task import Source
from karat.read.place import Place, kind
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.records import CANDIDATES, REQUIRED, Sheet, diagnose

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_FIELDS = ("id", "target", "bias_type", "context")
_OF_CANDIDATE = ("id", "sentence", "gold_label")
_OF_COLUMN = re.compile(r"^c(\d)_(\w+)$")


class _Candidate(msgspec.Struct, gc=False):
    id: str
    sentence: str
    gold_label: str
    labels: Any = None


class _Example(msgspec.Struct, gc=False):
    id: str
    target: str
    bias_type: str
    context: str
    sentences: tuple[_Candidate, _Candidate, _Candidate]


class _Data(msgspec.Struct):
    intrasentence: list[_Example] = []
    intersentence: list[_Example] = []


class _Release(msgspec.Struct):
    data: _Data


def cut_word(context: str, sentence: str) -> str:
    """The word of the sentence that stands at BLANK, without punctuation.

    The place is that of the last token with a BLANK, counted in single spaces, as the data set's
    authors cut it; where the sentence is shorter there is no word.
    """
    places = [i for i, token in enumerate(context.split(" ")) if "BLANK" in token]
    tokens = sentence.split(" ")
    if not places or places[-1] >= len(tokens):
        return ""
    return tokens[places[-1]].translate(_NO_PUNCTUATION)


def read_release(source: Source, problems: Problems) -> list[Sheet]:
    """The sheets of a dev.json. What is wrong is reported with the path of its key."""
    data = source.data()
    try:
        release = msgspec.json.decode(data, type=_Release)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _report(source, data, problems)
        return []
    return [
        Sheet(source.name, section, columns(getattr(release.data, section), section), n)
        for section in SECTIONS
        if (n := len(getattr(release.data, section)))
    ]


def columns(examples: Sequence[_Example], section: str) -> dict[str, list[Any]]:
    """The examples of a section as columns."""
    found: dict[str, list[Any]] = {f: [getattr(e, f) for e in examples] for f in _FIELDS}
    for i in CANDIDATES:
        candidates = [example.sentences[i - 1] for example in examples]
        for name in ("sentence", "id", "gold_label", "labels"):
            found[f"c{i}_{name}"] = [getattr(one, name) for one in candidates]
        if section == SECTIONS[0]:
            pairs = zip(found["context"], found[f"c{i}_sentence"], strict=True)
            found[f"c{i}_word"] = [cut_word(context, sentence) for context, sentence in pairs]
    return found


def _report(source: Source, data: bytes, problems: Problems) -> None:
    """Every defect of a file that is not as it should be."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError) as error:
        text, line = f"not valid JSON: {error}", getattr(error, "lineno", None)
        raise DataError([Problem("json-syntax", "error", text, source.name, line)]) from None
    if isinstance(whole, Mapping) and set(whole) & set(SECTIONS):
        text = "these are scores of candidates; DATA comes first, then PREDICTIONS"
        problems.add("release-shape", text, file=source.name)
        return
    parts = whole.get("data") if isinstance(whole, Mapping) else None
    if not isinstance(parts, Mapping) or not set(parts) & set(SECTIONS):
        text = f"an object 'data' with {' or '.join(SECTIONS)} is needed"
        problems.add("release-shape", text, file=source.name, key="data")
        return
    before = problems.errors
    for section in SECTIONS:
        examples = parts.get(section, [])
        if not isinstance(examples, list):
            text = f"value is a {kind(examples)}; a list is required"
            problems.add("release-shape", text, file=source.name, key=f"data.{section}")
            continue
        for i, example in enumerate(examples):
            _report_example(example, f"data.{section}[{i}]", Place(problems, source.name, None, i))
    if problems.errors == before:
        # What typed decoding refused must not pass in silence.
        problems.add("release-shape", "some value is of the wrong type", file=source.name)


def _report_example(example: Any, path: str, place: Place) -> None:
    if not isinstance(example, Mapping):
        place.add("not-object", f"value is a {kind(example)}; an object is required", path)
        return
    sentences = example.get("sentences")
    if not isinstance(sentences, list) or len(sentences) != len(CANDIDATES):
        size = len(sentences) if isinstance(sentences, list) else "no"
        place.add("candidates-count", f"three sentences are needed; there are {size}", path)
        return
    row = {key: example.get(key) for key in _FIELDS}
    for i, one in enumerate(sentences, 1):
        told = one if isinstance(one, Mapping) else {}
        row |= {f"c{i}_{key}": told.get(key) for key in _OF_CANDIDATE}
    assert set(row) == set(REQUIRED)
    found = Problems()
    diagnose(row, Place(found, place.file))
    for problem in found:
        key = _OF_COLUMN.sub(lambda m: f"sentences[{int(m[1]) - 1}].{m[2]}", problem.key or "")
        place.add(problem.code, problem.message, f"{path}.{key}")
