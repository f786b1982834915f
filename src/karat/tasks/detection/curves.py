"""Precision at the recall thresholds, from matched bits, equal to the official doubles.

Precision rises only where a detection hits, so only hits are walked: the false positives before a
hit are one running count of detections, corrected where detections were matched.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, CodeArray, FloatArray, IntArray
from karat.tasks.detection.matching import Words

EPSILON = float(np.spacing(1))


class Hits(NamedTuple):
    """One bit's matched detections: where they stand, and which of them are hits."""

    place: IntArray
    hit: BoolArray


class Counted(NamedTuple):
    """The hits of one curve family (one bit, one limit of boxes), category by category.

    `place` is where each hit stands among all ranked detections, `tp` and `fp` are the running
    counts within its category, `edges` says where each category's hits start.
    """

    place: IntArray
    tp: IntArray
    fp: IntArray
    edges: IntArray


def bit_hits(regular: Words, ignored: Words, touched: IntArray, bit: int) -> Hits:
    """The matched detections under one bit, among those (`touched`) that are matched at all.

    The words are those of the touched ones.
    """
    mask = np.uint64(1 << bit)
    hit = (regular & mask) != 0
    either = hit | ((ignored & mask) != 0)
    return Hits(touched[either], hit[either])


def count(
    hits: Hits, inside: npt.NDArray[np.integer], counted: BoolArray, starts: IntArray
) -> Counted:
    """Running counts at each hit.

    `inside[i]` is how many detections before the i-th lie within the area and the limit; `counted`
    says which of the matched ones do; `starts` is where each category begins.
    """
    matched_before = np.cumsum(counted)
    place = hits.place[hits.hit]
    edges = np.searchsorted(place, starts)
    tp = np.arange(1, len(place) + 1) - np.repeat(edges[:-1], np.diff(edges))
    # Matched detections never are false positives, but all that lie inside were counted as such.
    false = inside[place] - np.r_[0, matched_before][np.flatnonzero(hits.hit)]
    base = inside[starts[:-1]] - np.r_[0, matched_before][np.searchsorted(hits.place, starts[:-1])]
    fp = false - np.repeat(base, np.diff(edges))
    return Counted(place, tp, fp, edges)


def envelope(counts: Counted) -> FloatArray:
    """The precision at each hit, or the largest one after it in its category."""
    tp, fp = counts.tp.astype(np.float64), counts.fp.astype(np.float64)
    precision = np.asarray(tp / (fp + tp + EPSILON))
    edges = counts.edges.tolist()
    for start, end in pairwise(edges):
        if end - start > 1:
            part = precision[start:end][::-1]
            np.maximum.accumulate(part, out=part)
    return precision


def hits_needed(recalls: FloatArray, truths: IntArray) -> IntArray:
    """(categories, recalls): which hit reaches each recall, 0 where any detection does.

    The comparison is that of doubles, hit / truths >= recall.
    """
    total = np.maximum(truths, 1).astype(np.float64)[:, None]
    wanted = np.ceil(recalls[None, :] * total)
    wanted += wanted / total < recalls
    wanted -= (wanted > 0) & ((wanted - 1) / total >= recalls)
    return np.maximum(wanted, 0).astype(np.int64)


def sampled(values: FloatArray, first: FloatArray, counts: Counted, needed: IntArray) -> FloatArray:
    """(categories, recalls): a value of each hit at the hits needed; 0 beyond the last.

    `first` is what stands where no hit is needed.
    """
    sizes = np.diff(counts.edges)[:, None]
    reached = needed <= sizes
    place = np.where(reached & (needed > 0), counts.edges[:-1, None] + needed - 1, 0)
    out = values[place] if len(values) else np.zeros(place.shape)
    out = np.where(needed == 0, first[:, None], out)
    # The official loop stops at the first recall that is out of reach.
    return np.where(np.logical_and.accumulate(reached, axis=1), out, 0.0)


def category_starts(category: CodeArray, categories: int) -> IntArray:
    """(categories + 1,): where each category begins in detections ordered by category."""
    return np.searchsorted(category, np.arange(categories + 1))
