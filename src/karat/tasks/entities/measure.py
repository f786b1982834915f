"""Spans to evidence: what each document contributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.evidence import Counts, Evidence, Layout, Table
from karat.model.pairs import BoolArray, CodeArray, IntArray
from karat.tasks.entities.groups import match_entities
from karat.tasks.entities.match import Match, first_of_equals, match, span_keys
from karat.tasks.entities.pair import EntityPairs
from karat.tasks.entities.records import Spans
from karat.tasks.entities.schemas import PARTS, SCHEMAS, semeval

_DENSE = 1 << 25
"""Up to so many cells, a full matrix is faster to count in than marks are to sort."""


_ODD = np.int64(6364136223846793005)


class Tallies:
    """Counts marks of documents into the cells of a layout."""

    def __init__(self, layout: Layout, rows: int, *sides: Spans) -> None:
        self.layout, self.rows = layout, rows
        most = max((int(np.bincount(side.doc).max(initial=0)) for side in sides), default=0)
        # A cell counts spans of both sides, so that twice the most of one side always fits.
        kind = np.min_scalar_type(2 * most)
        small = rows * layout.width <= _DENSE
        # A row a cell: marks come cell by cell, and so do the looks at them.
        self._dense = np.zeros((layout.width, rows), dtype=kind) if small else None
        self._keys: list[IntArray] = []

    def add(self, group: str, doc: IntArray, kind: CodeArray | None = None) -> None:
        """One mark for each document given, in the cell of its type where the group has several."""
        span = self.layout.span(group)
        width = span.stop - span.start
        if not width:
            return
        if self._dense is None:
            self._keys.append(doc * self.layout.width + span.start + (0 if kind is None else kind))
            return
        key = doc if kind is None else kind * np.int64(self.rows) + doc
        counts = np.bincount(key, minlength=self.rows * width)
        self._dense[span] = counts.reshape(width, self.rows)

    def evidence(self, name: str, pairs: EntityPairs) -> Counts:
        """What was counted, as evidence."""
        codes: CodeArray | None = None
        if self._dense is not None:
            matrix, codes = distinct_columns(self._dense)
            table = Table.dense(self.layout, matrix.T.astype(np.float64))
        else:
            place, count = np.unique(np.concatenate(self._keys), return_counts=True)
            row, cell = np.divmod(place, self.layout.width)
            table = Table(self.rows, self.layout, row, cell, count.astype(np.float64))
        return Counts(name, table, codes, pairs.cluster, pairs.weights)


def distinct_columns(matrix: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], CodeArray | None]:
    """The distinct columns of a matrix of whole numbers, and which of them each column is.

    Most documents hold few spans, so few are distinct. They are told apart by a sum with odd
    factors, modulo 2**64; should two of them ever share one, all columns come back, without codes.
    """
    factors = np.cumprod(np.full(len(matrix), _ODD))
    keys = np.zeros(matrix.shape[1], dtype=np.int64)
    for row, factor in zip(matrix, factors, strict=True):
        keys += row * factor
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    found = matrix[:, first]
    if any((row != own[codes]).any() for row, own in zip(matrix, found, strict=True)):
        return matrix, None
    return found, codes.astype(np.int32)


def measure(pairs: EntityPairs, options: Mapping[str, Any]) -> list[Evidence]:
    """The evidence that the metrics read: counts of spans, tokens, and the SemEval categories."""
    if options.get("like") == "nervaluate":
        return [_semeval(pairs, float(options.get("min_overlap") or 1.0))]
    found: list[Evidence] = [_spans(pairs, str(options.get("level") or "mention"))]
    if pairs.gold.tokens is not None:
        matrix = np.stack([pairs.gold.tokens.count, pairs.gold.tokens.same], axis=1)
        table = Table.dense(Layout({"tokens": 1, "same": 1}), matrix.astype(np.float64))
        found.append(Counts("tokens", table, None, pairs.cluster, pairs.weights))
    return found


def _spans(pairs: EntityPairs, level: str) -> Counts:
    """Right, predicted and gold spans: in all, by type, and of spans whatever their type.

    Only the weak comparison of entities may find more on one side than on the other; then
    `found` counts gold and `tp` predictions.
    """
    gold, pred, k = pairs.gold.spans, pairs.pred.spans, len(pairs.gold.spans.types)
    found = match(gold, pred)
    compared, sides = found, (gold, pred)
    if level != "mention":
        compared, sides = match_entities(gold, pred, weak=level == "weak")
    groups = ("tp", "pred", "gold", *(("found",) if level == "weak" else ()))
    bare = ("span_tp", "span_pred", "span_gold", "typed")
    sizes = dict.fromkeys((*groups, *bare), 1) | {f"type_{name}": k for name in groups}
    tallies = Tallies(Layout(sizes), pairs.n, gold, pred)
    _count_right(tallies, pairs, sides[1], compared.pred_first & compared.pred_hit)
    for name, spans, which in (
        ("pred", sides[1], compared.pred_first),
        ("gold", sides[0], compared.gold_first),
        ("found", sides[0], compared.gold_first & compared.gold_hit),
    ):
        if name in groups:
            doc = spans.doc[which]
            tallies.add(name, doc)
            tallies.add(f"type_{name}", doc, spans.kind[which])
    _count_bare(tallies, gold, pred, found)
    return tallies.evidence("spans", pairs)


def _count_right(tallies: Tallies, pairs: EntityPairs, pred: Spans, hit: BoolArray) -> None:
    """Count right predictions, as a tool counts them where it has a count of its own."""
    own = pairs.pred.right
    if own is None:
        doc, kind = pred.doc[hit], pred.kind[hit]
        tallies.add("tp", doc)
    else:
        doc, kind = own.among(pred.types)
        tallies.add("tp", own.doc)
    tallies.add("type_tp", doc, kind)


def _count_bare(tallies: Tallies, gold: Spans, pred: Spans, typed: Match) -> None:
    """Count spans whatever their type, and those of them that have a right one."""
    bare = match(gold, pred, typed=False)
    tallies.add("span_tp", pred.doc[bare.pred_first & bare.pred_hit])
    tallies.add("span_pred", pred.doc[bare.pred_first])
    tallies.add("span_gold", gold.doc[bare.gold_first])
    right = pred.take(typed.pred_first & typed.pred_hit)
    keys, _ = span_keys(right, right.take(np.zeros(0, dtype=np.int64)), False)
    tallies.add("typed", right.doc[first_of_equals(keys)])


def _semeval(pairs: EntityPairs, least: float) -> Counts:
    """COR, INC, PAR, MIS and SPU of each schema, in all and by type."""
    gold, pred, k = pairs.gold.spans, pairs.pred.spans, len(pairs.gold.spans.types)
    groups: dict[str, int] = {}
    for schema in SCHEMAS:
        groups |= {f"{schema}_{part}": 1 for part in PARTS}
        groups |= {f"type_{schema}_{part}": k for part in PARTS}
    tallies = Tallies(Layout(groups), pairs.n, gold, pred)
    for schema, marks in semeval(gold, pred, least):
        for code, part in enumerate(PARTS):
            tallies.add(f"{schema}_{part}", marks.doc[marks.part == code])
            own = marks.own_part == code
            tallies.add(f"type_{schema}_{part}", marks.own_doc[own], marks.own_kind[own])
    return tallies.evidence("semeval", pairs)
