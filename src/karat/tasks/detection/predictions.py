"""The prediction rows of a cache in columns: boxes with probability vectors.

Row i belongs to row i of the data. As there, sweeps pick the rows that get the slow look.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.probabilities import ABOVE_ONE, as_matrix
from karat.read.records import Batch, Records, pass_over
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.detection.cache import Data, corners_of, joined, keys_of, ordered, rows_of
from karat.tasks.detection.checks import SUM_SLACK, PredictionChecks
from karat.tasks.detection.records import BOXES, FoundBox, Prediction
from karat.tasks.detection.settings import Choose


@dataclass(slots=True)
class Predicted:
    """The rows of predictions: boxes as corners, and what is kept of their vectors.

    `best` is the class of each detection, `score` its probability, `box` the box it stands in; one
    a box for argmax. `known` is as in `Vectors`.
    """

    reader: Records[Any]
    count: IntArray
    corners: FloatArray
    width: int
    best: IntArray
    score: FloatArray
    box: IntArray
    top: IntArray
    confidence: FloatArray
    squares: FloatArray
    known: FloatArray
    exclusive: bool
    clipped: BoolArray | None = None
    """Which boxes stuck out of their image as they were written."""


def read_predictions(
    source: Source, data: Data, choose: Choose | None, problems: Problems, inline: bool
) -> Predicted:
    """The prediction rows; `inline` says that they stand in the data rows.

    Without `choose` each box is a detection of its likeliest class.
    """
    checks = PredictionChecks(lambda: _lengths(source))
    # What is wrong with the data rows is known by then: only the predictions' own defects count.
    noted = Problems() if inline else problems
    reader = Records(
        source,
        Prediction,
        noted,
        checks.diagnose,
        CACHE_EXTENSIONS,
        inside=lambda rows: keys_of(row.predicted_bounding_boxes for row in rows),
    )
    columns = _PredictedColumns(reader, checks, data, choose)
    for batch in reader:
        columns.add(batch)
    if inline:
        for problem in noted:
            if (problem.key or "").startswith(BOXES):
                problems.take(problem)
        reader.problems = problems
    return columns.finish()


class _PredictedColumns:
    """The columns of the predictions while they are read."""

    def __init__(
        self, reader: Records[Any], checks: PredictionChecks, data: Data, choose: Choose | None
    ) -> None:
        self.reader, self.checks, self.choose = reader, checks, choose
        self.present = data.present
        self.rows, self.boxes, self.width = 0, 0, 0
        self.counts: list[IntArray] = []
        self.corners: list[FloatArray] = []
        self.chosen: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.vectors: list[tuple[IntArray, FloatArray, FloatArray, FloatArray]] = []
        self.first_loose: tuple[int, int, float] | None = None

    def add(self, batch: Batch[Prediction]) -> None:
        """Take the next batch."""
        self._gap(batch.first - self.rows)
        n = len(batch.rows)
        held = [row.predicted_bounding_boxes for row in batch.rows]
        counts = np.fromiter(map(len, held), np.int64, n)
        boxes: list[FoundBox] = list(chain.from_iterable(held))
        lists = [box.probabilities for box in boxes]
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        usual = self.checks.usual.among(set(lengths.tolist()))
        if usual != self.width and self.boxes:
            self._report_first_boxes(batch.first)
        self.width = usual or self.width
        corners = corners_of(boxes)
        fits = lengths == usual
        odd = ~ordered(corners) | ~fits
        values = np.zeros((0 if fits.all() else len(boxes), usual))
        good = bool(fits.all())
        kept = lists if good else [v for v, fit in zip(lists, fits, strict=True) if fit]
        matrix = as_matrix(kept, usual)
        if good:
            values = matrix
        else:
            values[fits] = matrix
        if values.size and not (values.min() >= 0 and values.max() <= 1 + ABOVE_ONE):
            odd |= ~_inside(values)
        for i in rows_of(counts, odd):
            self.checks.diagnose(batch.record(i), batch.place(i))
        self.counts.append(counts)
        self.corners.append(corners)
        if usual and len(values):
            self._take(values, counts, batch.first)
        self.rows = batch.first + n
        self.boxes += len(boxes)

    def _report_first_boxes(self, rows: int) -> None:
        """Report the boxes that were taken before all were counted: those are the odd ones."""
        for batch in _again(self.reader.source):
            for record, row in enumerate(batch.rows, batch.first):
                for box in row.predicted_bounding_boxes if record < rows else ():
                    place = self.reader.place(record)
                    self.checks.usual.report(len(box.probabilities), BOXES, place)

    def _take(self, values: FloatArray, counts: IntArray, first: int) -> None:
        """Keep what is needed of some vectors."""
        n = len(values)
        top = values.argmax(axis=1)
        box, best = self.choose(values, counts) if self.choose else (np.arange(n), top)
        self.chosen.append((box + self.boxes, best, values[box, best]))
        ends = np.cumsum(counts)
        known = [
            # A class past the vectors is an error, which is reported when all is read.
            values[end - size : end].take(self.present.of_row(row), axis=1, mode="clip")
            for row, (end, size) in enumerate(
                zip(ends.tolist(), counts.tolist(), strict=True), first
            )
        ]
        squares = np.einsum("ij,ij->i", values, values)
        chances = np.concatenate([one.reshape(-1) for one in known])
        self.vectors.append((top, values[np.arange(n), top], squares, chances))
        sums = values @ np.ones(values.shape[1])
        loose = np.flatnonzero(sums > 1 + SUM_SLACK)
        # Where a value lies outside of [0, 1], that is said, and the sum tells nothing.
        loose = loose[_inside(values[loose])]
        if len(loose) and self.first_loose is None:
            at = int(loose[0])
            record = int(np.searchsorted(ends, at, side="right"))
            index = at - int(ends[record] - counts[record])
            self.first_loose = first + record, index, float(sums[at])

    def _gap(self, rows: int) -> None:
        if rows > 0:
            self.counts.append(np.zeros(rows, dtype=np.int64))

    def finish(self) -> Predicted:
        """The columns."""
        if self.reader.count is not None:
            self._gap(self.reader.count - self.rows)
        if self.first_loose is not None:
            record, index, total = self.first_loose
            text = (
                f"sum is {total:.3g}; scores are treated as independent, "
                "calibration tests are skipped"
            )
            key = f"{BOXES}[{index}].probabilities"
            self.reader.place(record).add("box-sum", text, key, severity="warning")
        chosen, vectors = (
            list(zip(*self.chosen, strict=True)),
            list(zip(*self.vectors, strict=True)),
        )
        box, best, score = chosen or ((), (), ())
        top, confidence, squares, known = vectors or ((), (), (), ())
        return Predicted(
            self.reader,
            joined(self.counts, np.int64),
            joined(self.corners).reshape(-1, 4),
            self.width,
            joined(best, np.int64),
            joined(score),
            joined(box, np.int64),
            joined(top, np.int64),
            joined(confidence),
            joined(squares),
            joined(known),
            self.first_loose is None,
        )


def _again(source: Source) -> Records[Prediction]:
    """The predictions of a file that is read only to count or to find boxes once more."""
    return Records(source, Prediction, Problems(), pass_over)


def _lengths(source: Source) -> Counter[int]:
    """How often each length of vector occurs in a file."""
    return Counter(
        len(box.probabilities)
        for batch in _again(source)
        for row in batch.rows
        for box in row.predicted_bounding_boxes
    )


def _inside(values: FloatArray) -> BoolArray:
    """Whether all values of each row are probabilities."""
    low, high = values.min(axis=1, initial=0.0), values.max(axis=1, initial=0.0)
    return np.asarray((low >= 0) & (high <= 1 + ABOVE_ONE))
