"""Vectors of probabilities in several tasks: their length, values outside [0, 1], as a matrix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, starmap
from struct import Struct
from typing import Any

import numpy as np

from karat.model.pairs import FloatArray
from karat.read.place import Place, show

ABOVE_ONE = 1e-6
"""A 32-bit softmax may round to a little more than 1."""

PACKED = 6
"""Vectors as long as this are converted faster packed as a whole than number by number."""


class UsualLength:
    """How long most vectors of a file are. `value` is None as long as nothing was seen.

    It is a guess from the first vectors, until one of another length turns up. Then `lengths`
    counts those of the whole file, since only that can tell which of the two is odd. Vectors
    shorter than `least` are a defect of their own and do not count, if there are others.
    """

    def __init__(self, lengths: Callable[[], Counter[int]], least: int = 1) -> None:
        self.value: int | None = None
        self._lengths, self._least = lengths, least
        self._counted = False

    def among(self, lengths: set[int]) -> int:
        """How long the vectors of a batch should be, in which these lengths occur."""
        if self.value is None and len(lengths) == 1:
            (self.value,) = lengths
        if lengths and lengths != {self.value}:
            self._count()
        return self.value or 0

    def report(self, length: int, key: str, place: Place) -> bool:
        """Whether a vector has another length than most; if so, that is reported."""
        if length != self.value:
            self._count()
        if self.value is None or length == self.value:
            return False
        place.add(
            "probabilities-length",
            f"{length} probabilities here, {self.value} in most rows",
            key,
        )
        return True

    def _count(self) -> None:
        if self._counted:
            return
        self._counted = True
        lengths = self._lengths()
        proper = Counter({length: n for length, n in lengths.items() if length >= self._least})
        common = (proper or lengths).most_common(1)
        self.value = common[0][0] if common else self.value


def report_outside(vector: Sequence[Any], key: str, place: Place) -> bool:
    """Whether numbers lie outside [0, 1]; if so, what they seem to be instead is reported."""
    outside = [i for i, p in enumerate(vector) if not 0 <= p <= 1 + ABOVE_ONE]
    if not outside:
        return False
    total = total_of(vector)
    if min(vector) >= 0 and abs(total - 100) <= 1:
        message = f"sum is {total:g}; values look like percentages, divide by 100"
        place.add("probabilities-percent", message, key)
    elif len(outside) > 1:
        message = (
            f"several values lie outside [0, 1] and the sum is {total:g}; "
            "these look like logits, apply softmax"
        )
        place.add("probabilities-logits", message, key)
    else:
        message = f"{show(vector[outside[0]])} lies outside [0, 1]"
        place.add("probability-range", message, f"{key}[{outside[0]}]")
    return True


def total_of(vector: Sequence[Any]) -> float:
    """The sum of numbers, infinite where it is too large."""
    try:
        return math.fsum(vector)
    except OverflowError:
        return math.inf


def as_matrix(lists: Sequence[Sequence[float]], width: int) -> FloatArray:
    """Lists of one length as an array of that width."""
    if width < PACKED:
        flat = np.fromiter(chain.from_iterable(lists), np.float64, len(lists) * width)
        return flat.reshape(len(lists), width)
    packed = b"".join(starmap(Struct(f"{width}d").pack, lists))
    return np.frombuffer(packed).reshape(len(lists), width)
