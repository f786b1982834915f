"""What was read: the images with their truths, and what a model found in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat.model.pairs import CodeArray, FloatArray, IntArray, Pairs
from karat.model.task import Request
from karat.tasks.detection.boxes import Detections, Rules, Truths
from karat.tasks.detection.present import PresentClasses


@dataclass(frozen=True, slots=True)
class Scene:
    """The images. `width` and `height` are 0 where a size is unknown.

    `unit` is "pixels" or "fractions" (of width and height); `records` is where each image stands
    in its file; `classes` are the ids that files write, `class_names` what reports call them.
    """

    format: str
    truths: Truths
    names: Sequence[str]
    classes: IntArray
    class_names: tuple[str, ...]
    width: FloatArray
    height: FloatArray
    unit: str
    records: IntArray
    request: Request

    @property
    def n(self) -> int:
        """How many images there are."""
        return len(self.names)

    @property
    def sized(self) -> bool:
        """Whether the size of every image is known."""
        return bool(len(self.width)) and bool((self.width > 0).all() and (self.height > 0).all())


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is kept of the probability vectors, one entry a box, before detections are chosen.

    `known` holds, box after box, the probabilities of the classes that are `present` in its image,
    `start` says where each box's begin.
    """

    top: CodeArray
    confidence: FloatArray
    squares: FloatArray
    known: FloatArray
    start: IntArray
    present: PresentClasses


@dataclass(frozen=True, slots=True)
class Found:
    """What the model found. `boxes` counts them by image; `vector_of` is each detection's box."""

    detections: Detections
    boxes: IntArray
    rules: Rules
    vectors: Vectors | None = None
    vector_of: IntArray | None = None
    exclusive: bool = True


DetectionPairs = Pairs[Scene, Found]
