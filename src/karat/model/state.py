"""State: folded evidence that can be stored, sent and merged.

Three kinds. `Tally` counts distinct rows of whole numbers; `Sums` holds one row of exact sums a key
(a cluster, or a bucket of items); `Runs` holds sorted events. Merging is associative and
commutative to the bit: any chunking and any order of merging give the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Self, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from karat.errors import KaratError
from karat.model.evidence import Columns, Counts, Layout, Table
from karat.model.exact import LIMBS, carried, fits, limbs, to_floats
from karat.model.pairs import CodeArray, FloatArray, IntArray

MAGIC = b"karat-state\n"
VERSION = 1
MOST_ROWS = 1 << 16
BUCKETS = 1 << 12
DIGEST = 16

Arrays = Mapping[str, npt.NDArray[Any]]


class _Header(msgspec.Struct, frozen=True):
    """What stands before the raw arrays: (name, dtype, shape) of each, and what is no array."""

    version: int
    kind: str
    arrays: list[tuple[str, str, list[int]]]
    groups: dict[str, int] = {}
    names: list[str] = []


@dataclass(frozen=True)
class Tally:
    """Distinct rows of whole numbers, and how many items have each.

    A row is the bytes of its (cell, value) pairs in ascending cells, big-endian, so that rows have
    one order whatever table they came from.
    """

    layout: Layout
    rows: Mapping[bytes, int] = field(default_factory=dict)

    @classmethod
    def of(cls, evidence: Counts) -> Self:
        """The tally of exact evidence without weights."""
        if not evidence.exact or evidence.weights is not None:
            raise KaratError("a tally holds whole numbers only", help="use Sums")
        table = _without_zeros(_sparse(evidence.table))
        if evidence.codes is None:
            count = np.ones(table.rows, dtype=np.int64)
        else:
            count = np.bincount(evidence.codes, minlength=table.rows)
        edges = np.searchsorted(table.row, np.arange(table.rows + 1)) * 16
        rank = np.lexsort((table.cell, table.row))
        pairs = np.stack([table.cell[rank], table.value[rank].astype(np.int64)], axis=1)
        packed, rows = pairs.astype(">i8").tobytes(), dict[bytes, int]()
        for row in np.flatnonzero(count).tolist():
            key = packed[edges[row] : edges[row + 1]]
            rows[key] = rows.get(key, 0) + int(count[row])
        return cls(evidence.layout, rows)

    @property
    def n(self) -> int:
        """How many items there are."""
        return sum(self.rows.values())

    @property
    def crowded(self) -> bool:
        """Whether there are too many rows to keep: then it is time for `degraded`."""
        return len(self.rows) > MOST_ROWS

    def merge(self, other: Tally) -> Tally:
        """The tally of the items of both."""
        _same_cells(self.layout, other.layout)
        rows = dict(self.rows)
        for key, count in other.rows.items():
            rows[key] = rows.get(key, 0) + count
        return Tally(self.layout, rows)

    def table(self) -> tuple[Table, IntArray]:
        """(distinct rows, how many items have each), in the order of the rows' bytes."""
        keys = sorted(self.rows)
        lengths = np.array([len(key) // 16 for key in keys], dtype=np.int64)
        pairs = np.frombuffer(b"".join(keys), dtype=">i8").reshape(-1, 2).astype(np.int64)
        row = np.repeat(np.arange(len(keys)), lengths)
        table = Table(len(keys), self.layout, row, pairs[:, 0], pairs[:, 1].astype(np.float64))
        return table, np.array([self.rows[key] for key in keys], dtype=np.int64)

    def degraded(self, buckets: int = BUCKETS) -> Sums:
        """The same items as sums over hash buckets, 1,024 to 4,096 of them.

        A tally knows rows and not items, so the items of a row are spread over the buckets by a
        hash of the row and their number. Totals stay exact. Which bucket an item falls into
        depends on what was counted together: degrade what is merged already.
        """
        table, count = self.table()
        seeds = [hashlib.blake2b(key, digest_size=8).digest() for key in sorted(self.rows)]
        seed = np.frombuffer(b"".join(seeds), dtype="<u8")
        row = np.repeat(np.arange(len(count)), count)
        place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        bucket = mixed(seed[row] + place.astype(np.uint64)) % np.uint64(buckets)
        names = [f"{i:04d}" for i in range(buckets)]
        evidence = Counts("", table, row.astype(np.int32))
        return Sums.of(evidence, bucket.astype(np.int32), names)

    def to_bytes(self) -> bytes:
        """The versioned bytes; `from_bytes` reads them."""
        keys = sorted(self.rows)
        arrays: Arrays = {
            "length": np.array([len(key) for key in keys], dtype=np.int64),
            "count": np.array([self.rows[key] for key in keys], dtype=np.int64),
            "rows": np.frombuffer(b"".join(keys), dtype=np.uint8),
        }
        return _packed("tally", arrays, groups=self.layout.groups)


@dataclass(frozen=True)
class Sums:
    """One row of exact sums a key, and how many items each key has.

    Sums of whole numbers take one integer, sums of reals three limbs. `place` is
    key * width + cell in ascending order, `value` the (entries, limbs) of each in normal form.
    """

    layout: Layout
    keys: tuple[str, ...]
    items: IntArray
    place: IntArray
    value: IntArray

    @classmethod
    def of(cls, evidence: Counts, codes: CodeArray, names: Sequence[str]) -> Self:
        """The sums of evidence by key: item i belongs to key names[codes[i]]."""
        count = np.bincount(codes, minlength=len(names))
        named = sorted(np.flatnonzero(count).tolist(), key=names.__getitem__)
        rank = np.zeros(max(len(names), 1), dtype=np.int64)
        rank[named] = np.arange(len(named))
        table, item = _sparse(evidence.table), evidence.codes
        if item is None:
            item = np.arange(table.rows, dtype=np.int32)
        entry, owner = _entries(table, item)
        value, whole = table.value[entry], evidence.exact
        if evidence.weights is not None:
            value, whole = value * evidence.weights[owner], False
        if not whole and not fits(value):
            raise KaratError(
                "a number is too large to be summed exactly", help="2**31 is the limit"
            )
        parts = value.astype(np.int64)[:, None] if whole else limbs(value)
        place = rank[codes[owner]] * max(evidence.layout.width, 1) + table.cell[entry]
        place, parts = _gathered(place, parts)
        keys = tuple(names[code] for code in named)
        return cls(evidence.layout, keys, count[named], place, parts)

    @property
    def n(self) -> int:
        """How many items there are."""
        return int(self.items.sum())

    @property
    def exact(self) -> bool:
        """Whether all values are whole numbers."""
        return bool(self.value.shape[1] == 1)

    def merge(self, other: Sums) -> Sums:
        """The sums of the items of both, key by key."""
        _same_cells(self.layout, other.layout)
        keys = tuple(sorted({*self.keys, *other.keys}))
        rank = {key: i for i, key in enumerate(keys)}
        width = max(self.layout.width, 1)
        items, places, values = np.zeros(len(keys), dtype=np.int64), [], []
        wide = max(self.value.shape[1], other.value.shape[1])
        for side in (self, other):
            here = np.array([rank[key] for key in side.keys], dtype=np.int64)
            items[here] += side.items
            places.append(here[side.place // width] * width + side.place % width)
            values.append(_widened(side.value, wide))
        place, value = _gathered(np.concatenate(places), np.concatenate(values))
        return Sums(self.layout, keys, items, place, value)

    def table(self) -> Table:
        """One row of sums a key, each correctly rounded."""
        width = max(self.layout.width, 1)
        value = self.value[:, 0].astype(np.float64) if self.exact else to_floats(self.value)
        row, cell = self.place // width, self.place % width
        return Table(len(self.keys), self.layout, row, cell, value)

    def to_bytes(self) -> bytes:
        """The versioned bytes; `from_bytes` reads them."""
        arrays = {"items": self.items, "place": self.place, "value": self.value}
        return _packed("sums", arrays, groups=self.layout.groups, names=list(self.keys))


@dataclass(frozen=True)
class Runs:
    """Events sorted by group, then falling score, hits first, then the bucket of their item."""

    group: IntArray
    score: FloatArray
    hit: IntArray
    bucket: IntArray

    @classmethod
    def of(cls, group: IntArray, score: FloatArray, hit: IntArray, bucket: IntArray) -> Self:
        """The run of events in any order."""
        # Adding 0 turns -0.0 into 0.0: equal events must be equal bytes.
        score = np.asarray(score, dtype=np.float64) + 0.0
        order = np.lexsort((bucket, -np.asarray(hit, dtype=np.int64), -score, group))
        columns = (np.asarray(c, dtype=np.int64)[order] for c in (group, hit, bucket))
        first, hits, buckets = columns
        return cls(first, score[order], hits, buckets)

    @property
    def n(self) -> int:
        """How many events there are."""
        return len(self.group)

    def merge(self, other: Runs) -> Runs:
        """The events of both, sorted."""
        return Runs.of(
            np.concatenate([self.group, other.group]),
            np.concatenate([self.score, other.score]),
            np.concatenate([self.hit, other.hit]),
            np.concatenate([self.bucket, other.bucket]),
        )

    def to_bytes(self) -> bytes:
        """The versioned bytes; `from_bytes` reads them."""
        arrays = {
            "group": self.group,
            "score": self.score,
            "hit": self.hit,
            "bucket": self.bucket,
        }
        return _packed("runs", arrays)


State = Tally | Sums | Runs
S = TypeVar("S", Tally, Sums, Runs)


def merged(states: Sequence[S]) -> S:
    """All of them in one. Needs at least one."""
    return reduce(lambda a, b: a.merge(b), states)


def from_bytes(data: bytes) -> State:
    """The state that `to_bytes` wrote; a `KaratError` says what is wrong with other bytes."""
    header, arrays = _unpacked(data)
    try:
        return _built(header, arrays)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise _broken("its columns do not belong together") from error


def _built(header: _Header, arrays: Arrays) -> State:
    """The state of checked bytes."""
    layout = Layout(dict(header.groups))
    if header.kind == "tally":
        raw, ends = arrays["rows"].tobytes(), np.cumsum(arrays["length"])
        starts = ends - arrays["length"]
        bounds = zip(starts.tolist(), ends.tolist(), arrays["count"].tolist(), strict=True)
        return Tally(layout, {raw[lo:hi]: count for lo, hi, count in bounds})
    if header.kind == "sums":
        names = tuple(header.names)
        return Sums(layout, names, arrays["items"], arrays["place"], arrays["value"])
    if header.kind == "runs":
        return Runs(arrays["group"], arrays["score"], arrays["hit"], arrays["bucket"])
    raise _broken(f"it is of an unknown kind, {header.kind!r}")


def _packed(
    kind: str,
    arrays: Arrays,
    groups: dict[str, int] | None = None,
    names: list[str] | None = None,
) -> bytes:
    """Magic, length of the header, header, raw little-endian arrays, digest of it all."""
    blocks, told = [], []
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
        blocks.append(plain.tobytes())
        told.append((name, plain.dtype.str, list(plain.shape)))
    header = msgspec.msgpack.encode(_Header(VERSION, kind, told, groups or {}, names or []))
    content = MAGIC + len(header).to_bytes(8, "little") + header + b"".join(blocks)
    return content + _digest(content)


def _unpacked(data: bytes) -> tuple[_Header, Arrays]:
    """Header and arrays of bytes that are whole."""
    start = len(MAGIC) + 8
    if not data.startswith(MAGIC) or len(data) < start:
        raise _broken("it does not begin as one")
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    try:
        version = msgspec.msgpack.decode(data[start:end], type=dict[str, Any]).get("version")
        if version != VERSION:
            raise KaratError(
                f"this state has version {version}, this karat reads version {VERSION}",
                help="make it again with this version of karat",
            )
        header = msgspec.msgpack.decode(data[start:end], type=_Header)
    except msgspec.MsgspecError as error:
        raise _broken("its header cannot be read") from error
    if _digest(data[:-DIGEST]) != data[-DIGEST:]:
        raise _broken("its content is cut off or changed")
    body = data[end:-DIGEST]
    arrays, here = {}, 0
    for name, dtype, shape in header.arrays:
        if dtype not in {"<i8", "<f8", "|u1"} or min(shape, default=0) < 0:
            raise _broken(f"column {name!r} has no known type")
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if here + size > len(body):
            raise _broken(f"column {name!r} is cut off")
        arrays[name] = np.frombuffer(body[here : here + size], dtype=dtype).reshape(shape)
        here += size
    return header, arrays


def _digest(content: bytes) -> bytes:
    """What tells whether the content is whole."""
    return hashlib.blake2b(content, digest_size=DIGEST).digest()


def _broken(why: str) -> KaratError:
    """The error for bytes that are no state."""
    return KaratError(f"not a readable state: {why}", help="make it again")


def _same_cells(a: Layout, b: Layout) -> None:
    """Refuse to merge states of different cells."""
    if list(a.groups.items()) != list(b.groups.items()):
        raise KaratError(
            "these states count different cells", help="merge states of one task and one setting"
        )


def _gathered(place: IntArray, value: IntArray) -> tuple[IntArray, IntArray]:
    """(places, values) with values of one place added up, in normal form, without zeros."""
    order = np.argsort(place, kind="stable")
    place, value = place[order], value[order]
    if len(place):
        first = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
        place, value = place[first], np.add.reduceat(value, first, axis=0)
    if value.shape[1] == LIMBS:
        value = carried(value)
    kept = value.any(axis=1)
    return place[kept], value[kept]


def _widened(value: IntArray, wide: int) -> IntArray:
    """Whole numbers as limbs, where they meet reals."""
    if value.shape[1] == wide:
        return value
    return np.concatenate([value, np.zeros((len(value), wide - 1), dtype=np.int64)], axis=1)


def _entries(table: Table, item: CodeArray) -> tuple[IntArray, IntArray]:
    """(entry of the table, item) for every entry of every item's row."""
    edges = np.searchsorted(table.row, np.arange(table.rows + 1))
    lengths = np.diff(edges)[item]
    owner = np.repeat(np.arange(len(item)), lengths)
    entry = np.arange(len(owner)) + np.repeat(edges[item] - np.cumsum(lengths) + lengths, lengths)
    return entry, owner


def mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A hash of each number (the finalizer of splitmix64)."""
    x = x * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _without_zeros(table: Table) -> Table:
    """The same table, in its one shortest form."""
    kept = table.value != 0
    return Table(table.rows, table.layout, table.row[kept], table.cell[kept], table.value[kept])


def _sparse(table: Table | Columns) -> Table:
    """The same as a sparse table."""
    return table if isinstance(table, Table) else Table.dense(table.layout, table.matrix)
