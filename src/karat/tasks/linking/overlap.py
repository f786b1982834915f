"""Partial credit for spans that overlap: the share of each mention that the other side covers.

`max` counts the best single overlap, `sum` the union of all of them. Positions of different groups
are moved apart onto one line, so that all groups are one sweep.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.pairs import FloatArray, IntArray

MOST = 1 << 22
"""How many overlapping pairs are looked at together."""


@dataclass(frozen=True)
class Spans:
    """Mentions on one line: starts and inclusive ends."""

    start: IntArray
    end: IntArray

    def __len__(self) -> int:
        return len(self.start)


def laid_out(
    gold: tuple[IntArray, IntArray, IntArray], system: tuple[IntArray, IntArray, IntArray]
) -> tuple[Spans, Spans]:
    """Both sides, from (group, start, end), with the groups side by side."""
    start = np.concatenate([gold[1], system[1]])
    end = np.concatenate([gold[2], system[2]])
    if not len(start):
        return Spans(*gold[1:]), Spans(*system[1:])
    low = int(start.min())
    room = int(end.max()) - low + 2
    parts = [Spans(g * room + (a - low), g * room + (b - low)) for g, a, b in (gold, system)]
    return parts[0], parts[1]


def credit(spans: Spans, others: Spans, mode: str) -> FloatArray:
    """The share of each span that the others cover: by the best one (max) or by all (sum)."""
    if not len(spans) or not len(others):
        return np.zeros(len(spans))
    got = _union(spans, others) if mode == "sum" else _largest(spans, others)
    return np.asarray(got / (spans.end - spans.start + 1), dtype=np.float64)


def _union(spans: Spans, others: Spans) -> IntArray:
    """How many positions of each span lie in any of the others."""
    order = np.argsort(others.start, kind="stable")
    start, end = others.start[order], np.maximum.accumulate(others.end[order])
    # A new block begins where nothing before reaches.
    new = np.concatenate([[True], start[1:] > end[:-1]])
    low = start[new]
    high = end[np.concatenate([np.flatnonzero(new)[1:] - 1, [len(end) - 1]])]
    before = np.concatenate([[0], np.cumsum(high - low + 1)])

    def covered(position: IntArray) -> IntArray:
        """How many covered positions there are up to and with this one."""
        block = np.searchsorted(low, position, side="right") - 1
        inside = np.minimum(position, high[block]) - low[block] + 1
        return np.where(block >= 0, before[block] + inside, 0)

    return covered(spans.end) - covered(spans.start - 1)


def _largest(spans: Spans, others: Spans) -> IntArray:
    """The largest overlap of each span with a single other."""
    order = np.argsort(others.start, kind="stable")
    start, end = others.start[order], others.end[order]
    reach = np.maximum.accumulate(end)
    low = np.searchsorted(reach, spans.start, side="left")
    high = np.searchsorted(start, spans.end, side="right")
    many = np.maximum(high - low, 0)
    out = np.zeros(len(spans), dtype=np.int64)
    ends = np.cumsum(many)
    first = 0
    while first < len(spans):
        done = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, done + MOST, side="right")), first + 1)
        part = slice(first, last)
        owner = np.repeat(np.arange(first, last), many[part])
        place = np.arange(len(owner)) + np.repeat(
            low[part] - ends[part] + many[part] + done, many[part]
        )
        shared = (
            np.minimum(end[place], spans.end[owner])
            - np.maximum(start[place], spans.start[owner])
            + 1
        )
        np.maximum.at(out, owner, shared)
        first = last
    return out
