"""Whole entities: co-reference groups of mentions compared as one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from karat.model.pairs import BoolArray
from karat.tasks.entities.match import Match, match
from karat.tasks.entities.records import Spans

Places = tuple[int, int, frozenset[tuple[int, int]]]


def match_entities(gold: Spans, pred: Spans, weak: bool) -> tuple[Match, tuple[Spans, Spans]]:
    """The match of entities, and each side with one row an entity.

    An entity is found if the other side has one of its type with the same set of mentions; `weak`
    asks for one common mention only, and then the two sides may find different numbers.
    """
    heads = (_heads(gold), _heads(pred))
    sides = (gold.take(heads[0]), pred.take(heads[1]))
    first, second = _places(gold), _places(pred)
    seen_gold, seen_pred = set(first), set(second)
    if weak:
        mentions = match(gold, pred)
        hits = (_any(gold, mentions.gold_hit), _any(pred, mentions.pred_hit))
    else:
        hits = (_in(first, seen_pred), _in(second, seen_gold))
    return Match(_firsts(first), _firsts(second), *hits), sides


def _heads(spans: Spans) -> BoolArray:
    """The first mention of each entity."""
    return np.concatenate([[True], spans.group[1:] != spans.group[:-1]])[: len(spans)]


def _places(spans: Spans) -> list[Places]:
    """(document, type, mentions) of each entity."""
    edges = np.append(np.flatnonzero(_heads(spans)), len(spans)).tolist()
    doc, kind = spans.doc.tolist(), spans.kind.tolist()
    ends = list(zip(spans.start.tolist(), spans.end.tolist(), strict=True))
    return [(doc[a], kind[a], frozenset(ends[a:b])) for a, b in pairwise(edges)]


def _firsts(places: list[Places]) -> BoolArray:
    seen: set[Places] = set()
    out = np.zeros(len(places), dtype=bool)
    for i, place in enumerate(places):
        out[i] = place not in seen
        seen.add(place)
    return out


def _in(places: list[Places], others: set[Places]) -> BoolArray:
    return np.fromiter((place in others for place in places), bool, len(places))


def _any(spans: Spans, hit: BoolArray) -> BoolArray:
    """Whether any mention of each entity was hit."""
    heads = np.flatnonzero(_heads(spans))
    return np.logical_or.reduceat(hit, heads) if len(heads) else np.zeros(0, dtype=bool)
