"""Two systems over the same items and the same cells, or the reason why that cannot be.

Items must be equal, id by id. Where predictions add items of their own (a mention that only one
system found), the other system gets a row of zeros for it: it contributes nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from karat.errors import DataError, UsageError
from karat.model.evidence import Columns, Counts, Evidence, Layout, Table
from karat.model.metric import Events, Metric, Scored
from karat.model.pairs import Facet, FloatArray, IntArray, Which
from karat.model.problem import Problem

SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class Contestant:
    """One system ready to be compared: what it did on each item, and nothing of how.

    `metrics` is empty where the evidence was kept by an earlier run: the other system's are used.
    """

    name: str
    ids: Sequence[str]
    evidence: Sequence[Evidence]
    metrics: Sequence[Metric]
    official: Mapping[str, float]
    labels: tuple[str, ...] = ()
    facets: Mapping[str, Facet] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Influences:
    """An event metric's values and influence by item, kept where its events were not.

    `draws` are its values under the resamples of one design, for metrics that need them.
    """

    name: str
    n: int
    cluster: Facet | None
    values: Mapping[str, float]
    columns: Mapping[str, FloatArray]
    weights: FloatArray | None = None
    design: str = ""
    draws: Mapping[str, FloatArray] = field(default_factory=dict)

    def take(self, which: Which) -> Influences:
        """Nothing: what was kept holds for all items together."""
        raise UsageError(f"kept values of {self.name} cannot be cut into slices")

    def scored(self, names: Sequence[str]) -> Scored:
        """What was kept, for the names of a metric."""
        values = np.array([self.values.get(name, np.nan) for name in names])
        return Scored(values, [self.columns.get(name) for name in names])

    def redrawn(self, names: Sequence[str], design: str) -> FloatArray | None:
        """(draws, names): NaN for names without draws; None where they are of another design."""
        if design != self.design or not self.draws:
            return None
        lost = np.full(len(next(iter(self.draws.values()))), np.nan)
        return np.stack([self.draws.get(name, lost) for name in names], axis=1)


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two systems side by side: their items, evidence and metrics correspond."""

    ids: Sequence[str]
    metrics: list[Metric]
    first: list[Evidence]
    second: list[Evidence]
    facets: Mapping[str, Facet]


def align(a: Contestant, b: Contestant, *, open_items: bool) -> Aligned:
    """Both over the same items and cells. Raises DataError with the ids where items differ."""
    merge = _Merge(a.ids, b.ids)
    if not merge.same and not open_items:
        raise DataError(list(_missing(a, b)))
    facets = {
        name: merge.facet(facet, b.facets.get(name, facet)) for name, facet in a.facets.items()
    }
    others = {evidence.name: evidence for evidence in b.evidence}
    pairs = [
        _pair(one, others[one.name], merge, (a, b)) for one in a.evidence if one.name in others
    ]
    known = [pair for pair in pairs if pair is not None]
    names = {one.name for one, _ in known}
    theirs = {(metric.reads, metric.names) for metric in b.metrics}
    metrics = [
        _readable(metric)
        for metric in a.metrics
        if metric.reads in names and (not theirs or (metric.reads, metric.names) in theirs)
    ]
    return Aligned(merge.ids, metrics, [x for x, _ in known], [y for _, y in known], facets)


def _missing(a: Contestant, b: Contestant) -> list[Problem]:
    """What is wrong with the items, system by system."""
    first, second = set(a.ids), set(b.ids)
    out = []
    for name, other, lost in ((b.name, a.name, first - second), (a.name, b.name, second - first)):
        if lost:
            shown = ", ".join(sorted(lost)[:SHOWN_IDS])
            more = f" and {len(lost) - SHOWN_IDS} more" if len(lost) > SHOWN_IDS else ""
            text = f"{len(lost)} items that {other} has are missing: {shown}{more}"
            advice = "a comparison needs both systems on the same items"
            out.append(Problem("items-differ", "error", text, name, help=advice))
    if not out:
        text = f"some ids occur a different number of times than in {a.name}"
        out.append(Problem("items-differ", "error", text, b.name))
    return out


class _Merge:
    """The items of both systems, those of the first in front, and where each stands."""

    def __init__(self, first: Sequence[str], second: Sequence[str]) -> None:
        left, right = list(first), list(second)
        self.ids: Sequence[str] = first
        self.same = left == right
        self.first: IntArray = np.arange(len(left), dtype=np.int64)
        self.second: IntArray = self.first
        if not self.same:
            place = {key: at for at, key in enumerate(dict.fromkeys((*left, *right)))}
            self.ids = list(place)
            self.first = np.array([place[key] for key in left], dtype=np.int64)
            self.second = np.array([place[key] for key in right], dtype=np.int64)
            # The same unique ids in another order are the same items.
            unique = len(place) == len(left) == len(right)
            self.same = unique

    @property
    def n(self) -> int:
        """How many items there are."""
        return len(self.ids)

    @property
    def trivial(self) -> bool:
        """Whether both sides stand as they are."""
        return self.second is self.first

    def facet(self, a: Facet, b: Facet) -> Facet:
        """One column over all items: the first system's value, else the second's."""
        if self.trivial:
            return a
        levels = {name: at for at, name in enumerate(dict.fromkeys((*a.levels, *b.levels)))}
        codes = np.full(self.n, -1, dtype=np.int32)
        for facet, place in ((b, self.second), (a, self.first)):
            lookup = np.array([*(levels[name] for name in facet.levels), -1], dtype=np.int32)
            known = facet.codes >= 0
            codes[place[known]] = lookup[facet.codes[known]]
        return Facet(a.name, codes, tuple(levels))


Two = tuple[Evidence, Evidence]


def _pair(
    a: Evidence, b: Evidence, items: _Merge, sides: tuple[Contestant, Contestant]
) -> Two | None:
    """One evidence of both systems, None where it cannot be brought together."""
    merge = items
    if a.n != len(sides[0].ids) or b.n != len(sides[1].ids):
        if a.cluster is None or b.cluster is None:
            return (a, b) if a.n == b.n else None
        # Rows of groups (documents, terms): each is named by the cluster it is.
        merge = _Merge(_row_names(a.cluster), _row_names(b.cluster))
    cluster = None
    if a.cluster is not None:
        cluster = merge.facet(a.cluster, b.cluster or a.cluster)
    if isinstance(a, Counts) and isinstance(b, Counts):
        layout = _layout(a, b, sides)
        first = _cells(a, layout, sides[0].labels, sides[1].labels)
        second = _cells(b, layout, sides[1].labels, sides[0].labels)
        first, second = (
            _spread(x, p, merge) for x, p in ((first, merge.first), (second, merge.second))
        )
        return replace(first, cluster=cluster), replace(
            second, cluster=cluster, weights=first.weights
        )
    if isinstance(a, Counts) or isinstance(b, Counts) or not merge.trivial:
        return None
    return a, replace(b, cluster=cluster) if isinstance(b, Influences) else b


def _row_names(cluster: Facet) -> list[str]:
    return [cluster.levels[code] if code >= 0 else "" for code in cluster.codes.tolist()]


def _layout(a: Counts, b: Counts, sides: tuple[Contestant, Contestant]) -> Layout:
    """The cells that both have: as wide as the longer list of labels."""
    groups = {}
    for name, width in a.layout.groups.items():
        other = b.layout.groups.get(name)
        if other is None:
            continue
        if width != other and {width, other} != {len(side.labels) for side in sides}:
            raise UsageError(
                f"{sides[0].name} and {sides[1].name} have {width} and {other} classes",
                help="give both the same list of classes",
            )
        groups[name] = max(width, other)
    return Layout(groups)


def _cells(
    evidence: Counts, layout: Layout, labels: tuple[str, ...], others: tuple[str, ...]
) -> Counts:
    """The evidence over another layout: groups left out, labels moved to where they stand."""
    if evidence.layout.groups == layout.groups:
        return evidence
    wide = max(labels, others, key=len)
    moved = {name: at for at, name in enumerate(wide)}
    lookup = np.full(evidence.layout.width, -1, dtype=np.int64)
    for name, width in layout.groups.items():
        own, start = evidence.layout.span(name), layout.span(name).start
        places = range(own.stop - own.start)
        if width != len(places):
            places = [moved[label] for label in labels]  # type: ignore[assignment]
        lookup[own] = start + np.array(places, dtype=np.int64)
    table = evidence.table
    if isinstance(table, Columns):
        matrix = np.zeros((table.rows, layout.width))
        matrix[:, lookup[lookup >= 0]] = table.matrix[:, lookup >= 0]
        return replace(evidence, table=Columns(layout, matrix))
    kept = lookup[table.cell] >= 0
    row, cell, value = table.row[kept], lookup[table.cell[kept]], table.value[kept]
    order = np.lexsort((cell, row))
    moved_table = Table(table.rows, layout, row[order], cell[order], value[order])
    return replace(evidence, table=moved_table)


def _spread(evidence: Counts, place: IntArray, merge: _Merge) -> Counts:
    """The evidence over all items; those that the system lacks get a row of zeros."""
    if merge.trivial:
        return evidence
    table: Table | Columns = evidence.table
    rows = table.rows
    if isinstance(table, Columns):
        table = Columns(table.layout, np.vstack([table.matrix, np.zeros(table.layout.width)]))
    else:
        table = replace(table, rows=rows + 1)
    codes = np.full(merge.n, rows, dtype=np.int32)
    own = np.arange(rows, dtype=np.int32) if evidence.codes is None else evidence.codes
    codes[place] = own
    weights: Any = evidence.weights
    if weights is not None:
        spread = np.ones(merge.n)
        spread[place] = weights
        weights = spread
    return replace(evidence, table=table, codes=codes, weights=weights)


def _readable(metric: Metric) -> Metric:
    """The metric, which now also takes what was kept of its events."""
    if not isinstance(metric, Events):
        return metric
    score = metric.score

    def either(evidence: Any, weights: FloatArray | None, influence: bool) -> Scored:
        if isinstance(evidence, Influences):
            return evidence.scored(metric.names)
        return score(evidence, weights, influence)

    return replace(metric, score=either)
