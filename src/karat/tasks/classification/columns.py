"""Class probabilities turned into columns, block by block, in bounded memory."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import CodeArray, FloatArray, Which

SPILL_BYTES = 1 << 30
"""Past this, the scores that ordered metrics need go to a memory-mapped temporary file."""

_DECIMALS = 1e9
_EPS = float(np.finfo(np.float64).eps)
_NARROW = 16


class Scores:
    """Probabilities by class: `column(c)` is one class over all items, as the doubles read.

    A block whose values all have at most nine decimals is kept as 32-bit integers, which is exact.
    """

    __slots__ = ("_blocks", "_bytes", "_file")

    def __init__(self) -> None:
        self._blocks: list[npt.NDArray[Any]] = []
        self._bytes = 0
        self._file: Any = None

    def add(self, by_class: FloatArray) -> None:
        """Keep one block, (classes, rows)."""
        scaled = np.rint(by_class * _DECIMALS)
        block: npt.NDArray[Any] = by_class
        if np.array_equal(scaled / _DECIMALS, by_class):
            block = scaled.astype(np.uint32)
        self._bytes += block.nbytes
        self._blocks.append(self._spilled(block) if self._bytes > SPILL_BYTES else block)

    def _spilled(self, block: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self._file is None:
            # Lives as long as the scores do, and has no name that could be left behind.
            self._file = tempfile.TemporaryFile(prefix="karat-scores-")  # noqa: SIM115
        self._file.seek(0, 2)
        offset = self._file.tell()
        block.tofile(self._file)
        self._file.flush()
        return np.memmap(self._file, block.dtype, "r", offset, block.shape)

    def column(self, index: int, which: Which | None = None) -> FloatArray:
        """The probabilities of one class, in row order."""
        parts = [
            block[index] / _DECIMALS if block.dtype == np.uint32 else np.asarray(block[index])
            for block in self._blocks
        ]
        whole = np.concatenate(parts) if parts else np.zeros(0)
        return whole if which is None else whole[which]


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a prediction file says, item by item.

    `rank` counts the classes placed before the gold one (-1 where there is no label), `log_loss`
    and `brier` are 0 there. `scores` is None where ordered metrics are not wanted.
    """

    classes: int
    top: CodeArray
    confidence: FloatArray
    rank: CodeArray
    log_loss: FloatArray
    brier: FloatArray
    constant: bool
    scores: Scores | None

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.top)


class Builder:
    """Collects blocks of probabilities in row order. `labels` are -1 where missing."""

    def __init__(self, labels: CodeArray | None, *, keep_scores: bool = True) -> None:
        self._labels = labels
        self._scores = Scores() if keep_scores else None
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []
        self._rows = 0
        self._classes = 0
        self._first: FloatArray | None = None
        self._constant = True

    def add(self, probabilities: FloatArray) -> None:
        """Take the next rows in: (rows, classes). All blocks must have the same width."""
        rows, classes = probabilities.shape
        if not rows:
            return
        self._classes = classes
        labels = self._labels_of(rows)
        known = (labels >= 0) & (labels < classes)
        at = np.where(known, labels, 0)
        gold = probabilities[np.arange(rows), at]
        loss = -np.log(np.clip(gold, _EPS, 1 - _EPS))
        by_class = None
        if self._scores is not None or classes <= _NARROW:
            by_class = np.ascontiguousarray(probabilities.T)
        # Few classes: one pass a class over long columns. Many: one pass over the short rows.
        if classes <= _NARROW and by_class is not None:
            top, confidence, brier, rank = _by_columns(by_class, gold, at)
        else:
            top, confidence, brier, rank = _by_rows(probabilities, gold, at)
        absent = ~known
        loss[absent] = brier[absent] = 0.0
        rank[absent] = -1
        self._parts.append((top, confidence, rank, loss, brier))
        if self._scores is not None and by_class is not None:
            self._scores.add(by_class)
        self._watch_constant(probabilities)
        self._rows += rows

    def _labels_of(self, rows: int) -> CodeArray:
        if self._labels is None:
            return np.full(rows, -1, dtype=np.int32)
        part = self._labels[self._rows : self._rows + rows]
        short = rows - len(part)
        # More predictions than rows is reported by the reader; here it only must not crash.
        return np.concatenate([part, np.full(short, -1, dtype=np.int32)]) if short else part

    def _watch_constant(self, probabilities: FloatArray) -> None:
        if not self._constant:
            return
        if self._first is None:
            self._first = probabilities[0].copy()
        self._constant = bool((probabilities == self._first).all())

    def finish(self) -> Predictions:
        """All rows together."""
        kinds: tuple[Any, ...] = (np.int32, np.float64, np.int32, np.float64, np.float64)
        columns = [
            np.concatenate([part[i] for part in self._parts]) if self._parts else np.zeros(0, kind)
            for i, kind in enumerate(kinds)
        ]
        top, confidence, rank, loss, brier = columns
        constant = self._constant and self._rows > 1
        return Predictions(
            self._classes, top, confidence, rank, loss, brier, constant, self._scores
        )


Parts = tuple[CodeArray, FloatArray, FloatArray, CodeArray]
"""Index and value of the largest probability (ties: lowest index), Brier score, rank of gold."""


def _by_columns(by_class: FloatArray, gold: FloatArray, at: npt.NDArray[Any]) -> Parts:
    rows = by_class.shape[1]
    best, top = by_class[0].copy(), np.zeros(rows, dtype=np.int32)
    brier, rank = np.zeros(rows), np.zeros(rows, dtype=np.int32)
    for c, p in enumerate(by_class):
        if c:
            top[p > best] = c
            np.maximum(best, p, out=best)
        brier += (p - (at == c)) ** 2
        rank += (p > gold) | ((p == gold) & (at > c))
    return top, best, brier, rank


def _by_rows(rows: FloatArray, gold: FloatArray, at: npt.NDArray[Any]) -> Parts:
    top = rows.argmax(axis=1)
    best = rows[np.arange(len(rows)), top]
    mark = gold[:, None]
    rank = np.count_nonzero(rows > mark, axis=1)
    level = np.count_nonzero(rows == mark, axis=1)
    for i in np.flatnonzero(level > 1):
        rank[i] += np.count_nonzero(rows[i, : at[i]] == gold[i])
    brier = np.einsum("ij,ij->i", rows, rows) - gold**2 + (1 - gold) ** 2
    return top.astype(np.int32), best, brier, rank.astype(np.int32)
