"""The two orders of detections: by score within an image, and by score within a category.

Functions from arrays to arrays. Ties keep the order of the file, then of the images.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from karat.model.pairs import CodeArray, FloatArray, IntArray

UINT_BITS = 64


class Ranked(NamedTuple):
    """The best detections of each image and category.

    `inside` lists them by category, image and rank (the place by falling score, from 0); `order`
    puts that list by category and falling score.
    """

    inside: IntArray
    rank: CodeArray
    order: IntArray


def rank_detections(
    image: CodeArray, category: CodeArray, score: FloatArray, images: int, categories: int, cap: int
) -> Ranked:
    """The detections that are among the best `cap` of their image and category, ranked."""
    n = len(score)
    if not n:
        none = np.zeros(0, dtype=np.int64)
        return Ranked(none, np.zeros(0, dtype=np.int32), none)
    fall = falling(score)
    group = category.astype(np.int64) * images + image
    inside = sorted_by(group, fall, images * categories)
    mine = group[inside]
    starts = np.flatnonzero(np.r_[True, mine[1:] != mine[:-1]])
    lengths = np.diff(np.r_[starts, n])
    rank = (np.arange(n) - np.repeat(starts, lengths)).astype(np.int32)
    if lengths.max() > cap:
        kept = rank < cap
        inside, rank = inside[kept], rank[kept]
    # The list is by image and rank already, which settles ties of scores as the official sort does.
    return Ranked(inside, rank, sorted_by(category[inside], fall[inside], categories))


def falling(score: FloatArray) -> IntArray:
    """A dense integer for each score: 0 for the best, equal where scores are, NaN last."""
    down = -score
    order = np.argsort(down)
    ranked = down[order]
    steps = np.empty(len(score), dtype=np.int64)
    steps[0] = 0
    # A NaN differs from every number, itself included; the official sort leaves them in order.
    changed = (ranked[1:] != ranked[:-1]) & ~(np.isnan(ranked[1:]) & np.isnan(ranked[:-1]))
    np.cumsum(changed, out=steps[1:])
    code = np.empty(len(score), dtype=np.int64)
    code[order] = steps
    return code


def sorted_by(major: npt.NDArray[np.integer], minor: IntArray, majors: int) -> IntArray:
    """The stable order by two integers: one sort of packed keys where they fit into 64 bits."""
    n = len(minor)
    index_bits = max(int(n - 1).bit_length(), 1)
    minor_bits = max(int(minor.max(initial=0)).bit_length(), 1)
    if index_bits + minor_bits + max(int(majors).bit_length(), 1) > UINT_BITS:
        return np.lexsort((minor, major))
    key = major.astype(np.uint64)
    key <<= np.uint64(minor_bits)
    key |= minor.astype(np.uint64)
    key <<= np.uint64(index_bits)
    key |= np.arange(n, dtype=np.uint64)
    key.sort()
    key &= np.uint64((1 << index_bits) - 1)
    return key.astype(np.int64)
