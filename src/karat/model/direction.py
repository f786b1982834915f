"""Which way a score is better: up, down, towards a value, or neither."""

from __future__ import annotations

from typing import Literal

Better = Literal["higher", "lower", "near", "none"]


def badness(value: float | None, better: str, near: float | None) -> tuple[bool, float]:
    """What sorts values worst first, undefined last. Where neither way is better, lowest first."""
    if value is None:
        return True, 0.0
    if better == "near":
        return False, -abs(value - (near or 0.0))
    return False, -value if better == "lower" else value
