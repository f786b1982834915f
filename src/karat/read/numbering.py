"""Names as numbers, counted in the order in which they first come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from karat.model.pairs import CodeArray

K = TypeVar("K")


class Numbering(dict[K, int]):
    """Name -> number; looking a new name up gives it the next number."""

    def __missing__(self, name: K) -> int:
        self[name] = number = len(self)
        return number

    def codes(self, names: Sequence[K]) -> CodeArray:
        """The number of each name."""
        return np.fromiter(map(self.__getitem__, names), np.int32, len(names))
