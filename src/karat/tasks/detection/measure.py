"""Images and boxes to evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.model.evidence import Counts, Layout, Table
from karat.model.pairs import IntArray
from karat.tasks.detection.boxes import Rules
from karat.tasks.detection.evaluate import Evaluated, accumulate, evaluate
from karat.tasks.detection.precision import Matches
from karat.tasks.detection.scene import DetectionPairs
from karat.tasks.detection.weighed import layers

OVERLAP = 0.5
"""The overlap at which precision, recall and F1 at a score cut are taken."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of every detection at the overlap of the score cut.

    `truth` is the truth it found (by its place in the scene), -1 where none; `counted` says which
    are right or wrong at all: not those that lie in a crowd, nor those past the limit.
    """

    truth: IntArray
    counted: IntArray


def evaluated(pairs: DetectionPairs) -> Evaluated:
    """Every detection matched under every threshold and area."""
    return _evaluated(pairs, pairs.pred.rules)


def _evaluated(pairs: DetectionPairs, rules: Rules) -> Evaluated:
    scene, found = pairs.gold, pairs.pred
    return evaluate(scene.truths, found.detections, scene.n, len(scene.classes), rules)


def outcome(pairs: DetectionPairs, found: Evaluated) -> Outcome:
    """What became of every detection at the overlap of the score cut."""
    if not (found.rules.overlaps == OVERLAP).any():
        areas, names = found.rules.areas[:1], found.rules.area_names[:1]
        alone = replace(found.rules, overlaps=np.array([OVERLAP]), areas=areas, area_names=names)
        found = _evaluated(pairs, alone)
    threshold = int(np.flatnonzero(found.rules.overlaps == OVERLAP)[0])
    block, bit = found.block_of(threshold, 0)
    mask = np.uint64(1 << bit)
    truth = np.full(pairs.pred.detections.n, -1, dtype=np.int64)
    steps = block.steps
    took = (steps.step_bits & mask & block.truth_regular[steps.step_truth]) != 0
    source = found.unranked(found.source)
    truth[source[steps.step_detection[took]]] = found.truth_order[steps.step_truth[took]]
    fair = ((block.ignored & mask) == 0) & (((block.inside | block.regular) & mask) != 0)
    return Outcome(truth, np.sort(found.source[fair]))


def matches(found: Evaluated, pairs: DetectionPairs, rule: str) -> Matches:
    """The ranked evidence."""
    return Matches(
        found,
        accumulate(found, with_scores=False),
        layers(found),
        found.rules,
        rule,
        found.images,
        np.arange(found.images),
        pairs.cluster,
        pairs.weights,
    )


def at_a_cut(pairs: DetectionPairs, became: Outcome, options: Mapping[str, Any]) -> Counts:
    """Right boxes, boxes and truths of each image and class, from the score cut on."""
    scene, found = pairs.gold, pairs.pred.detections
    k, n = len(scene.classes), scene.n
    layout = Layout(
        {"n": 1, "found": 1, "right": 1, "kept": 1, "truths": 1, "tp": k, "pred": k, "gold": k}
    )
    kept = became.counted[found.score[became.counted] >= cut_of(options)]
    hits = kept[became.truth[kept] >= 0]
    regular = np.flatnonzero(~scene.truths.crowd)
    every = np.arange(n, dtype=np.int64)
    sides = [
        (found.image[hits], found.category[hits]),
        (found.image[kept], found.category[kept]),
        (scene.truths.image[regular], scene.truths.category[regular]),
    ]
    row, cell = [every, every], [np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)]
    for place, (image, category) in enumerate(sides):
        row += [image.astype(np.int64), image.astype(np.int64)]
        cell += [np.full(len(image), 2 + place), 5 + place * k + category.astype(np.int64)]
    value = np.ones(sum(map(len, row)))
    value[n : 2 * n] = pairs.pred.boxes
    key = np.concatenate(row) * layout.width + np.concatenate(cell)
    key, where = np.unique(key, return_inverse=True)
    total = np.bincount(where, value).astype(np.float64)
    table = Table(n, layout, key // layout.width, key % layout.width, total)
    return Counts("cut", table, None, pairs.cluster, pairs.weights)


def cut_of(options: Mapping[str, Any]) -> float:
    """The score from which a box counts."""
    given = options.get("score_cut")
    return 0.5 if given is None else float(given)
