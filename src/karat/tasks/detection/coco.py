"""COCO files in columns: annotations (images, boxes, categories) and results.

What typed decoding refuses is gone through item by item by `faults`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from struct import Struct as PackedRow
from typing import Annotated, Any

import msgspec
import numpy as np

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.fields import Fields
from karat.read.keys import count_pairs, total_keys
from karat.read.members import items, list_items
from karat.read.place import Place
from karat.read.strictjson import StrictReader
from karat.tasks.detection.faults import (
    LARGEST_ID,
    diagnose_labels,
    diagnose_results,
    diagnose_rows,
    report_repeats,
)
from karat.tasks.detection.pieces import decoded

Missing = msgspec.UnsetType
Id = Annotated[int, msgspec.Meta(ge=-LARGEST_ID, le=LARGEST_ID)]


class Box(msgspec.Struct, gc=False, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Four numbers: a corner and the sides."""

    x: float
    y: float
    width: float
    height: float


class Annotation(msgspec.Struct, gc=False, frozen=True):
    """One true box, in COCO's words."""

    image_id: Id
    category_id: Id
    bbox: Box
    id: Id | Missing = msgspec.UNSET
    area: float | Missing | None = msgspec.UNSET
    iscrowd: int | bool | None = 0
    ignore: int | bool | None = 0


class Category(msgspec.Struct, gc=False, frozen=True):
    """One class."""

    id: Id
    name: str = ""


class Result(msgspec.Struct, gc=False, frozen=True):
    """One detection."""

    image_id: Id
    category_id: Id
    bbox: Box
    score: float


WANTED = (b"image_id", b"category_id", b"bbox", b"area", b"iscrowd")
"""The keys of an annotation that nothing else in the file has."""

MANY = 10_000
"""Of so many results, one with a key too many would show in the remainder."""

RESULT = np.dtype([("image", "i8"), ("category", "i8"), ("score", "f8"), ("box", "f8", 4)])
pack_result = PackedRow("qqd4d").pack
pack_box = PackedRow("4d").pack


@dataclass(frozen=True, slots=True)
class Labels:
    """The annotation file in columns, ids as written. `images` are the decoded image records."""

    images: list[Any]
    image_ids: IntArray
    width: FloatArray
    height: FloatArray
    category_ids: IntArray
    category_names: list[str]
    ids: IntArray | None
    image: IntArray
    category: IntArray
    box: FloatArray
    area: FloatArray
    crowd: BoolArray
    ignored: BoolArray
    unsized: int


@dataclass(frozen=True, slots=True)
class Results:
    """The result file in columns, ids as written."""

    image: IntArray
    category: IntArray
    box: FloatArray
    score: FloatArray


@dataclass(slots=True)
class Document:
    """A file and the lines of its items, which are looked up only where something is wrong."""

    source: Source
    problems: Problems
    member: str = ""
    _starts: list[int] | None = field(default=None)

    def place(self, index: int | None = None) -> Place:
        """The place of one item, or of the whole file."""
        line = self._line(index) if index is not None else None
        return Place(self.problems, self.source.name, line, index)

    def key(self, index: int, name: str = "") -> str:
        """The path of an item, or of one of its keys."""
        inner = f".{name}" if name and self.member else name
        return f"{self.member}[{index}]{inner}" if self.member else name

    def _line(self, index: int) -> int | None:
        if self.source.rows is not None:
            return None
        data = self.source.data()
        if self._starts is None:
            self._starts = item_starts(data, self.member)
        return 1 + data.count(b"\n", 0, self._starts[index])


def item_starts(data: bytes, member: str) -> list[int]:
    """Where each item of a list begins: of the whole document, or of one of its members."""
    at, inner = 0, data
    if member:
        inner = bytes(msgspec.json.decode(data, type=dict[str, msgspec.Raw])[member])
        at = data.index(inner)
    out = []
    for raw in msgspec.json.decode(inner, type=list[msgspec.Raw]):
        # Between two items there are a comma and white space alone.
        at = data.index(raw, at)
        out.append(at)
        at += len(memoryview(raw))
    return out


def read_labels(source: Source, fields: Fields, problems: Problems) -> Labels | None:
    """The annotation file, None where it cannot be used; what is wrong is reported."""
    image = fields.schema(
        "Image",
        {
            "id": (Id, msgspec.NODEFAULT),
            "width": (float | None | Missing, msgspec.UNSET),
            "height": (float | None | Missing, msgspec.UNSET),
            "file_name": (Any, msgspec.UNSET),
        },
    )
    whole = msgspec.defstruct(
        "Labels",
        [
            ("images", list[image]),  # type: ignore[valid-type]  # the schema is made at run time
            ("annotations", list[Annotation]),
            ("categories", list[Category]),
        ],
        gc=False,
    )
    data = source.data()
    try:
        read = msgspec.json.decode(data, type=whole)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        diagnose_labels(data, Place(problems, source.name), str(error))
        return None
    labels = _label_columns(read, fields)
    if any(data.count(b'"%b":' % key) > len(labels.image) for key in WANTED):
        text = data.decode("utf-8")
        strict = StrictReader()
        report_repeats(items(text, strict), strict, Place(problems, source.name))
    return labels


def _label_columns(read: Any, fields: Fields) -> Labels:
    images, notes, classes = read.images, read.annotations, read.categories
    n, m = len(images), len(notes)
    ids = [a.id for a in notes]
    areas = [a.area for a in notes]
    packed = b"".join([pack_box(b.x, b.y, b.width, b.height) for b in (a.bbox for a in notes)])
    box = np.frombuffer(packed).reshape(m, 4)
    known = np.array([isinstance(area, float) for area in areas], dtype=bool)
    area = box[:, 2] * box[:, 3]
    if known.any():
        area[known] = [a for a in areas if isinstance(a, float)]
    return Labels(
        images=images,
        image_ids=_ints((fields.getter("id")(i) for i in images), n),
        width=_sizes(map(fields.getter("width"), images), n),
        height=_sizes(map(fields.getter("height"), images), n),
        category_ids=_ints((c.id for c in classes), len(classes)),
        category_names=[c.name for c in classes],
        ids=None if any(i is msgspec.UNSET for i in ids) else _ints(ids, m),
        image=_ints((a.image_id for a in notes), m),
        category=_ints((a.category_id for a in notes), m),
        box=box,
        area=area,
        crowd=np.fromiter((bool(a.iscrowd) for a in notes), bool, m),
        ignored=np.fromiter((bool(a.ignore) for a in notes), bool, m),
        unsized=int(m - known.sum()),
    )


def _ints(values: Iterable[Any], n: int) -> IntArray:
    return np.fromiter(values, np.int64, n)


def _sizes(values: Iterable[Any], n: int) -> FloatArray:
    return np.fromiter((v if isinstance(v, float) else 0.0 for v in values), np.float64, n)


def read_results(source: Source, problems: Problems) -> Results | None:
    """The result file, None where it cannot be used; what is wrong is reported."""
    rows = source.rows
    if rows is not None:
        try:
            parts = [_packed([msgspec.convert(row, Result) for row in rows])]
        except msgspec.ValidationError:
            diagnose_rows(rows, source.name, problems)
            return None
    else:
        data = source.data()
        try:
            parts = [_packed(part) for part in decoded(data, Result)]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            diagnose_results(data, Place(problems, source.name), str(error))
            return None
        if not _alike(data, sum(map(len, parts)) // RESULT.itemsize):
            strict = StrictReader()
            text = data.decode("utf-8")
            report_repeats(list_items(text, strict), strict, Place(problems, source.name))
    table = np.frombuffer(b"".join(parts), dtype=RESULT)
    return Results(*(table[name].copy() for name in ("image", "category", "box", "score")))


def _packed(rows: Sequence[Result]) -> bytes:
    """The numbers of some results behind each other, as `RESULT` lays them out."""
    # One packed row is half the price of a number at a time into four arrays.
    return b"".join(
        [
            pack_result(row.image_id, row.category_id, row.score, b.x, b.y, b.width, b.height)
            for row in rows
            for b in (row.bbox,)
        ]
    )


def _alike(data: bytes, n: int) -> bool:
    """Whether no result can have a key twice: all have as many keys, or as many as are written."""
    pairs = count_pairs(data)
    if pairs == n * len(Result.__struct_fields__) or (n > MANY and pairs % n == 0):
        return True
    return total_keys(msgspec.json.decode(data)) == pairs
