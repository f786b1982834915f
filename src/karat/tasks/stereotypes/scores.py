"""The scores of candidates from a prediction file, and every defect that they can have."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from karat.errors import DataError
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.checks import found
from karat.read.place import Place, kind, show
from karat.read.strictjson import Malformed, StrictReader, report_defects
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.tables import broken, read_table

FLAT = ""
"""The section of a file that does not tell sections apart."""

_SPACE = re.compile(r"[ \t\r\n]*")
_OF_PAIRS = ("sent_more_score", "sent_less_score")


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
        whole: dict[str, float] = {}
        for part in self.sections.values():
            whole |= part
        return whole


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a section as they are, and the lines on which they start where there are any."""

    rows: Any
    lines: Sequence[int | None] = ()

    def placed(self) -> Iterator[tuple[int | None, Any]]:
        """(line, row) of every row."""
        yield from zip(self.lines or [None] * len(self.rows), self.rows, strict=True)


def read_scores(source: Source, problems: Problems) -> Scores | None:
    """The scores of a file, None where it cannot be used; what is wrong is reported."""
    faults = source.check()
    problems.take_all(faults)
    if faults:
        return None
    try:
        if source.rows is not None:
            return _checked(source, {FLAT: _Part(source.rows)}, problems)
        shape = source.peek().shape
        if shape == "table":
            return _checked(source, {FLAT: _of_table(source, problems)}, problems)
        if shape in ("pickle", "binary"):
            what = "a pickle" if shape == "pickle" else "no text"
            text = f"predictions are JSON, JSON lines, CSV or TSV; this is {what}"
            raise broken(source, "prediction-shape", text)
        data = source.data()
        return _typed(source, data) or _checked(source, _as_it_is(source, data, problems), problems)
    except DataError as error:
        problems.join(error.problems)
        return None


def _typed(source: Source, data: bytes) -> Scores | None:
    """The scores of a JSON file in which nothing is wrong or odd: sections, a list, or lines."""
    parts: dict[str, list[_Row]] = {}
    try:
        if data.lstrip()[:1] == b"[":
            parts = {FLAT: msgspec.json.decode(data, type=list[_Row])}
        elif source.peek().shape == "lines":
            parts = {FLAT: msgspec.json.Decoder(_Row).decode_lines(data)}
        else:
            whole = msgspec.json.decode(data, type=_Sections)
            lists = {name: getattr(whole, name) for name in SECTIONS}
            parts = {name: rows for name, rows in lists.items() if rows is not None}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    n = sum(map(len, parts.values()))
    scores = Scores(source.name, {k: {r.id: r.score for r in v} for k, v in parts.items()})
    # NaN and 1e400 are refused above. What is left to see: ids used twice, keys written twice.
    once = len(scores.everything()) == n == data.count(b'"id"') == data.count(b'"score"')
    return scores if parts and once else None


def _as_it_is(source: Source, data: bytes, problems: Problems) -> dict[str, _Part]:
    """The lists of a JSON file with the lines of their rows, for the slow look."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise broken(source, "encoding", "not UTF-8; re-save the file as UTF-8", line) from None
    strict = StrictReader()
    start = _skip(text, 0)
    try:
        if source.peek().shape == "lines":
            return {FLAT: _of_lines(text, strict)}
        whole, end = strict.read(text, start)
        if _skip(text, end) < len(text):
            raise Malformed("not valid JSON: there is more behind its end", end)
    except Malformed as error:
        line = text.count("\n", 0, error.at) + 1
        raise broken(source, "json-syntax", error.message, line) from None
    if isinstance(whole, list):
        return {FLAT: _Part(whole, _lines_of(text, start))}
    if not isinstance(whole, dict) or not set(whole) & set(SECTIONS):
        wanted = f"an object with {' or '.join(SECTIONS)} is needed, each a list of {{id, score}}"
        raise broken(source, "prediction-shape", wanted)
    parts = {}
    for name in SECTIONS:
        if getattr(whole, "times", {}).get(name, 0) > 1:
            problems.add("duplicate-key", f"there are two lists called {name}", file=source.name)
        if whole.get(name) is not None:
            parts[name] = _Part(whole[name], _lines_under(name, text, whole[name]))
    return parts


def _skip(text: str, at: int) -> int:
    """The offset of what comes next after white space."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _of_lines(text: str, strict: StrictReader) -> _Part:
    """The rows of JSON lines. Raises Malformed with an offset in the whole text."""
    rows, lines, at = [], [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                rows.append(strict.read(line.strip())[0])
            except Malformed as error:
                raise Malformed(error.message, at) from None
            lines.append(number)
        at += len(line) + 1
    return _Part(rows, lines)


def _lines_under(name: str, text: str, rows: Any) -> list[int]:
    """The lines of the rows of a section, none where its list is not found."""
    starts = [match.end() - 1 for match in re.finditer(rf'"{name}"\s*:\s*\[', text)]
    lines = _lines_of(text, starts[-1]) if starts and isinstance(rows, list) else []
    return lines if lines and len(lines) == len(rows) else []


def _lines_of(text: str, at: int) -> list[int]:
    """The line of each item of the sound list that starts at an offset."""
    decoder, lines, line, counted = json.JSONDecoder(), [], 1, 0
    at = _skip(text, at + 1)
    while text[at] != "]":
        line, counted = line + text.count("\n", counted, at), at
        lines.append(line)
        at = _skip(text, decoder.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    return lines


def _of_table(source: Source, problems: Problems) -> _Part:
    """The rows of a CSV or TSV file, their scores as numbers where they are any."""
    columns, lines = read_table(source, problems)
    wanted = _OF_PAIRS if _OF_PAIRS[0] in columns else ("id", "score")
    lacking = [name for name in wanted if name not in columns]
    if lacking:
        hint = f"it has {', '.join(list(columns)[:12])}"
        text = f"there is no column {', '.join(lacking)}"
        problems.add("column-missing", text, file=source.name, help=hint)
        return _Part([])
    for name in ("score", *_OF_PAIRS):
        if name in columns:
            columns[name] = list(map(_number, columns[name]))
    cells = zip(*columns.values(), strict=True)
    return _Part([dict(zip(columns, row, strict=True)) for row in cells], lines)


def _number(cell: str) -> Any:
    """The number that a cell holds, or the cell as it is."""
    try:
        return float(cell)
    except ValueError:
        return cell


def _checked(source: Source, parts: Mapping[str, _Part], problems: Problems) -> Scores:
    """The scores of plain rows; every row that is not sound is reported with its place."""
    scores = Scores(source.name)
    known: dict[str, float] = {}
    for section, part in parts.items():
        own = scores.sections.setdefault(section, {})
        if not isinstance(part.rows, Sequence) or isinstance(part.rows, str):
            text = f"value is a {kind(part.rows)}; a list of {{id, score}} is required"
            problems.add("prediction-shape", text, file=source.name, key=section)
            continue
        for i, (line, row) in enumerate(part.placed()):
            key = f"{section}[{i}]" if section else ""
            place = Place(problems, source.name, line, i)
            report_defects(row, (key,), place)
            for one, score in _sound(row, key, i, place):
                if one in known:
                    _report_again(one, known[one], score, place, key)
                known[one] = own[one] = score
    return scores


def _report_again(one: str, before: float, score: float, place: Place, key: str) -> None:
    """Say that a candidate has two scores: an error where they differ."""
    if before == score:
        text = f"{show(one)} is scored twice, both times the same"
        place.add("prediction-duplicate", text, key or None, severity="warning")
    else:
        text = f"{show(one)} is scored twice, {before!r} and {score!r}"
        place.add("prediction-duplicate", text, key or None)


def _sound(row: Any, key: str, i: int, place: Place) -> Iterable[tuple[str, float]]:
    """(id, score) of a row, or of both sentences of a pair; nothing where it is not sound."""
    if not isinstance(row, Mapping):
        place.add("not-object", f"value is a {kind(row)}; an object is required", key or None)
        return
    if "sent_more_score" in row:
        name = row.get("id") or row.get("") or str(i)
        sides = zip(("more", "less"), _OF_PAIRS, strict=True)
        wanted = [(f"{name}:{side}", told) for side, told in sides]
    else:
        if not isinstance(row.get("id"), str):
            place.add("prediction-id", "every score needs the id of its candidate", key or None)
            return
        wanted = [(row["id"], "score")]
    for one, name in wanted:
        score = row.get(name)
        path = f"{key}.{name}" if key else name
        if name not in row:
            text = f"required field '{name}' is missing{found(row, name, ('id',))}"
            place.add("field-missing", text, path)
        elif isinstance(score, bool) or not isinstance(score, (int, float)):
            place.add("score-type", f"value is {show(score)}; a number is required", path)
        elif not math.isfinite(number := _double(score)):
            place.add("score-not-finite", f"the score of {show(one)} is not a finite number", path)
        else:
            yield one, number


def _double(score: float) -> float:
    """The score as a double; infinite where it is an integer too large for one."""
    try:
        return float(score)
    except OverflowError:
        return math.inf
