"""Which classes each row of data has: the entries of a vector that calibration may ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.pairs import CodeArray, IntArray


@dataclass(frozen=True, slots=True)
class PresentClasses:
    """The distinct classes of each row, row by row and ascending.

    `pairs` are (row, class) as one ascending integer, row times `width` plus class; `start` is
    where each row's begin.
    """

    width: int
    pairs: IntArray
    start: IntArray

    @classmethod
    def of(cls, row: IntArray, classes: IntArray, rows: int) -> PresentClasses:
        """Those of boxes with a row and a class each."""
        width = int(classes.max(initial=0)) + 1
        pairs = np.unique(row * width + classes)
        return cls(width, pairs, np.searchsorted(pairs, np.arange(rows + 1) * width))

    def of_row(self, row: int) -> IntArray:
        """The classes of one row; none where there is no such row."""
        if row + 1 >= len(self.start):
            return self.pairs[:0]
        return self.pairs[self.start[row] : self.start[row + 1]] - row * self.width

    def sizes(self, row: IntArray) -> IntArray:
        """How many classes some rows have."""
        return np.diff(self.start)[row]

    def place(self, row: IntArray, classes: IntArray | CodeArray) -> IntArray:
        """Where each class stands among those of its row."""
        return np.asarray(np.searchsorted(self.pairs, row * self.width + classes) - self.start[row])
