"""Where a record stands, and values as messages show them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

from karat.model.problem import Problems, Severity

LONGEST = 60
"""A longer value is cut in messages."""


class Written(float):
    """A number with a fraction or exponent that remembers how it was written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """The number that `text` writes."""
        self = super().__new__(cls, text)
        self.text = text
        return self


class Spoiled(float):
    """Stands for a number that JSON does not have (NaN, 1e400).

    The reader reports it, so that the checks of a task pass over it.
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """What stands for the number that `text` writes."""
        self = super().__new__(cls, "nan")
        self.text = text
        return self


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one record, ready to take problems: file, physical line, record number."""

    problems: Problems
    file: str
    line: int | None = None
    record: int | None = None

    def add(
        self,
        code: str,
        message: str,
        key: str | None = None,
        *,
        severity: Severity = "error",
        help: str = "",
    ) -> None:
        """Report a problem here."""
        self.problems.add(
            code,
            message,
            file=self.file,
            line=self.line,
            record=self.record,
            key=key,
            help=help,
            severity=severity,
        )


def kind(value: Any) -> str:
    """The JSON name of a value's type: string, integer, float, boolean, null, list, object."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "float"
    if isinstance(value, dict):
        return "object"
    return "list" if isinstance(value, (list, tuple)) else type(value).__name__


def show(value: Any) -> str:
    """A value as JSON writes it, numbers as they were written, long ones cut."""
    if isinstance(value, Written):
        return value.text
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return printable(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def printable(text: str) -> str:
    """`text` without half surrogate pairs, which cannot be written to a file or a terminal."""
    return text.encode("utf-8", "backslashreplace").decode()


def errors_in(problems: Problems, file: str) -> bool:
    """Whether this file has an error."""
    return any(p.file == file and p.severity == "error" for p in problems)
