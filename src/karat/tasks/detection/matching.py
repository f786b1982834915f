"""The greedy matching of detections to truths, all thresholds and ranges of area at once.

Each (range of area, overlap threshold) is one bit of an integer: one word per truth says under
which of them it is taken, one word per detection under which it still needs a truth. A detection's
candidates are gone through from the largest overlap down, of equal ones the later truth first:
regular truths, then ignored ones. Steps of different images and categories never meet, so the i-th
steps of all of them are made together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.tasks.detection.overlaps import Candidates

Words = npt.NDArray[np.uint64]

WORD = 64


class Matched(NamedTuple):
    """Bits of each detection: matched to a regular truth, matched to an ignored one.

    `step_*` are the single steps: which detection took which truth under which bits.
    """

    regular: Words
    ignored: Words
    step_detection: IntArray
    step_truth: IntArray
    step_bits: Words


def threshold_bits(overlap: FloatArray, thresholds: FloatArray, areas: int) -> Words:
    """For each overlap the bits of the thresholds that it reaches, repeated for every area."""
    limits = np.minimum(thresholds, 1 - 1e-10)
    spread = sum(1 << (area * len(limits)) for area in range(areas))
    order = np.argsort(limits, kind="stable")
    reached = [0]
    for threshold in order.tolist():
        reached.append(reached[-1] | spread << threshold)
    table = np.array(reached, dtype=np.uint64)
    return table[np.searchsorted(limits[order], overlap, side="right")]


def area_bits(area: FloatArray, ranges: tuple[tuple[float, float], ...], thresholds: int) -> Words:
    """The bits of the ranges that each area lies in; both ends belong to a range."""
    bits = np.zeros(len(area), dtype=np.uint64)
    for place, (low, high) in enumerate(ranges):
        block = np.uint64(((1 << thresholds) - 1) << (place * thresholds))
        # Negated comparisons, as the official script has them: they tell for NaN.
        bits[~((area < low) | (area > high))] |= block
    return bits


def match(
    pairs: Candidates,
    reach: Words,
    regular: Words,
    crowd: BoolArray,
    group: IntArray,
    detections: int,
) -> Matched:
    """Who takes whom. `group` is that of each detection, in which steps follow each other."""
    step_pair, allowed = _steps(pairs, reach, regular)
    detection, truth = pairs.detection[step_pair], pairs.truth[step_pair]
    need = np.full(detections, ~np.uint64(0))
    taken = np.zeros(len(regular), dtype=np.uint64)
    # A crowd may be taken any number of times.
    keeps = np.where(crowd, np.uint64(0), ~np.uint64(0))
    order, edges = _rounds(group[detection])
    detection, truth, allowed = detection[order], truth[order], allowed[order]
    bits = np.zeros(len(order), dtype=np.uint64)
    for start, end in pairwise(edges):
        d, g = detection[start:end], truth[start:end]
        took = allowed[start:end] & need[d] & ~taken[g]
        need[d] &= ~took
        taken[g] |= took & keeps[g]
        bits[start:end] = took
    used = bits != 0
    detection, truth, bits = detection[used], truth[used], bits[used]
    hit = np.zeros(detections, dtype=np.uint64)
    miss = np.zeros(detections, dtype=np.uint64)
    np.bitwise_or.at(hit, detection, bits & regular[truth])
    np.bitwise_or.at(miss, detection, bits & ~regular[truth])
    return Matched(hit, miss, detection, truth, bits)


def _steps(pairs: Candidates, reach: Words, regular: Words) -> tuple[IntArray, Words]:
    """(pair, allowed bits) of each step, in the order of a detection's walk.

    A detection with one candidate needs one step for it, regular or ignored; the others walk
    twice, because any regular truth goes before all ignored ones.
    """
    n = len(pairs.detection)
    same = pairs.detection[1:] == pairs.detection[:-1]
    several = np.zeros(n, dtype=bool)
    several[1:] |= same
    several[:-1] |= same
    many = np.flatnonzero(several)
    walk = many[np.lexsort((-pairs.truth[many], -pairs.overlap[many], pairs.detection[many]))]
    pair = np.arange(n)
    pair[many] = walk
    allowed = reach[pair]
    mine = regular[pairs.truth[pair]]
    allowed[many] &= mine[many]
    if not len(many):
        return pair, allowed
    again = reach[walk] & ~mine[many]
    order = np.argsort(
        np.concatenate([2 * pairs.detection, 2 * pairs.detection[many] + 1]), kind="stable"
    )
    return np.concatenate([pair, walk])[order], np.concatenate([allowed, again])[order]


def _rounds(group: IntArray) -> tuple[IntArray, list[int]]:
    """The steps ordered by their number within their group, and where each number starts.

    Steps of a group lie together.
    """
    n = len(group)
    if not n:
        return np.zeros(0, dtype=np.int64), [0]
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    number = np.arange(n) - np.repeat(starts, np.diff(np.r_[starts, n]))
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number)
    return order, np.r_[0, np.cumsum(counts)].tolist()
