"""Whether two columns of codes agree more than unrelated ones would."""

from __future__ import annotations

import math

import numpy as np

from karat.model.pairs import CodeArray, IntArray

Codes = CodeArray | IntArray

CERTAIN = 1.5
"""So many deviations above the best that chance would give: a poor model is no mistake."""


def beyond_chance(gold: Codes, said: Codes, classes: int, log_ways: float = 0.0) -> bool:
    """Whether they agree more than the best of so many ways to read an unrelated column would.

    Unrelated columns agree by their margins alone; the best of m ways lies about sqrt(2 ln m)
    deviations above that. `log_ways` is ln m.
    """
    n = len(gold)
    if not n:
        return False
    shares = (np.bincount(codes, minlength=classes) / n for codes in (gold, said))
    expected = min(1.0, float(np.prod([*shares], axis=0).sum()))
    spread = math.sqrt(n * expected * (1 - expected))
    agreed = int((gold == said).sum())
    return agreed - n * expected > (math.sqrt(2 * log_ways) + CERTAIN) * spread
