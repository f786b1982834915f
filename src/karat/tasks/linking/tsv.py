"""The annotation table: tab-separated mentions, one a line, as the official script reads them.

    docid  start  end  [ id [ score [ type ] ]  { id score type } ]

Rows of one width are decoded together, column by column; a piece that holds a defect is walked line
by line to name each one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from karat.model.pairs import IntArray
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.lines import pieces
from karat.tasks.linking.annotations import LARGEST, Annotations, Collector, Mention, Rows

PIECE = 1 << 21
COLUMNS = (
    "docid, start, end, then nothing, an id, an id and a score, or triples of id, score and type"
)


def read_table(source: Source, problems: Problems) -> Annotations:
    """The mentions of an annotation table; defects are collected, and their rows left out."""
    reader = _Reader(source.name, problems)
    for piece in pieces(source.blocks(), PIECE):
        reader.take(piece)
    return reader.finish()


def write_table(mentions: Iterable[Mention]) -> Iterator[str]:
    """The lines of an annotation table, without line ends.

    A missing score or type is an empty cell; a score of 0 is written, since it can be read back.
    """
    for one in mentions:
        cells = [one.docid, str(one.start), str(one.end)]
        for candidate in one.candidates:
            score = "" if candidate.score is None else repr(float(candidate.score))
            cells += [candidate.eid, score, candidate.type or ""]
        yield "\t".join(cells) + ("" if one.candidates else "\t")


class _Reader:
    """The walk through one file."""

    def __init__(self, name: str, problems: Problems) -> None:
        self.name, self.problems = name, problems
        self.columns = Collector(name)
        self.line = 1

    def take(self, piece: bytes) -> None:
        """One piece of whole lines."""
        try:
            text = piece.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.line + piece.count(b"\n", 0, error.start)
            self.problems.add("not-utf8", "this is not UTF-8 text", file=self.name, line=line)
            text = piece.decode("utf-8", "replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        # Trailing empty cells vanish, as in the official script.
        rows = [line.rstrip("\t").split("\t") for line in lines]
        numbers = self.line + np.arange(len(rows))
        self.line += len(rows)
        try:
            found = list(self.by_width(rows, numbers))
        except (ValueError, OverflowError):
            good = [i for i, row in enumerate(rows) if self.sound(row, int(numbers[i]))]
            found = list(self.by_width([rows[i] for i in good], numbers[good]))
        for one in found:
            self.columns.take(one)

    def by_width(self, rows: list[list[str]], line: IntArray) -> Iterator[Rows]:
        """The columns of the rows of each width; raises ValueError where a row is not sound."""
        widths = set(map(len, rows))
        if len(widths) == 1:
            yield self.decoded(rows, line, widths.pop())
            return
        size = np.array([len(row) for row in rows])
        for width in sorted(widths):
            here = np.flatnonzero(size == width)
            yield self.decoded([rows[i] for i in here.tolist()], line[here], width)

    def decoded(self, rows: Sequence[list[str]], line: IntArray, width: int) -> Rows:
        """The columns of sound rows of one width; raises ValueError where one is not."""
        if not _possible(width):
            raise ValueError
        cells = list(zip(*rows, strict=True))
        start = np.array(list(map(int, cells[1])), dtype=np.int64)
        end = np.array(list(map(int, cells[2])), dtype=np.int64)
        if len(start) and max(abs(start).max(), abs(end).max()) > LARGEST:
            raise ValueError
        score = [np.array(list(map(float, column)), dtype=np.float64) for column in cells[4::3]]
        ids = [self.columns.ids.all(column) for column in cells[3::3]]
        kinds = [self.columns.kinds.all(column) for column in cells[5::3]]
        n, many = len(rows), len(ids)
        scores = np.full((n, many), np.nan)
        types = np.full((n, many), -1, dtype=np.int32)
        for k, column in enumerate(score):
            scores[:, k] = column
        for k, codes in enumerate(kinds):
            types[:, k] = codes
        eids = np.stack(ids, axis=1) if ids else np.zeros((n, 0), dtype=np.int32)
        return Rows(self.columns.docs.all(cells[0]), start, end, line, eids, scores, types)

    def sound(self, row: list[str], line: int) -> bool:
        """Whether a row can be read; if not, each thing that is wrong with it is reported."""
        before = self.problems.errors
        if not _possible(len(row)):
            self.miscounted(row, line)
            return False
        for name, cell in zip(("start", "end"), row[1:3], strict=True):
            self.number(int, cell, line, name, "offset-not-integer", "an integer")
        for cell in row[4::3]:
            self.number(float, cell, line, "score", "score-not-number", "a number")
        return self.problems.errors == before

    def number(self, kind: type, cell: str, line: int, key: str, code: str, expected: str) -> None:
        """Report a cell that is no number of this kind."""
        try:
            if abs(kind(cell)) > LARGEST and kind is int:
                raise ValueError
        except ValueError:
            what = (
                f"{cell[:40]!r} is not {expected}" if cell else f"the cell is empty, not {expected}"
            )
            self.problems.add(
                code, what, file=self.name, line=line, key=key, help=f"cells: {COLUMNS}"
            )

    def miscounted(self, row: list[str], line: int) -> None:
        """Report a row of an impossible width."""
        if row == [""]:
            self.problems.add(
                "line-blank", "blank line", file=self.name, line=line, help="remove it"
            )
            return
        text = f"{len(row)} cells between tabs; there are 3, 4, 5, 6, 9, 12, ..."
        self.problems.add("cell-count", text, file=self.name, line=line, help=f"cells: {COLUMNS}")

    def finish(self) -> Annotations:
        """The columns."""
        return self.columns.finish()


def _possible(width: int) -> bool:
    """Whether a row may have so many cells."""
    return width >= 3 and (width <= 6 or width % 3 == 0)
