"""Fields of the records that someone asked for, as columns: facets, clusters, weights.

Only wanted fields are decoded: `schema` adds them to a task's Struct. Values are dictionary-encoded
batch by batch, so that a million texts are never held.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from karat.errors import UsageError
from karat.model.pairs import CodeArray, Facet, FloatArray
from karat.model.problem import SHOWN_PER_CODE, Problems
from karat.read.memory import plain
from karat.read.place import Place, kind, show

BINS = 4
MOST_LEVELS = 20
"""A numeric field with more distinct values than this is cut into quantile bins."""

NESTED = (list, tuple, dict, msgspec.Struct)
"""What no field may be that is sliced by; a Struct is an object that a task has decoded."""

PLAIN = {str, int, float, bool, type(None), msgspec.UnsetType}
"""What JSON gives; rows in memory may hold foreign numbers, times and texts."""

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
    title: str, base: Base, wanted: Iterable[str | tuple[str, ...]]
) -> tuple[type[msgspec.Struct], dict[str, Getter]]:
    """A Struct with the base fields and the wanted ones, and a getter for each of them.

    A wanted field is a name with a dot between its parts, or its parts, which may hold dots. It may
    also stand flat in the record, under a key with dots in it, as in data frames made of nested
    rows. A getter gives UNSET where the record lacks the field.
    """
    tree: dict[str, Any] = {}
    flat: dict[str, tuple[Any, Any]] = {}
    for one in wanted:
        parts = one.split(".") if isinstance(one, str) else one
        name, node = ".".join(parts), tree
        for part in parts:
            node = node.setdefault(part, {})
        if "." in name and name not in base:
            flat[name] = (Any, msgspec.UNSET)
    struct, paths = _struct(title, {**base, **flat}, tree)
    getters = {name: _getter(path) for name, path in paths.items()}
    for at, name in enumerate({**base, **flat}):
        if name in flat:
            getters[name] = _either(getters[name], attrgetter(f"field_{at}"))
    return struct, getters


def _struct(
    title: str, base: Base, tree: Mapping[str, Any]
) -> tuple[type[msgspec.Struct], dict[str, str]]:
    fields: list[Any] = []
    paths: dict[str, str] = {}
    for name in dict.fromkeys((*base, *tree)):
        attribute = f"field_{len(fields)}"
        paths.setdefault(name, attribute)  # a nested place goes before a flat one
        type_, default = base.get(name, (Any, msgspec.UNSET))
        inner = tree.get(name)
        if inner:
            part, below = _struct(f"{title}_{attribute}", {}, inner)
            type_, default = part | None | msgspec.UnsetType, msgspec.UNSET
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
        except AttributeError:  # nothing or null where an object was expected
            return msgspec.UNSET

    return get


def _either(nested: Getter, flat: Getter) -> Getter:
    """What a record says in the nested place, or else in the flat one."""

    def get(row: Any) -> Any:
        value = nested(row)
        return flat(row) if value is msgspec.UNSET else value

    return get


def inside(record: Any, name: str) -> Any:
    """The value of a field of a plain record, nested or flat; UNSET where there is none."""
    value = record
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return record.get(name, msgspec.UNSET) if isinstance(record, Mapping) else msgspec.UNSET
        value = value[part]
    return value


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
    refused: bool = False

    def add(self, values: list[Any], place: Callable[[int], Place]) -> None:
        """Take the values of the next rows; a list or an object is a problem."""
        types = set(map(type, values))
        if any(issubclass(type_, NESTED) for type_ in types):
            self._refuse_nested(values, place)
        if bool in types:
            # True equals 1, but they are two levels.
            values = [_level(value) if isinstance(value, bool) else value for value in values]
        numbers = types <= {int, float, type(None), msgspec.UnsetType}
        if numbers and types & {int, float} and len(self.levels) > MOST_LEVELS:
            held = _as_floats([math.nan if v is None or v is msgspec.UNSET else v for v in values])
            if held is not None:
                self.chunks.append(held)
                return
        self.chunks.append(self._encode(values))

    def add_numbers(self, values: FloatArray) -> None:
        """Take computed numbers."""
        self.chunks.append(np.asarray(values, dtype=np.float64))

    def skip(self, rows: int) -> None:
        """Take rows that could not be read."""
        self.chunks.append(np.full(rows, -1, dtype=np.int32))

    def _refuse_nested(self, values: list[Any], place: Callable[[int], Place]) -> None:
        """Report each list and each object, which then count as missing."""
        self.refused = True
        for i, value in enumerate(values):
            if isinstance(value, NESTED):
                name = "a list" if isinstance(value, (list, tuple)) else "an object"
                text = f"value is {name}; text, a number or a boolean is required"
                hint = f"name one of its keys: {self.name}.KEY" if name == "an object" else ""
                place(i).add("field-type", text, self.name, help=hint)
                values[i] = None

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
        table = _as_floats([*self.levels, math.nan])
        if table is None:
            return None
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
        # By name: the number 1 and the text "1" are one level.
        names = sorted(set(map(_level, self.levels)))
        place = {name: at for at, name in enumerate(names)}
        rank = np.array([*(place[_level(value)] for value in self.levels), -1], dtype=np.int32)
        joined = np.concatenate(chunks) if chunks else np.zeros(0, dtype=np.int32)
        return Facet(self.name, rank[joined], tuple(names))


def quantile_bins(name: str, values: FloatArray) -> Facet:
    """Four bins of about equal size, each named by the smallest and largest value in it."""
    present = ~np.isnan(values)
    edges = np.unique(np.quantile(values[present], np.arange(1, BINS) / BINS, method="lower"))
    bins = np.searchsorted(edges, values, side="left")
    codes = np.full(len(values), -1, dtype=np.int32)
    ends: list[tuple[float, float]] = []
    for b in range(len(edges) + 1):
        mine = present & (bins == b)
        if mine.any():
            codes[mine] = len(ends)
            ends.append((float(values[mine].min()), float(values[mine].max())))
    return Facet(name, codes, tuple(_spans(ends)))


def _spans(ends: Sequence[tuple[float, float]]) -> list[str]:
    """`low to high` for each bin, with as many digits as tell all the ends apart."""
    distinct = {end for pair in ends for end in pair}
    enough = (d for d in range(6, 18) if len({f"{end:.{d}g}" for end in distinct}) == len(distinct))
    digits = next(enough, 17)

    def text(end: float) -> str:
        return _level(end) if end.is_integer() else f"{end:.{digits}g}"

    return [f"{text(low)} to {text(high)}" if low < high else text(low) for low, high in ends]


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


@dataclass(slots=True)
class Gaps:
    """The rows that lack a field every row needs: the first places, and how many there are."""

    name: str
    code: str
    message: str
    first: list[Place] = field(default_factory=list)
    count: int = 0

    def look(self, values: Sequence[Any], place: Callable[[int], Place]) -> None:
        """Remember which of the next rows have no value."""
        if None not in values and msgspec.UNSET not in values:
            return
        for i, value in enumerate(values):
            if value is None or value is msgspec.UNSET:
                self.count += 1
                if len(self.first) < SHOWN_PER_CODE:
                    self.first.append(place(i))

    def report(self, problems: Problems, file: str) -> None:
        """Report them all."""
        for place in self.first:
            place.add(self.code, self.message, self.name)
        problems.count_more(self.code, "error", file, self.count - len(self.first))


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
        self._gaps: list[Gaps] = []
        if cluster:
            text = "the record has nothing to cluster by"
            self._gaps.append(Gaps(cluster, "cluster-missing", text))
        if weights:
            self._gaps.append(Gaps(weights, "weight-value", "the record has no weight"))

    @property
    def decoded(self) -> tuple[str, ...]:
        """The wanted fields that stand in the records."""
        return tuple(name for name in self.names if name not in self._computed)

    def schema(
        self, title: str, base: Base, also: Iterable[tuple[str, ...]] = ()
    ) -> type[msgspec.Struct]:
        """The Struct to decode: the base fields and the wanted ones."""
        also = tuple(also)
        for name in (*base, *(".".join(parts) for parts in also)):
            _refuse_letters(name)
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
                self.take(name, list(map(self._getters[name], rows)), place)

    def take(self, name: str, values: list[Any], place: Callable[[int], Place]) -> None:
        """Take one field of the next rows as values, where no typed row holds it."""
        if not set(map(type, values)) <= PLAIN:
            values = list(map(plain, values))
        for gaps in self._gaps:
            if gaps.name == name:
                gaps.look(values, place)
        if name == self._weights:
            _check_weights(name, values, place)
        self._columns[name].add(values, place)

    def skip(self, rows: int) -> None:
        """Take rows that could not be read."""
        for column in self._columns.values():
            column.skip(rows)

    def finish(self, problems: Problems, file: str, known: Iterable[str] = ()) -> Selected:
        """The columns asked for. A field that no record has is an error; `known` are real names."""
        for name, column in self._columns.items():
            if column.empty and not column.refused:
                text, hint = (
                    f"no record has a field '{name}'",
                    _meant(name, {*known, *self._computed}),
                )
                problems.add("field-missing", text, file=file, key=name, help=hint)
        facets = {by: self._facet(by) for by in self._by}
        for gaps in self._gaps:
            if not self._columns[gaps.name].empty:
                gaps.report(problems, file)
        cluster = self._columns[self._cluster].facet(bins=False) if self._cluster else None
        weights = self._numbers(self._weights, problems, file) if self._weights else None
        return Selected(facets, cluster, weights)

    def _facet(self, by: str) -> Facet:
        parts = [self._columns[name].facet(name not in self._exact) for name in factors(by)]
        return parts[0] if len(parts) == 1 else crossed(by, parts)

    def _numbers(self, name: str, problems: Problems, file: str) -> FloatArray | None:
        values = self._columns[name].numbers()
        if values is None or not len(values) or not bool((values >= 0).all()):
            return None  # said already, record by record
        if not values.any():
            problems.add("weight-value", "not all weights may be 0", file=file, key=name)
        elif values.max() > HEAVIEST or values.max() < 1 / HEAVIEST:
            text = f"the largest weight is {values.max():g}; scale the weights to ordinary numbers"
            problems.add("weight-value", text, file=file, key=name)
        return values


def _check_weights(name: str, values: Sequence[Any], place: Callable[[int], Place]) -> None:
    """Report each value that is no weight; one that is missing is a gap."""
    if set(map(type, values)) <= {int, float}:
        numbers = _as_floats(values)
        if numbers is not None and bool(((numbers >= 0) & (numbers < math.inf)).all()):
            return
    for i, value in enumerate(values):
        if value is None or value is msgspec.UNSET or isinstance(value, NESTED):
            continue
        if type(value) not in (int, float):
            place(i).add("weight-type", f"{show(value)} is no number", name)
        elif not 0 <= value <= sys.float_info.max:
            text = f"weight is {show(value)}; it must be finite and not below 0"
            place(i).add("weight-value", text, name)


def _as_floats(values: Sequence[Any]) -> FloatArray | None:
    """The numbers as an array, None where a whole number is too large for one."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return None


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
    """Refuse a name to slice by that typed decoding cannot look for."""
    if not all(factors(name)):
        raise UsageError(f"a field in {name!r} has no name", help="write FIELD or FIELD*FIELD")
    _refuse_letters(name)


def _refuse_letters(name: str) -> None:
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
