"""Boxes in columns: the truths and the detections of a set of images.

Images and categories are numbered from 0 in the order of their ids. Boxes are x, y, width, height,
in the order of the files, because ties of scores and overlaps are settled by that order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.pairs import BoolArray, CodeArray, FloatArray, IntArray, Which


@dataclass(frozen=True, slots=True)
class Truths:
    """The boxes that are there. `area` is the object's, which may be less than its box's."""

    image: CodeArray
    category: CodeArray
    box: FloatArray
    area: FloatArray
    crowd: BoolArray
    record: IntArray

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.image)

    def take(self, which: Which) -> Truths:
        """Some of them, in the order given."""
        return Truths(
            self.image[which],
            self.category[which],
            self.box[which],
            self.area[which],
            self.crowd[which],
            self.record[which],
        )


@dataclass(frozen=True, slots=True)
class Detections:
    """The boxes that a model found. `record` is where each stands in the file."""

    image: CodeArray
    category: CodeArray
    box: FloatArray
    area: FloatArray
    score: FloatArray
    record: IntArray

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.image)

    def take(self, which: Which) -> Detections:
        """Some of them, in the order given."""
        return Detections(
            self.image[which],
            self.category[which],
            self.box[which],
            self.area[which],
            self.score[which],
            self.record[which],
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """What is measured: overlaps, recalls, ranges of area, and how many boxes an image may have.

    The thresholds are the doubles of `np.linspace`, as the official script makes them: 0.90 is
    0.8999999999999999 there, and a recall of exactly 57/100 does not reach 0.57. `best_only` is
    Pascal VOC's matching: a detection may take its best truth or none.
    """

    overlaps: FloatArray
    recalls: FloatArray
    areas: tuple[tuple[float, float], ...]
    area_names: tuple[str, ...]
    most: tuple[int, ...]
    best_only: bool = False


COCO_AREAS = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
"""Square pixels; both ends belong to a range, so that 1024 is small and medium."""


def coco_rules() -> Rules:
    """The thresholds of the COCO challenge."""
    return Rules(
        overlaps=np.linspace(0.5, 0.95, 10),
        recalls=np.linspace(0.0, 1.0, 101),
        areas=tuple(COCO_AREAS.values()),
        area_names=tuple(COCO_AREAS),
        most=(1, 10, 100),
    )
