"""Rows in tables, as columns of cells: CSV, TSV and parquet."""

from __future__ import annotations

import ast
import csv
import io
import json
from typing import Any

from karat.errors import DataError, MissingExtra
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.place import Place
from karat.tasks.stereotypes.records import LABEL_LISTS, OPTIONAL


def read_table(source: Source, problems: Problems) -> tuple[dict[str, list[Any]], list[int]]:
    """The columns of a CSV or TSV file, and the line on which each row ends."""
    try:
        text = source.data().decode("utf-8")
    except UnicodeDecodeError:
        raise broken(source, "encoding", "not UTF-8; re-save the file as UTF-8") from None
    tab = "\t" if "\t" in text.split("\n", 1)[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=tab)
    names = [name.strip() for name in next(reader, [])]
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(names):
                message = f"{len(cells)} cells under {len(names)} column names"
                Place(problems, source.name, reader.line_num, len(rows)).add("row-width", message)
            rows.append((cells + [""] * len(names))[: len(names)])
            lines.append(reader.line_num)
    except csv.Error as error:
        raise broken(source, "csv-syntax", f"not valid CSV: {error}", reader.line_num) from None
    found: dict[str, list[Any]] = {}
    for i, name in enumerate(names):
        column: list[Any] = [row[i] for row in rows]
        if name in LABEL_LISTS:
            column = [_value(cell) for cell in column]
        elif name in OPTIONAL:
            column = [cell or None for cell in column]
        found[name] = column
    return found, lines


def _value(cell: str) -> Any:
    """The value that a cell holds as JSON, or as Python writes it; None where it holds none."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def read_parquet(source: Source) -> dict[str, list[Any]]:
    """The columns of a parquet table."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading parquet", "arrow") from None
    try:
        table = pq.read_table(io.BytesIO(source.data()))
    except (pa.ArrowException, OSError) as error:
        raise broken(source, "parquet-broken", f"not a readable parquet table: {error}") from None
    return {name: table.column(name).to_pylist() for name in table.column_names}


def broken(source: Source, code: str, message: str, line: int | None = None) -> DataError:
    """The error of a file that cannot be read any further."""
    problems = Problems()
    problems.add(code, message, file=source.name, line=line)
    return DataError(problems)
