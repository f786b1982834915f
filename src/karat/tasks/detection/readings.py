"""Other meanings that the four numbers of a box may have had, and which of them fits far better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from karat.model.pairs import CodeArray, FloatArray, IntArray
from karat.tasks.detection.boxes import Detections, Truths
from karat.tasks.detection.overlaps import in_images, largest

SOUND = 0.9
"""So large a part of the boxes must have positive sides when they are read another way."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What four numbers may mean, and the x, y, width and height that they then stand for."""

    code: str
    meaning: str
    boxes: Callable[[FloatArray], FloatArray]


def _corners(box: FloatArray) -> FloatArray:
    return np.concatenate([box[:, :2], box[:, 2:] - box[:, :2]], axis=1)


def _centres(box: FloatArray) -> FloatArray:
    return np.concatenate([box[:, :2] - box[:, 2:] / 2, box[:, 2:]], axis=1)


def _rows_first(box: FloatArray) -> FloatArray:
    return box[:, [1, 0, 3, 2]]


READINGS = (
    Reading("box-corners", "x_min, y_min, x_max, y_max", _corners),
    Reading("box-layout", "y_min, x_min, y_max, x_max", lambda box: _corners(_rows_first(box))),
    Reading("box-layout", "x_centre, y_centre, width, height", _centres),
    Reading("box-layout", "y, x, height, width", _rows_first),
)


def nearest(
    truths: Truths, image: CodeArray, box: FloatArray, images: int
) -> tuple[FloatArray, IntArray]:
    """For each box the largest overlap with any truth of its image, and that truth (-1: none)."""
    return largest(in_images(box, image, truths, images), len(box))


def better_reading(
    truths: Truths, found: Detections, images: int
) -> tuple[float, Reading, bool] | None:
    """(mean overlap, reading, whether it is the truths') of the best other reading of one side."""
    tried: list[tuple[float, Reading, bool]] = []
    for reading in READINGS:
        for of_truths, box in ((False, found.box), (True, truths.box)):
            other = reading.boxes(box)
            if (other[:, 2:] > 0).all(axis=1).mean() < SOUND:
                continue
            read = replace(truths, box=other) if of_truths else truths
            mine = found.box if of_truths else other
            overlap, _ = nearest(read, found.image, mine, images)
            tried.append((float(overlap.mean()), reading, of_truths))
    return max(tried, key=lambda one: one[0], default=None)
