"""Spans to evidence: what each document contributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.evidence import Counts, Evidence, Layout, Table
from karat.model.pairs import IntArray
from karat.tasks.entities.groups import match_entities
from karat.tasks.entities.match import Match, match, match_keys, span_keys
from karat.tasks.entities.pair import EntityPairs
from karat.tasks.entities.records import Spans
from karat.tasks.entities.schemas import SCHEMAS, semeval

_DENSE = 1 << 24
"""Up to so many cells, counting them all is faster than sorting the marks."""

Entries = list[tuple[IntArray, npt.NDArray[Any]]]


def measure(pairs: EntityPairs, options: Mapping[str, Any]) -> list[Evidence]:
    """The evidence that the metrics read: counts of spans, tokens, and the SemEval categories."""
    if options.get("like") == "nervaluate":
        return [_semeval(pairs, float(options.get("min_overlap") or 1.0))]
    found: list[Evidence] = [_spans(pairs, str(options.get("entity_level") or "mention"))]
    if pairs.gold.tokens is not None:
        matrix = np.stack([pairs.gold.tokens.count, pairs.gold.tokens.same], axis=1)
        table = Table.dense(Layout({"tokens": 1, "same": 1}), matrix.astype(np.float64))
        found.append(Counts("tokens", table, None, pairs.cluster, pairs.weights))
    return found


def _spans(pairs: EntityPairs, level: str) -> Counts:
    """Right, predicted and gold spans: in all, by type, and of spans whatever their type."""
    gold, pred, k = pairs.gold.spans, pairs.pred.spans, len(pairs.gold.spans.types)
    first, second = span_keys(gold, pred, True)
    found = match_keys(first, second)
    layout = Layout(
        {"n": 1, "tp": 1, "found": 1, "pred": 1, "gold": 1}
        | {"span_tp": 1, "span_pred": 1, "span_gold": 1, "typed": 1}
        | {"type_tp": k, "type_found": k, "type_pred": k, "type_gold": k}
    )
    typed, sides, right = found, (gold, pred), pred.take(found.pred_first & found.pred_hit)
    if level != "mention":
        typed, sides = match_entities(gold, pred, weak=level == "weak")
    expected, said = sides[0].take(typed.gold_first), sides[1].take(typed.pred_first)
    hit = sides[1].take(typed.pred_first & typed.pred_hit)
    recalled = sides[0].take(typed.gold_first & typed.gold_hit)
    bare = match(gold, pred, typed=False)
    shared = pred.take(bare.pred_first & bare.pred_hit)
    cells: Entries = [(np.arange(pairs.n), np.zeros(pairs.n, dtype=np.int64))]
    for group, spans in (("tp", hit), ("found", recalled), ("pred", said), ("gold", expected)):
        cells.append((spans.doc, _at(layout, group, spans)))
        cells.append((spans.doc, _at(layout, f"type_{group}", spans) + spans.kind))
    for group, spans in (
        ("span_tp", shared),
        ("span_pred", pred.take(bare.pred_first)),
        ("span_gold", gold.take(bare.gold_first)),
        ("typed", _once(right)),
    ):
        cells.append((spans.doc, _at(layout, group, spans)))
    return Counts("spans", tabled(layout, pairs.n, cells), None, pairs.cluster, pairs.weights)


def _at(layout: Layout, group: str, spans: Spans) -> IntArray:
    return np.full(len(spans), layout.span(group).start, dtype=np.int64)


def _once(spans: Spans) -> Spans:
    """Every place once, whatever its types."""
    return spans.take(match(spans, spans, typed=False).gold_first)


def tabled(layout: Layout, rows: int, cells: Entries) -> Table:
    """The table of (document, cell) marks, each counting 1."""
    width = layout.width
    key = np.concatenate([row * width + cell for row, cell in cells])
    if rows * width <= max(_DENSE, 8 * len(key)):
        dense = np.bincount(key, minlength=rows * width)
        distinct = np.flatnonzero(dense)
        count = dense[distinct]
    else:
        distinct, count = np.unique(key, return_counts=True)
    return Table(rows, layout, distinct // width, distinct % width, count.astype(np.float64))


def _semeval(pairs: EntityPairs, least: float) -> Counts:
    """COR, INC, PAR, MIS and SPU of each schema, in all and by type."""
    gold, pred, k = pairs.gold.spans, pairs.pred.spans, len(pairs.gold.spans.types)
    groups: dict[str, int] = {"n": 1}
    for schema in SCHEMAS:
        groups |= {f"{schema}_{part}": 1 for part in PARTS}
        groups |= {f"type_{schema}_{part}": k for part in PARTS}
    layout = Layout(groups)
    cells: Entries = [(np.arange(pairs.n), np.zeros(pairs.n, dtype=np.int64))]
    for schema, marks in semeval(gold, pred, least).items():
        for code, part in enumerate(PARTS):
            doc = marks.doc[marks.part == code]
            cells.append((doc, np.full(len(doc), layout.span(f"{schema}_{part}").start)))
            own = marks.own_part == code
            start = layout.span(f"type_{schema}_{part}").start
            cells.append((marks.own_doc[own], start + marks.own_kind[own].astype(np.int64)))
    return Counts("semeval", tabled(layout, pairs.n, cells), None, pairs.cluster, pairs.weights)


PARTS = ("correct", "incorrect", "partial", "missed", "spurious")

__all__ = ["PARTS", "Match", "measure", "tabled"]
