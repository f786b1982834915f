"""Which averages the summary holds, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.tasks.detection.boxes import Rules


@dataclass(frozen=True, slots=True)
class Wanted:
    """One average: of precision or recall, over thresholds of one area.

    `limit` is how many boxes of an image and class count, None for as many as there may be.
    """

    name: str
    area: int
    thresholds: tuple[int, ...]
    limit: int | None = None
    recall: bool = False


def summary_names(rules: Rules) -> list[Wanted]:
    """The averages of the summary, in the official order."""
    every = tuple(range(len(rules.overlaps)))
    out = [Wanted("AP", 0, every)]
    for overlap in (0.5, 0.75):
        places = tuple(np.flatnonzero(rules.overlaps == overlap).tolist())
        if places:
            out.append(Wanted(f"AP{overlap * 100:.0f}", 0, places))
    areas = [(i, name) for i, name in enumerate(rules.area_names) if i]
    out += [Wanted(f"AP_{name}", i, every) for i, name in areas]
    out += [Wanted(f"AR_{most}", 0, every, most, True) for most in rules.most]
    out += [Wanted(f"AR_{name}", i, every, None, True) for i, name in areas]
    return out
