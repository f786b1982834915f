"""What became of the boxes of each image, in the dicts that COCOeval calls `evalImgs`.

Training code gathers these dicts from many processes and accumulates them together, so they can be
made from a matching and, on the other side, be accumulated without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.tasks.detection.curves import EPSILON
from karat.tasks.detection.evaluate import Accumulated, Evaluated

Record = dict[str, Any]


Asked = Any
"""pycocotools' Params, read by the names of its members."""


def categories_of(asked: Asked) -> list[Any]:
    """The categories that are told apart: -1 stands for all of them together."""
    return list(asked.catIds) if asked.useCats else [-1]


# --- from a matching -----------------------------------------------------------------------------


class _Area(NamedTuple):
    """The matches of one range of area: (thresholds, boxes), truths regular ones first."""

    detection_matches: FloatArray
    detection_ignored: BoolArray
    truth_order: IntArray
    truth_matches: FloatArray
    truth_ignored: BoolArray


def per_image(
    found: Evaluated, asked: Asked, truth_ids: Sequence[Any], detection_ids: Sequence[Any]
) -> list[Record | None]:
    """One dict for each category, range of area and image, None where an image has no boxes.

    The ids are those of the truths and detections that were matched, in their order there.
    """
    source, score = found.unranked(found.source), found.unranked(found.score)
    group = found.unranked(found.category.astype(np.int64) * found.images + found.image)
    own = found.truths.category.astype(np.int64) * found.images + found.truths.image
    ids = np.array(detection_ids)[source] if len(source) else source
    truths = np.array(truth_ids)[found.truth_order] if len(own) else own
    groups = np.union1d(group, own)
    edges = zip(
        groups.tolist(),
        np.searchsorted(group, groups).tolist(),
        np.searchsorted(group, groups, "right").tolist(),
        np.searchsorted(own, groups).tolist(),
        np.searchsorted(own, groups, "right").tolist(),
        strict=True,
    )
    spans = list(edges)
    categories = categories_of(asked)
    areas = len(asked.areaRng)
    out: list[Record | None] = [None] * (len(categories) * areas * found.images)
    for a in range(areas):
        one = _area(found, a, own, truths, ids)
        for key, first, last, start, end in spans:
            category, image = divmod(key, found.images)
            mine = one.truth_order[start:end]
            out[(category * areas + a) * found.images + image] = {
                "image_id": asked.imgIds[image],
                "category_id": categories[category],
                "aRng": asked.areaRng[a],
                "maxDet": asked.maxDets[-1],
                "dtIds": ids[first:last].tolist(),
                "gtIds": truths[mine].tolist(),
                "dtMatches": one.detection_matches[:, first:last],
                "gtMatches": one.truth_matches[:, start:end],
                "dtScores": score[first:last].tolist(),
                "gtIgnore": one.truth_ignored[start:end].astype(np.int64),
                "dtIgnore": one.detection_ignored[:, first:last],
            }
    return out


def _area(
    found: Evaluated, area: int, group: IntArray, truths: npt.NDArray[Any], ids: npt.NDArray[Any]
) -> _Area:
    size, n = len(found.rules.overlaps), len(found.order)
    mine, theirs = np.zeros((size, n)), np.zeros((size, len(group)))
    matched, ignored = np.zeros((size, n), dtype=bool), np.zeros((size, n), dtype=bool)
    block, bit = found.block_of(0, area)
    apart = (block.truth_regular & np.uint64(1 << bit)) == 0
    outside = found.unranked((block.inside & np.uint64(1 << bit)) == 0)
    for threshold in range(size):
        block, bit = found.block_of(threshold, area)
        took = (block.steps.step_bits & np.uint64(1 << bit)) != 0
        detection, truth = block.steps.step_detection[took], block.steps.step_truth[took]
        matched[threshold, detection] = True
        ignored[threshold, detection] = apart[truth]
        mine[threshold, detection] = truths[truth]
        # A crowd that several detections lie in names the last of them.
        theirs[threshold, truth] = ids[detection]
    order = np.lexsort((apart, group))
    return _Area(mine, ignored | (~matched & outside), order, theirs[:, order], apart[order])


# --- to the official arrays ----------------------------------------------------------------------


def accumulated(records: Sequence[Record | None], asked: Asked, made: Asked) -> Accumulated:
    """The official arrays of what is asked, from the dicts that were made for `made`.

    -1 stands where a category, range of area or limit was not among what they were made for.
    """
    categories, limits = categories_of(asked), list(asked.maxDets)
    size, recalls = len(asked.iouThrs), np.asarray(asked.recThrs, dtype=np.float64)
    shape = (size, len(recalls), len(categories), len(asked.areaRng), len(limits))
    precision, scores = -np.ones(shape), -np.ones(shape)
    recall = -np.ones((size, *shape[2:]))
    for k, a, mine in _groups(records, asked, made):
        regular = sum(int(np.count_nonzero(np.asarray(e["gtIgnore"]) == 0)) for e in mine)
        if not regular:
            continue
        for m in (m for m, most in enumerate(limits) if most in made.maxDets):
            score, hit, counted = _ranked(mine, limits[m])
            for t in range(size):
                tp = np.cumsum(hit[t], dtype=np.float64)
                fp = np.cumsum(counted[t] & ~hit[t], dtype=np.float64)
                curve = np.asarray(tp / (fp + tp + EPSILON))
                curve = np.maximum.accumulate(curve[::-1])[::-1]
                at = np.searchsorted(tp / regular, recalls)
                # The official loop stops at the first recall that is out of reach.
                reached = np.logical_and.accumulate(at < len(tp))
                recall[t, k, a, m] = tp[-1] / regular if len(tp) else 0
                precision[t, :, k, a, m] = np.where(reached, np.r_[curve, 0.0][at], 0)
                scores[t, :, k, a, m] = np.where(reached, np.r_[score, 0.0][at], 0)
    return Accumulated(precision, recall, scores)


def _groups(
    records: Sequence[Record | None], asked: Asked, made: Asked
) -> Iterator[tuple[int, int, list[Record]]]:
    """(category, area, dicts of the images) of what is asked and was made."""
    there = {one: place for place, one in enumerate(categories_of(made))}
    ranges = [tuple(one) for one in made.areaRng]
    wanted = set(np.asarray(asked.imgIds).tolist())
    images = [i for i, one in enumerate(np.asarray(made.imgIds).tolist()) if one in wanted]
    for k, category in enumerate(categories_of(asked)):
        for a, area in enumerate(map(tuple, asked.areaRng)):
            if category not in there or area not in ranges:
                continue
            first = (there[category] * len(ranges) + ranges.index(area)) * len(made.imgIds)
            mine = [e for i in images if (e := records[first + i]) is not None]
            if mine:
                yield k, a, mine


def _ranked(mine: Sequence[Record], most: int) -> tuple[FloatArray, BoolArray, BoolArray]:
    """(scores, hits, those that count) of the best detections of each image, by falling score."""
    score = np.concatenate([np.asarray(e["dtScores"][:most], dtype=np.float64) for e in mine])
    order = np.argsort(-score, kind="stable")
    matched = np.concatenate([e["dtMatches"][:, :most] for e in mine], axis=1)[:, order] != 0
    ignored = np.concatenate([e["dtIgnore"][:, :most] for e in mine], axis=1)[:, order] != 0
    return score[order], matched & ~ignored, ~ignored
