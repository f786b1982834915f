"""Many tests at once: adjusted p-values. What has no p (None, NaN) stays None, uncounted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from karat.model.pairs import FloatArray

MaybeP = Sequence[float | None]


def holm(ps: MaybeP) -> list[float | None]:
    """Holm's adjusted p: below a, they make no false claim at all with probability 1 - a.

    Needs no independence. Sort ascending; p(i) becomes the largest (m - j + 1) p(j), j <= i.
    """
    return _adjusted(ps, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(ps: MaybeP) -> list[float | None]:
    """Benjamini and Hochberg's q: claims with q below a are false in a share of at most a.

    For independent or positively dependent tests. Sort ascending; q(i) is the least m p(j) / j,
    j >= i.
    """
    return _adjusted(ps, _step_up)


def within(
    families: Sequence[str], ps: MaybeP, adjust: Callable[[MaybeP], list[float | None]]
) -> list[float | None]:
    """The p-values adjusted family by family, each in its place."""
    places: dict[str, list[int]] = {}
    for place, family in enumerate(families):
        places.setdefault(family, []).append(place)
    out: list[float | None] = [None] * len(ps)
    for members in places.values():
        for place, q in zip(members, adjust([ps[i] for i in members]), strict=True):
            out[place] = q
    return out


def _step_up(p: FloatArray) -> FloatArray:
    """The least m p(j) / j over j >= i, for ascending p."""
    scaled = p * len(p) / np.arange(1, len(p) + 1)
    return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1])


def _adjusted(ps: MaybeP, adjust: Callable[[FloatArray], FloatArray]) -> list[float | None]:
    """The p-values adjusted in ascending order and put back in their places."""
    known = [i for i, p in enumerate(ps) if p is not None and not math.isnan(p)]
    values = np.array([ps[i] for i in known], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    out: list[float | None] = [None] * len(ps)
    for place, q in zip(order, adjust(values[order]), strict=True):
        out[known[place]] = min(float(q), 1.0)
    return out
