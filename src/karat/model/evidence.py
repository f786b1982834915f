"""What each item contributes to the scores, in columns: the waist of the hourglass.

Two kinds. `Counts` holds sums: a table of the *distinct* rows of evidence and, for each item, which
of them it is. Scores are functions of the weighted column totals, so a resample needs nothing but
new weights. Evidence that depends on an order (AP, AUROC) belongs to its task: any object with a
name, a number of units and `take` will do, and the task's `Events` metrics know how to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from karat.model.pairs import CodeArray, Facet, FloatArray, IntArray, Which


@dataclass(frozen=True, slots=True)
class Layout:
    """Names of the summed cells, in groups: `Layout({"n": 1, "tp": 3})` has four cells."""

    groups: dict[str, int]

    @property
    def width(self) -> int:
        """How many cells there are."""
        return sum(self.groups.values())

    def span(self, group: str) -> slice:
        """The cells of one group."""
        start = 0
        for name, width in self.groups.items():
            if name == group:
                return slice(start, start + width)
            start += width
        raise KeyError(group)


@dataclass(frozen=True, slots=True)
class Table:
    """A sparse matrix of rows x cells, as (row, cell, value) triples sorted by row."""

    rows: int
    layout: Layout
    row: IntArray
    cell: IntArray
    value: FloatArray

    @classmethod
    def dense(cls, layout: Layout, matrix: FloatArray) -> Table:
        """The table of a dense (rows, cells) matrix; zeros are dropped."""
        row, cell = np.nonzero(matrix)
        return cls(len(matrix), layout, row, cell, np.asarray(matrix[row, cell], dtype=np.float64))

    def to_dense(self) -> FloatArray:
        """The (rows, cells) matrix. Only for narrow tables."""
        out = np.zeros((self.rows, self.layout.width))
        np.add.at(out, (self.row, self.cell), self.value)
        return out


@dataclass(frozen=True, slots=True)
class Columns:
    """A dense matrix of rows x cells: for a few real-valued columns, one row an item."""

    layout: Layout
    matrix: FloatArray

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.matrix)


class Evidence(Protocol):
    """What every kind of evidence has.

    `unit` is what one row of evidence is and what is drawn where there are no clusters.
    `take` chooses items: a mask, or indices in any order and with repeats.
    """

    @property
    def name(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def cluster(self) -> Facet | None: ...
    def take(self, which: Which) -> Self: ...


@dataclass(frozen=True, slots=True)
class Counts:
    """Additive evidence: item i contributes row `codes[i]` of `table` (row i where codes is None).

    `exact` says that all values are integers, so that totals are exact in any order.
    `weights` are importance weights of the units.
    """

    name: str
    table: Table | Columns
    codes: CodeArray | None = None
    cluster: Facet | None = None
    weights: FloatArray | None = None
    exact: bool = True

    @property
    def n(self) -> int:
        """How many units there are."""
        return self.table.rows if self.codes is None else len(self.codes)

    @property
    def layout(self) -> Layout:
        """The names of the cells."""
        return self.table.layout

    def take(self, which: Which) -> Counts:
        """The evidence of the chosen items alone."""
        codes = np.arange(self.table.rows, dtype=np.int32) if self.codes is None else self.codes
        return Counts(
            self.name,
            self.table,
            codes[which],
            None if self.cluster is None else self.cluster.take(which),
            None if self.weights is None else self.weights[which],
            self.exact,
        )


def coded(columns: Sequence[CodeArray], sizes: Sequence[int]) -> tuple[CodeArray, list[CodeArray]]:
    """Dense codes of the distinct rows of several small-integer columns, and those rows.

    `columns[j]` holds values in range(sizes[j]). Costs one pass and one `bincount` or `unique`
    over a single integer key; rows come back in ascending key order, so the codes do not depend
    on the order of the items.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    space = 1
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
        space *= size
    if space <= max(1 << 22, 4 * len(key)):
        present = np.flatnonzero(np.bincount(key, minlength=1))
        lookup = np.zeros(int(present[-1]) + 1 if len(present) else 1, dtype=np.int32)
        lookup[present] = np.arange(len(present), dtype=np.int32)
        codes = lookup[key] if len(key) else np.zeros(0, dtype=np.int32)
    else:
        present, inverse = np.unique(key, return_inverse=True)
        codes = inverse.astype(np.int32)
    rows: list[CodeArray] = []
    left = present.astype(np.int64)
    for size in reversed(sizes):
        rows.append((left % size).astype(np.int32))
        left //= size
    return codes, rows[::-1]
