"""The data rows of a cache in columns: images with their boxes.

Sweeps over columns pick the rows that may be wrong; only those get the slow look that names every
defect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.declared import DeclaredWatch
from karat.read.fields import Fields
from karat.read.images import image_key, report_twins
from karat.read.records import Batch, Records
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.detection.checks import DataChecks
from karat.tasks.detection.present import PresentClasses
from karat.tasks.detection.records import (
    COORDINATES,
    KNOWN,
    TrueBox,
    gold_schema,
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


def read_data(request: Request, fields: Fields, problems: Problems) -> Data:
    """The data rows of a request."""
    source = request.gold[0]
    image = image_key(source, KNOWN)
    checks = DataChecks(request.declared, fields.decoded)
    reader = Records(
        source,
        gold_schema(fields, image, request.declared),
        problems,
        checks.diagnose,
        CACHE_EXTENSIONS,
        inside=lambda rows: keys_of(map(fields.getter("label"), rows)),
    )
    columns = _DataColumns(reader, fields, checks, image)
    for batch in reader:
        columns.add(batch)
    return columns.finish()


def keys_of(lists: Iterable[Any]) -> int:
    """How many keys the boxes of some rows have: four corners, and a class or a vector."""
    boxes = sum(len(boxes) for boxes in lists if boxes.__class__ is list)
    return boxes * (len(COORDINATES) + 1)


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
        odd.update(rows_of(np.maximum(counts, 0), ~ordered(corners)))
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
        if len(set(self.names)) == len(self.names):
            return
        times = Counter(self.names)
        del times[""]  # rows without a name
        report_twins(times, self.image, self.reader.place())


def corners_of(boxes: Sequence[Any]) -> FloatArray:
    """(n, 4): the corners of typed boxes."""
    out = np.empty((len(boxes), 4))
    for place, corner in enumerate(CORNERS):
        out[:, place] = np.fromiter(map(corner, boxes), np.float64, len(boxes))
    return out


def rows_of(counts: IntArray, odd: BoolArray) -> list[int]:
    """The rows that hold the odd ones of all boxes."""
    if not odd.any():
        return []
    row = np.repeat(np.arange(len(counts)), counts)
    return sorted(set(row[odd].tolist()))


def ordered(corners: FloatArray) -> BoolArray:
    """Whether each box has its corners in order and an area."""
    return np.asarray((corners[:, 0] < corners[:, 1]) & (corners[:, 2] < corners[:, 3]))


def joined(parts: Sequence[npt.NDArray[Any]], kind: Any = np.float64) -> npt.NDArray[Any]:
    """One array of all parts."""
    return np.concatenate(parts) if len(parts) else np.zeros(0, dtype=kind)
