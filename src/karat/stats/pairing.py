"""Pairing: the additive evidence of two systems, unit by unit, and what a swap of sides changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from karat.errors import UsageError
from karat.model.evidence import Columns, Counts, Table, coded
from karat.model.metric import Totals
from karat.model.pairs import Facet, FloatArray, IntArray
from karat.model.state import BUCKETS
from karat.stats.resample import bucket
from karat.stats.spread import Sample
from karat.stats.units import Units, add_up, fold, select, sparse, whole_codes

MOST_PAIRS = 1 << 13


@dataclass(frozen=True, slots=True)
class PairRows:
    """Rows of two systems side by side: row j of each belongs to the same count[j] units."""

    table_a: Table | Columns
    table_b: Table | Columns
    count: IntArray

    def sums_a(self, groups: Mapping[str, float]) -> FloatArray:
        """(rows,): a combination of single cells of A."""
        return row_sums(self.table_a, groups)

    def sums_b(self, groups: Mapping[str, float]) -> FloatArray:
        """(rows,): the same of B."""
        return row_sums(self.table_b, groups)


class Pairing:
    """Two samples of the same items. What is derived is made once."""

    def __init__(self, a: Sample, b: Sample) -> None:
        if not isinstance(a.evidence, Counts) or not isinstance(b.evidence, Counts):
            raise TypeError("a pairing is of additive evidence")
        self.a, self.b, self.name = a.evidence, b.evidence, a.evidence.name
        if self.a.layout.groups != self.b.layout.groups:
            raise UsageError(
                f"the two systems were measured over different cells ({self.name})",
                help="give both the same list of classes",
            )
        self.n, self.drawn, self.weighted = a.evidence.n, a.drawn, self.a.weights is not None
        self.clusters = None if a.clusters is None else a.drawn

    @cached_property
    def items(self) -> PairRows:
        """The distinct pairs of rows of single items."""
        return paired_units(self.a, self.b)

    @cached_property
    def units_a(self) -> Units:
        """What is drawn, with the rows of A; row by row beside `units_b`."""
        return self._units(self.a, self.items.table_a if self.clusters is None else None)

    @cached_property
    def units_b(self) -> Units:
        """What is drawn, with the rows of B."""
        return self._units(self.b, self.items.table_b if self.clusters is None else None)

    @cached_property
    def totals_a(self) -> Totals:
        """The totals of A."""
        return self.units_a.totals()

    @cached_property
    def totals_b(self) -> Totals:
        """The totals of B."""
        return self.units_b.totals()

    def _units(self, evidence: Counts, table: Table | Columns | None) -> Units:
        """The clusters of one side, or its rows among the pairs."""
        if table is None:
            return fold(evidence)
        exact = evidence.exact and evidence.weights is None
        return Units(table, self.items.count, exact, "item", evidence.n, clustered=False)


def paired_units(a: Counts, b: Counts) -> PairRows:
    """The distinct pairs of rows of two systems, and how many items have each."""
    if isinstance(a.table, Columns) and isinstance(b.table, Columns):
        first, second = (select(side.table, whole_codes(side), side.weights) for side in (a, b))
        return PairRows(first, second, np.ones(a.n, dtype=np.int64))
    if isinstance(a.table, Columns) or isinstance(b.table, Columns) or not a.n:
        first = select(sparse(a.table), whole_codes(a), a.weights)
        second = select(sparse(b.table), whole_codes(b), b.weights)
        return PairRows(first, second, np.ones(a.n, dtype=np.int64))
    columns, sizes = [whole_codes(a), whole_codes(b)], [a.table.rows, b.table.rows]
    distinct = None
    if a.weights is not None:
        distinct, which = np.unique(a.weights, return_inverse=True)
        columns.append(which.astype(np.int32))
        sizes.append(len(distinct))
    codes, rows = coded(columns, sizes)
    scale = None if distinct is None else distinct[rows[2]]
    first, second = select(a.table, rows[0], scale), select(b.table, rows[1], scale)
    return PairRows(first, second, np.bincount(codes, minlength=len(rows[0])))


def swappable(pairing: Pairing) -> tuple[Table, IntArray]:
    """(B minus A by row, how many units have each row), without the rows that do not differ.

    Clusters change sides whole. Where too many pairs differ, 4,096 buckets of items do, which
    keeps the test exact: it only looks at fewer of the exchanges.
    """
    change = apart(pairing.units_a.table, pairing.units_b.table, pairing.units_a.exact)
    count = pairing.units_a.count
    present = _present(change)
    if len(present) > MOST_PAIRS:
        change = _buckets(pairing)
        count, present = np.ones(change.rows, dtype=np.int64), _present(change)
    return sparse(select(change, present)), count[present]


def apart(first: Table | Columns, second: Table | Columns, exact: bool) -> Table:
    """The table `second - first`; equal entries leave none."""
    if isinstance(first, Columns) and isinstance(second, Columns):
        return Table.dense(first.layout, second.matrix - first.matrix)
    one, two = sparse(first), sparse(second)
    row = np.concatenate([one.row, two.row])
    cell = np.concatenate([one.cell, two.cell])
    value = np.concatenate([-one.value, two.value])
    both = Table(one.rows, one.layout, row, cell, value)
    summed = add_up(both, np.arange(one.rows), one.rows, None, exact)
    kept = summed.value != 0
    return Table(one.rows, one.layout, summed.row[kept], summed.cell[kept], summed.value[kept])


def _present(table: Table) -> IntArray:
    """The rows that have entries."""
    return np.flatnonzero(np.bincount(table.row, minlength=table.rows))


def row_sums(table: Table | Columns, groups: Mapping[str, float]) -> FloatArray:
    """(rows,): a combination of groups of a single cell."""
    out = np.zeros(table.rows)
    for group, coefficient in groups.items():
        place = table.layout.span(group).start
        if isinstance(table, Columns):
            out += coefficient * table.matrix[:, place]
        else:
            here = table.cell == place
            out += coefficient * np.bincount(table.row[here], table.value[here], table.rows)
    return out


def _buckets(pairing: Pairing) -> Table:
    """B minus A, summed over buckets of items or of clusters."""
    if pairing.clusters is not None:
        change = apart(pairing.units_a.table, pairing.units_b.table, pairing.units_a.exact)
        return add_up(change, bucket(change.rows), BUCKETS, None, pairing.units_a.exact)
    names = tuple(f"{i:04d}" for i in range(BUCKETS))
    facet = Facet("bucket", bucket(pairing.n).astype(np.int32), names)
    a, b = (fold(replace(side, cluster=facet)) for side in (pairing.a, pairing.b))
    return apart(a.table, b.table, a.exact and b.exact)
