"""The scores of candidates from a prediction file, and every defect that they can have."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from karat.errors import DataError
from karat.model.problem import Problem, Problems
from karat.model.task import Source
from karat.read.place import Place, kind, show
from karat.read.strictjson import Malformed, StrictReader
from karat.tasks.stereotypes import SECTIONS

FLAT = ""
"""The section of a file that does not tell sections apart."""


class _Row(msgspec.Struct, gc=False):
    id: str
    score: float


class _Sections(msgspec.Struct):
    intrasentence: list[_Row] | None = None
    intersentence: list[_Row] | None = None


@dataclass(slots=True)
class Scores:
    """Candidate id -> score, for each section that the file has."""

    file: str
    sections: dict[str, dict[str, float]] = field(default_factory=dict)

    def of(self, section: str) -> dict[str, float] | None:
        """The scores of a section, None where the file has none."""
        return self.sections.get(section, self.sections.get(FLAT))

    def everything(self) -> dict[str, float]:
        """All scores, whatever their section."""
        found: dict[str, float] = {}
        for part in self.sections.values():
            found |= part
        return found


def read_scores(source: Source, problems: Problems) -> Scores | None:
    """The scores of a file, None where it cannot be used; what is wrong is reported."""
    faults = source.check()
    for fault in faults:
        problems.take(fault)
    if faults:
        return None
    try:
        shape = source.peek().shape
        if source.rows is not None:
            return _checked(source, {FLAT: list(source.rows)}, problems)
        if shape == "table":
            return _checked(source, {FLAT: _cells(source)}, problems)
        if shape == "pickle":
            text = "a prediction file is JSON; this is a pickle"
            raise DataError([Problem("prediction-shape", "error", text, source.name)])
        return _json(source, problems)
    except DataError as error:
        for problem in error.problems:
            problems.take(problem)
        return None


def _json(source: Source, problems: Problems) -> Scores | None:
    """The scores of a JSON file: sections, one list, or one object a line."""
    data = source.data()
    start = data.lstrip()[:1]
    parts: dict[str, list[_Row]] = {}
    try:
        if start == b"[":
            parts = {FLAT: msgspec.json.decode(data, type=list[_Row])}
        elif source.peek().shape == "lines":
            parts = {FLAT: msgspec.json.Decoder(_Row).decode_lines(data)}
        else:
            whole = msgspec.json.decode(data, type=_Sections)
            found = {name: getattr(whole, name) for name in SECTIONS}
            parts = {name: rows for name, rows in found.items() if rows is not None}
        scores = Scores(source.name, {k: {r.id: r.score for r in v} for k, v in parts.items()})
        whole_rows = sum(map(len, parts.values()))
        # Typed decoding refuses NaN and 1e400; what is left to see is an id that is used twice.
        if parts and len(scores.everything()) == whole_rows:
            return scores
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return _checked(source, _plain(source, data, problems), problems, data)


def _plain(source: Source, data: bytes, problems: Problems) -> dict[str, list[Any]]:
    """The lists of a file as they are, for the slow look."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        wrong = Problem("encoding", "error", "not UTF-8; re-save the file as UTF-8", source.name)
        raise DataError([wrong]) from None
    try:
        if source.peek().shape == "lines":
            return {FLAT: [json.loads(line) for line in text.splitlines() if line.strip()]}
        reader = StrictReader()
        whole = reader.read(text.strip())[0]
        reader.report(whole, Place(problems, source.name))
    except (Malformed, ValueError, RecursionError) as error:
        wrong = Problem("json-syntax", "error", str(error), source.name)
        raise DataError([wrong]) from None
    if isinstance(whole, list):
        return {FLAT: whole}
    if not isinstance(whole, dict) or not set(whole) & set(SECTIONS):
        text = f"an object with {' or '.join(SECTIONS)} is needed, each a list of {{id, score}}"
        raise DataError([Problem("prediction-shape", "error", text, source.name)])
    return {name: whole[name] for name in SECTIONS if whole.get(name) is not None}


def _cells(source: Source) -> list[dict[str, Any]]:
    """The rows of a CSV or TSV file with the columns id and score."""
    text = source.data().decode("utf-8", "replace")
    tab = "\t" if "\t" in text.split("\n", 1)[0] else ","
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=tab))
    for row in rows:
        for key in ("score", "sent_more_score", "sent_less_score"):
            try:
                row[key] = float(row[key])
            except (KeyError, TypeError, ValueError):
                continue
    return rows


def _checked(
    source: Source, parts: Mapping[str, Any], problems: Problems, data: bytes | None = None
) -> Scores:
    """The scores of plain rows; every row that is not sound is reported with its place."""
    scores = Scores(source.name)
    lines = _Lines(data)
    for section, rows in parts.items():
        found = scores.sections.setdefault(section, {})
        if not isinstance(rows, list):
            text = f"value is a {kind(rows)}; a list of {{id, score}} is required"
            problems.add("prediction-shape", text, file=source.name, key=section)
            continue
        for i, row in enumerate(rows):
            key = f"{section}[{i}]" if section else ""
            told = row.get("id") if isinstance(row, Mapping) else None
            place = Place(problems, source.name, lines.of(told, told in found), i)
            for one, score in _sound(row, key, i, place):
                if one in found and found[one] != score:
                    text = f"{show(one)} is scored twice, {found[one]!r} and {score!r}"
                    place.add("prediction-duplicate", text, key or None)
                elif one in found:
                    text = f"{show(one)} is scored twice, both times the same"
                    place.add("prediction-duplicate", text, key or None, severity="warning")
                found[one] = score
    return scores


def _sound(row: Any, key: str, i: int, place: Place) -> Iterable[tuple[str, float]]:
    """(id, score) of a row, or of both sentences of a pair; nothing where it is not sound."""
    if not isinstance(row, Mapping):
        place.add("not-object", f"value is a {kind(row)}; an object is required", key or None)
        return
    if "sent_more_score" in row:
        name = row.get("id") or row.get("") or str(i)
        wanted = [(f"{name}:{side}", f"sent_{side}_score") for side in ("more", "less")]
    else:
        if not isinstance(row.get("id"), str):
            place.add("prediction-id", "every score needs the id of its candidate", key or None)
            return
        wanted = [(row["id"], "score")]
    for one, name in wanted:
        score = row.get(name)
        path = f"{key}.{name}" if key else name
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            place.add("score-type", f"value is {show(score)}; a number is required", path)
        elif not math.isfinite(score):
            place.add("score-not-finite", f"the score of {show(one)} is not a finite number", path)
        else:
            yield one, float(score)


class _Lines:
    """The line of an id in a file, found by searching for it: only problems need one."""

    def __init__(self, data: bytes | None) -> None:
        self._data = data

    def of(self, name: Any, again: bool) -> int | None:
        """The line on which the id stands, the last one where it was met before."""
        if self._data is None or not isinstance(name, str):
            return None
        quoted = json.dumps(name, ensure_ascii=False).encode("utf-8", "replace")
        at = self._data.rfind(quoted) if again else self._data.find(quoted)
        return None if at < 0 else self._data.count(b"\n", 0, at) + 1
