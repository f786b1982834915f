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
    """Detections by category, then falling score; `rank` is the place within image and category."""

    order: IntArray
    rank: CodeArray


def rank_detections(
    image: CodeArray, category: CodeArray, score: FloatArray, images: int, categories: int, cap: int
) -> Ranked:
    """The detections that are among the best `cap` of their image and category, ranked."""
    n = len(score)
    if not n:
        return Ranked(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
    fall = falling(score)
    group = category.astype(np.int64) * images + image
    inside = sorted_by(group, fall, images * categories)
    mine = group[inside]
    starts = np.flatnonzero(np.r_[True, mine[1:] != mine[:-1]])
    lengths = np.diff(np.r_[starts, n])
    place = np.arange(n, dtype=np.int64)
    rank = np.empty(n, dtype=np.int32)
    rank[inside] = place - np.repeat(starts, lengths)
    # Within an image equal scores stand in file order already; among images, in that of the images.
    by_image = inside[rank[inside] < cap]
    image_order = np.argsort(image[by_image], kind="stable") if categories > 1 else slice(None)
    by_image = by_image[image_order]
    order = by_image[sorted_by(category[by_image], fall[by_image], categories)]
    return Ranked(order, rank[order])


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
