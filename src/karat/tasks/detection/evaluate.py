"""The official arrays of an evaluation: precision, recall and scores, as pycocotools fills them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from karat.model.pairs import CodeArray, FloatArray, IntArray
from karat.tasks.detection.boxes import Detections, Rules, Truths
from karat.tasks.detection.curves import (
    Hits,
    bit_hits,
    category_starts,
    count,
    envelope,
    hits_needed,
    sampled,
)
from karat.tasks.detection.matching import WORD, Matched, Words, area_bits, match, threshold_bits
from karat.tasks.detection.overlaps import Candidates, best_candidates, candidates
from karat.tasks.detection.ranking import rank_detections

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Block:
    """The matching of as many areas and thresholds as one word has bits for.

    `bits[b]` is (threshold, area) of bit b. `regular`, `ignored` and `inside` are words of each
    ranked detection: matched to a regular truth, to an ignored one, lying in the area itself.
    """

    bits: list[tuple[int, int]]
    regular: Words
    ignored: Words
    inside: Words
    truth_regular: Words
    steps: Matched


@dataclass(frozen=True, slots=True)
class Evaluated:
    """All matchings. Detections are ranked: by category, then falling score.

    `source` is the index of each ranked detection in the file, `image`, `category`, `score` and
    `rank` (within image and category) are theirs. Steps of the matching name detections in the
    order before ranking, which `order` leads from, and truths as `truths` has them;
    `truth_order` leads from those to the file.
    """

    rules: Rules
    images: int
    categories: int
    source: IntArray
    image: CodeArray
    category: CodeArray
    score: FloatArray
    rank: CodeArray
    order: IntArray
    truths: Truths
    truth_order: IntArray
    blocks: list[Block]

    def unranked(self, values: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """Values of the ranked detections in the order in which the steps name them."""
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def block_of(self, threshold: int, area: int) -> tuple[Block, int]:
        """The block and the bit of one threshold and area."""
        for block in self.blocks:
            if (threshold, area) in block.bits:
                return block, block.bits.index((threshold, area))
        raise KeyError((threshold, area))


def evaluate(
    truths: Truths, found: Detections, images: int, categories: int, rules: Rules
) -> Evaluated:
    """Every detection matched under every threshold and area."""
    cap = rules.most[-1]
    ranked = rank_detections(found.image, found.category, found.score, images, categories, cap)
    group = truths.category.astype(np.int64) * images + truths.image
    truth_order = np.argsort(group, kind="stable")
    truths = truths.take(truth_order)
    inside = ranked.inside
    image, category = found.image[inside], found.category[inside]
    own_group = category.astype(np.int64) * images + image
    box = found.box[inside]
    pairs = _pairs(box, own_group, truths, images, categories, rules)
    area = found.area[inside]
    blocks = [
        _block(pairs, own_group, area, truths, ranked.order, overlaps, areas, rules)
        for overlaps, areas in _chunks(len(rules.overlaps), len(rules.areas))
    ]
    order = ranked.order
    return Evaluated(
        rules,
        images,
        categories,
        inside[order],
        image[order],
        category[order],
        found.score[inside[order]],
        ranked.rank[order],
        order,
        truths,
        truth_order,
        blocks,
    )


def _pairs(
    box: FloatArray, group: IntArray, truths: Truths, images: int, categories: int, rules: Rules
) -> Candidates:
    """The pairs that overlap enough for the lowest threshold."""
    truth_group = truths.category.astype(np.int64) * images + truths.image
    groups = images * categories
    if groups <= max(1 << 24, 4 * len(group)):
        sizes = np.bincount(truth_group, minlength=groups)
        first = (np.cumsum(sizes) - sizes)[group]
        many = sizes[group]
    else:
        first = np.searchsorted(truth_group, group, side="left")
        many = np.searchsorted(truth_group, group, side="right") - first
    least = float(np.minimum(rules.overlaps, 1 - 1e-10).min())
    if not rules.best_only:
        return candidates(box, truths.box, truths.crowd, first, many, least)
    # In Pascal VOC what may be ignored is a difficult object, not a crowd: its overlap is plain.
    nobody = np.zeros(truths.n, dtype=bool)
    return best_candidates(candidates(box, truths.box, nobody, first, many, least))


def _chunks(thresholds: int, areas: int) -> list[tuple[range, range]]:
    """Ranges of thresholds and areas that fit into one word each."""
    step = min(thresholds, WORD)
    wide = max(WORD // step, 1)
    return [
        (range(t, min(t + step, thresholds)), range(a, min(a + wide, areas)))
        for t in range(0, thresholds, step)
        for a in range(0, areas, wide)
    ]


def _block(
    pairs: Candidates,
    group: IntArray,
    area: FloatArray,
    truths: Truths,
    order: IntArray,
    overlaps: range,
    areas: range,
    rules: Rules,
) -> Block:
    """One matching, put into the ranked order."""
    size = len(overlaps)
    limits = rules.overlaps[overlaps.start : overlaps.stop]
    ranges = rules.areas[areas.start : areas.stop]
    regular = area_bits(truths.area, ranges, size)
    regular[truths.crowd] = 0
    reach = threshold_bits(pairs.overlap, limits, len(areas))
    steps = match(pairs, reach, regular, truths.crowd, group, len(group))
    bits = [(t, a) for a in areas for t in overlaps]
    inside = area_bits(area, ranges, size)
    return Block(bits, steps.regular[order], steps.ignored[order], inside[order], regular, steps)


@dataclass(frozen=True, slots=True)
class Accumulated:
    """The arrays that `COCOeval.accumulate` leaves: [T,R,K,A,M], [T,K,A,M], [T,R,K,A,M].

    -1 stands where a category has no regular truth in the area.
    """

    precision: npt.NDArray[np.float64]
    recall: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]


def accumulate(found: Evaluated, with_scores: bool = True) -> Accumulated:
    """The official arrays. Without scores only the largest limit has precisions."""
    rules, k = found.rules, found.categories
    shape = (len(rules.overlaps), len(rules.recalls), k, len(rules.areas), len(rules.most))
    precision = -np.ones(shape)
    recall = -np.ones((shape[0], *shape[2:]))
    scores = -np.ones(shape) if with_scores else np.zeros(0)
    starts = category_starts(found.category, k)
    best = np.zeros(k)
    seen = starts[1:] > starts[:-1]
    best[seen] = found.score[starts[:-1][seen]]
    for block in found.blocks:
        touched = np.flatnonzero(block.regular | block.ignored)
        regular, ignored = block.regular[touched], block.ignored[touched]
        for area in sorted({area for _, area in block.bits}):
            truths = truths_in(found, block, area)
            known = truths > 0
            needed = hits_needed(rules.recalls, truths)
            within = _inside(block, area)
            limited = [within & (found.rank < most) for most in rules.most]
            running = [np.r_[0, np.cumsum(one)] for one in limited]
            for bit, (t, a) in enumerate(block.bits):
                if a != area:
                    continue
                every = bit_hits(regular, ignored, touched, bit)
                for m, most in enumerate(rules.most):
                    hits = every if most == rules.most[-1] else _near(every, found.rank, most)
                    counts = count(hits, running[m], limited[m][hits.place], starts)
                    recall[t, known, a, m] = np.diff(counts.edges)[known] / truths[known]
                    if not with_scores and most < rules.most[-1]:
                        continue
                    values = envelope(counts)
                    top = _first(values, counts.edges)
                    precision[t, :, known, a, m] = sampled(values, top, counts, needed)[known]
                    if with_scores:
                        mine = sampled(found.score[counts.place], best, counts, needed)
                        scores[t, :, known, a, m] = mine[known]
    return Accumulated(precision, recall, scores)


def _near(hits: Hits, rank: CodeArray, most: int) -> Hits:
    """The matched detections among the best `most` of their image and category."""
    near = rank[hits.place] < most
    return Hits(hits.place[near], hits.hit[near])


def truths_in(found: Evaluated, block: Block, area: int) -> IntArray:
    """(categories,): how many regular truths lie in an area."""
    mask = np.uint64(1 << next(b for b, (_, a) in enumerate(block.bits) if a == area))
    regular = (block.truth_regular & mask) != 0
    return np.bincount(found.truths.category[regular], minlength=found.categories)


def _inside(block: Block, area: int) -> npt.NDArray[np.bool_]:
    mask = np.uint64(1 << next(b for b, (_, a) in enumerate(block.bits) if a == area))
    return np.asarray((block.inside & mask) != 0)


def _first(values: FloatArray, edges: IntArray) -> FloatArray:
    """(categories,): the value of each category's first hit, 0 where it has none."""
    out = np.zeros(len(edges) - 1)
    some = np.flatnonzero(edges[1:] > edges[:-1])
    out[some] = values[edges[:-1][some]]
    return out
