"""Matching across classes: which detection lies on which truth, whatever it was called."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.model.pairs import IntArray
from karat.tasks.detection.boxes import Detections, Rules, Truths
from karat.tasks.detection.evaluate import evaluate

OVERLAP = 0.5


def across_classes(truths: Truths, found: Detections, images: int) -> tuple[IntArray, IntArray]:
    """(truth, ignored) of each detection, best score first: -1 where it lies on none; 0 or 1."""
    rules = Rules(
        np.array([OVERLAP]), np.array([0.0]), ((0.0, np.inf),), ("all",), (max(found.n, 1),)
    )
    plain = replace(truths, category=np.zeros_like(truths.category), area=np.ones(truths.n))
    flat = replace(found, category=np.zeros_like(found.category), area=np.ones(found.n))
    done = evaluate(plain, flat, images, 1, rules)
    block, steps = done.blocks[0], done.blocks[0].steps
    source = done.unranked(done.source)
    truth = np.full(found.n, -1, dtype=np.int64)
    regular = (steps.step_bits & block.truth_regular[steps.step_truth]) != 0
    truth[source[steps.step_detection[regular]]] = done.truth_order[steps.step_truth[regular]]
    ignored = np.zeros(found.n, dtype=np.int64)
    ignored[source[steps.step_detection[~regular]]] = 1
    return truth, ignored
