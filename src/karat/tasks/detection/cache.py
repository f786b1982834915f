"""Caches in columns: rows of data with boxes, and rows of predictions with probability vectors.

Row i of the predictions belongs to row i of the data. Sweeps over columns pick the rows that may be
wrong; only those get the slow look that names every defect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from operator import attrgetter
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.errors import DataError
from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.problem import Problems
from karat.model.task import Request, Source
from karat.read.declared import DeclaredWatch
from karat.read.fields import Fields
from karat.read.place import show
from karat.read.probabilities import ABOVE_ONE
from karat.read.records import Batch, Records, pass_over
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.detection.checks import SUM_SLACK, DataChecks, PredictionChecks
from karat.tasks.detection.present import PresentClasses
from karat.tasks.detection.records import (
    BOXES,
    COORDINATES,
    FoundBox,
    Prediction,
    TrueBox,
    gold_schema,
    image_key,
)

CORNERS = tuple(map(attrgetter, COORDINATES))


@dataclass(slots=True)
class Data:
    """The rows of data: boxes as corners (x_min, x_max, y_min, y_max), row by row.

    `count` is how many boxes each row has, -1 where the row has no label.
    """

    reader: Records[Any]
    names: list[str]
    count: IntArray
    corners: FloatArray
    classes: IntArray
    width: FloatArray
    height: FloatArray
    watch: DeclaredWatch
    clipped: BoolArray | None = None
    """Which boxes stuck out of their image as they were written."""

    @property
    def row(self) -> IntArray:
        """The row of each box."""
        return np.repeat(np.arange(len(self.count)), np.maximum(self.count, 0))

    @property
    def present(self) -> PresentClasses:
        """The classes that each row has."""
        return PresentClasses.of(self.row, self.classes, len(self.count))


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


Choose = Callable[[FloatArray, IntArray], tuple[IntArray, IntArray]] | None
"""(vectors, boxes of each image) -> (box, class) of the detections; None: each box's likeliest."""


# --- data --------------------------------------------------------------------------------------


def read_data(request: Request, fields: Fields, problems: Problems) -> Data:
    """The data rows of a request."""
    source = request.gold[0]
    image = image_key(_first(source))
    checks = DataChecks(request.declared, fields.decoded)
    reader = Records(
        source,
        gold_schema(fields, image, request.declared),
        problems,
        checks.diagnose,
        CACHE_EXTENSIONS,
        inside=lambda rows: _keys_of(map(fields.getter("label"), rows)),
    )
    columns = _DataColumns(reader, fields, checks, image)
    for batch in reader:
        columns.add(batch)
    return columns.finish()


def _keys_of(lists: Iterable[Any]) -> int:
    """How many keys the boxes of some rows have: four corners, and a class or a vector."""
    boxes = sum(len(boxes) for boxes in lists if boxes.__class__ is list)
    return boxes * (len(COORDINATES) + 1)


def _first(source: Source) -> Any:
    try:
        return source.peek().first
    except DataError:
        return None


class _DataColumns:
    """The columns of the data while they are read."""

    def __init__(
        self, reader: Records[Any], fields: Fields, checks: DataChecks, image: str
    ) -> None:
        self.reader, self.fields, self.checks, self.image = reader, fields, checks, image
        self.rows = 0
        self.names: list[str] = []
        self.counts: list[IntArray] = []
        self.corners: list[FloatArray] = []
        self.classes: list[IntArray] = []
        self.sizes: list[FloatArray] = []
        self.watch = DeclaredWatch(checks.declared, fields)

    def add(self, batch: Batch[Any]) -> None:
        """Take the next batch; rows that could not be read leave a gap."""
        self._gap(batch.first - self.rows)
        rows = batch.rows
        n = len(rows)
        self.rows = batch.first + n
        labels = list(map(self.fields.getter("label"), rows))
        held = [label if label.__class__ is list else () for label in labels]
        boxes: list[TrueBox] = list(chain.from_iterable(held))
        counts = np.fromiter((len(x) if x.__class__ is list else -1 for x in labels), np.int64, n)
        corners = corners_of(boxes)
        self.counts.append(counts)
        self.corners.append(corners)
        self.classes.append(np.fromiter((b.class_id for b in boxes), np.int64, len(boxes)))
        texts = list(map(self.fields.getter(self.image), rows))
        self.names += [t if t.__class__ is str else "" for t in texts]
        sizes = [
            np.fromiter(
                (v if isinstance(v, float) else 0.0 for v in map(self.fields.getter(side), rows)),
                np.float64,
                n,
            )
            for side in ("width", "height")
        ]
        self.sizes.append(np.stack(sizes, axis=1))
        self.fields.add(rows, batch.place)
        odd = self.watch.odd(batch)
        odd.update(i for i, t in enumerate(texts) if t.__class__ is not str)
        odd.update(rows_of(np.maximum(counts, 0), ~_ordered(corners)))
        for i in sorted(odd):
            self.checks.look(batch.record(i), batch.place(i))
        self.watch.add_embeddings(batch)

    def _gap(self, rows: int) -> None:
        if rows > 0:
            self.counts.append(np.zeros(rows, dtype=np.int64))
            self.sizes.append(np.zeros((rows, 2)))
            self.names += [""] * rows
            self.fields.skip(rows)

    def finish(self) -> Data:
        """The columns, after the checks that need the whole file."""
        if self.reader.count is not None:
            self._gap(self.reader.count - self.rows)
        self.watch.finish(self.reader.place(), self.rows)
        self._report_twins()
        sizes = joined(self.sizes).reshape(-1, 2)
        return Data(
            self.reader,
            self.names,
            joined(self.counts, np.int64),
            joined(self.corners).reshape(-1, 4),
            joined(self.classes, np.int64),
            sizes[:, 0],
            sizes[:, 1],
            self.watch,
        )

    def _report_twins(self) -> None:
        """Warn of images that appear more than once."""
        if len(set(self.names)) == len(self.names):
            return
        times: dict[str, int] = {}
        for name in self.names:
            times[name] = times.get(name, 0) + 1
        for name, n in times.items():
            if n > 1 and name:
                text = f"{show(name)[1:-1]} appears {n} times"
                self.reader.place().add("image-duplicate", text, self.image, severity="warning")


# --- predictions -------------------------------------------------------------------------------


def read_predictions(
    source: Source, data: Data, choose: Choose, problems: Problems, inline: bool
) -> Predicted:
    """The prediction rows; `inline` says that they stand in the data rows."""
    checks = PredictionChecks(lambda: _lengths(source))
    # What is wrong with the data rows is known by then: only the predictions' own defects count.
    noted = Problems() if inline else problems
    reader = Records(
        source,
        Prediction,
        noted,
        checks.diagnose,
        CACHE_EXTENSIONS,
        inside=lambda rows: _keys_of(row.predicted_bounding_boxes for row in rows),
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
        self, reader: Records[Any], checks: PredictionChecks, data: Data, choose: Choose
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
        odd = ~_ordered(corners) | ~fits
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


def corners_of(boxes: Sequence[Any]) -> FloatArray:
    """(n, 4): the corners of typed boxes."""
    out = np.empty((len(boxes), 4))
    for place, corner in enumerate(CORNERS):
        out[:, place] = np.fromiter(map(corner, boxes), np.float64, len(boxes))
    return out


def as_matrix(lists: Sequence[Sequence[float]], width: int) -> FloatArray:
    """Lists of one length as an array of that width."""
    # Packing by a known format is twice as fast as converting number by number.
    packed = b"".join(starmap(Struct(f"{width}d").pack, lists))
    return np.frombuffer(packed).reshape(len(lists), width)


def rows_of(counts: IntArray, odd: BoolArray) -> list[int]:
    """The rows that hold the odd ones of all boxes."""
    if not odd.any():
        return []
    row = np.repeat(np.arange(len(counts)), counts)
    return sorted(set(row[odd].tolist()))


def _inside(values: FloatArray) -> BoolArray:
    """Whether all values of each row are probabilities."""
    low, high = values.min(axis=1, initial=0.0), values.max(axis=1, initial=0.0)
    return np.asarray((low >= 0) & (high <= 1 + ABOVE_ONE))


def _ordered(corners: FloatArray) -> BoolArray:
    """Whether each box has its corners in order and an area."""
    return np.asarray((corners[:, 0] < corners[:, 1]) & (corners[:, 2] < corners[:, 3]))


def joined(parts: Sequence[npt.NDArray[Any]], kind: Any = np.float64) -> npt.NDArray[Any]:
    """One array of all parts."""
    return np.concatenate(parts) if len(parts) else np.zeros(0, dtype=kind)
