"""Fields of the records that someone asked for, as columns: facets, clusters, weights.

Only wanted fields are decoded: `schema` adds them to a task's Struct.
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

from karat.errors import UsageError
from karat.model.pairs import Facet, FloatArray
from karat.model.problem import SHOWN_PER_CODE, Problems
from karat.read.facets import NESTED, Column, as_floats, crossed, factors
from karat.read.memory import plain
from karat.read.place import Place, kind, show

PLAIN = {str, int, float, bool, type(None), msgspec.UnsetType}
"""What JSON gives; rows in memory may hold foreign numbers, times and texts."""

HEAVIEST = 1e100
"""Weights above this could not be squared and summed."""

Getter = Callable[[Any], Any]
Base = Mapping[str, tuple[Any, Any]]
"""Fields of a schema: name -> (type, default); `msgspec.NODEFAULT` where required."""


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
        numbers = as_floats(values)
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
