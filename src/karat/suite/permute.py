"""Evidence by permutation: how often a drift this large comes from shuffling the rows.

Rows are shuffled, not words, mentions or boxes: those of one row depend on each other. Under no
drift the two sides are one sample, so every split of it is equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from karat.model.pairs import FloatArray, IntArray
from karat.stats.weights import Stream, stream
from karat.suite.distance import centroid_distance

SMALL, MANY, FEW = 2_000, 999, 199
MOST_ROWS = 5_000


class Ragged(NamedTuple):
    """Codes of the pieces of each row: words of a text, types of its mentions, bins of its boxes.

    Piece j belongs to row `row[j]` and has code `code[j]` in range(`codes`).
    """

    rows: int
    row: npt.NDArray[np.integer[Any]]
    code: IntArray
    codes: int

    def counts(self) -> IntArray:
        """How many pieces have each code."""
        return np.bincount(self.code, minlength=self.codes)

    def take(self, rows: IntArray) -> Ragged:
        """The pieces of the chosen rows."""
        place = np.full(self.rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        moved = place[self.row]
        kept = moved >= 0
        return Ragged(len(rows), moved[kept], self.code[kept], self.codes)


class Permuted(NamedTuple):
    """A permutation test: p by the (extreme + 1) / (draws + 1) rule.

    `mean` and `critical` are the mean and the 99 % quantile of the distance under no drift: what
    lies below `critical` could not be told from chance on data of this size. `thinner` is how much
    less chance all rows leave than the rows shuffled.
    """

    p: float
    mean: float
    critical: float
    draws: int
    thinner: float = 1.0


def permuted(seen: float, found: FloatArray) -> Permuted:
    """The test of a distance against those of the shuffles."""
    extreme = int((found >= seen - 1e-12 * abs(seen)).sum())
    critical = float(np.quantile(found, 0.99))
    return Permuted((extreme + 1) / (len(found) + 1), float(found.mean()), critical, len(found))


def trials(rows: int) -> int:
    """How many shuffles: many for few rows."""
    return MANY if rows <= SMALL else FEW


def rows_test(
    ref: Ragged,
    other: Ragged,
    distance: Callable[[IntArray, IntArray], FloatArray],
    seed: int,
    purpose: str,
) -> Permuted:
    """Whether two samples of rows differ by more than chance, in a distance of their counts.

    More than 5,000 rows a side are thinned for the shuffles; the distance is then measured on the
    thinned sides too, so that like is compared with like.
    """
    rng = stream(seed, purpose)
    sides = [_thinned(side, rng) for side in (ref, other)]
    draws = trials(sides[0].rows + sides[1].rows)
    seen = float(distance(sides[0].counts(), sides[1].counts()))
    found = np.concatenate([distance(a, b) for a, b in _shuffled(sides[0], sides[1], draws, rng)])
    # A divergence by chance is proportional to 1/n + 1/m.
    whole, used = (1 / a.rows + 1 / b.rows for a, b in ((ref, other), sides))
    return permuted(seen, found)._replace(thinner=whole / used)


def _thinned(side: Ragged, rng: Stream) -> Ragged:
    if side.rows <= MOST_ROWS:
        return side
    return side.take(np.sort(rng.choice(side.rows, MOST_ROWS, replace=False)))


def _shuffled(
    ref: Ragged, other: Ragged, draws: int, rng: Stream
) -> Iterator[tuple[IntArray, IntArray]]:
    """Blocks of (draws, codes) counts of both sides under random splits of all rows."""
    rows = ref.rows + other.rows
    row = np.concatenate([ref.row, other.row + ref.rows])
    code = np.concatenate([ref.code, other.code])
    whole = np.bincount(code, minlength=ref.codes)
    block = max(1, (1 << 22) // max(len(row), 1))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        left = np.empty((size, ref.codes), dtype=np.int64)
        for i in range(size):
            mine = np.zeros(rows, dtype=bool)
            mine[rng.permutation(rows)[: ref.rows]] = True
            left[i] = np.bincount(code[mine[row]], minlength=ref.codes)
        yield left, whole - left


def energy_test(
    ref: FloatArray, other: FloatArray, seed: int, purpose: str
) -> tuple[float, Permuted]:
    """(energy distance of two clouds of vectors, its permutation test).

    2 E|x - y| - E|x - x'| - E|y - y'|, means over all pairs. Distances are computed once; a
    shuffle only sums them anew. What chance reaches is told as a distance of centroids, the effect
    that this test is the evidence of.
    """
    from scipy.spatial.distance import cdist

    rng = stream(seed, purpose)
    most = MOST_ROWS // 4
    sides = [
        side if len(side) <= most else side[np.sort(rng.choice(len(side), most, replace=False))]
        for side in (ref, other)
    ]
    both = np.concatenate(sides)
    apart = cdist(both, both)
    n, m = len(sides[0]), len(sides[1])
    mine = np.zeros(n + m)
    mine[:n] = 1.0
    seen = _energy(apart, mine)
    draws = trials(n + m)
    found, middles = np.empty(draws), np.empty(draws)
    for i in range(draws):
        drawn = rng.permutation(mine)
        found[i] = _energy(apart, drawn)
        middles[i] = centroid_distance(both[drawn > 0], both[drawn == 0])
    critical = float(np.quantile(middles, 0.99))
    return seen, permuted(seen, found)._replace(critical=critical)


def _energy(apart: FloatArray, mine: FloatArray) -> float:
    other = 1.0 - mine
    n, m = mine.sum(), other.sum()
    to_mine = apart @ mine
    within, across = float(to_mine @ mine), float(to_mine @ other)
    beyond = float(apart.sum()) - within - 2 * across
    return float(2 * across / (n * m) - within / n**2 - beyond / m**2)
