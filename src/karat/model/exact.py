"""Sums of floats that do not depend on the order: fixed-point limbs in integer arrays.

A number is three limbs, `top + mid * 2**-32 + low * 2**-64`, each an int64. Limbs of many numbers
add as integers, so any chunking and any order give the same bits; the sum is turned into a float
once, correctly rounded. Numbers must be below 2**31 in size; what lies below 2**-64 of a single
number is rounded away. Sums of more than 2**31 numbers could overflow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import FloatArray, IntArray

LIMBS = 3
RANGE = 2.0**31
_BASE = 2.0**32
_MASK = np.int64((1 << 32) - 1)
_SHIFT = np.int64(32)
# A limb is below 2**32 and a double holds 2**53, so this many limbs add exactly as doubles.
_BLOCK = 1 << 14


def fits(x: FloatArray) -> bool:
    """Whether every number is finite and in the range of the limbs."""
    # NaN fails every comparison, so it is refused here too.
    return len(x) == 0 or bool(x.max() < RANGE and x.min() > -RANGE)


def _cut(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The three limbs of each number, as whole doubles that carry its sign."""
    top = np.trunc(x)
    rest = (x - top) * _BASE
    mid = np.trunc(rest)
    return top, mid, np.rint((rest - mid) * _BASE)


def limbs(x: FloatArray) -> IntArray:
    """(n, 3): each number as limbs in normal form. The numbers must fit."""
    return carried(np.stack(_cut(np.asarray(x, dtype=np.float64)), axis=-1).astype(np.int64))


def carried(sums: IntArray) -> IntArray:
    """The same numbers in normal form, mid and low in [0, 2**32): equal numbers, equal bits."""
    out = sums.copy()
    for place in (2, 1):
        out[..., place - 1] += out[..., place] >> _SHIFT
        out[..., place] &= _MASK
    return out


def to_floats(sums: IntArray) -> FloatArray:
    """(n,): the numbers (n, 3) as doubles, correctly rounded. Needs the normal form."""
    top, mid, low = sums[..., 0], sums[..., 1], sums[..., 2]
    # Below 2**20 the upper two limbs make an exact double, and so the one addition rounds once.
    small = np.abs(top) < (1 << 20)
    upper = ((np.where(small, top, 0) << _SHIFT) + mid).astype(np.float64)
    out = upper * 2.0**-32 + low * 2.0**-64
    for place in map(tuple, np.argwhere(~small)):
        whole = (int(top[place]) << 64) + (int(mid[place]) << 32) + int(low[place])
        out[place] = whole / (1 << 64)
    return np.asarray(out, dtype=np.float64)


def exact_sum(x: FloatArray) -> float:
    """The sum of the numbers, correctly rounded, whatever their order."""
    x = np.asarray(x, dtype=np.float64).ravel()
    if not fits(x):
        return _plain_sum(x)
    total = np.zeros((1, LIMBS), dtype=np.int64)
    for block in _blocks(len(x)):
        total += np.array([int(limb.sum()) for limb in _cut(x[block])], dtype=np.int64)
    return float(to_floats(carried(total))[0])


def group_limbs(
    x: FloatArray, codes: npt.NDArray[Any], groups: int, times: IntArray | None = None
) -> IntArray:
    """(groups, 3): the sums of x, each number taken `times` times, by group, in normal form."""
    out = np.zeros((groups, LIMBS), dtype=np.int64)
    for block in _blocks(len(x), groups):
        for place, limb in enumerate(_cut(x[block])):
            if times is None:
                part = np.bincount(codes[block], weights=limb, minlength=groups)
                out[:, place] += part.astype(np.int64)
            else:
                np.add.at(out[:, place], codes[block], limb.astype(np.int64) * times[block])
    return carried(out)


def exact_group_sums(
    x: FloatArray, codes: npt.NDArray[Any], groups: int, times: IntArray | None = None
) -> FloatArray:
    """(groups,): the sums of x by group, each correctly rounded, whatever the order."""
    x = np.asarray(x, dtype=np.float64)
    if fits(x):
        return to_floats(group_limbs(x, codes, groups, times))
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(groups + 1))
    taken = x if times is None else x * times
    found = [_plain_sum(taken[order[lo:hi]]) for lo, hi in itertools.pairwise(edges)]
    return np.array(found, dtype=np.float64)


def parts(x: FloatArray, most: int) -> list[FloatArray]:
    """Columns that add up to x, each of which sums exactly as doubles over any `most` numbers.

    So an ordinary sum of each part, in any order, is exact; x may be taken more than once.
    Whole numbers that are small enough come back as they are.
    """
    peak = float(np.abs(x).max()) if len(x) else 0.0
    if peak < np.finfo(np.float64).tiny * 2.0**60 or not math.isfinite(peak):
        # Nothing there, or so small that no finer step exists.
        return [x]
    step = 2.0 ** (math.frexp(peak * max(most, 1))[1] - 52)
    if step <= 1 and bool(np.all(x == np.trunc(x))):
        return [x]
    high = np.rint(x / step) * step
    # The remainder is at most half a step: it gets as many bits again.
    fine = step * 2.0 ** (math.frexp(float(max(most, 1)))[1] - 52)
    return [high, np.rint((x - high) / fine) * fine]


def _blocks(n: int, groups: int = 0) -> Iterator[slice]:
    """Slices short enough for exact sums, and not shorter than the groups are many."""
    size = min(max(_BLOCK, groups), 1 << 20)
    for start in range(0, n, size):
        yield slice(start, start + size)


def _plain_sum(x: FloatArray) -> float:
    """The sum of numbers that do not fit: `fsum`, or what IEEE says where some are not finite."""
    if np.isnan(x).any():
        return math.nan
    up, down = bool(np.isposinf(x).any()), bool(np.isneginf(x).any())
    if up or down:
        return math.nan if up and down else math.inf if up else -math.inf
    return math.fsum(x.tolist())
