"""What a task saw of one side of a stress run: every row, labelled or not, in plain columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from karat.model.pairs import BoolArray, FloatArray, IntArray


class Spans(NamedTuple):
    """Mentions of a side: the row of each, its type, and where it starts and ends (exclusive)."""

    row: IntArray
    type: Sequence[str]
    start: IntArray
    end: IntArray


class Boxes(NamedTuple):
    """Boxes of a side, in fractions of the image where those are known: row, class, corners.

    Corners are x and y of the least, then of the largest; predicted boxes have a score. `clipped`
    says which boxes stuck out of their image as they were written.
    """

    row: IntArray
    label: IntArray
    corners: FloatArray
    score: FloatArray | None = None
    clipped: BoolArray | None = None

    def area(self) -> FloatArray:
        """The area of each box, as a fraction of its image."""
        x0, y0, x1, y1 = self.corners.T
        return np.asarray((x1 - x0) * (y1 - y0))


@dataclass(frozen=True)
class Trials:
    """What went right or wrong, by kind: rows by their label, mentions by their type.

    `hit` over trials of a kind is the metric (recall, precision) of that kind. `code` is -1 where
    a trial has no kind; kinds with fewer than `least` trials are not judged. `value` is set where
    kinds are still to be cut from a number (the area of a box).
    """

    family: str
    metric: str
    levels: tuple[str, ...]
    code: IntArray
    hit: BoolArray
    row: IntArray
    least: int = 15
    value: FloatArray | None = None


@dataclass(frozen=True)
class Seen:
    """One side as its task reads it. What a task does not have is None; labels are -1 if missing.

    `labelled` says which rows are scored: those of the pairs, in order. `chance_of` gives the
    probability that each row was given of a class of its own.
    """

    file: str
    n: int
    line_of: Callable[[int], int | None]
    labelled: BoolArray
    classes: tuple[str, ...] = ()
    labels: IntArray | None = None
    predicted: IntArray | None = None
    confidence: FloatArray | None = None
    spans: Spans | None = None
    predicted_spans: Spans | None = None
    boxes: Boxes | None = None
    predicted_boxes: Boxes | None = None
    exclusive: bool = True
    chance_of: Callable[[IntArray], FloatArray] | None = None
    trials: tuple[Trials, ...] = field(default=())
