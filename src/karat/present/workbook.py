"""A Report as a workbook: a sheet for each part of it that has rows."""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from karat.errors import MissingExtra
from karat.model.report import Report, Table
from karat.present.csvfile import harmless
from karat.present.suite import changes_of, tests_of
from karat.present.widths import clean

Rows = list[Sequence[Any]]

_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")
_LONGEST_NAME, _LONGEST_TEXT = 31, 32_767
_THEN = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - the same report makes the same file


def render(report: Report) -> bytes:
    """The bytes of an .xlsx file. Text never starts a formula."""
    try:
        import openpyxl
        from openpyxl.styles import Font
    except ImportError:
        raise MissingExtra("writing a workbook", "excel") from None
    book = openpyxl.Workbook()
    book.remove(book.active)
    taken: set[str] = set()
    for title, rows in sheets(report):
        sheet = book.create_sheet(_name(title, taken))
        for row in rows:
            sheet.append([_cell(value) for value in row])
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        sheet.freeze_panes = "B2"
        for at, column in enumerate(sheet.columns):
            longest = max((len(str(cell.value)) for cell in column if cell.value), default=6)
            sheet.column_dimensions[_letter(at)].width = min(max(longest + 2, 8), 60)
    book.properties.creator = "karat"
    book.properties.created = book.properties.modified = _THEN
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def sheets(report: Report) -> Iterator[tuple[str, Rows]]:
    """(name, rows) of every sheet, the first row its head; empty ones are left out."""
    made: list[tuple[str, Rows]] = [
        ("scores", _scores(report)),
        ("slices", _slices(report)),
        ("systems", _systems(report)),
        ("comparisons", _comparisons(report)),
        ("tests", _tests(report)),
        ("changes", _changes(report)),
        *((table.title, _table(table)) for table in report.tables),
        ("worst items", _examples(report)),
        ("problems", _problems(report)),
        ("about", _about(report)),
    ]
    for title, rows in made:
        if len(rows) > 1:
            yield title, rows


def _scores(report: Report) -> Rows:
    told = _words("name value low high n clusters better reason no_interval formula reference")
    return [told, *([getattr(score, name) for name in told] for score in report.scores)]


def _slices(report: Report) -> Rows:
    told = _words("value low high difference difference_low difference_high p q reason")
    rows: Rows = [("field", "level", "n", "clusters", "name", *told)]
    for piece in report.slices:
        place = [piece.field, piece.level, piece.n, piece.clusters]
        for one in piece.scores:
            rows.append([*place, one.name, *(getattr(one, name) for name in told)])
    return rows


def _systems(report: Report) -> Rows:
    """A row a system and score, with the systems that it surely beats there."""
    told = _words("name value low high n clusters reason no_interval")
    rows: Rows = [("system", *told, "beats")]
    for one in report.systems:
        for score in one.scores:
            beaten = ", ".join(one.beats.get(score.name, ()))
            rows.append([one.name, *(getattr(score, name) for name in told), beaten])
    return rows


def _comparisons(report: Report) -> Rows:
    """A row a difference, of all items and then of each slice."""
    told = _words(
        "name baseline_value system_value value low high p adjusted_p q test smallest_seen "
        "wins ties losses reason no_interval"
    )
    rows: Rows = [("system", "baseline", "field", "level", "n", *told)]
    for one in report.comparisons:
        parts = [("", "", report.n, one.differences)]
        parts += [(part.field, part.level, part.n, part.differences) for part in one.slices]
        for *place, differences in parts:
            for found in differences:
                numbers = (getattr(found, name) for name in told)
                rows.append([one.system, one.baseline, *place, *numbers])
    return rows


def _tests(report: Report) -> Rows:
    """A row a case of a stress test."""
    told = _words("subject status text value statistic warn fail low high p q n_ref n_eval")
    rows: Rows = [("test", "category", *told)]
    for test in tests_of(report):
        for case in test.cases:
            rows.append([test.name, test.category, *(getattr(case, name) for name in told)])
        if not test.cases:
            rows.append([test.name, test.category, "", test.status, test.reason])
    return rows


def _changes(report: Report) -> Rows:
    """The metrics of both sides of a stress run."""
    rows: Rows = [("name", "reference", "evaluation", "change", "low", "high")]
    for name, one in changes_of(report).items():
        rows.append([name, one.ref, one.eval, one.change, one.low, one.high])
    return rows


def _problems(report: Report) -> Rows:
    told = _words("severity code file line record key message help")
    return [told, *([getattr(one, name) for name in told] for one in report.problems)]


def _table(table: Table) -> Rows:
    return [table.columns, *table.rows]


def _examples(report: Report) -> Rows:
    names = list(dict.fromkeys(name for example in report.examples for name in example.fields))
    rows: Rows = [("id", "line", "record", "score", "kind", "why", *names)]
    for one in report.examples:
        fields = [one.fields.get(name) for name in names]
        rows.append([one.id, one.line, one.record, one.score, one.kind, one.why, *fields])
    return rows


def _about(report: Report) -> Rows:
    rows: Rows = [("what", "value"), ("task", report.task), ("items", report.n)]
    rows += [("verdict", one.sentence) for one in report.comparisons]
    rows += [(f"{one.role} file", f"{one.name} {one.digest}".strip()) for one in report.inputs]
    rows += [("gate", f"{'passed' if g.passed else 'failed'}: {g.text}") for g in report.gates]
    rows += [("note", note) for note in report.notes]
    return [*rows, ("signature", report.signature.text)]


def _words(text: str) -> list[str]:
    return text.split()


def _cell(value: Any) -> Any:
    """A number as it is, anything else as harmless text that a cell can hold."""
    if value is None or isinstance(value, bool | int | float):
        return value
    lines = "\n".join(clean(line) for line in str(value).splitlines())
    return str(harmless(lines))[:_LONGEST_TEXT]


def _name(title: str, taken: set[str]) -> str:
    """The name of a sheet: without what may not stand in one, and not yet taken."""
    base = _FORBIDDEN.sub(" ", clean(title)).strip()[:_LONGEST_NAME] or "table"
    name, at = base, 2
    while name.lower() in taken:
        ending = f" {at}"
        name, at = base[: _LONGEST_NAME - len(ending)] + ending, at + 1
    taken.add(name.lower())
    return name


def _letter(at: int) -> str:
    """The letters of a column: A, B, ..., Z, AA."""
    letters = ""
    at += 1
    while at:
        at, left = divmod(at - 1, 26)
        letters = chr(65 + left) + letters
    return letters
