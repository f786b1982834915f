"""Six kinds of error and what each costs, after Bolya and others, "TIDE", ECCV 2020.

A false positive is a wrong class, a bad place, both, a duplicate or background; a truth that no
error of the first two kinds would explain is missed. The cost of a kind is the rise of AP50 when
its errors, and no others, are put right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.pairs import BoolArray, CodeArray, FloatArray, IntArray
from karat.tasks.detection.boxes import Detections, Truths
from karat.tasks.detection.overlaps import in_images, largest

KINDS = ("class", "place", "both", "duplicate", "background", "missed")
FOUND = 0.5
NOTHING = 0.1


@dataclass(frozen=True, slots=True)
class Errors:
    """The kind of each detection's error, -1 for none; `truth` is the one that explains it.

    `missed` are the truths that were not found and are not explained; `cost` is by kind.
    """

    kind: CodeArray
    truth: IntArray
    missed: IntArray
    cost: FloatArray
    base: float


def errors(
    truths: Truths,
    found: Detections,
    match: IntArray,
    counted: BoolArray,
    images: int,
    classes: int,
) -> Errors:
    """The errors of all counted detections; `match` is the truth that each found, or -1."""
    wrong = np.flatnonzero(counted & (match < 0))
    same, same_truth, other, other_truth, any_overlap = _overlaps(truths, found, wrong, images)
    kind = np.full(found.n, -1, dtype=np.int32)
    truth = np.full(found.n, -1, dtype=np.int64)
    conditions = [
        (same >= NOTHING) & (same < FOUND),
        other >= FOUND,
        same >= FOUND,
        any_overlap < NOTHING,
    ]
    mine = np.select(conditions, [1, 0, 3, 4], default=2)
    kind[wrong] = mine
    truth[wrong] = np.select([mine == 1, mine == 0], [same_truth, other_truth], default=-1)
    regular = ~truths.crowd
    left = regular.copy()
    left[match[match >= 0]] = False
    missing = left.copy()
    missing[truth[truth >= 0]] = False
    total = np.bincount(truths.category[regular], minlength=classes)
    hit = match >= 0
    base = mean_precision(found.category, found.score, hit, counted, total, classes)
    cost = np.zeros(len(KINDS))
    for place in range(5):
        category, right, kept = found.category.copy(), hit.copy(), counted.copy()
        mine_only = kind == place
        kept &= ~mine_only
        if place < 2:
            won = _winners(np.flatnonzero(mine_only), truth, found.score, left)
            right[won], kept[won] = True, True
            category[won] = truths.category[truth[won]]
        cost[place] = mean_precision(category, found.score, right, kept, total, classes) - base
    fewer = total - np.bincount(truths.category[missing], minlength=classes)
    cost[5] = mean_precision(found.category, found.score, hit, counted, fewer, classes) - base
    return Errors(kind, truth, np.flatnonzero(missing), cost, base)


def _winners(wrong: IntArray, truth: IntArray, score: FloatArray, left: BoolArray) -> IntArray:
    """The best of the wrong detections for each truth that nobody found; the rest are removed."""
    wrong = wrong[left[truth[wrong]]]
    order = wrong[np.argsort(-score[wrong], kind="stable")]
    _, first = np.unique(truth[order], return_index=True)
    return order[first]


def _overlaps(
    truths: Truths, found: Detections, which: IntArray, images: int
) -> tuple[FloatArray, IntArray, FloatArray, IntArray, FloatArray]:
    """(largest overlap, truth) with a truth of the same class, the same of another, any overlap."""
    pairs = in_images(found.box[which], found.image[which], truths, images)
    regular = ~truths.crowd[pairs.truth]
    alike = truths.category[pairs.truth] == found.category[which][pairs.detection]
    same = largest(pairs.take(regular & alike), len(which))
    other = largest(pairs.take(regular & ~alike), len(which))
    return *same, *other, np.maximum(same[0], other[0])


def mean_precision(
    category: CodeArray,
    score: FloatArray,
    hit: BoolArray,
    kept: BoolArray,
    truths: IntArray,
    classes: int,
) -> float:
    """Average precision at one overlap: precision at 101 recalls, mean over classes with truths."""
    chosen = np.flatnonzero(kept)
    order = chosen[np.lexsort((-score[chosen], category[chosen]))]
    edges = np.searchsorted(category[order], np.arange(classes + 1))
    recalls = np.linspace(0.0, 1.0, 101)
    values = []
    for k in np.flatnonzero(truths > 0).tolist():
        right = hit[order[edges[k] : edges[k + 1]]]
        if not right.any():
            values.append(0.0)
            continue
        tp = np.cumsum(right)
        precision = tp / np.arange(1, len(tp) + 1)
        precision = np.maximum.accumulate(precision[::-1])[::-1]
        at = np.searchsorted(tp / truths[k], recalls)
        values.append(float(np.where(at < len(tp), np.r_[precision, 0.0][at], 0.0).mean()))
    return float(np.mean(values)) if values else float("nan")
