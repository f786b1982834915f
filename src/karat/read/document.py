"""One JSON list of objects: typed rows, and the line on which each item starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from karat.read.place import Place, kind
from karat.read.records import ROWS_AT_ONCE, UNDECODABLE, Batch, Records, S
from karat.read.strictjson import Malformed, StrictReader

SPACE = " \t\r\n"


def read_document(reader: Records[S]) -> Iterator[Batch[S]]:
    """The batches of a file that holds one list."""
    data = reader.source.data()
    if not data.strip():
        reader.count = 0
        return
    index = _Index(reader)
    reader.line_of = index.line_of
    rows = _typed(reader, data)
    if rows is None:
        yield from _slow(reader, data, index)
        return
    reader.count = len(rows)
    del data
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        yield Batch(part, start, reader, None, index.part(start, len(part)))


def _typed(reader: Records[S], data: bytes) -> list[S] | None:
    """The rows of a list in which nothing is wrong or odd."""
    try:
        rows: list[S] = msgspec.json.decode(data, type=list[reader.schema])  # type: ignore[name-defined]
        if not data.isascii():
            str(data, "utf-8")
    except UNDECODABLE:
        return None
    if rows:
        try:
            text, value = _first_item(data)
        except Malformed:
            return None
        reader.audit.begin(text, value)
        if reader.audit.suspects(data, rows):
            return None
    return rows


def _first_item(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """The text and the value of the first item of a list that typed decoding has accepted.

    Raises Malformed where the slow reader is stricter, as with numbers of 5,000 digits.
    """
    size = 1 << 12
    while True:
        text = data[:size].decode("utf-8", "ignore")
        start = _skip(text, _skip(text, 0) + 1)
        try:
            value, end = StrictReader().read(text, start)
            return text[start:end].encode("utf-8", "surrogatepass"), value
        except Malformed:
            if size >= len(data):
                raise
            size *= 16


def _slow(reader: Records[S], data: bytes, index: _Index) -> Iterator[Batch[S]]:
    """The rows of a list, item by item, each in a batch of its own."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        _report_encoding(reader, data)
        text = data.decode("utf-8", "replace")
    at = _skip(text, 0)
    if text[at] != "[":
        _report_top(reader, text, at)
        return
    try:
        for record, line, value in _items(reader.strict, text, at):
            place = Place(reader.problems, reader.name, line, record)
            row = reader.judge(value, place, "item")
            reader.count = record + 1
            if row is not None:
                yield Batch([row], record, reader, line, index.part(record, 1))
    except _Stop as stop:
        # Behind a syntax error nobody can say where the next item starts.
        line = text.count("\n", 0, stop.error.at) + 1
        Place(reader.problems, reader.name, line, stop.record).add(
            "json-syntax", stop.error.message
        )
        reader.count = None


class _Stop(Exception):
    def __init__(self, record: int | None, error: Malformed) -> None:
        self.record = record
        self.error = error


def _items(strict: StrictReader, text: str, at: int) -> Iterator[tuple[int, int, Any]]:
    """(record, line, value) of each item; the strict reader still knows what was wrong with it."""
    for record, line, _, _, value in _spans(strict, text, at):
        yield record, line, value


def _spans(strict: StrictReader, text: str, at: int) -> Iterator[tuple[int, int, int, int, Any]]:
    """(record, line, start, end, value) of each item of the list that starts at `at`."""
    line, counted, record = 1, 0, 0
    at = _skip(text, at + 1)
    if text[at : at + 1] != "]":
        while True:
            line, counted = line + text.count("\n", counted, at), at
            try:
                value, end = strict.read(text, at)
            except Malformed as error:
                raise _Stop(record, error) from None
            yield record, line, at, end, value
            record += 1
            at = _skip(text, end)
            if text[at : at + 1] != ",":
                break
            at = _skip(text, at + 1)
    if text[at : at + 1] != "]":
        raise _Stop(None, _unexpected(text, at, "Expecting ',' delimiter"))
    at = _skip(text, at + 1)
    if at < len(text):
        raise _Stop(None, _unexpected(text, at, "Extra data"))


def _unexpected(text: str, at: int, what: str) -> Malformed:
    return Malformed(f"not valid JSON: {what} at column {at - text.rfind(chr(10), 0, at)}", at)


def _report_top(reader: Records[Any], text: str, at: int) -> None:
    """Say what the file is, if not a list."""
    reader.count = None
    try:
        value, end = reader.strict.read(text, at)
    except Malformed as error:
        line = text.count("\n", 0, error.at) + 1
        reader.place(line=line).add("json-syntax", error.message)
        return
    line = text.count("\n", 0, at) + 1
    after = _skip(text, end)
    if text[after : after + 1] == "{":
        line = text.count("\n", 0, after) + 1
        message = "file holds one object per line but is named .json; rename it to .jsonl"
        reader.place(line=line).add("json-holds-lines", message)
        return
    name = kind(value)
    article = "" if name == "null" else "an " if name[0] in "aeiou" else "a "
    message = f"top level is {article}{name}; a .json file must be a list of objects"
    reader.place(line=line).add("json-not-list", message)


def _report_encoding(reader: Records[Any], data: bytes) -> None:
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            message = f"byte 0x{byte:02x} is not UTF-8; re-save the file as UTF-8"
            reader.place(line=number).add("encoding", message)


class _Index:
    """Lines and texts of the items, found by a scan when first asked for."""

    def __init__(self, reader: Records[Any]) -> None:
        self._source = reader.source
        self._lines: list[int] | None = None
        self._texts: list[str] = []

    def line_of(self, record: int) -> int | None:
        """The line on which an item starts."""
        self._scan()
        assert self._lines is not None
        return self._lines[record] if record < len(self._lines) else None

    def part(self, start: int, size: int) -> Any:
        """A function that gives the texts of some items."""

        def texts() -> Sequence[str]:
            self._scan()
            return self._texts[start : start + size]

        return texts

    def _scan(self) -> None:
        if self._lines is not None:
            return
        self._lines = []
        text = self._source.data().decode("utf-8", "replace")
        try:
            for _, line, start, end, _ in _spans(StrictReader(), text, _skip(text, 0)):
                self._lines.append(line)
                self._texts.append(text[start:end])
        except _Stop:
            pass


def _skip(text: str, at: int) -> int:
    """The first place from `at` on that is not white space."""
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at
