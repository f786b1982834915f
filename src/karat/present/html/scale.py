"""From numbers to places on a picture: linear scales, round ticks, fewer points."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_POINTS = 200
"""No line is drawn with more vertices: nobody can see more in a few hundred pixels."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` on pixels from `start` to `end`; the outside is on the edge."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)


def spanning(values: Iterable[float | None], margin: float = 0.06) -> tuple[float, float]:
    """(low, high) that hold all values with some air, never of width 0."""
    known = [v for v in values if v is not None and math.isfinite(v)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    air = (high - low) * margin or abs(high) * margin or 0.5
    return low - air, high + air


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between the two, at most that many."""
    raw = (high - low) / max(most - 1, 1)
    if not math.isfinite(raw) or raw <= 0:
        return [low]
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * m for m in (1, 2, 2.5, 5, 10, 20) if unit * m >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(at * step, 12) + 0.0 for at in range(first, last + 1)]


def thinned(
    x: Sequence[float], y: Sequence[float], most: int = MOST_POINTS
) -> tuple[list[float], list[float]]:
    """The points that a line needs most: repeatedly the one furthest from the line so far."""
    if len(x) <= most:
        return list(x), list(y)
    wide, high = (max(x) - min(x)) or 1.0, (max(y) - min(y)) or 1.0
    points = [(a / wide, b / high) for a, b in zip(x, y, strict=True)]
    kept = {0, len(points) - 1}
    waiting = _furthest(points, 0, len(points) - 1)
    while waiting and len(kept) < most:
        _, at, first, last = heapq.heappop(waiting)
        kept.add(at)
        for part in (*_furthest(points, first, at), *_furthest(points, at, last)):
            heapq.heappush(waiting, part)
    order = sorted(kept)
    return [x[i] for i in order], [y[i] for i in order]


def _furthest(
    points: Sequence[tuple[float, float]], first: int, last: int
) -> list[tuple[float, int, int, int]]:
    """The point between the two that is furthest from their line; none where all lie on it."""
    if last - first < 2:
        return []
    (x0, y0), (x1, y1) = points[first], points[last]
    dx, dy = x1 - x0, y1 - y0
    length = math.hypot(dx, dy) or 1.0
    away, at = max(
        (abs(dx * (y0 - points[i][1]) - dy * (x0 - points[i][0])) / length, i)
        for i in range(first + 1, last)
    )
    return [(-away, at, first, last)] if away > 0 else []
