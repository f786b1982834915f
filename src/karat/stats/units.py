"""Units: the rows that are drawn, and how many of each there are.

Where items stand alone the rows are the distinct rows of the evidence and the count says how many
items have each; where they are clustered a row is the sum over one cluster, counted once. Scores,
influence and resamples all start from here, so they cannot disagree about what an item weighs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.model.evidence import Columns, Counts, Table, coded
from karat.model.exact import exact_group_sums, exact_sum, parts
from karat.model.metric import Totals
from karat.model.pairs import Facet, FloatArray, IntArray
from karat.model.state import Sums as KeyedSums
from karat.model.state import Tally

_DENSE = 1 << 23
_BLOCK = 1 << 21
_LONG_WORK = 1 << 26
Codes = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Units:
    """Rows of sums and how many units have each row.

    `unit` names what is drawn, `n` counts the items behind it all (those of weight 0 left out).
    The count of a row of reals is 1, or 0 where it is not among them.
    """

    table: Table | Columns
    count: IntArray
    exact: bool
    unit: str
    n: int
    clustered: bool

    @property
    def drawn(self) -> int:
        """How many units there are: items, or clusters."""
        return int(self.count.sum())

    def totals(self, weights: npt.NDArray[np.number] | None = None) -> Totals:
        """The sums: (k,), or (B, k) where (B, rows) weights say how often each row was drawn."""
        layout = self.table.layout
        if weights is not None:
            return Totals(layout, Sums.of(self).totals(np.atleast_2d(weights)))
        if isinstance(self.table, Columns):
            kept = self.table.matrix if self.count.all() else self.table.matrix[self.count > 0]
            sums = [exact_sum(column) for column in kept.T]
            return Totals(layout, np.array(sums, dtype=np.float64))
        row, cell, value = self.table.row, self.table.cell, self.table.value
        return Totals(layout, _grouped(value, cell, layout.width, self.count[row], self.exact))

    def reach(self) -> FloatArray:
        """(k,): the sums of the sizes of all entries, the natural step of a derivative."""
        if isinstance(self.table, Columns):
            return np.asarray(np.abs(self.table.matrix).sum(axis=0))
        size = np.abs(self.table.value) * self.count[self.table.row]
        return np.bincount(self.table.cell, size, self.table.layout.width).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Sums:
    """A table made ready for many weighted sums: its entries sorted by cell.

    Each part of `values` sums exactly in doubles as long as no more rows are drawn than there are
    units, so resampled totals do not depend on the order of the rows.
    """

    width: int
    rows: int
    row: IntArray
    values: list[FloatArray]
    starts: IntArray
    cells: IntArray

    @classmethod
    def of(cls, units: Units) -> Sums:
        """The table of these units, by cell."""
        return cls.of_table(sparse(units.table), units.drawn)

    @classmethod
    def of_table(cls, table: Table, most: int) -> Sums:
        """A table by cell, for weights of which no row of them sums to more than `most`."""
        order = np.argsort(table.cell, kind="stable")
        cells, starts = np.unique(table.cell[order], return_index=True)
        values = parts(table.value[order], most)
        return cls(table.layout.width, table.rows, table.row[order], values, starts, cells)

    def totals(self, weights: npt.NDArray[np.number]) -> FloatArray:
        """(B, k) for weights (B, rows)."""
        out = np.zeros((len(weights), self.width))
        if not len(self.cells):
            return out
        if len(weights) * len(self.row) > _LONG_WORK:
            return self._long(weights, out)
        step = max(1, _BLOCK // len(self.row))
        for start in range(0, len(weights), step):
            drawn = weights[start : start + step, self.row]
            for values in self.values:
                sums = np.add.reduceat(drawn * values, self.starts, axis=1)
                out[start : start + step, self.cells] += sums
        return out

    def _long(self, weights: npt.NDArray[np.number], out: FloatArray) -> FloatArray:
        """The same to the bit, since every sum is exact, by SciPy's sparse product."""
        from scipy.sparse import csr_array

        edges = np.append(self.starts, len(self.row))
        shape = (len(self.cells), self.rows)
        tables = [csr_array((values, self.row, edges), shape=shape) for values in self.values]
        step = max(1, _BLOCK // max(self.rows, len(self.cells)))
        for start in range(0, len(weights), step):
            drawn = np.ascontiguousarray(weights[start : start + step].T, dtype=np.float64)
            for table in tables:
                out[start : start + step, self.cells] += (table @ drawn).T
        return out


def fold(evidence: Counts, clustered: bool | None = None) -> Units:
    """The units of evidence: its clusters where it has them, else its distinct rows.

    `clustered=False` gives items also where there are clusters, for the design effect. Items of
    weight 0 are left out, as if they were not there.
    """
    if evidence.weights is not None and (evidence.weights == 0).any():
        evidence = evidence.take(evidence.weights != 0)
    if clustered is None:
        clustered = evidence.cluster is not None
    if clustered and evidence.cluster is not None:
        return _clusters(evidence, evidence.cluster)
    table, count, exact = _distinct(evidence)
    return Units(table, count, exact, "item", evidence.n, clustered=False)


def unfold(state: Tally | KeyedSums, unit: str = "item") -> Units:
    """The units of a merged state: rows of a tally, or one row a key, named by `unit`."""
    if isinstance(state, Tally):
        table, count = state.table()
        return Units(table, count, True, unit, state.n, clustered=False)
    table = state.table()
    count = np.ones(table.rows, dtype=np.int64)
    return Units(table, count, state.exact, unit, state.n, clustered=True)


def effective(weights: FloatArray) -> float:
    """The effective number of items, (sum w)^2 / sum w^2; 0 where nothing has weight."""
    peak = float(np.abs(weights).max()) if len(weights) else 0.0
    if peak == 0:
        return 0.0
    scaled = weights / peak
    return float(scaled.sum() ** 2 / np.square(scaled).sum())


def sparse(table: Table | Columns) -> Table:
    """The same as a sparse table."""
    return table if isinstance(table, Table) else Table.dense(table.layout, table.matrix)


def select(
    table: Table | Columns, index: Codes, scale: FloatArray | None = None
) -> Table | Columns:
    """The table whose row j is row index[j] of `table`, times scale[j]."""
    if isinstance(table, Columns):
        chosen = table.matrix[index]
        return Columns(table.layout, chosen if scale is None else chosen * scale[:, None])
    edges = np.searchsorted(table.row, np.arange(table.rows + 1))
    lengths = np.diff(edges)[index]
    ends = np.cumsum(lengths)
    row = np.repeat(np.arange(len(index)), lengths)
    place = np.arange(len(row)) + np.repeat(edges[index] - ends + lengths, lengths)
    value = table.value[place]
    if scale is not None:
        value = value * scale[row]
    return Table(len(index), table.layout, row, table.cell[place], value)


def add_up(
    table: Table | Columns, group: Codes, groups: int, times: IntArray | None, exact: bool
) -> Table:
    """The table of sums of rows by group, row j taken times[j] times."""
    if isinstance(table, Columns):
        columns = [_grouped(column, group, groups, times, exact) for column in table.matrix.T]
        matrix = np.stack(columns, axis=1) if columns else np.zeros((groups, 0))
        return Table.dense(table.layout, matrix)
    width = max(table.layout.width, 1)
    key = group[table.row].astype(np.int64) * width + table.cell
    if groups * width <= max(_DENSE, 4 * len(key)):
        present = np.flatnonzero(np.bincount(key, minlength=1)) if len(key) else key
        lookup = np.zeros(groups * width, dtype=np.int64)
        lookup[present] = np.arange(len(present))
        place = lookup[key]
    else:
        present, place = np.unique(key, return_inverse=True)
    copies = None if times is None else times[table.row]
    value = _grouped(table.value, place, len(present), copies, exact)
    return Table(groups, table.layout, present // width, present % width, value)


def whole_codes(evidence: Counts) -> npt.NDArray[np.int32]:
    """The row of each item, also where rows are items."""
    if evidence.codes is not None:
        return evidence.codes
    return np.arange(evidence.table.rows, dtype=np.int32)


def cluster_codes(cluster: Facet) -> tuple[npt.NDArray[np.int32], int]:
    """(codes, how many): clusters that have items, in the order of their names.

    An item without a cluster stands alone. Names and not codes give the order, so that draws do
    not depend on the order of the items.
    """
    known = cluster.codes >= 0
    seen = np.flatnonzero(np.bincount(cluster.codes[known], minlength=len(cluster.levels)))
    named = sorted(seen.tolist(), key=cluster.levels.__getitem__)
    lookup = np.full(len(cluster.levels) + 1, -1, dtype=np.int32)
    lookup[named] = np.arange(len(named), dtype=np.int32)
    codes = lookup[cluster.codes]
    alone = np.flatnonzero(~known)
    codes[alone] = len(named) + np.arange(len(alone), dtype=np.int32)
    return codes, len(named) + len(alone)


def _distinct(evidence: Counts) -> tuple[Table | Columns, IntArray, bool]:
    """(rows, how many items have each, whether all values are integers)."""
    table, weights = evidence.table, evidence.weights
    if isinstance(table, Columns):
        # Rows of reals are all different: each stands for itself.
        if evidence.codes is not None or weights is not None:
            table = select(table, whole_codes(evidence), weights)
        return table, np.ones(table.rows, dtype=np.int64), False
    if weights is None:
        if evidence.codes is None:
            return table, np.ones(table.rows, dtype=np.int64), evidence.exact
        count = np.bincount(evidence.codes, minlength=table.rows)
        if count.all():
            return table, count, evidence.exact
        present = np.flatnonzero(count)
        return select(table, present), count[present], evidence.exact
    if not len(weights):
        return select(table, np.zeros(0, dtype=np.int64)), np.zeros(0, dtype=np.int64), False
    distinct, which = np.unique(weights, return_inverse=True)
    code, (row, weight) = coded(
        [whole_codes(evidence), which.astype(np.int32)], [table.rows, len(distinct)]
    )
    scaled = select(table, row, distinct[weight])
    whole = evidence.exact and bool(np.all(distinct == np.trunc(distinct)))
    return scaled, np.bincount(code, minlength=len(row)), whole


def _clusters(evidence: Counts, cluster: Facet) -> Units:
    """One row of sums for each cluster."""
    codes, groups = cluster_codes(cluster)
    table, whole = evidence.table, evidence.exact
    times: IntArray | None = None
    group: Codes = codes
    if evidence.weights is not None:
        table, whole = select(table, whole_codes(evidence), evidence.weights), False
    elif isinstance(table, Columns) or not evidence.n:
        table = select(table, whole_codes(evidence))
    elif evidence.codes is not None:
        pair, (group, row) = coded([codes, evidence.codes], [groups, table.rows])
        table, times = select(table, row), np.bincount(pair, minlength=len(row))
    summed = add_up(table, group, groups, times, whole)
    count = np.ones(groups, dtype=np.int64)
    return Units(summed, count, whole, cluster.name, evidence.n, clustered=True)


def _grouped(
    x: FloatArray, group: Codes, groups: int, times: IntArray | None, exact: bool
) -> FloatArray:
    """(groups,): sums by group that do not depend on the order."""
    if not exact:
        return exact_group_sums(x, group, groups, times)
    taken = x if times is None else x * times
    return np.bincount(group, weights=taken, minlength=groups).astype(np.float64)
