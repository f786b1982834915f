"""The summary: means of the official arrays, to the same double."""

from __future__ import annotations

import numpy as np

from karat.tasks.detection.boxes import Rules
from karat.tasks.detection.evaluate import Accumulated

UNKNOWN = -1.0


def mean_precision(
    arrays: Accumulated, rules: Rules, overlap: float | None = None, area: str = "all", most: int = 100
) -> float:
    """Average precision; -1 where nothing is known. The mean runs in the official order."""
    s = arrays.precision
    if overlap is not None:
        s = s[np.flatnonzero(overlap == rules.overlaps)]
    s = s[:, :, :, _places(rules.area_names, area)][..., _places(rules.most, most)]
    return _mean(s)


def mean_recall(
    arrays: Accumulated, rules: Rules, overlap: float | None = None, area: str = "all", most: int = 100
) -> float:
    """Average recall; -1 where nothing is known."""
    s = arrays.recall
    if overlap is not None:
        s = s[np.flatnonzero(overlap == rules.overlaps)]
    s = s[:, :, _places(rules.area_names, area)][..., _places(rules.most, most)]
    return _mean(s)


def _places(names: tuple[object, ...], name: object) -> list[int]:
    return [i for i, one in enumerate(names) if one == name]


def _mean(s: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    known = s[s > UNKNOWN]
    return float(np.mean(known)) if len(known) else UNKNOWN
