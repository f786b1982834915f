"""Data frames, rows and dev.json into each other, so that nobody needs a pickle again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from karat.errors import DataError, MissingExtra, UsageError
from karat.model.problem import Problems
from karat.read.source import Source
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.formats import columns_of, has_blank
from karat.tasks.stereotypes.release import read_release
from karat.tasks.stereotypes.translate import read_table, translated

Columns = Mapping[str, Sequence[Any]]


def from_rows(
    inputs: Sequence[Path], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    """Write one file of rows or one pickled frame as another; `translations` may name a table."""
    parts = []
    for path in inputs:
        columns = _read(path, problems)
        if columns:
            parts.append((_section(columns), columns))
    _finish(parts, output, options, problems)


def from_release(
    inputs: Sequence[Path], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    """Write a dev.json as rows; `section` says which test where only one is wanted."""
    parts: list[tuple[str, dict[str, list[Any]]]] = []
    for path in inputs:
        sheets = read_release(Source.of(path), problems)
        parts += [(sheet.section, dict(sheet.columns)) for sheet in sheets]
    wanted = options.get("section")
    if wanted is not None and wanted not in SECTIONS:
        raise UsageError(f"section cannot be {wanted!r}", help=f"choose from {', '.join(SECTIONS)}")
    parts = [(section, columns) for section, columns in parts if wanted in (None, section)]
    if len(parts) > 1 and options["to"] == "frame":
        text = "a pickled data frame holds one section"
        raise UsageError(text, help="say --option section=intrasentence or section=intersentence")
    _finish(parts, output, options, problems)


def _read(path: Path, problems: Problems) -> dict[str, list[Any]] | None:
    try:
        return columns_of(Source.of(path), problems)
    except DataError as error:
        problems.join(error.problems)
        return None


def _section(columns: Columns) -> str:
    """The section of a file, by its rows: only fill-ins have words."""
    told = set(columns.get("section", ()))
    if len(told) == 1 and told <= set(SECTIONS):
        return str(told.pop())
    return SECTIONS[0] if "c1_word" in columns or has_blank(columns) else SECTIONS[1]


def _finish(
    parts: Sequence[tuple[str, dict[str, list[Any]]]],
    output: Path,
    options: Mapping[str, Any],
    problems: Problems,
) -> None:
    """Translate where a table is given, put several sections into one, and write."""
    if options.get("translations") and not problems.errors:
        name = str(options["translations"])
        try:
            table = read_table(Path(name), problems)
        except DataError as error:
            problems.join(error.problems)
            return
        if problems.errors and not table:
            return
        known = {one for _, columns in parts for one in columns["id"]}
        for one in dict.fromkeys(one for one, _ in table if one not in known):
            problems.add("translation-unknown", f"there is no example {one!r}", file=name)
        parts = [(s, translated(c, s, table, name, problems)) for s, c in parts]
    if problems.errors or not parts:
        return
    write(_joined(parts), output, str(options["to"]))


def _joined(parts: Sequence[tuple[str, dict[str, list[Any]]]]) -> dict[str, list[Any]]:
    """One table; where it has both sections, a column says which row is of which."""
    if len(parts) == 1:
        return parts[0][1]
    names = dict.fromkeys(["section", *(name for _, columns in parts for name in columns)])
    joined: dict[str, list[Any]] = {name: [] for name in names}
    for section, columns in parts:
        n = len(columns["id"])
        for name in names:
            found = [section] * n if name == "section" else columns.get(name, [None] * n)
            joined[name] += found
    return joined


def write(columns: Columns, output: Path, target: str) -> None:
    """Write columns as jsonl, csv, parquet or a pickled frame."""
    if target == "jsonl":
        output.write_bytes(_jsonl(columns))
    elif target == "csv":
        output.write_text(_csv(columns), "utf-8", newline="")
    elif target == "parquet":
        _parquet(columns, output)
    else:
        _frame(columns, output)


def _jsonl(columns: Columns) -> bytes:
    """One object a line, without the fields that a row lacks."""
    names = list(columns)
    rows = (
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in zip(*columns.values(), strict=True)
    )
    return msgspec.json.Encoder().encode_lines(list(rows))


def _csv(columns: Columns) -> str:
    """Rows of cells; lists are JSON inside their cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for values in zip(*columns.values(), strict=True):
        writer.writerow([_cell(value) for value in values])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else value


def _parquet(columns: Columns, output: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing parquet", "arrow") from None
    pq.write_table(pa.table({name: list(column) for name, column in columns.items()}), output)


def _frame(columns: Columns, output: Path) -> None:
    """A pickled frame of plain objects, which every pandas since 1.3 can read."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("writing a pickled data frame", "stereoset") from None
    names = pd.Index(list(columns), dtype=object)
    cells = {name: pd.Series(list(column), dtype=object) for name, column in columns.items()}
    frame = pd.DataFrame(cells)
    frame.columns = names
    frame.to_pickle(output, compression=None, protocol=5)
