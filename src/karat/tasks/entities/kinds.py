"""What kind of error each wrong span is: type, boundary, split, merged, spurious or missed.

Spans that are right are set aside first. What is left is told apart in this order: the same span
with another type; a gold span cut into several; several gold spans in one; two spans that overlap;
and what touches nothing. Each span belongs to one error only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karat.model.pairs import BoolArray, CodeArray, IntArray
from karat.tasks.entities.match import Match, match
from karat.tasks.entities.overlap import overlaps
from karat.tasks.entities.records import Spans

KINDS = (
    "wrong type",
    "too long",
    "too short",
    "shifted",
    "split",
    "merged",
    "spurious",
    "missed",
)
WRONG_TYPE, TOO_LONG, TOO_SHORT, SHIFTED, SPLIT, MERGED, SPURIOUS, MISSED = range(8)


@dataclass(frozen=True, slots=True)
class Errors:
    """One row an error: its kind, and one gold and one predicted span of it (-1 for none).

    Numbers are places in the spans of the pairs. `retyped` says that the type is wrong as well.
    """

    kind: IntArray
    gold: IntArray
    pred: IntArray
    doc: IntArray
    retyped: BoolArray


def errors(gold: Spans, pred: Spans, same: Match | None = None) -> Errors:
    """All errors, by document; `same` is the exact match, where it is known."""
    found = same or match(gold, pred)
    left = np.flatnonzero(found.gold_first & ~found.gold_hit)
    right = np.flatnonzero(found.pred_first & ~found.pred_hit)
    a, b = gold.take(left), pred.take(right)
    g, p = overlaps(a, b)
    parts = list(_told_apart(a, b, g, p))
    kind = np.concatenate([np.full(len(x), code, dtype=np.int64) for code, x, _ in parts])
    gold_at = np.concatenate([_at(left, x) for _, x, _ in parts])
    pred_at = np.concatenate([_at(right, y) for _, _, y in parts])
    doc = np.where(gold_at >= 0, _safe(gold.doc, gold_at), _safe(pred.doc, pred_at))
    both = (gold_at >= 0) & (pred_at >= 0)
    retyped = both & (_safe(gold.kind, gold_at) != _safe(pred.kind, pred_at))
    order = np.lexsort((kind, doc))
    return Errors(kind[order], gold_at[order], pred_at[order], doc[order], retyped[order])


def _told_apart(
    a: Spans, b: Spans, g: IntArray, p: IntArray
) -> list[tuple[int, IntArray, IntArray]]:
    """(kind, gold, pred) of the spans that are left; -1 where a side has no part in it."""
    out: list[tuple[int, IntArray, IntArray]] = []
    free_gold, free_pred = np.ones(len(a), dtype=bool), np.ones(len(b), dtype=bool)

    def settle(code: int, gold: IntArray, pred: IntArray, one: IntArray, other: IntArray) -> None:
        """One error an entry; `one` and `other` are all spans that belong to it."""
        out.append((code, gold, pred))
        free_gold[one], free_pred[other] = False, False

    same = (a.start[g] == b.start[p]) & (a.end[g] == b.end[p])
    _pairs_once(g, p, same, free_gold, free_pred, lambda x, y: settle(WRONG_TYPE, x, y, x, y))
    for code, many, few in ((SPLIT, g, p), (MERGED, p, g)):
        live = free_gold[g] & free_pred[p]
        degree = np.bincount(many[live], minlength=max(len(a), len(b)))
        chosen = live & (degree[many] > 1)
        heads, first = np.unique(many[chosen], return_index=True)
        partner = few[chosen][first]
        gold, pred = (heads, partner) if code == SPLIT else (partner, heads)
        settle(code, gold, pred, g[chosen], p[chosen])
    live = free_gold[g] & free_pred[p]
    _pairs_once(g, p, live, free_gold, free_pred, lambda x, y: _boundaries(a, b, x, y, settle))
    free = np.flatnonzero(free_pred)
    out.append((SPURIOUS, np.full(len(free), -1, dtype=np.int64), free))
    free = np.flatnonzero(free_gold)
    out.append((MISSED, free, np.full(len(free), -1, dtype=np.int64)))
    return out


Settle = Callable[[int, IntArray, IntArray, IntArray, IntArray], None]
"""Takes the kind of some errors, the gold and predicted span of each, and all of their spans."""


def _pairs_once(
    g: IntArray,
    p: IntArray,
    which: BoolArray,
    free_gold: BoolArray,
    free_pred: BoolArray,
    settle: Callable[[IntArray, IntArray], None],
) -> None:
    """Settle the chosen pairs, each span in one pair at most."""
    gold, pred = g[which], p[which]
    while len(gold):
        # The first pair of each prediction, and of those the first of each gold span.
        _, one = np.unique(pred, return_index=True)
        _, two = np.unique(gold[one], return_index=True)
        chosen = one[two]
        settle(gold[chosen], pred[chosen])
        rest = free_gold[gold] & free_pred[pred]
        gold, pred = gold[rest], pred[rest]


def _boundaries(a: Spans, b: Spans, g: IntArray, p: IntArray, settle: Settle) -> None:
    """Tell apart how the boundaries of overlapping spans differ."""
    longer = (b.start[p] <= a.start[g]) & (b.end[p] >= a.end[g])
    shorter = (b.start[p] >= a.start[g]) & (b.end[p] <= a.end[g]) & ~longer
    for code, which in ((TOO_LONG, longer), (TOO_SHORT, shorter), (SHIFTED, ~longer & ~shorter)):
        settle(code, g[which], p[which], g[which], p[which])


def _at(places: IntArray, chosen: IntArray) -> IntArray:
    if not len(places):
        return np.full(len(chosen), -1, dtype=np.int64)
    return np.where(chosen >= 0, places[np.maximum(chosen, 0)], -1)


def _safe(column: IntArray | CodeArray, at: IntArray) -> IntArray:
    return (
        np.asarray(column[np.maximum(at, 0)]) if len(column) else np.zeros(len(at), dtype=np.int64)
    )
