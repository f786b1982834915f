"""Fields of the records that someone asked for, as columns: facets, clusters, weights.

Only wanted fields are decoded: `schema` adds them to a task's Struct. Values are dictionary-encoded
batch by batch, so that a million texts are never held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from karat.errors import UsageError
from karat.model.pairs import CodeArray, Facet, FloatArray
from karat.model.problem import Problems
from karat.read.place import Place, kind, show

BINS = 4
MOST_LEVELS = 20
"""A numeric field with more distinct values than this is cut into quantile bins."""

NESTED = (list, tuple, dict, msgspec.Struct)
"""What no field may be that is sliced by; a Struct is an object that a task has decoded."""

HEAVIEST = 1e100
"""Weights above this could not be squared and summed."""

Getter = Callable[[Any], Any]
Chunk = CodeArray | FloatArray
Base = Mapping[str, tuple[Any, Any]]
"""Fields of a schema: name -> (type, default); `msgspec.NODEFAULT` where required."""


def factors(by: str) -> list[str]:
    """The fields that a facet crosses: `meta.channel*label` has two."""
    return [part.strip() for part in by.split("*")]


def schema(
    title: str, base: Base, wanted: Iterable[str]
) -> tuple[type[msgspec.Struct], dict[str, Getter]]:
    """A Struct with the base fields and the wanted ones, and a getter for each of them.

    A getter gives UNSET where the record lacks the field.
    """
    tree: dict[str, Any] = {}
    for name in wanted:
        node = tree
        for part in name.split("."):
            node = node.setdefault(part, {})
    struct, paths = _struct(title, base, tree)
    return struct, {name: _getter(path) for name, path in paths.items()}


def _struct(
    title: str, base: Base, tree: Mapping[str, Any]
) -> tuple[type[msgspec.Struct], dict[str, str]]:
    fields: list[Any] = []
    paths: dict[str, str] = {}
    for name in dict.fromkeys((*base, *tree)):
        attribute = f"field_{len(fields)}"
        paths[name] = attribute
        type_, default = base.get(name, (Any, msgspec.UNSET))
        inner = tree.get(name)
        if inner:
            part, below = _struct(f"{title}_{attribute}", {}, inner)
            type_, default = part | None | msgspec.UnsetType, part()
            paths.update({f"{name}.{k}": f"{attribute}.{v}" for k, v in below.items()})
        setting = msgspec.field(default=default, name=name)
        fields.append((attribute, type_, setting))
    required = [f for f in fields if f[2].default is msgspec.NODEFAULT]
    optional = [f for f in fields if f[2].default is not msgspec.NODEFAULT]
    return msgspec.defstruct(title, required + optional, gc=False, frozen=True), paths


def _getter(path: str) -> Getter:
    fast = attrgetter(path)
    if "." not in path:
        return fast

    def get(row: Any) -> Any:
        try:
            return fast(row)
        except AttributeError:  # null where an object was expected
            return msgspec.UNSET

    return get


def inside(record: Any, name: str) -> Any:
    """The value of a field of a plain record, UNSET where there is none."""
    for part in name.split("."):
        if not isinstance(record, Mapping) or part not in record:
            return msgspec.UNSET
        record = record[part]
    return record


def check_paths(record: Mapping[str, Any], wanted: Iterable[str], place: Place) -> None:
    """Report the wanted fields that run through something that is no object (but `meta`)."""
    for name in wanted:
        parts = name.split(".")
        for depth in range(1, len(parts)):
            parent = ".".join(parts[:depth])
            value = inside(record, parent)
            if parent != "meta" and value not in (None, msgspec.UNSET) and kind(value) != "object":
                text = f"value is {show(value)}; an object with '{parts[depth]}' is required"
                place.add("field-type", text, parent)


@dataclass(slots=True)
class Column:
    """Collects one field: codes of its distinct values, or plain numbers where there are many."""

    name: str
    levels: dict[Any, int] = field(default_factory=dict)
    chunks: list[Chunk] = field(default_factory=list)

    def add(self, values: list[Any], place: Callable[[int], Place]) -> None:
        """Take the values of the next rows; a list or an object is a problem."""
        types = set(map(type, values))
        if any(issubclass(type_, NESTED) for type_ in types):
            for i, value in enumerate(values):
                if isinstance(value, NESTED):
                    name = "a list" if isinstance(value, (list, tuple)) else "an object"
                    text = f"value is {name}; text, a number or a boolean is required"
                    place(i).add("field-type", text, self.name)
                    values[i] = None
        numbers = types <= {int, float, type(None), msgspec.UnsetType}
        if numbers and types & {int, float} and len(self.levels) > MOST_LEVELS:
            gap = float("nan")
            held = [gap if v is None or v is msgspec.UNSET else v for v in values]
            self.chunks.append(np.array(held, dtype=np.float64))
            return
        self.chunks.append(self._encode(values))

    def add_numbers(self, values: FloatArray) -> None:
        """Take computed numbers."""
        self.chunks.append(np.asarray(values, dtype=np.float64))

    def skip(self, rows: int) -> None:
        """Take rows that could not be read."""
        self.chunks.append(np.full(rows, -1, dtype=np.int32))

    def _encode(self, values: list[Any]) -> CodeArray:
        known = self.levels
        for value in dict.fromkeys(values):
            if value is not None and value is not msgspec.UNSET and value not in known:
                known[value] = len(known)
        known[None] = known[msgspec.UNSET] = -1
        codes = np.fromiter(map(known.__getitem__, values), np.int32, len(values))
        del known[None], known[msgspec.UNSET]
        return codes

    def _coded(self, chunk: Chunk) -> CodeArray:
        """A chunk as codes, also where it was kept as numbers."""
        if chunk.dtype != np.int32:
            return self._encode([None if math.isnan(v) else v for v in chunk.tolist()])
        return np.asarray(chunk, dtype=np.int32)

    @property
    def empty(self) -> bool:
        """Whether no row has the field."""
        return not self.levels and all(
            c.dtype == np.int32 or np.isnan(c).all() for c in self.chunks
        )

    def numbers(self) -> FloatArray | None:
        """The values as numbers, NaN where missing; None where some value is none."""
        if not all(type(level) in (int, float) for level in self.levels):
            return None
        table = np.array([*self.levels, float("nan")], dtype=np.float64)
        parts = [table[c] if c.dtype == np.int32 else np.asarray(c) for c in self.chunks]
        # Adding 0 turns -0 into 0: they are equal, and a level must not depend on which came first.
        return np.concatenate(parts) + 0.0 if parts else np.zeros(0)

    def facet(self, bins: bool = True) -> Facet:
        """The field as a facet; with `bins`, numbers of many values in quantile bins."""
        values = self.numbers() if bins or any(c.dtype != np.int32 for c in self.chunks) else None
        if values is not None and len(values):
            distinct = np.unique(values[~np.isnan(values)])
            if bins and len(distinct) > MOST_LEVELS:
                return quantile_bins(self.name, values)
            codes = np.searchsorted(distinct, values).astype(np.int32)
            codes[np.isnan(values)] = -1
            return Facet(self.name, codes, tuple(_level(v) for v in distinct.tolist()))
        chunks = [self._coded(chunk) for chunk in self.chunks]
        names = [_level(value) for value in self.levels]
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        rank = np.empty(len(names) + 1, dtype=np.int32)
        rank[order] = np.arange(len(names), dtype=np.int32)
        rank[-1] = -1
        joined = np.concatenate(chunks) if chunks else np.zeros(0, dtype=np.int32)
        return Facet(self.name, rank[joined], tuple(names[i] for i in order))


def quantile_bins(name: str, values: FloatArray) -> Facet:
    """Four bins of about equal size, each named by the smallest and largest value in it."""
    present = ~np.isnan(values)
    edges = np.unique(np.quantile(values[present], np.arange(1, BINS) / BINS, method="lower"))
    bins = np.searchsorted(edges, values, side="left")
    codes = np.full(len(values), -1, dtype=np.int32)
    levels: list[str] = []
    for b in range(len(edges) + 1):
        mine = present & (bins == b)
        if mine.any():
            low, high = values[mine].min(), values[mine].max()
            codes[mine] = len(levels)
            levels.append(f"{low:g} to {high:g}" if low < high else f"{low:g}")
    return Facet(name, codes, tuple(levels))


def crossed(name: str, parts: Sequence[Facet]) -> Facet:
    """The facet of the combinations that occur; missing where one part is."""
    key = np.zeros(len(parts[0]), dtype=np.int64)
    missing = np.zeros(len(parts[0]), dtype=bool)
    for part in parts:
        key = key * max(1, len(part.levels)) + part.codes
        missing |= part.codes < 0
    key[missing] = -1
    distinct, codes = np.unique(key, return_inverse=True)
    shift = int(len(distinct) > 0 and distinct[0] == -1)
    levels: list[str] = []
    for combination in distinct[shift:].tolist():
        names: list[str] = []
        left = combination
        for part in reversed(parts):
            left, code = divmod(left, len(part.levels))
            names.append(part.levels[code])
        levels.append(" * ".join(reversed(names)))
    return Facet(name, (codes - shift).astype(np.int32), tuple(levels))


@dataclass(frozen=True, slots=True)
class Selected:
    """What was asked for: facets by name, the clusters, the weights."""

    facets: dict[str, Facet]
    cluster: Facet | None
    weights: FloatArray | None


class Fields:
    """The wanted fields of one side: which to decode, and their columns when all is read.

    `computed` maps a name to a function from rows to numbers; `exact` names fields that are never
    cut into bins, such as a class index.
    """

    def __init__(
        self,
        by: Sequence[str] = (),
        cluster: str | None = None,
        weights: str | None = None,
        computed: Mapping[str, Callable[[list[Any]], FloatArray]] | None = None,
        exact: Sequence[str] = (),
    ) -> None:
        self._by, self._cluster, self._weights = tuple(by), cluster, weights
        for name in (*self._by, *(one for one in (cluster, weights) if one is not None)):
            _refuse_unwritable(name)
        self._computed = dict(computed or {})
        self._exact = frozenset(exact)
        self._getters: dict[str, Getter] = {}
        asked = [name for one in self._by for name in factors(one)]
        asked += [name for name in (cluster, weights) if name]
        self.names = tuple(dict.fromkeys(asked))
        self._columns = {name: Column(name) for name in self.names}

    @property
    def decoded(self) -> tuple[str, ...]:
        """The wanted fields that stand in the records."""
        return tuple(name for name in self.names if name not in self._computed)

    def schema(self, title: str, base: Base, also: Iterable[str] = ()) -> type[msgspec.Struct]:
        """The Struct to decode: the base fields and the wanted ones."""
        struct, self._getters = schema(title, base, (*self.decoded, *also))
        return struct

    def getter(self, name: str) -> Getter:
        """What gives a decoded field of a row; UNSET where the row lacks it."""
        return self._getters[name]

    def add(self, rows: list[Any], place: Callable[[int], Place]) -> None:
        """Take the fields of the next rows; `place(i)` is where row i stands."""
        for name, column in self._columns.items():
            if name in self._computed:
                column.add_numbers(self._computed[name](rows))
            else:
                column.add(list(map(self._getters[name], rows)), place)

    def take(self, name: str, values: list[Any], place: Callable[[int], Place]) -> None:
        """Take one field of the next rows as values, where no typed row holds it."""
        self._columns[name].add(values, place)

    def skip(self, rows: int) -> None:
        """Take rows that could not be read."""
        for column in self._columns.values():
            column.skip(rows)

    def finish(self, problems: Problems, file: str, known: Iterable[str] = ()) -> Selected:
        """The columns asked for. A field that no record has is an error; `known` are real names."""
        for name, column in self._columns.items():
            if column.empty:
                text, hint = (
                    f"no record has a field '{name}'",
                    _meant(name, {*known, *self._computed}),
                )
                problems.add("field-missing", text, file=file, key=name, help=hint)
        facets = {by: self._facet(by) for by in self._by}
        cluster = self._columns[self._cluster].facet(bins=False) if self._cluster else None
        if cluster is not None and (cluster.codes < 0).any() and len(cluster.levels):
            text = (
                f"{int((cluster.codes < 0).sum())} records have no '{cluster.name}' to cluster by"
            )
            problems.add("cluster-missing", text, file=file, key=cluster.name)
        weights = self._numbers(self._weights, problems, file) if self._weights else None
        return Selected(facets, cluster, weights)

    def _facet(self, by: str) -> Facet:
        parts = [self._columns[name].facet(name not in self._exact) for name in factors(by)]
        return parts[0] if len(parts) == 1 else crossed(by, parts)

    def _numbers(self, name: str, problems: Problems, file: str) -> FloatArray | None:
        column = self._columns[name]
        if column.empty:
            return None
        values = column.numbers()
        if values is None:
            problems.add("weight-type", "weights must be numbers", file=file, key=name)
        elif not (values >= 0).all() or not np.isfinite(values).all() or not values.sum() > 0:
            text = "every record needs a weight, none may be negative or infinite, not all may be 0"
            problems.add("weight-value", text, file=file, key=name)
        elif values.max() > HEAVIEST or values.max() < 1 / HEAVIEST:
            text = f"the largest weight is {values.max():g}; scale the weights to ordinary numbers"
            problems.add("weight-value", text, file=file, key=name)
        return values


def _meant(name: str, known: Collection[str]) -> str:
    """A hint at the fields that there are, the closest first. Objects are no fields."""
    names = sorted(n for n in known if not any(other.startswith(f"{n}.") for other in known))
    last = {n.rpartition(".")[2]: n for n in names}
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    close += [last[n] for n in get_close_matches(name, last, n=3, cutoff=0.8)]
    if close:
        return f"did you mean {' or '.join(dict.fromkeys(close))}?"
    return f"there are {', '.join(names[:12])}" if names else ""


def _refuse_unwritable(name: str) -> None:
    """Refuse a name that typed decoding cannot look for."""
    if not all(factors(name)):
        raise UsageError(f"a field in {name!r} has no name", help="write FIELD or FIELD*FIELD")
    if any(letter in '"\\' or letter < " " for letter in name):
        raise UsageError(
            f"a field cannot be named {name!r}",
            help="quotes, backslashes and control characters are not possible here",
        )


def _level(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return f"{int(value)}"
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)
