"""One side of a stress test as columns: what its rows say, and what the model said of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.suite import Row
from karat.suite.permute import Ragged

WORD = re.compile(r"\w+(?:[-']\w+)*")


class Spans(NamedTuple):
    """Mentions of a side: the row of each, its type, and where it starts and ends (exclusive)."""

    row: IntArray
    type: Sequence[str]
    start: IntArray
    end: IntArray


class Boxes(NamedTuple):
    """Boxes of a side, in fractions of the image: row, class, corners; score of predicted ones."""

    row: IntArray
    label: IntArray
    corners: FloatArray
    score: FloatArray | None = None

    def area(self) -> FloatArray:
        """The area of each box, as a fraction of its image."""
        x0, y0, x1, y1 = self.corners.T
        return np.asarray((x1 - x0) * (y1 - y0))


@dataclass(frozen=True)
class Observed:
    """One side. What a task does not have is empty or None; labels are -1 where missing."""

    file: str
    n: int
    line_of: Callable[[int], int | None]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    images: Sequence[str] | None = None
    numeric: Mapping[str, FloatArray] = field(default_factory=dict)
    categorical: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    embeddings: Mapping[str, FloatArray] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    labels: IntArray | None = None
    predicted: IntArray | None = None
    confidence: FloatArray | None = None
    spans: Spans | None = None
    predicted_spans: Spans | None = None
    boxes: Boxes | None = None
    predicted_boxes: Boxes | None = None

    @cached_property
    def inputs(self) -> list[str]:
        """What the model gets to see of each row, as one string."""
        if self.images is not None:
            return list(self.images)
        if not self.texts:
            return []
        return ["\x1f".join(parts) for parts in zip(*self.texts.values(), strict=True)]

    @cached_property
    def words(self) -> dict[str, list[list[str]]]:
        """The words of each text, in lower case."""
        return {
            key: [WORD.findall(text.lower()) for text in texts] for key, texts in self.texts.items()
        }

    @property
    def known(self) -> BoolArray | None:
        """Which rows have a label, None where none has."""
        if self.labels is None or not (self.labels >= 0).any():
            return None
        return np.asarray(self.labels >= 0)

    @property
    def correct(self) -> BoolArray | None:
        """Whether each row was labelled right; rows without a label count as wrong."""
        if self.labels is None or self.predicted is None:
            return None
        return np.asarray(self.labels == self.predicted)

    def rows(self, index: IntArray | Sequence[int]) -> list[Row]:
        """Places of rows in the file."""
        return [Row(file=self.file, line=self.line_of(int(i)), index=int(i)) for i in index]


def shared_codes(sides: Sequence[Sequence[Sequence[str]]]) -> tuple[list[Ragged], list[str]]:
    """The pieces of several sides under one vocabulary, in the order of their names."""
    names = sorted({piece for side in sides for row in side for piece in row})
    code_of = {name: i for i, name in enumerate(names)}
    found = []
    for side in sides:
        lengths = np.fromiter(map(len, side), np.int64, len(side))
        flat = (code_of[piece] for row in side for piece in row)
        codes = np.fromiter(flat, np.int64, int(lengths.sum()))
        found.append(Ragged(len(side), np.repeat(np.arange(len(side)), lengths), codes, len(names)))
    return found, names
