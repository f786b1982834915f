"""CoNLL columns: one token a line, cells by tab or spaces, an empty line between sentences.

Only the last cells are taken apart; the first one is kept where tokens are wanted. A line that
starts with -DOCSTART- begins a document and is no sentence of its own, unless marks are wanted as
tokens, as conlleval takes them. A line whose first cell is -X- is never one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from karat.model.pairs import CodeArray, IntArray
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.lines import pieces
from karat.read.numbering import Numbering
from karat.read.place import Place

BOUNDARY = "-DOCSTART-"
OLD_BOUNDARY = "-X-"
MARKS = (BOUNDARY, f"{OLD_BOUNDARY} ", f"{OLD_BOUNDARY}\t")
"""How a line begins that begins a document."""

PIECE = 1 << 19

# Entity linking reads AIDA and coreference columns itself: their documents have names, their lines
# differ in width, and offsets of tokens are wanted, not codes of cells.


@dataclass(frozen=True, slots=True)
class Columns:
    """The last columns of a file of sentences.

    `codes[c]` are the cells of the wanted columns, in the order of the file, as numbers of
    `names`; `lengths` are tokens a sentence, `line` the line of each sentence's first token and
    `document` the document it belongs to, counted from 0.
    """

    name: str
    names: tuple[str, ...]
    codes: tuple[CodeArray, ...]
    lengths: IntArray
    line: IntArray
    document: IntArray
    documents: int
    width: int


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    source: Source
    wanted: int
    problems: Problems
    marks_are_tokens: bool
    number: Numbering[str] = field(default_factory=Numbering)
    parts: list[list[CodeArray]] = field(default_factory=list)
    blank: list[IntArray] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)
    lines: int = 0
    width: int = 0
    tab: bool = False


def read_columns(
    source: Source, wanted: int, problems: Problems, marks_are_tokens: bool = False
) -> Columns | None:
    """The last `wanted` columns of a file; None where something is wrong, which is reported."""
    before = problems.errors
    faults = source.check()
    problems.take_all(faults)
    if faults:
        return None
    parts: list[list[CodeArray]] = [[] for _ in range(wanted)]
    reading = _Reading(source, wanted, problems, marks_are_tokens, parts=parts)
    for piece in pieces(source.blocks(), PIECE):
        lines = _decoded(piece, reading)
        _take(lines, reading)
        reading.lines += len(lines)
    if problems.errors > before:
        return None
    if not reading.width:
        Place(problems, source.name).add("file-empty", "file holds no records")
        return None
    return _finished(reading)


def _decoded(piece: bytes, reading: _Reading) -> list[str]:
    """The lines of a piece, without white space at their ends."""
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError as error:
        line = reading.lines + piece.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{piece[error.start]:02x} is not UTF-8; re-save the file as UTF-8"
        Place(reading.problems, reading.source.name, line).add("encoding", message)
        text = piece.decode("utf-8", "replace")
    if "\r" in text or " \n" in text or "\t\n" in text:
        lines = [line.rstrip(" \t\r") for line in text.split("\n")]
    else:
        lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _take(lines: list[str], reading: _Reading) -> None:
    """Take the lines of a piece apart; a line with another number of cells is reported."""
    first = next((line for line in lines if line), "")
    if first and not reading.width:
        reading.tab = "\t" in first
        reading.width = len(_cells(first, reading.tab))
        if reading.width < reading.wanted:
            number = reading.lines + lines.index(first) + 1
            message = f"{reading.width} columns, but {reading.wanted} are needed"
            Place(reading.problems, reading.source.name, number).add("columns-missing", message)
    rows = _columns(lines, reading)
    known = reading.number
    for part, cells in zip(reading.parts, rows, strict=True):
        part.append(known.codes(cells))
    # Only an empty line has an empty last cell: white space at the ends of lines is gone.
    reading.blank.append(np.flatnonzero(reading.parts[-1][-1] == known[""]) + reading.lines)
    if _marked(lines):
        for i, line in enumerate(lines, reading.lines):
            if line.startswith(MARKS):
                reading.starts.append(i)
                if not (reading.marks_are_tokens and line.startswith(BOUNDARY)):
                    reading.silent.append(i)


def _marked(lines: list[str]) -> bool:
    """Whether some line begins a document."""
    joined = "\n" + "\n".join(lines)
    return any(f"\n{mark}" in joined for mark in MARKS)


def _cells(line: str, tab: bool) -> list[str]:
    return line.split("\t") if tab else line.split()


def _columns(lines: list[str], reading: _Reading) -> list[list[str]]:
    """The last columns, an empty cell for an empty line."""
    mark = "\t" if reading.tab else " "
    usual = (len(lines) - lines.count("")) * (reading.width - 1)
    if "\n".join(lines).count(mark) != usual:
        return _careful(lines, reading)
    columns: list[list[str]] = []
    for _ in range(reading.wanted - 1):
        cut = [line.rpartition(mark) for line in lines]
        columns.append([cell for _, _, cell in cut])
        lines = [head for head, _, _ in cut]
    columns.append([line.rpartition(mark)[2] for line in lines])
    return columns[::-1]


def _careful(lines: list[str], reading: _Reading) -> list[list[str]]:
    """The same where cells are spaced unevenly or lines differ in their number of cells."""
    columns: list[list[str]] = [[] for _ in range(reading.wanted)]
    for i, line in enumerate(lines):
        cells = _cells(line, reading.tab) if line else []
        if cells and len(cells) != reading.width:
            boundary = cells[0] in (BOUNDARY, OLD_BOUNDARY)
            if not boundary:
                message = f"{len(cells)} columns, but {reading.width} in the first line"
                place = Place(reading.problems, reading.source.name, reading.lines + i + 1)
                place.add("columns-count", message)
            cells = ["O"] * reading.width
        for c, column in enumerate(columns):
            column.append(cells[c - reading.wanted] if cells else "")
    return columns


def _finished(reading: _Reading) -> Columns:
    """The columns without empty lines, and without document marks unless those are tokens."""
    blank = np.concatenate(reading.blank)
    token = np.ones(reading.lines, dtype=bool)
    token[blank] = False
    starts = np.array(reading.starts, dtype=np.int64)
    token[np.array(reading.silent, dtype=np.int64)] = False
    at = np.flatnonzero(token).astype(np.int32 if reading.lines < 1 << 31 else np.int64)
    # A sentence begins where the line before is no token.
    place = np.flatnonzero(token & ~np.concatenate([[False], token[:-1]]))
    begins, place = place, np.searchsorted(at, place)
    lengths = np.diff(np.append(place, len(at)))
    document = np.searchsorted(starts, begins, side="right") - 1
    codes = tuple(np.concatenate(part)[at] for part in reading.parts)
    reading.source.records = len(lengths)
    return Columns(
        name=reading.source.name,
        names=tuple(reading.number),
        codes=codes,
        lengths=lengths,
        line=begins + 1,
        document=np.maximum(document, 0),
        documents=len(starts),
        width=reading.width,
    )


def sentences(
    source: Source, marks_are_tokens: bool = False
) -> Iterator[tuple[int, list[list[str]]]]:
    """(line of the first token, cells of each token) of every sentence; for a second look."""
    silent = MARKS[1:] if marks_are_tokens else MARKS
    rows: list[list[str]] = []
    first = 0
    tab: bool | None = None
    for number, line in enumerate(_lines(source), 1):
        if line and tab is None:
            tab = "\t" in line
        if line and not line.startswith(silent):
            first = first or number
            rows.append(_cells(line, bool(tab)))
        elif rows:
            yield first, rows
            rows, first = [], 0
    if rows:
        yield first, rows


def _lines(source: Source) -> Iterator[str]:
    """The lines of a file, piece by piece, without white space at their ends."""
    for piece in pieces(source.blocks(), PIECE):
        lines = piece.decode("utf-8", "replace").split("\n")
        if not lines[-1]:
            lines.pop()
        yield from (line.rstrip(" \t\r") for line in lines)


def write_sentences(rows: Sequence[Sequence[Sequence[str]]]) -> str:
    """Sentences as lines of cells with tabs between them."""
    blocks = ("\n".join("\t".join(cells) for cells in one) for one in rows)
    return "\n\n".join(blocks) + "\n"
