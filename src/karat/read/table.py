"""Tab-separated lines with their numbers: small tables of text cells.

Large tables have readers of their own, which decode whole columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.errors import DataError
from karat.model.problem import Problem
from karat.model.task import Source


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    """(line number from 1, text) of every line, whatever ends lines. Raises DataError."""
    try:
        text = source.data().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(
            [Problem("not-utf8", "error", "this is not UTF-8 text", source.name, line)]
        ) from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    yield from enumerate(lines, 1)


def table_rows(source: Source, strip: bool = False) -> Iterator[tuple[int, list[str]]]:
    """(line number from 1, cells) of every line; `strip` trims the line first."""
    for number, text in text_lines(source):
        yield number, (text.strip() if strip else text).split("\t")
