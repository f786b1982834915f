"""Pairs of boxes that overlap enough to matter, from arrays to arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.model.pairs import BoolArray, CodeArray, FloatArray, IntArray
from karat.tasks.detection.boxes import Truths

LEAST = 1e-9
"""An overlap below this is none."""


class Candidates(NamedTuple):
    """Pairs of a detection and a truth of one group, detection by detection, truths ascending."""

    detection: IntArray
    truth: IntArray
    overlap: FloatArray

    def take(self, which: BoolArray) -> Candidates:
        """Some of the pairs."""
        return Candidates(self.detection[which], self.truth[which], self.overlap[which])


def candidates(
    found: FloatArray,
    truths: FloatArray,
    crowd: BoolArray,
    first: IntArray,
    count: IntArray,
    least: float,
) -> Candidates:
    """All pairs with an overlap of at least `least`.

    Detection i may match the truths `first[i]` up to `first[i] + count[i]`. The overlap is the
    intersection over the union; over the detection's own area where the truth is a crowd.
    """
    have = np.flatnonzero(count)
    sizes = count[have]
    detection = np.repeat(have, sizes)
    ends = np.cumsum(sizes)
    truth = np.arange(len(detection)) + np.repeat(first[have] - ends + sizes, sizes)
    fx, fw, tx, tw = found[:, 0], found[:, 2], truths[:, 0], truths[:, 2]
    wide = _shared(fx, fx + fw, tx, tx + tw, detection, truth)
    # Boxes that are apart overlap by 0, which nothing but a threshold of 0 lets pass.
    keep = (wide > 0) | (least <= 0)
    detection, truth, wide = detection[keep], truth[keep], wide[keep]
    fy, fh, ty, th = found[:, 1], found[:, 3], truths[:, 1], truths[:, 3]
    high = _shared(fy, fy + fh, ty, ty + th, detection, truth)
    keep = (high > 0) | (least <= 0)
    detection, truth = detection[keep], truth[keep]
    common = np.maximum(wide[keep], 0) * np.maximum(high[keep], 0)
    own = (fw * fh)[detection]
    union = own + (tw * th)[truth] - common
    union = np.where(crowd[truth], own, union)
    with np.errstate(divide="ignore", invalid="ignore"):
        overlap = np.where(common > 0, common / union, 0.0)
    keep = overlap >= least
    return Candidates(detection[keep], truth[keep], overlap[keep])


def in_images(box: FloatArray, image: CodeArray, truths: Truths, images: int) -> Candidates:
    """The pairs of boxes and truths of one image, whatever the class, that overlap at all."""
    order = np.argsort(truths.image, kind="stable")
    edges = np.searchsorted(truths.image[order], np.arange(images + 1))
    first, count = edges[image], edges[image + 1] - edges[image]
    pairs = candidates(box, truths.box[order], truths.crowd[order], first, count, LEAST)
    return pairs._replace(truth=order[pairs.truth])


def largest(pairs: Candidates, n: int) -> tuple[FloatArray, IntArray]:
    """The largest overlap of each of n detections, and the truth that it is with (-1: none)."""
    rising = np.lexsort((pairs.overlap, pairs.detection))
    overlap, truth = np.zeros(n), np.full(n, -1, dtype=np.int64)
    overlap[pairs.detection[rising]] = pairs.overlap[rising]
    truth[pairs.detection[rising]] = pairs.truth[rising]
    return overlap, truth


def best_candidates(pairs: Candidates) -> Candidates:
    """For each detection the pair of largest overlap alone, of equal ones the first."""
    order = np.lexsort((pairs.truth, -pairs.overlap, pairs.detection))
    detection = pairs.detection[order]
    first = order[np.r_[True, detection[1:] != detection[:-1]]] if len(order) else order
    return Candidates(pairs.detection[first], pairs.truth[first], pairs.overlap[first])


def _shared(
    start: FloatArray,
    end: FloatArray,
    other_start: FloatArray,
    other_end: FloatArray,
    detection: IntArray,
    truth: IntArray,
) -> FloatArray:
    """How long the intersection of each pair is on one axis; not above 0 where they are apart."""
    nearest = np.minimum(end[detection], other_end[truth])
    nearest -= np.maximum(start[detection], other_start[truth])
    return nearest
