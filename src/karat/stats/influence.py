"""Influence: how much a score moves with the weight of each unit, and the spread that follows.

For a score f of totals T = sum of w_u * x_u, the influence of unit u is the gradient of f at T
times x_u. Its sum of squares is the delta-method variance of f. Tables, gradients and influence
are all sparse, so a family of 1,000 classes costs about what its evidence weighs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from karat.model.evidence import Columns, Layout, Table
from karat.model.metric import Ratio, Smooth, Totals
from karat.model.pairs import FloatArray, IntArray
from karat.stats.units import Units

STEP = 1e-4
"""The relative step of numeric derivatives: truncation is then 1e-8, rounding less."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """d value[name] / d total[cell] as triples sorted by cell."""

    names: int
    cell: IntArray
    name: IntArray
    slope: FloatArray


@dataclass(frozen=True, slots=True)
class Influence:
    """The influence of each row on each name, as triples; a (row, name) occurs once."""

    names: int
    row: IntArray
    name: IntArray
    value: FloatArray

    @classmethod
    def dense(cls, columns: list[FloatArray]) -> Influence:
        """From one dense column a name."""
        rows = len(columns[0]) if columns else 0
        row = np.tile(np.arange(rows), len(columns))
        name = np.repeat(np.arange(len(columns)), rows)
        value = np.concatenate(columns) if columns else np.zeros(0)
        return cls(len(columns), row, name, np.asarray(value, dtype=np.float64))

    def squares(self, count: IntArray) -> FloatArray:
        """(names,): the sum over units of (influence - mean influence)^2.

        `count` says how many units each row stands for; rows without an entry count as 0.
        """
        units = int(count.sum())
        if not units:
            return np.zeros(self.names)
        times = count[self.row]
        if self.names == 1:
            middle = (self.value * times).sum() / units
            apart = (np.square(self.value - middle) * times).sum()
            return np.array([apart + (units - times.sum()) * middle * middle])
        mean = np.bincount(self.name, self.value * times, self.names) / units
        away = np.square(self.value - mean[self.name]) * times
        silent = units - np.bincount(self.name, times, self.names)
        return np.asarray(np.bincount(self.name, away, self.names) + silent * np.square(mean))

    def variance(self, count: IntArray) -> FloatArray:
        """(names,): the variance of each value, M / (M - 1) * squares; NaN below 2 units."""
        units = int(count.sum())
        if units < 2:
            return np.full(self.names, np.nan)
        return self.squares(count) * (units / (units - 1))

    def touched(self, count: IntArray) -> FloatArray:
        """(names,): how many units each name depends on."""
        return np.bincount(self.name, count[self.row], self.names).astype(np.float64)

    def scaled(self, factor: float) -> Influence:
        """The same, times a factor."""
        return Influence(self.names, self.row, self.name, self.value * factor)


def added(parts: list[Influence]) -> Influence:
    """The sum of influences over the same rows and names."""
    names = parts[0].names
    row = np.concatenate([part.row for part in parts])
    name = np.concatenate([part.name for part in parts])
    value = np.concatenate([part.value for part in parts])
    return _consolidated(names, row, name, value)


def influence(table: Table | Columns, gradient: Gradient) -> Influence:
    """The influence of each row of a table: the sparse product table x gradient."""
    if isinstance(table, Columns):
        columns = [np.zeros(table.rows) for _ in range(gradient.names)]
        for cell, name, slope in zip(gradient.cell, gradient.name, gradient.slope, strict=True):
            columns[name] += table.matrix[:, cell] * slope
        return Influence.dense(columns)
    edges = np.searchsorted(gradient.cell, np.arange(table.layout.width + 1))
    degree = np.diff(edges)[table.cell]
    entry = np.repeat(np.arange(len(table.row)), degree)
    ends = np.cumsum(degree)
    place = np.arange(len(entry)) + np.repeat(edges[table.cell] - ends + degree, degree)
    value = table.value[entry] * gradient.slope[place]
    return _consolidated(gradient.names, table.row[entry], gradient.name[place], value)


def gradient(metric: Ratio | Smooth, units: Units, totals: Totals) -> Gradient:
    """The gradient of a metric at the totals of these units; NaN slopes where it is undefined."""
    if isinstance(metric, Ratio):
        return _ratio_gradient(metric, totals)
    return _numeric_gradient(metric, units.reach(), totals)


def summed(groups: Mapping[str, float], totals: Totals, names: int) -> FloatArray:
    """(names,): the numerators or denominators of a family."""
    out = np.zeros(names)
    for group, coefficient in groups.items():
        out += coefficient * totals.sums[totals.layout.span(group)]
    return out


def _consolidated(names: int, row: IntArray, name: IntArray, value: FloatArray) -> Influence:
    """Triples with the values of one (row, name) added up."""
    if not len(row):
        return Influence(names, row, name, value)
    key = row * np.int64(names) + name
    if names > 1 or bool((key[1:] < key[:-1]).any()):
        order = np.argsort(key, kind="stable")
        key, value = key[order], value[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    key, value = key[first], np.add.reduceat(value, first)
    return Influence(names, key // names, key % names, value)


def _ratio_gradient(metric: Ratio, totals: Totals) -> Gradient:
    """In closed form: (num coefficient - quotient * den coefficient) * factor / den."""
    layout, names = totals.layout, len(metric.names)
    num, den = summed(metric.num, totals, names), summed(metric.den, totals, names)
    with np.errstate(divide="ignore", invalid="ignore"):
        per = np.where(den != 0, np.divide(metric.factor, den), np.nan)
        quotient = np.where(den != 0, np.divide(num, den), np.nan)
    pieces = [(group, coef * per) for group, coef in metric.num.items()]
    pieces += [(group, -coef * quotient * per) for group, coef in metric.den.items()]
    cell = np.concatenate([_cells(layout, group, names) for group, _ in pieces])
    name = np.tile(np.arange(names), len(pieces))
    slope = np.concatenate([slope for _, slope in pieces])
    order = np.argsort(cell, kind="stable")
    return Gradient(names, cell[order], name[order], slope[order])


def _cells(layout: Layout, group: str, names: int) -> IntArray:
    """The cell that each name reads of a group; a group of one cell serves all names."""
    span = layout.span(group)
    return np.broadcast_to(np.arange(span.start, span.stop), (names,))


def _numeric_gradient(metric: Smooth, reach: FloatArray, totals: Totals) -> Gradient:
    """By central differences over the cells that any unit touches, in blocks."""
    cells = np.flatnonzero(reach)
    slope = np.zeros(len(cells))
    block = max(1, (1 << 20) // max(len(totals.sums), 1))
    for start in range(0, len(cells), block):
        part = cells[start : start + block]
        step = STEP * reach[part]
        moved = np.repeat(totals.sums[None, :], 2 * len(part), axis=0)
        up = np.arange(len(part))
        moved[up, part] += step
        moved[up + len(part), part] -= step
        with np.errstate(all="ignore"):
            values = np.asarray(metric.value(Totals(totals.layout, moved)), dtype=np.float64)
        slope[start : start + block] = (values[: len(part)] - values[len(part) :]) / (2 * step)
    # A cell without a slope is none of the score's: what lies in it alone has no part in it.
    own = slope != 0
    return Gradient(1, cells[own], np.zeros(int(own.sum()), dtype=np.int64), slope[own])
