"""Slices of evidence, each beside all other items: their units, totals and clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karat.model.evidence import Columns, Counts, Evidence, Table
from karat.model.metric import Metric, Totals
from karat.model.pairs import Facet, IntArray
from karat.stats.spread import Sample, Spread, ones, spread
from karat.stats.units import Codes, Units, add_up, select, sparse, whole_codes


class Cut:
    """Evidence ready to be cut by the levels of a facet."""

    def __init__(self, evidence: Evidence, facet: Facet) -> None:
        weights = getattr(evidence, "weights", None)
        if weights is not None and bool((weights == 0).any()):
            evidence, facet = evidence.take(weights != 0), facet.take(weights != 0)
        self.whole = Sample(evidence)
        self.codes = facet.codes
        self.order = np.argsort(facet.codes, kind="stable")
        self.edges = np.searchsorted(facet.codes[self.order], np.arange(len(facet.levels) + 1))
        self.sizes = ones(evidence.n)
        if self.whole.clusters is not None:
            codes, groups = self.whole.clusters
            self.sizes = np.bincount(codes, minlength=groups)
        self._spreads: dict[tuple[str, ...], Spread] = {}

    def spread(self, metric: Metric) -> Spread:
        """The spread of a metric over the whole evidence."""
        if metric.names not in self._spreads:
            self._spreads[metric.names] = spread(metric, self.whole)
        return self._spreads[metric.names]

    def part(self, level: int) -> Part:
        """One level and all the rest."""
        items = self.order[self.edges[level] : self.edges[level + 1]]
        inside = Sample(self.whole.evidence.take(items))
        # Clusters of the slice by their place among all; both are in the order of their names.
        present: IntArray = np.arange(len(items))
        if self.whole.clusters is not None:
            present = np.unique(self.whole.clusters[0][items]).astype(np.int64)
        return Part(self, items, inside, present)


@dataclass
class Part:
    """A slice of one evidence beside all other items of it."""

    cut: Cut
    items: IntArray
    inside: Sample
    present: IntArray
    _rest: tuple[Units, Totals] | None = None

    @property
    def clustered(self) -> bool:
        """Whether clusters are drawn."""
        return self.cut.whole.clusters is not None

    def rest(self) -> tuple[Units, Totals]:
        """The units of all other items, and their totals."""
        if self._rest is None:
            units = self._clusters_left() if self.clustered else self._items_left()
            self._rest = units, units.totals()
        return self._rest

    def _clusters_left(self) -> Units:
        """All clusters less what the slice has of them; those it has wholly are not counted."""
        full, mine = self.cut.whole.units, self.inside.units
        a, b = sparse(full.table), sparse(mine.table)
        both = Table(
            a.rows,
            a.layout,
            np.concatenate([a.row, self.present[b.row]]),
            np.concatenate([a.cell, b.cell]),
            np.concatenate([a.value, -b.value]),
        )
        left = add_up(both, np.arange(a.rows), a.rows, None, full.exact)
        assert self.cut.whole.clusters is not None
        codes = self.cut.whole.clusters[0][self.items]
        sizes = self.cut.sizes - np.bincount(codes, minlength=a.rows)
        count = (sizes > 0).astype(np.int64)
        return Units(left, count, full.exact, full.unit, int(sizes.sum()), clustered=True)

    def _items_left(self) -> Units:
        """The rows of the other items: the same rows with smaller counts."""
        evidence, full = self.cut.whole.evidence, self.cut.whole.units
        assert isinstance(evidence, Counts)
        n = evidence.n - len(self.items)
        plain = evidence.weights is None
        if isinstance(full.table, Columns) or (plain and evidence.codes is None):
            count = full.count.copy()
            count[self.items] = 0
            return replace(full, count=count, n=n)
        if plain:
            codes: Codes = whole_codes(evidence)
            count = np.bincount(codes, minlength=evidence.table.rows)
            count -= np.bincount(codes[self.items], minlength=evidence.table.rows)
            kept = np.flatnonzero(count)
            table = select(evidence.table, kept)
            return Units(table, count[kept], evidence.exact, "item", n, clustered=False)
        return Sample(evidence.take(self.others())).units

    def share(self) -> float:
        """The share of the items, by their weights, that are in the slice."""
        weights = getattr(self.cut.whole.evidence, "weights", None)
        if weights is None:
            return len(self.items) / self.cut.whole.evidence.n
        return float(weights[self.items].sum() / weights.sum())

    def others(self) -> IntArray:
        """The places of all other items."""
        keep = np.ones(self.cut.whole.evidence.n, dtype=bool)
        keep[self.items] = False
        return np.flatnonzero(keep)
