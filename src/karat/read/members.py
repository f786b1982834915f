"""The items of the lists in one JSON object, each with the line on which it starts.

For the slow look at documents such as `{"images": [...], "annotations": [...]}`, and for naming
the line of a record when something is wrong with it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from karat.read.strictjson import Malformed, StrictReader

SPACE = " \t\r\n"


class Item(NamedTuple):
    """One item: the member it belongs to, its number there, its line and its value."""

    member: str
    number: int
    line: int
    value: Any


def items(text: str, strict: StrictReader) -> Iterator[Item]:
    """The items of all members that are lists; another member's value is an item of number -1.

    The strict reader still knows what was wrong with the item just given. Raises Malformed.
    """
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise Malformed("not valid JSON: an object is expected", at)
    lines = _Lines(text)
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        key, at = strict.read(text, at)
        at = _after(text, _skip(text, at), ":")
        if text[at : at + 1] == "[":
            at = yield from _list(text, at, key, strict, lines)
        else:
            line = lines.of(at)
            value, at = strict.read(text, at)
            yield Item(key, -1, line, value)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    _end(text, _after(text, at, "}"))


def list_items(text: str, strict: StrictReader) -> Iterator[Item]:
    """The items of a document that is one list. Raises Malformed."""
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        raise Malformed("not valid JSON: a list is expected", at)
    _end(text, (yield from _list(text, at, "", strict, _Lines(text))))


def _list(
    text: str, at: int, key: str, strict: StrictReader, lines: _Lines
) -> Generator[Item, None, int]:
    """The items of one list; what comes back at its end is the place behind it."""
    at, index = _skip(text, at + 1), 0
    while text[at : at + 1] != "]":
        line = lines.of(at)
        value, at = strict.read(text, at)
        yield Item(key, index, line, value)
        index, at = index + 1, _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
            if text[at : at + 1] == "]":
                raise Malformed(
                    f"not valid JSON: Expecting value at column {_column(text, at)}", at
                )
        elif text[at : at + 1] != "]":
            _after(text, at, ",")
    return at + 1


class _Lines:
    """Lines of ever later places."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._counted = text, 1, 0

    def of(self, at: int) -> int:
        """The line of a place, counted on from the last one."""
        self._line += self._text.count("\n", self._counted, at)
        self._counted = at
        return self._line


def _after(text: str, at: int, mark: str) -> int:
    """The place behind `mark`, which must stand at `at`."""
    if text[at : at + 1] != mark:
        column = _column(text, at)
        raise Malformed(f"not valid JSON: Expecting '{mark}' delimiter at column {column}", at)
    return _skip(text, at + 1)


def _end(text: str, at: int) -> None:
    """Nothing but white space may follow the document."""
    at = _skip(text, at)
    if at < len(text):
        raise Malformed(f"not valid JSON: Extra data at column {_column(text, at)}", at)


def _column(text: str, at: int) -> int:
    return at - text.rfind("\n", 0, at)


def _skip(text: str, at: int) -> int:
    """The first place from `at` on that is not white space."""
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at
