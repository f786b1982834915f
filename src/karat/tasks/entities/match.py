"""Which spans are the same on both sides: sets of (document, start, end[, type])."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.pairs import BoolArray, IntArray
from karat.tasks.entities.records import Spans

_MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Match:
    """For each span: is it the first of its equals, and is it on the other side too."""

    gold_first: BoolArray
    pred_first: BoolArray
    gold_hit: BoolArray
    pred_hit: BoolArray


def match(gold: Spans, pred: Spans, typed: bool = True) -> Match:
    """The exact matches of two sides; with `typed`, types must be equal as well."""
    first, second = span_keys(gold, pred, typed)
    return match_keys(first, second)


def match_keys(first: IntArray, second: IntArray) -> Match:
    """The same for one integer a span."""
    a, b = _distinct(first), _distinct(second)
    return Match(a.first, b.first, _found(b.sorted, first), _found(a.sorted, second))


def span_keys(gold: Spans, pred: Spans, typed: bool) -> tuple[IntArray, IntArray]:
    """One integer a span, equal where the spans are; in the order of document and start."""
    columns = [(gold.doc, pred.doc), (gold.start, pred.start), _lengths(gold, pred)]
    if typed:
        columns.append((gold.kind, pred.kind))  # type: ignore[arg-type]
    first, second, space = columns[0][0], columns[0][1], max(gold.n, 1)
    for one, other in columns[1:]:
        size = 1 + max(int(one.max(initial=0)), int(other.max(initial=0)))
        if space * size >= _MOST:
            first, second, space = _dense(first, second)
        first, second, space = first * size + one, second * size + other, space * size
    return first, second


def _lengths(gold: Spans, pred: Spans) -> tuple[IntArray, IntArray]:
    return gold.end - gold.start, pred.end - pred.start


def _dense(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, int]:
    """The same keys numbered without gaps, in the same order."""
    distinct, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    return place[: len(first)], place[len(first) :], len(distinct)


def first_of_equals(keys: IntArray) -> BoolArray:
    """Which keys are the first of their equals."""
    return _distinct(keys).first


@dataclass(frozen=True, slots=True)
class _Distinct:
    sorted: IntArray
    first: BoolArray


def _distinct(keys: IntArray) -> _Distinct:
    """The keys sorted, and which of them are the first of their equals."""
    if len(keys) < 2 or bool((keys[1:] > keys[:-1]).all()):
        return _Distinct(keys, np.ones(len(keys), dtype=bool))
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first = np.zeros(len(keys), dtype=bool)
    first[order[new]] = True
    return _Distinct(ordered[new], first)


def _found(sorted_keys: IntArray, keys: IntArray) -> BoolArray:
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    place = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[place] == keys)
