"""The summary: means of the official arrays, to the same double."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from karat.tasks.detection.boxes import Rules
from karat.tasks.detection.evaluate import Accumulated
from karat.tasks.detection.wanted import Wanted

UNKNOWN = -1.0


def summarised(arrays: Accumulated, rules: Rules, wanted: Wanted) -> float:
    """One average of the summary, NaN where nothing is known.

    The mean runs over the entries in the official order, because sums of doubles have one.
    """
    limit = len(rules.most) - 1 if wanted.limit is None else rules.most.index(wanted.limit)
    chosen = list(wanted.thresholds)
    if wanted.recall:
        return _mean(arrays.recall[chosen][:, :, wanted.area, limit])
    return _mean(arrays.precision[chosen][:, :, :, wanted.area, limit])


def by_class(arrays: Accumulated) -> Sequence[float]:
    """The average precision of each category, over all areas and with the largest limit."""
    table = arrays.precision[:, :, :, 0, -1]
    return [_mean(table[:, :, k]) for k in range(table.shape[2])]


def _mean(values: npt.NDArray[np.float64]) -> float:
    known = values[values > UNKNOWN]
    return float(np.mean(known)) if len(known) else math.nan
