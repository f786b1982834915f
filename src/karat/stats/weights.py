"""The only randomness of karat: how often each unit is drawn, and which units are swapped.

Every purpose has its own stream, named, from the one seed; a stream is consumed draw by draw in
order, so an answer depends on the seed and the data alone, not on threads, chunks or memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from karat.model.pairs import IntArray

Stream = np.random.Generator
"""Where the random numbers of one purpose come from."""

_BLOCK = 1 << 21


def stream(seed: int, purpose: str) -> Stream:
    """The random generator of one purpose: independent of those of all other purposes."""
    key = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))


def resamples(count: IntArray, draws: int, seed: int, purpose: str) -> Iterator[IntArray]:
    """Blocks (b, rows) of how often each row is drawn when all units are drawn with replacement.

    One multinomial over the distinct rows has the same distribution as drawing the units one by
    one, and costs nothing for each unit.
    """
    rng = stream(seed, purpose)
    units = int(count.sum())
    if not units:
        return
    if bool((count == 1).all()):
        for size in _blocks(draws, units):
            yield _drawn_one_by_one(rng, units, size)
        return
    shares = count / units
    for size in _blocks(draws, len(count)):
        yield rng.multinomial(units, shares, size=size)


def swaps(count: IntArray, draws: int, seed: int, purpose: str) -> Iterator[IntArray]:
    """Blocks (b, rows) of how many units of each row trade places: a fair coin for each unit."""
    rng = stream(seed, purpose)
    alone = bool((count == 1).all())
    for size in _blocks(draws, max(len(count), 1)):
        if alone:
            # A row of whole bytes, so that a block boundary never falls inside one.
            bits = rng.bytes(size * (-(-len(count) // 8)))
            packed = np.frombuffer(bits, dtype=np.uint8).reshape(size, -1)
            yield np.unpackbits(packed, axis=1, count=len(count)).astype(np.int64)
        else:
            yield rng.binomial(count, 0.5, size=(size, len(count)))


def _drawn_one_by_one(rng: Stream, units: int, size: int) -> IntArray:
    """(size, units): how often each of the units came up in `units` draws."""
    out = np.empty((size, units), dtype=np.int64)
    for row in out:
        row[:] = np.bincount(rng.integers(0, units, size=units), minlength=units)
    return out


def _blocks(draws: int, width: int) -> Iterator[int]:
    """Sizes of blocks that keep an array of (size, width) small."""
    size = max(1, _BLOCK // width)
    for start in range(0, draws, size):
        yield min(size, draws - start)
