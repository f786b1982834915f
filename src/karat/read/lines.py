"""One JSON object per line: typed rows, piece by piece.

Lines end at line feeds and nowhere else, since U+2028 and U+0085 occur in text. A carriage return
before it, a missing last newline and empty lines at the very end are fine; a blank line inside
the file is an error, because records are joined to predictions by position.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np

from karat.read.place import Place
from karat.read.records import UNDECODABLE, Batch, Records, S

PIECE = 1 << 18
"""Bytes that are decoded together: rows of such a piece stay in the processor's cache."""

LIST_NAMED_LINES = (
    "file is one JSON list but is named .jsonl; rename it to .json or write one object per line"
)
BLANK = "blank line inside the file; records are joined to predictions by position, so remove it"


def pieces(blocks: Iterable[bytes], size: int = PIECE) -> Iterator[bytes]:
    """The same bytes in pieces that end with a newline; only the last may lack it."""
    carry: list[bytes] = []
    for block in blocks:
        start = 0
        while True:
            end = block.rfind(b"\n", start, start + size) + 1
            end = end or block.find(b"\n", start) + 1
            if not end:
                break
            carry.append(block[start:end])
            yield b"".join(carry)
            carry.clear()
            start = end
        if start < len(block):
            carry.append(block[start:])
    if carry:
        yield b"".join(carry)


def framed_lines(piece: bytes) -> int:
    """How many lines there are, if each begins with `{` and ends with `}`; else -1.

    Only then do as many objects as lines mean one object a line: a blank line and a line with two
    objects would make up for each other.
    """
    view = np.frombuffer(piece, dtype=np.uint8)
    ends = np.flatnonzero(view == ord("\n"))
    whole = piece.endswith(b"\n")
    begins = (ends[:-1] if whole else ends) + 1
    last = ends - 1
    if len(ends) and ends[0] and view[ends[0] - 1] == ord("\r"):
        if not (view[last] == ord("\r")).all():
            return -1
        last = ends - 2
    framed = piece.startswith(b"{") and (whole or piece.endswith(b"}"))
    if not (framed and (view[last] == ord("}")).all() and (view[begins] == ord("{")).all()):
        return -1
    return len(ends) + (not whole)


def read_lines(reader: Records[S]) -> Iterator[Batch[S]]:
    """The batches of a file of lines."""
    return _Lines(reader).batches()


class _Lines:
    """The walk through one file: where it stands, and which blank lines it has passed."""

    def __init__(self, reader: Records[Any]) -> None:
        self.reader = reader
        self.decoder = msgspec.json.Decoder(reader.schema)
        self.record = 0
        self.line = 1
        # How many blank lines stand right before `line`: a number, as there may be very many.
        self.blank = 0
        # (record, line - record) wherever a blank line moved the two against each other.
        self.moves: list[tuple[int, int]] = [(0, 1)]
        reader.line_of = self.line_of
        reader.count = 0

    def line_of(self, record: int) -> int:
        """The physical line of a record."""
        return record + self.moves[bisect_right(self.moves, (record, 1 << 62)) - 1][1]

    def batches(self) -> Iterator[Batch[Any]]:
        for piece in pieces(self.reader.source.blocks()):
            if self.line == 1 and not self._starts_well(piece):
                self.reader.count = None
                return
            rows = self._typed(piece)
            if rows is None and not piece.strip():
                lines = piece.count(b"\n") + (not piece.endswith(b"\n"))
                self.blank += lines
                self.line += lines
            elif rows is None:
                yield from self._slow(piece)
            else:
                yield self._batch(rows, self.record, lambda piece=piece: piece.split(b"\n"))
                self.record += len(rows)
                self.line += len(rows)
            self.reader.count = self.record

    def _batch(self, rows: list[Any], first: int, source: Any) -> Batch[Any]:
        return Batch(rows, first, self.reader, self.line_of(first), source)

    def _starts_well(self, piece: bytes) -> bool:
        """Whether this is a file of lines at all; the key audit learns the first record."""
        first = piece.lstrip().partition(b"\n")[0]
        try:
            value = msgspec.json.decode(first)
        except UNDECODABLE:
            value = None
        if isinstance(value, dict):
            self.reader.audit.begin(first, value)
        if not first.startswith(b"["):
            return True
        rest = piece.lstrip()[len(first) :].strip()
        if isinstance(value, list) and rest:
            return True
        self.reader.place(line=1).add("jsonl-holds-list", LIST_NAMED_LINES)
        return False

    def _typed(self, piece: bytes) -> list[Any] | None:
        """The rows of a piece in which nothing is wrong or odd."""
        if self.blank:
            return None
        try:
            rows = self.decoder.decode_lines(piece)
            if not piece.isascii():
                # Text in fields that nobody asked for is skipped by typed decoding.
                str(piece, "utf-8")
        except UNDECODABLE:
            return None
        if len(rows) != framed_lines(piece):
            return None
        return None if self.reader.audit.suspects(piece, rows) else rows

    def _slow(self, piece: bytes) -> Iterator[Batch[Any]]:
        """The rows of a piece, line by line, in runs between bad lines."""
        lines = piece.split(b"\n")
        if not lines[-1]:
            lines.pop()
        rows: list[Any] = []
        texts: list[bytes] = []
        for line in lines:
            if not line.strip():
                self.blank += 1
                self.line += 1
                continue
            moved = self._report_blank_lines()
            row = self._row(line)
            if (row is None or moved) and rows:
                yield self._batch(rows, self.record - len(rows), lambda texts=texts: texts)
                rows, texts = [], []
            if row is not None:
                rows.append(row)
                texts.append(line)
            self.record += 1
            self.line += 1
        if rows:
            yield self._batch(rows, self.record - len(rows), lambda texts=texts: texts)

    def _report_blank_lines(self) -> bool:
        """Whether blank lines came before this record; at the end of a file they are fine."""
        if not self.blank:
            return False
        for line in range(self.line - self.blank, self.line):
            self.reader.place(line=line).add("blank-line", BLANK)
        self.blank = 0
        self.moves.append((self.record, self.line - self.record))
        return True

    def _row(self, line: bytes) -> Any | None:
        """The row of one line, None where it has errors."""
        try:
            row = self.decoder.decode(line)
            str(line, "utf-8")
            if not self.reader.audit.odd_line(line, row):
                return row
        except UNDECODABLE:
            pass
        place = Place(self.reader.problems, self.reader.name, self.line, self.record)
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            message = f"byte 0x{byte:02x} is not UTF-8; re-save the file as UTF-8"
            place.add("encoding", message)
            self.reader.look(line.decode("utf-8", "replace"), place)
            return None
        return self.reader.look(text, place)
