"""Mentions and their candidates as columns: what every linking format is read into.

Text is dictionary-encoded, candidates stand in one ragged list (`offsets` cuts it by mention, best
first), and mentions are in the order of the official script: documents by first appearance, then by
start, longer first, then by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from karat.errors import DataError
from karat.model.pairs import BoolArray, CodeArray, FloatArray, IntArray
from karat.model.problem import Problem

LARGEST = 2**62
"""Offsets go up to here, so that their sums fit into 64 bits."""

NIL = "NIL"
"""An entity id with this beginning names no entry of the knowledge base."""


class Candidate(NamedTuple):
    """One answer for a mention."""

    eid: str
    score: float | None = None
    type: str | None = None


class Mention(NamedTuple):
    """One mention as a row: what converters read and write. `end` is the last position inside."""

    docid: str
    start: int
    end: int
    candidates: tuple[Candidate, ...] = ()


def by_document(mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    """The mentions of each document, both in the order they come."""
    found: dict[str, list[Mention]] = {}
    for one in mentions:
        found.setdefault(one.docid, []).append(one)
    return found


class Codes(dict[str, int]):
    """A dictionary encoding that grows: text not seen before gets the next number."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number

    def all(self, texts: Sequence[str]) -> CodeArray:
        """The codes of all texts."""
        return np.fromiter(map(self.__getitem__, texts), dtype=np.int32, count=len(texts))


@dataclass(frozen=True, eq=False)
class Annotations:
    """One side. `eid`, `score` and `kind` hold a value a candidate; -1 is no type, NaN no score."""

    name: str
    docs: tuple[str, ...]
    ids: tuple[str, ...]
    kinds: tuple[str, ...]
    doc: CodeArray
    start: IntArray
    end: IntArray
    offsets: IntArray
    eid: CodeArray
    score: FloatArray
    kind: CodeArray
    line: IntArray

    def __len__(self) -> int:
        return len(self.doc)

    @cached_property
    def candidates(self) -> IntArray:
        """How many candidates each mention has."""
        return np.diff(self.offsets)

    @cached_property
    def top_eid(self) -> CodeArray:
        """The id of the best candidate, -1 where there is none."""
        top: CodeArray = self._top(self.eid, -1)
        return top

    @cached_property
    def top_kind(self) -> CodeArray:
        """The type of the best candidate, -1 where there is none."""
        top: CodeArray = self._top(self.kind, -1)
        return top

    @cached_property
    def top_score(self) -> FloatArray:
        """The score of the best candidate, NaN where there is none."""
        top: FloatArray = self._top(self.score, np.nan)
        return top

    @cached_property
    def nil_ids(self) -> BoolArray:
        """Whether each of `ids` is a NIL."""
        return np.array([one.startswith(NIL) for one in self.ids], dtype=np.bool_)

    @cached_property
    def is_nil(self) -> BoolArray:
        """Whether the best candidate is a NIL. A mention without candidates is not."""
        return np.append(self.nil_ids, False)[self.top_eid]

    @cached_property
    def is_linked(self) -> BoolArray:
        """Whether the best candidate is an entry of the knowledge base."""
        return np.append(~self.nil_ids, False)[self.top_eid]

    def _top(self, values: npt.NDArray[Any], missing: float) -> Any:
        if bool((self.candidates == 1).all()):
            return values
        out = np.full(len(self), missing, dtype=values.dtype)
        some = np.flatnonzero(self.candidates)
        out[some] = values[self.offsets[some]]
        return out

    def take(self, which: BoolArray | IntArray) -> Annotations:
        """The chosen mentions, in their order."""
        rows = np.flatnonzero(which) if which.dtype == np.bool_ else np.sort(which)
        count = self.candidates[rows]
        offsets = np.concatenate([[0], np.cumsum(count)])
        chosen = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], count)
        return Annotations(
            self.name,
            self.docs,
            self.ids,
            self.kinds,
            self.doc[rows],
            self.start[rows],
            self.end[rows],
            offsets,
            self.eid[chosen],
            self.score[chosen],
            self.kind[chosen],
            self.line[rows],
        )

    def renamed(self, name: Callable[[str], str]) -> Annotations:
        """The same mentions with the ids of entities mapped; ids that become one are one."""
        known = Codes()
        codes = known.all([name(one) for one in self.ids])
        return replace(self, ids=tuple(known), eid=codes[self.eid])

    def mention(self, row: int) -> Mention:
        """One mention as a row."""
        found = []
        for i in range(int(self.offsets[row]), int(self.offsets[row + 1])):
            score, kind = float(self.score[i]), int(self.kind[i])
            found.append(
                Candidate(
                    self.ids[self.eid[i]],
                    None if np.isnan(score) else score,
                    None if kind < 0 else self.kinds[kind],
                )
            )
        place = self.docs[self.doc[row]], int(self.start[row]), int(self.end[row])
        return Mention(*place, tuple(found))

    def mentions(self) -> Iterator[Mention]:
        """All mentions as rows."""
        return map(self.mention, range(len(self)))


@dataclass
class Rows:
    """Rows of one width on their way into columns: candidate columns are (rows, candidates)."""

    doc: CodeArray
    start: IntArray
    end: IntArray
    line: IntArray
    eid: CodeArray
    score: FloatArray
    kind: CodeArray


class Collector:
    """Takes rows in any order and makes the columns of one side."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.docs, self.ids, self.kinds = Codes(), Codes(), Codes()
        self._parts: list[Rows] = []

    def take(self, rows: Rows) -> None:
        """Rows of one width; candidates are put best first, ties in file order."""
        if rows.eid.shape[1] > 1:
            best = np.argsort(-rows.score, axis=1, kind="stable")
            rows.eid = np.take_along_axis(rows.eid, best, axis=1)
            rows.score = np.take_along_axis(rows.score, best, axis=1)
            rows.kind = np.take_along_axis(rows.kind, best, axis=1)
        self._parts.append(rows)

    def finish(self) -> Annotations:
        """The columns, sorted."""
        parts = self._parts
        doc = _joined([p.doc for p in parts], np.int32)
        start = _joined([p.start for p in parts], np.int64)
        end = _joined([p.end for p in parts], np.int64)
        line = _joined([p.line for p in parts], np.int64)
        count = _joined([np.full(len(p.doc), p.eid.shape[1]) for p in parts], np.int64)
        order = _official_order(doc, start, end, line, len(self.docs))
        offsets = np.concatenate([[0], np.cumsum(count[order])])
        before = np.concatenate([[0], np.cumsum(count)])[:-1]
        if len(count) and int(count.min()) == int(count.max()) == 1:
            place = order
        else:
            place = np.arange(offsets[-1]) + np.repeat(before[order] - offsets[:-1], count[order])
        flat = [(p.eid.ravel(), p.score.ravel(), p.kind.ravel()) for p in parts]
        parts.clear()
        return Annotations(
            self.name,
            tuple(self.docs),
            tuple(self.ids),
            tuple(self.kinds),
            doc[order],
            start[order],
            end[order],
            offsets,
            _joined([f[0] for f in flat], np.int32)[place],
            _joined([f[1] for f in flat], np.float64)[place],
            _joined([f[2] for f in flat], np.int32)[place],
            line[order],
        )


def collect(name: str, mentions: Iterable[tuple[int, Mention]]) -> Annotations:
    """The columns of (line, mention) pairs. Raises DataError at an offset that is no offset."""
    collector = Collector(name)
    by_width: dict[int, list[tuple[int, Mention]]] = {}
    for line, one in mentions:
        # The number of a document is its place in the file, whatever the widths of its rows.
        collector.docs[one.docid]
        if max(abs(one.start), abs(one.end)) > LARGEST:
            text = f"{max(abs(one.start), abs(one.end))} is too large for an offset"
            raise DataError([Problem("offset-too-large", "error", text[:99], name, line)])
        by_width.setdefault(len(one.candidates), []).append((line, one))
    for width, some in by_width.items():
        flat = [c for _, one in some for c in one.candidates]
        shape = (len(some), width)
        collector.take(
            Rows(
                collector.docs.all([one.docid for _, one in some]),
                np.array([one.start for _, one in some], dtype=np.int64),
                np.array([one.end for _, one in some], dtype=np.int64),
                np.array([line for line, _ in some], dtype=np.int64),
                collector.ids.all([c.eid for c in flat]).reshape(shape),
                np.array(
                    [np.nan if c.score is None else c.score for c in flat], dtype=np.float64
                ).reshape(shape),
                np.array(
                    [-1 if c.type is None else collector.kinds[c.type] for c in flat],
                    dtype=np.int32,
                ).reshape(shape),
            )
        )
    return collector.finish()


def _joined(parts: Sequence[npt.NDArray[Any]], dtype: type) -> Any:
    if not parts:
        return np.zeros(0, dtype=dtype)
    return np.concatenate(parts).astype(dtype, copy=False)


def _official_order(
    doc: CodeArray, start: IntArray, end: IntArray, line: IntArray, docs: int
) -> IntArray:
    """Documents by their first line, then start, longer first, then line."""
    first = np.full(docs, np.iinfo(np.int64).max)
    np.minimum.at(first, doc, line)
    rank = np.empty(docs, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(docs)
    return np.lexsort((line, -end, start, rank[doc]))
