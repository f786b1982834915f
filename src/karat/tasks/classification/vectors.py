"""Predictions of the classification tasks, from batches of rows to columns, in one pass."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, FloatArray
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.checks import one_based, report_count
from karat.read.probabilities import as_matrix
from karat.read.records import Batch, Records, pass_over, read_records
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.classification.checks import Vectors, suspect_order, well_rounded
from karat.tasks.classification.columns import Builder, Predictions
from karat.tasks.classification.data import Gold
from karat.tasks.classification.records import Prediction

HashArray = npt.NDArray[np.uint64]


def read_predictions(
    source: Source,
    gold: Gold,
    problems: Problems,
    keep_scores: bool = True,
    inline: HashArray | None = None,
) -> Predictions | None:
    """A prediction file as columns, checked against its data; None where it is broken."""
    vectors = Vectors(lambda: _lengths(source))
    reader = read_records(source, Prediction, problems, vectors.diagnose, CACHE_EXTENSIONS)
    columns = _Vectors(reader, vectors, Builder(gold.labels, keep_scores=keep_scores), inline, gold)
    for batch in reader:
        columns.add(batch)
    if reader.count and gold.n is not None and gold.n > 0:
        report_count(reader.place(), reader.count, gold.n, vectors.key)
    return _finish(columns, gold, reader)


def read_inline(gold: Gold, problems: Problems, keep_scores: bool) -> Predictions | None:
    """The predictions that stand in the data rows. What is wrong with the rows is known by now."""
    source = gold.reader.source
    found, vectors = Problems(), Vectors(lambda: _lengths(source))
    reader = read_records(source, Prediction, found, vectors.diagnose)
    columns = _Vectors(reader, vectors, Builder(gold.labels, keep_scores=keep_scores), None, gold)
    for batch in reader:
        columns.add(batch)
    for problem in found:
        if problem.code.startswith(("prob", "prediction")):
            problems.take(problem)
    reader.problems = problems
    return _finish(columns, gold, reader)


def _finish(columns: _Vectors, gold: Gold, reader: Records[Any]) -> Predictions | None:
    if not reader.count or not reader.sound or columns.gaps:
        return None
    predictions = columns.builder.finish()
    if not gold.reader.sound or gold.n != reader.count:
        return predictions
    _report_labels(gold, predictions.classes)
    suspect_order(
        gold.labels, predictions.top, predictions.classes, predictions.constant, reader.place()
    )
    return predictions


def _report_labels(gold: Gold, classes: int) -> None:
    """Report labels that the vectors have no place for."""
    hint = one_based(gold.labels, classes)
    for record in np.flatnonzero(gold.labels >= classes):
        message = f"{gold.labels[record]} but predictions have {classes} classes (0..{classes - 1})"
        gold.reader.place(int(record)).add("label-range", message, "label", help=hint)


class _Vectors:
    """The probabilities of a file while it is read."""

    def __init__(
        self,
        reader: Records[Any],
        vectors: Vectors,
        builder: Builder,
        inline: HashArray | None,
        gold: Gold,
    ) -> None:
        self.reader, self.vectors, self.builder = reader, vectors, builder
        self.inline, self.gold = inline, gold
        self.rows = 0
        self.width: int | None = None
        self.gaps = False

    def add(self, batch: Batch[Prediction]) -> None:
        """Take the next batch: check it, hand it to the builder as one matrix."""
        before = self.reader.problems.errors
        lists = [row.probabilities for row in batch.rows]
        self.gaps |= batch.first != self.rows
        self.rows = batch.first + len(lists)
        lengths = set(map(len, lists))
        usual = self.vectors.usual.among(lengths)
        if self.width not in (None, usual):
            self._report_first_rows(batch.first)
        self.width = usual
        kept = np.ones(len(lists), dtype=bool)
        if lengths != {usual}:
            kept = np.fromiter(map(len, lists), np.int64, len(lists)) == usual
            for odd in np.flatnonzero(~kept).tolist():
                self.vectors.diagnose(batch.record(odd), batch.place(odd))
            lists = [row for row, good in zip(lists, kept, strict=True) if good]
        values = as_matrix(lists, usual)
        records = np.flatnonzero(kept)
        for i in self.vectors.odd(values):
            at = int(records[i])
            if not well_rounded(batch.source_of(at), lists[i]):
                self.vectors.diagnose(batch.record(at), batch.place(at))
        if self.inline is not None:
            self._compare(batch.first + records, values)
        self.gaps |= self.reader.problems.errors > before
        if not self.gaps:
            self.builder.add(values)

    def _report_first_rows(self, rows: int) -> None:
        """Report the rows that were taken before all were counted: their length is the odd one."""
        for batch in _again(self.reader.source):
            for record, row in enumerate(batch.rows, batch.first):
                if record < rows and len(row.probabilities) == self.width:
                    vector = {self.vectors.key: row.probabilities}
                    self.vectors.diagnose(vector, self.reader.place(record))

    def _compare(self, records: npt.NDArray[np.int64], values: FloatArray) -> None:
        """Report data rows whose own probabilities are others."""
        inline = self.inline
        assert inline is not None
        inside = records < len(inline)
        records, hashes = records[inside], row_hashes(values[inside])
        differ: BoolArray = (inline[records] != 0) & (inline[records] != hashes)
        for record in records[differ].tolist():
            line = self.reader.line_of(record)
            where = f"line {line}" if line is not None else f"record {record}"
            message = f"row carries its own 'probabilities' that differs from {self.reader.name}"
            place = self.gold.reader.place(record)
            place.add("prediction-conflict", f"{message} {where}", "probabilities")


def _again(source: Source) -> Records[Prediction]:
    """The predictions of a file that is read only to count or to find rows once more."""
    return Records(source, Prediction, Problems(), pass_over)


def _lengths(source: Source) -> Counter[int]:
    """How often each length of vector occurs in a file."""
    return Counter(len(row.probabilities) for batch in _again(source) for row in batch.rows)


def inline_hashes(gold: Gold) -> HashArray:
    """A hash of the probabilities in each data row, 0 where there are none."""
    hashes = np.zeros(gold.n or 0, dtype=np.uint64)
    reader = Records(gold.reader.source, _Inline, Problems(), pass_over)
    for batch in reader:
        for i, row in enumerate(batch.rows):
            if row.probabilities:
                hashes[batch.first + i] = row_hashes(np.array([row.probabilities]))[0]
    return hashes


class _Inline(msgspec.Struct, gc=False, frozen=True):
    """A data row of which only the predictions matter."""

    probabilities: list[float] | msgspec.UnsetType | None = msgspec.UNSET


def row_hashes(values: FloatArray) -> HashArray:
    """A hash of each row, never 0; equal rows have equal hashes."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    hashes = np.full(len(bits), bits.shape[1] + 1, dtype=np.uint64)
    for column in bits.T:
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return np.maximum(hashes, np.uint64(1))
