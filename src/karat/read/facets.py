"""One field as a column, and the facet that it becomes: its values, bins of numbers, crosses.

Values are dictionary-encoded batch by batch, so that a million texts are never held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import CodeArray, Facet, FloatArray
from karat.read.place import Place

BINS = 4
MOST_LEVELS = 20
"""A numeric field with more distinct values than this is cut into quantile bins."""

NESTED = (list, tuple, dict, msgspec.Struct)
"""What no field may be that is sliced by; a Struct is an object that a task has decoded."""

Chunk = CodeArray | FloatArray


def factors(by: str) -> list[str]:
    """The fields that a facet crosses: `meta.channel*label` has two."""
    return [part.strip() for part in by.split("*")]


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
            held = as_floats([math.nan if v is None or v is msgspec.UNSET else v for v in values])
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
        table = as_floats([*self.levels, math.nan])
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


def as_floats(values: Sequence[Any]) -> FloatArray | None:
    """The numbers as an array, None where a whole number is too large for one."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return None


def _level(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return f"{int(value)}"
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)
