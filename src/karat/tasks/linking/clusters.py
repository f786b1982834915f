"""Two clusterings and how they cross: the one sparse table every coreference measure is read from.

A clustering is a set of (cluster, item) pairs, clusters numbered by first appearance. The crossing
counts the items that a gold cluster and a system cluster share, for the pairs that share any.
Groups cut the data: every sum is an array with one entry a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.exact import exact_group_sums
from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.tasks.linking.fields import densely


@dataclass(frozen=True)
class Clustering:
    """Distinct (cluster, item) pairs of one side; `group` is the group of each cluster."""

    cluster: IntArray
    item: IntArray
    group: IntArray
    items: int

    @classmethod
    def of(cls, entity: IntArray, item: IntArray, group: IntArray, items: int) -> Clustering:
        """From one row a mention: its entity, its item and its group."""
        if not len(entity):
            none = np.zeros(0, dtype=np.int64)
            return cls(none, none, none, items)
        code, size = densely(entity)
        # An item is in one cluster nearly always; only then is sorting needed.
        first = np.full(size, len(code), dtype=np.int64)
        at = np.arange(len(code))
        np.minimum.at(first, code, at)
        rank = np.empty(size, dtype=np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(size)
        cluster = rank[code]
        of_cluster = np.empty(size, dtype=np.int64)
        of_cluster[cluster] = group
        if int(np.bincount(item, minlength=1).max()) > 1:
            pair = np.unique(cluster * np.int64(items) + item)
            cluster, item = pair // items, pair % items
        return cls(cluster, item, of_cluster, items)

    @property
    def n(self) -> int:
        """How many clusters there are."""
        return len(self.group)

    @cached_property
    def size(self) -> IntArray:
        """How many items each cluster has."""
        return np.bincount(self.cluster, minlength=self.n)

    @cached_property
    def last(self) -> IntArray:
        """The last cluster of each item, -1 where it has none."""
        out = np.full(self.items, -1, dtype=np.int64)
        # Later assignments win, and pairs may come in any order of clusters.
        order = slice(None) if self.single else np.argsort(self.cluster, kind="stable")
        out[self.item[order]] = self.cluster[order]
        return out

    @cached_property
    def single(self) -> bool:
        """Whether no item is in two clusters."""
        return len(self.item) < 2 or int(np.bincount(self.item).max()) == 1

    @cached_property
    def present(self) -> BoolArray:
        """Which items this side has."""
        return self.last >= 0

    def per_group(self, values: IntArray, groups: int) -> IntArray:
        """Sums of whole values of the clusters."""
        return summed(self.group, values, groups)


def summed(group: IntArray, values: IntArray, groups: int) -> IntArray:
    """Sums of whole numbers by group."""
    if groups == 1:
        return np.array([int(values.sum())], dtype=np.int64)
    if len(values) and float(np.abs(values).max()) * len(values) > 2**53:
        out = np.zeros(groups, dtype=np.int64)
        np.add.at(out, group, values)
        return out
    return np.bincount(group, weights=values, minlength=groups).astype(np.int64)


def summed_reals(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Sums of reals by group, rounded once, so that no order shows."""
    return exact_group_sums(np.asarray(values, dtype=np.float64), group, groups)


def summed_in_order(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Sums of reals by group, added one by one as the official script adds them."""
    return np.asarray(np.bincount(group, weights=values, minlength=groups), dtype=np.float64)


def in_order(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sum of each row, added one by one: not in pairs as NumPy, nor made exact as sum() is."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=rows.dtype)
    return np.asarray(np.add.accumulate(rows, axis=1)[:, -1])


def choose2(n: IntArray) -> IntArray:
    """How many pairs n things make."""
    return n * (n - 1) // 2


class Crossing:
    """Gold and system clusterings of the same items, and the counts of what they share."""

    def __init__(self, gold: Clustering, system: Clustering, groups: int = 1) -> None:
        self.gold, self.system, self.groups = gold, system, groups

    @cached_property
    def swapped(self) -> Crossing:
        """The same with the sides exchanged: what is recall here is precision there."""
        other = Crossing(self.system, self.gold, self.groups)
        g, s, n = self.cells
        other.__dict__["cells"] = (s, g, n)
        return other

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray, IntArray]:
        """(gold cluster, system cluster, items they share), for those that share any."""
        gold, system = self.gold, self.system
        if gold.single and system.single:
            shared = np.flatnonzero(gold.present & system.present)
            g, s = gold.last[shared], system.last[shared]
        else:
            g, s = _joined(gold, system)
        if not len(g):
            none = np.zeros(0, dtype=np.int64)
            return none, none, none
        key, n = np.unique(g * np.int64(system.n) + s, return_counts=True)
        return key // system.n, key % system.n, n.astype(np.int64)

    @cached_property
    def cell_group(self) -> IntArray:
        """The group of each cell."""
        return self.gold.group[self.cells[0]]

    def muc(self) -> tuple[IntArray, IntArray]:
        """Links of gold clusters that the system keeps, and all of them."""
        gold = self.gold
        other = self.system.last[gold.item]
        found = other >= 0
        held = np.bincount(gold.cluster[found], minlength=gold.n)
        parts = np.unique(gold.cluster[found] * np.int64(max(self.system.n, 1)) + other[found])
        pieces = np.bincount(parts // max(self.system.n, 1), minlength=gold.n)
        return (
            gold.per_group(held - pieces, self.groups),
            gold.per_group(gold.size - 1, self.groups),
        )

    def b_cubed(self) -> tuple[FloatArray, FloatArray]:
        """The share of its gold cluster that each item's system cluster holds, and the items."""
        gold, system = self.gold, self.system
        items = np.flatnonzero(gold.present)
        total = np.bincount(gold.group[gold.last[items]], minlength=self.groups)
        shared = items[system.present[items]]
        if gold.single and system.single:
            g, _, n = self.cells
            share = n * n / gold.size[g]
            got = summed_reals(self.cell_group, share, self.groups)
        else:
            g, s = gold.last[shared], system.last[shared]
            share = self.count(g, s) / gold.size[g]
            got = summed_reals(gold.group[g], share, self.groups)
        return got, total.astype(np.float64)

    def count(self, g: IntArray, s: IntArray) -> IntArray:
        """How many items given pairs of clusters share."""
        cell_g, cell_s, n = self.cells
        key = cell_g * np.int64(max(self.system.n, 1)) + cell_s
        wanted = g * np.int64(max(self.system.n, 1)) + s
        if not len(key):
            return np.zeros(len(wanted), dtype=np.int64)
        order = np.argsort(key, kind="stable")
        place = np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)
        return np.where(key[order[place]] == wanted, n[order[place]], 0)

    def pairwise(self) -> tuple[IntArray, IntArray]:
        """Pairs of items together on both sides, and together in gold."""
        _, _, n = self.cells
        got = summed(self.cell_group, choose2(n), self.groups)
        return got, self.gold.per_group(choose2(self.gold.size), self.groups)

    def pairwise_negative(self) -> tuple[IntArray, IntArray]:
        """Pairs of common items apart on both sides, and pairs of gold items apart."""
        gold, system = self.gold, self.system
        common = gold.present & system.present
        group = gold.group[gold.last[np.flatnonzero(common)]]
        both = choose2(np.bincount(group, minlength=self.groups))
        apart = both - self._together(gold, common) - self._together(system, common)
        items = np.bincount(
            gold.group[gold.last[np.flatnonzero(gold.present)]], minlength=self.groups
        )
        everywhere = np.ones(len(common), dtype=bool)
        return (
            apart + self._together_twice(common),
            choose2(items) - self._together(gold, everywhere),
        )

    def _together(self, side: Clustering, which: BoolArray) -> IntArray:
        """How many pairs of the chosen items some cluster holds, each pair once."""
        if side.single:
            kept = np.bincount(side.cluster[which[side.item]], minlength=side.n)
            return side.per_group(choose2(kept), self.groups)
        first, second = _pairs(side, which)
        held = np.unique(first * np.int64(side.items) + second)
        return np.bincount(side.group[side.last[held // side.items]], minlength=self.groups)

    def _together_twice(self, common: BoolArray) -> IntArray:
        """How many pairs are together on both sides, each pair once."""
        if self.gold.single and self.system.single:
            return self.pairwise()[0]
        sides = [_pairs(side, common) for side in (self.gold, self.system)]
        keys = [np.unique(a * np.int64(self.gold.items) + b) for a, b in sides]
        held = np.intersect1d(keys[0], keys[1], assume_unique=True)
        return np.bincount(
            self.gold.group[self.gold.last[held // self.gold.items]], minlength=self.groups
        )

    def lea(self) -> tuple[FloatArray, FloatArray]:
        """Kept links of each gold cluster, weighed by its size; a singleton links itself."""
        gold, system = self.gold, self.system
        g, s, n = self.cells
        size = gold.size
        links = np.where(size > 1, choose2(size), 1)
        alone = (size[g] == 1) & (system.size[s] == 1)
        kept = np.where(size[g] > 1, choose2(n), alone)
        share = kept * size[g] / links[g]
        got = summed_reals(self.cell_group, share, self.groups)
        return got, gold.per_group(size, self.groups).astype(np.float64)

    def ceaf(self, entities: bool) -> tuple[FloatArray, FloatArray]:
        """The best one-to-one alignment, and what gold aligned with itself would get."""
        from karat.tasks.linking.ceaf import best

        g, s, n = self.cells
        size, other = self.gold.size, self.system.size
        weight = 2.0 * n / (size[g] + other[s]) if entities else n.astype(np.float64)
        taken = best(g, s, weight)
        got = summed_reals(self.cell_group[taken], weight[taken], self.groups)
        full = np.ones(self.gold.n, dtype=np.int64) if entities else size
        return got, self.gold.per_group(full, self.groups).astype(np.float64)


def _joined(gold: Clustering, system: Clustering) -> tuple[IntArray, IntArray]:
    """(gold cluster, system cluster) of every item, for each combination of its clusters."""
    order = np.argsort(system.item, kind="stable")
    item = system.item[order]
    low, high = np.searchsorted(item, gold.item), np.searchsorted(item, gold.item, side="right")
    many = high - low
    ends = np.cumsum(many)
    place = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(low - ends + many, many)
    return np.repeat(gold.cluster, many), system.cluster[order][place]


def _pairs(side: Clustering, which: BoolArray) -> tuple[IntArray, IntArray]:
    """Every pair of chosen items of every cluster. For the rare data with items in two clusters."""
    kept = which[side.item]
    order = np.lexsort((side.item[kept], side.cluster[kept]))
    cluster, item = side.cluster[kept][order], side.item[kept][order]
    edges = np.searchsorted(cluster, np.arange(side.n + 1))
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        a, b = np.triu_indices(high - low, 1)
        first.append(item[low:high][a])
        second.append(item[low:high][b])
    return np.concatenate(first), np.concatenate(second)
