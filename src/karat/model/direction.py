"""Which way a score is better (up, down, towards a value, or neither), and where its scale ends."""

from __future__ import annotations

from typing import Literal

Better = Literal["higher", "lower", "near", "none"]

RANGES = {"fraction": (0.0, 1.0), "percent": (0.0, 100.0), "signed": (-1.0, 1.0)}
"""Scale of a metric -> the least and the most that it can be; other scales have no ends."""


def badness(value: float | None, better: str, near: float | None) -> tuple[bool, float]:
    """What sorts values worst first, undefined last. Where neither way is better, lowest first."""
    if value is None:
        return True, 0.0
    if better == "near":
        return False, -abs(value - (near or 0.0))
    return False, -value if better == "lower" else value
