"""The data in each of its forms: pickled frames, dev.json, JSON rows, CSV, parquet, pairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import compress, zip_longest
from operator import attrgetter
from typing import Any

import msgspec

from karat.errors import DataError
from karat.model.problem import Problems
from karat.model.task import Request, Source
from karat.read.frames import read_frame
from karat.read.records import read_records
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.records import LABEL_LISTS, OPTIONAL, REQUIRED, Sheet, diagnose
from karat.tasks.stereotypes.release import read_release
from karat.tasks.stereotypes.tables import broken, read_parquet, read_table

PAIRS = "pairs"
"""The section of sentence pairs in CrowS-Pairs' style."""

_NAMED = re.compile(r"(intra|inter)sentence")


def read_sheets(request: Request, wanted: Iterable[str], problems: Problems) -> list[Sheet]:
    """The sheets of all gold files. `wanted` names further columns to decode from JSON rows.

    Files that options name come first, in the order of the tests; of one that holds both tests, the
    test that it is named for is taken.
    """
    sheets: list[Sheet] = []
    named = [s for s in SECTIONS if request.options.get(f"{s}_df_file") is not None]
    for source, section in zip_longest(request.gold, named):
        faults = source.check()
        problems.take_all(faults)
        if faults:
            continue
        try:
            found = _sheets(source, section, tuple(wanted), problems)
            both = section is not None and len(found) > 1
            sheets += [one for one in found if one.section == section] if both else found
        except DataError as error:
            problems.join(error.problems)
    return sheets


def columns_of(source: Source, problems: Problems) -> dict[str, list[Any]]:
    """All columns of a file of rows, with nothing checked: for conversion."""
    return rows_of(source, problems)[0]


def rows_of(source: Source, problems: Problems) -> tuple[dict[str, list[Any]], Sequence[int]]:
    """(all columns of a file of rows, the line of each row where it is known)."""
    shape = source.peek().shape
    if shape == "pickle":
        return read_frame(source.name, source.data()).columns, ()
    if shape == "table":
        return read_table(source, problems)
    if shape == "binary":
        return read_parquet(source), ()
    return gathered(source.rows if source.rows is not None else _plain_rows(source)), ()


def gathered(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns, None where a row lacks a field."""
    names = dict.fromkeys(key for row in rows for key in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _sheets(
    source: Source, section: str | None, wanted: tuple[str, ...], problems: Problems
) -> list[Sheet]:
    """The sheets of one file, which an option may name as the data of a section."""
    peek = source.peek()
    if peek.shape == "object":
        return read_release(source, problems)
    lines: Sequence[int] | None = None
    if peek.shape == "pickle":
        columns = read_frame(source.name, source.data()).columns
    elif peek.shape == "table":
        columns, lines = read_table(source, problems)
    elif peek.shape == "binary":
        columns = read_parquet(source)
    elif {"sent_more", "sent_less"} <= peek.keys:
        columns = columns_of(source, problems)
    else:
        columns = _rows(source, wanted, problems)
        if not columns:
            return []
        lines = range(1, 1 + len(columns["id"])) if peek.shape == "lines" else None
    n = len(next(iter(columns.values()), []))
    if not n:
        problems.add("file-empty", "file holds no records", file=source.name)
        return []
    whole = Sheet(source.name, "", columns, n, _line(lines))
    if "sent_more" in columns:
        return [_named(whole, PAIRS)]
    return _by_section(whole, section, problems)


def _line(lines: Sequence[int] | None) -> Any:
    return (lambda _: None) if lines is None else lines.__getitem__


def _named(sheet: Sheet, section: str) -> Sheet:
    return Sheet(sheet.file, section, sheet.columns, sheet.n, sheet.line_of)


def _by_section(sheet: Sheet, asked: str | None, problems: Problems) -> list[Sheet]:
    """The sheet under its section: as a column says, the option, its name, or its rows."""
    told = sheet.columns.get("section")
    if told and set(told) == set(SECTIONS):
        return [_part(sheet, section, told) for section in SECTIONS]
    by_rows = SECTIONS[0] if has_blank(sheet.columns) else SECTIONS[1]
    if asked is not None:
        if asked != by_rows:
            _warn_of_section(sheet, f"--{asked}-df-file", asked, by_rows, problems)
        return [_named(sheet, asked)]
    if told and set(told) <= set(SECTIONS):
        return [_named(sheet, str(told[0]))]
    name = _NAMED.search(sheet.file.replace("\\", "/").rsplit("/", 1)[-1])
    section = f"{name[1]}sentence" if name else by_rows
    if section != by_rows:
        _warn_of_section(sheet, "the name", section, by_rows, problems)
    return [_named(sheet, section)]


def _warn_of_section(sheet: Sheet, who: str, said: str, seen: str, problems: Problems) -> None:
    """Warn of rows that are not of the test that somebody says."""
    text = f"{who} says {said} but the rows look like {seen}"
    problems.add("section-name", text, file=sheet.file, severity="warning")


def has_blank(columns: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the first contexts have a gap to fill."""
    return any("BLANK" in str(text) for text in columns.get("context", ())[:20])


def _part(sheet: Sheet, section: str, told: Sequence[Any]) -> Sheet:
    keep = [one == section for one in told]
    columns = {name: list(compress(column, keep)) for name, column in sheet.columns.items()}
    records = [i for i, kept in enumerate(keep) if kept]
    return Sheet(sheet.file, section, columns, len(records), sheet.line_of, records)


def _rows(source: Source, wanted: Sequence[str], problems: Problems) -> dict[str, list[Any]]:
    """The columns of JSON rows; what is wrong with single rows is reported."""
    heavy = [name for name in wanted if name in LABEL_LISTS]
    plain = [name for name in (*OPTIONAL, "section", *wanted) if name not in LABEL_LISTS]
    names = list(dict.fromkeys((*REQUIRED, *plain, *heavy)))
    schema = _schema(names)
    rows: list[Any] | None = None
    if source.rows is None:
        rows = _fast(source, schema)
    if rows is None:
        return _slow(source, schema, names, problems)
    _near(source, names, problems)
    return _without_empty(_as_columns(rows, names))


def _as_columns(rows: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Typed rows as columns."""
    return {name: list(map(attrgetter(f"f{i}"), rows)) for i, name in enumerate(names)}


def _without_empty(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns that some row has."""
    return {
        name: column
        for name, column in found.items()
        if name in REQUIRED or column.count(None) < len(column)
    }


def _schema(names: Sequence[str]) -> type[msgspec.Struct]:
    """What to decode: texts that must be there, anything where it may be left out."""
    fields: list[Any] = []
    for i, name in enumerate(names):
        if name in REQUIRED:
            fields.append((f"f{i}", str, msgspec.field(name=name)))
        else:
            fields.append((f"f{i}", Any, msgspec.field(name=name, default=None)))
    # A fourth candidate must not be passed over: nothing but null fits here.
    fields.append(("fourth", None, msgspec.field(name="c4_id", default=None)))
    return msgspec.defstruct("Row", fields, gc=False, frozen=True)


def _fast(source: Source, schema: type[msgspec.Struct]) -> list[Any] | None:
    """All rows at once, None where something is wrong."""
    data = source.data()
    try:
        if data.lstrip()[:1] == b"[":
            rows: list[Any] = msgspec.json.decode(data, type=list[schema])  # type: ignore[valid-type]
            return rows
        rows = msgspec.json.Decoder(schema).decode_lines(data)
        # Blank lines would move the records against the lines.
        return rows if data.count(b"\n") + (not data.endswith(b"\n")) == len(rows) else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _slow(
    source: Source, schema: type[msgspec.Struct], names: Sequence[str], problems: Problems
) -> dict[str, list[Any]]:
    """The rows one by one, each defect reported."""
    rows = [row for batch in read_records(source, schema, problems, diagnose) for row in batch.rows]
    return _without_empty(_as_columns(rows, names)) if rows else {}


def _near(source: Source, names: Sequence[str], problems: Problems) -> None:
    """Warn of a key in the first row that is nearly an optional one."""
    first = source.peek().first
    keys = set(first) if isinstance(first, Mapping) else set()
    unknown = keys - {*names, *REQUIRED, *OPTIONAL}
    for name in OPTIONAL if unknown else ():
        close = get_close_matches(name, unknown, n=1, cutoff=0.85)
        if name not in keys and close:
            text = f"key '{close[0]}' is not read; did you mean '{name}'?"
            problems.add("key-typo", text, file=source.name, key=close[0], severity="warning")


def _plain_rows(source: Source) -> list[Any]:
    """JSON rows as they are."""
    data = source.data()
    try:
        if data.lstrip()[:1] == b"[":
            rows: list[Any] = json.loads(data)
        else:
            rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise broken(source, "json-syntax", f"not valid JSON: {error}") from None
    return [row for row in rows if isinstance(row, dict)]
