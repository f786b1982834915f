"""Both sides to evidence: by mention where a measure allows it, else by document, else as a whole.

A set measure whose key holds the span adds up over spans. Other measures add up over documents
where no cluster reaches across them. What is left is one row for the whole corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from karat.model.evidence import Columns, Counts, Evidence, Layout, Table
from karat.model.pairs import CodeArray, Facet, IntArray, Pairs
from karat.model.task import Request
from karat.read.facets import crossed, factors
from karat.tasks.linking.annotations import Annotations
from karat.tasks.linking.counts import NUMBERS, Counting, Four, Weights
from karat.tasks.linking.fields import densely
from karat.tasks.linking.grouping import cut_by, macro_rows
from karat.tasks.linking.measures import CONLL, MEASURES, Measure

RANKS = (1, 2, 3, 5, 10)
TOGETHER = Measure("blanc.together", "pairwise", None, ("span",))
APART = Measure("blanc.apart", "pairwise_negative", None, ("span",))


@dataclass(frozen=True)
class Sides:
    """Gold and system, what to measure, and what was decided on the way."""

    counting: Counting
    measures: tuple[Measure, ...]
    request: Request
    weights: Weights | None = None
    group_by: tuple[str, ...] = ()
    texts: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def gold(self) -> Annotations:
        """The gold mentions."""
        return self.counting.gold

    @property
    def system(self) -> Annotations:
        """The mentions of the system."""
        return self.counting.system

    @cached_property
    def spans(self) -> tuple[IntArray, IntArray, int]:
        """The span of each gold and system mention, and how many spans there are: the items."""
        coded = self.counting.fields.key(("span",))
        return coded.gold, coded.system, coded.size

    @cached_property
    def within_documents(self) -> bool:
        """Whether no cluster of either side reaches over two documents."""
        fields = self.counting.fields
        doc, eid = fields.key(("docid",)), fields.key(("eid",))
        return all(
            _one_each(e, d, eid.size) for e, d in ((eid.gold, doc.gold), (eid.system, doc.system))
        )

    @cached_property
    def by_document(self) -> tuple[Counting, tuple[str, ...]]:
        """The counting cut by documents, and their names."""
        cut, values = cut_by(self.counting, ("docid",))
        return cut, tuple(values[0])

    @cached_property
    def levels(self) -> dict[str, list[Measure]]:
        """Measures by where they add up: mentions, documents, corpus."""
        found: dict[str, list[Measure]] = {"mentions": [], "documents": [], "corpus": []}
        for measure in expanded(self.measures):
            found[self._level(measure)].append(measure)
        return found

    def _level(self, measure: Measure) -> str:
        fields = set(measure.fields)
        spans = "span" in fields or {"docid", "start", "end"} <= fields
        if measure.aggregate == "sets":
            if spans and self.weights is None:
                return "mentions"
            return "documents" if spans or "docid" in fields else "corpus"
        if not measure.clusters:
            return "documents"
        apart = measure.aggregate == "pairwise_negative" and measure != APART
        additive = spans and self.within_documents and not apart
        return "documents" if additive else "corpus"

    def four(self, measure: Measure) -> Four:
        """The counts over the whole corpus."""
        return self.counting.four(measure, self.weights if measure.aggregate == "sets" else None)

    @cached_property
    def totals(self) -> dict[str, dict[str, int | float]]:
        """Counts and scores of every measure, in the official arithmetic."""
        # Only clusters are counted by document: the official script adds all others up in one go.
        apart = [one for one in self.levels["documents"] if one.clusters]
        out = {}
        for measure in expanded(self.measures):
            four = (
                self.document_fours[measure.name].total()
                if measure in apart
                else self.four(measure)
            )
            out[measure.name] = four.numbers()
        return out

    @cached_property
    def document_fours(self) -> dict[str, Four]:
        """The counts by document of the measures that add up over documents."""
        cut, _ = self.by_document
        weights = self.weights
        return {
            m.name: cut.four(m, weights if m.aggregate == "sets" else None)
            for m in self.levels["documents"]
        }


LinkPairs = Pairs[Sides, Annotations]


def expanded(measures: Sequence[Measure]) -> list[Measure]:
    """The measures that have counts: BLANC is made of two."""
    out: dict[str, Measure] = {}
    for one in measures:
        if one.aggregate == "blanc":
            out |= {TOGETHER.name: TOGETHER, APART.name: APART}
        else:
            out[one.name] = one
    return list(out.values())


def averages_conll(measures: Sequence[Measure]) -> bool:
    """Whether the three measures of the CoNLL average are all there."""
    return all(MEASURES[name] in measures for name in CONLL)


def _one_each(entity: IntArray, doc: IntArray, entities: int) -> bool:
    """Whether each entity lies in one document. Mentions without candidate lie in all."""
    first = np.full(entities, -1, dtype=np.int64)
    first[entity] = doc
    return bool((first[entity] == doc).all())


def measure(pairs: LinkPairs) -> list[Evidence]:
    """The evidence that the measures read."""
    sides = pairs.gold
    found: list[Evidence] = []
    if sides.levels["mentions"]:
        found.append(_mentions(sides, pairs.cluster))
    if sides.levels["documents"]:
        _, docs = sides.by_document
        unit = Facet("docid", np.arange(len(docs), dtype=np.int32), docs)
        fours = sides.document_fours
        whole = all(four.whole for four in fours.values())
        found.append(Counts("documents", *_rows(fours), None, unit, exact=whole))
    if sides.levels["corpus"]:
        fours = {m.name: sides.four(m) for m in sides.levels["corpus"]}
        whole = all(four.whole for four in fours.values())
        found.append(Counts("corpus", *_rows(fours), exact=whole))
    if has_candidates(sides):
        found.append(_candidates(sides, pairs.cluster))
    if sides.group_by:
        found += _groups(sides)
    return found


def _rows(fours: Mapping[str, Four]) -> tuple[Table]:
    """The table with a row a group and four cells a measure."""
    layout = Layout({f"{name}.{n}": 1 for name in fours for n in NUMBERS})
    columns = [
        np.asarray(getattr(four, n), dtype=np.float64) for four in fours.values() for n in NUMBERS
    ]
    return (Table.dense(layout, np.stack(columns, axis=1)),)


def _mentions(sides: Sides, cluster: Facet | None) -> Counts:
    """For every span: keys found, made up and missed, by measure. Few rows differ."""
    _, _, size = sides.spans
    columns: list[IntArray] = []
    layout: dict[str, int] = {}
    for one in sides.levels["mentions"]:
        has_gold, has_system, span = _spans_of_keys(sides, one)
        for name, which in (
            ("hit", has_gold & has_system),
            ("fp", has_system & ~has_gold),
            ("fn", has_gold & ~has_system),
        ):
            layout[f"{one.name}.{name}"] = 1
            columns.append(np.bincount(span[which], minlength=size))
    code = np.zeros(size, dtype=np.int64)
    for column in columns:
        many = int(column.max()) + 1 if size else 1
        if many > 1:
            code, _ = densely(code * many + column)
    rows, first = np.unique(code, return_index=True)
    matrix = np.stack([column[first] for column in columns], axis=1).astype(np.float64)
    table = Table.dense(Layout(layout), matrix.reshape(len(rows), len(columns)))
    return Counts("mentions", table, code.astype(np.int32), cluster)


def _spans_of_keys(sides: Sides, measure: Measure) -> tuple[Any, Any, IntArray]:
    """Which keys gold and system have, and the span of each key."""
    has_gold, has_system, _ = sides.counting.present(measure)
    coded = sides.counting.fields.key(measure.fields)
    span = np.zeros(coded.size, dtype=np.int64)
    gold, system, _ = sides.spans
    span[coded.gold], span[coded.system] = gold, system
    return has_gold, has_system, span


def has_candidates(sides: Sides) -> bool:
    """Whether the system gives several candidates for some mention."""
    return bool(len(sides.system)) and int(sides.system.candidates.max()) > 1


def _candidates(sides: Sides, cluster: Facet | None) -> Counts:
    """For every gold span with an entity: whether it is among the first k candidates there."""
    gold, system, size = sides.spans
    fields = sides.counting.fields
    wanted = np.full(size, -1, dtype=np.int64)
    known = sides.gold.candidates > 0
    wanted[gold[known]] = fields.key(("kbid",)).gold[known]
    entity = fields.candidate_kbid(sides.system)
    owner = np.repeat(system, sides.system.candidates)
    rank = np.arange(len(owner)) - np.repeat(sides.system.offsets[:-1], sides.system.candidates)
    hit = np.flatnonzero(entity == wanted[owner])
    best = np.full(size, RANKS[-1], dtype=np.int64)
    np.minimum.at(best, owner[hit], rank[hit])
    layout = Layout({"n": 1, **{f"top{k}": 1 for k in RANKS}})
    some = [[1.0, *(float(r < k) for k in RANKS)] for r in range(RANKS[-1] + 1)]
    table = Table.dense(layout, np.array([*some, [0.0] * (1 + len(RANKS))]))
    codes = np.where(wanted < 0, RANKS[-1] + 1, np.minimum(best, RANKS[-1]))
    return Counts("candidates", table, codes.astype(np.int32), cluster)


def _groups(sides: Sides) -> list[Evidence]:
    """For every field of --group-by: the scores of its values, whose means are the macros."""
    found: list[Evidence] = []
    wanted = [m for m in sides.measures if m.aggregate != "blanc"]
    cut, values = cut_by(sides.counting, sides.group_by)
    fours = {m.name: cut.four(m, sides.weights if m.aggregate == "sets" else None) for m in wanted}
    for place, name in enumerate(sides.group_by):
        rows = macro_rows(fours, [len(v) for v in values], place)
        layout = Layout({"n": 1, **dict.fromkeys(rows, 1)})
        matrix = np.stack([np.ones(len(values[place])), *rows.values()], axis=1)
        unit = Facet(name, np.arange(len(matrix), dtype=np.int32), tuple(map(str, values[place])))
        found.append(Counts(f"by {name}", Columns(layout, matrix), None, unit, exact=False))
    return found


def facets(sides: Sides, names: Sequence[str]) -> dict[str, Facet]:
    """The fields to slice by, for every span: gold's value, the system's where gold has none."""
    return {name: facet(sides, name) for name in names}


def facet(sides: Sides, name: str) -> Facet:
    """One field, or several crossed, as a column over the spans."""
    parts = factors(name)
    if len(parts) > 1:
        return crossed(name, [facet(sides, part) for part in parts])
    gold, system, size = sides.spans
    coded = sides.counting.fields.key((name,))
    values = sides.counting.fields.values(name)
    codes = np.full(size, -1, dtype=np.int32)
    codes[system], codes[gold] = coded.system, coded.gold
    return Facet(name, _shown(codes, values), tuple(_text(value) for value in values))


def _shown(codes: CodeArray, values: Sequence[Any]) -> CodeArray:
    """The codes, with -1 where the value is missing."""
    missing = np.array([value is None for value in [*values, None]], dtype=np.bool_)
    return np.where(missing[codes], -1, codes).astype(np.int32)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class SpanIds(Sequence[str]):
    """Spans have no id of their own; they are called docid:start-end."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides

    def __len__(self) -> int:
        return self._sides.spans[2]

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray]:
        gold, system, size = self._sides.spans
        in_gold, in_system = np.full(size, -1), np.full(size, -1)
        in_gold[gold[::-1]] = np.arange(len(gold))[::-1]
        in_system[system[::-1]] = np.arange(len(system))[::-1]
        return in_gold, in_system

    def mentions(self, span: int) -> tuple[int, int]:
        """The first gold and the first system mention of a span, -1 where there is none."""
        in_gold, in_system = self._places
        return int(in_gold[span]), int(in_system[span])

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        gold, system = self.mentions(int(i))
        side, row = (self._sides.gold, gold) if gold >= 0 else (self._sides.system, system)
        return f"{side.docs[side.doc[row]]}:{int(side.start[row])}-{int(side.end[row])}"
