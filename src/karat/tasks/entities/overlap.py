"""Which spans of the two sides overlap, all pairs of them, nested ones included."""

from __future__ import annotations

import numpy as np

from karat.model.pairs import IntArray
from karat.tasks.entities.records import Spans


def overlaps(gold: Spans, pred: Spans) -> tuple[IntArray, IntArray]:
    """(gold, pred): every pair of one document that shares a character, by pred and then gold.

    Of two spans that overlap, one starts inside the other; so each pair is found exactly once, by
    looking up starts among starts.
    """
    if not len(gold) or not len(pred):
        none = np.zeros(0, dtype=np.int64)
        return none, none
    width = 1 + max(int(gold.end.max()), int(pred.end.max()))
    first, last = gold.doc * width + gold.start, gold.doc * width + gold.end
    begin, stop = pred.doc * width + pred.start, pred.doc * width + pred.end
    in_pred = _inside(first, begin, stop)
    in_gold = _inside(begin, first + 1, last)
    g = np.concatenate([in_pred[1], in_gold[0]])
    p = np.concatenate([in_pred[0], in_gold[1]])
    order = np.argsort(p * len(gold) + g, kind="stable")
    return g[order], p[order]


def _inside(points: IntArray, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """(interval, point): every point that lies in [low, high)."""
    order = np.argsort(points, kind="stable")
    ordered = points[order]
    a, b = np.searchsorted(ordered, low), np.searchsorted(ordered, high)
    counts = np.maximum(b - a, 0)
    interval = np.repeat(np.arange(len(low)), counts)
    place = np.arange(len(interval)) + np.repeat(a - np.cumsum(counts) + counts, counts)
    return interval, order[place]
