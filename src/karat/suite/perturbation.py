"""Perturbed inputs: how often the prediction of a row flips when its input was changed.

The perturbed predictions come from a second cache, row by row beside those of evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from karat.model.seen import Boxes, Seen, Spans
from karat.stats.intervals import wilson
from karat.suite.judge import Found, judged, percent
from karat.suite.limits import Limit
from karat.suite.observed import Observed

SCORE_CUT = 0.5


def perturbation_flips(other: Observed, perturbed: Seen | None, limit: Limit) -> list[Found]:
    """The share of rows whose prediction is another one on the perturbed input.

    A prediction is the class; of mentions, how many there are of each type (their places may move
    with the text); of boxes, how many there are of each class from a score of 0.5 on.
    """
    if perturbed is None:
        return []
    mine, theirs = _answers(other.seen), _answers(perturbed)
    if mine is None or theirs is None:
        return []
    flips = np.array([a != b for a, b in zip(mine, theirs, strict=True)])
    share = float(flips.mean())
    low, high = wilson(share, len(flips))
    table: dict[str, float] = {}
    text = f"{int(flips.sum())} of {len(flips)} predictions flip on the perturbed inputs"
    if other.confidence is not None and other.predicted is not None and perturbed.chance_of:
        now_of = perturbed.chance_of(other.predicted)
        moved = float(np.abs(other.confidence - now_of).mean())
        table["mean change of probability"] = moved
        text += f"; the probability of what was predicted moves by {moved:.3f} on average"
    right = other.correct
    if right is not None and perturbed.predicted is not None and other.known is not None:
        now = (perturbed.predicted == other.labels)[other.known]
        before = float(right[other.known].mean())
        table |= {"accuracy": before, "accuracy on perturbed inputs": float(now.mean())}
        text += f"; accuracy goes from {percent(before)} to {percent(float(now.mean()))}"
    return [
        judged(
            limit,
            "predictions",
            share,
            "share of rows that flip",
            text,
            believed=limit.warn is None or low >= limit.warn,
            low=low,
            high=high,
            n_eval=len(flips),
            side=other,
            rows=np.flatnonzero(flips),
            table=table,
        )
    ]


def _answers(seen: Seen) -> Sequence[Hashable] | None:
    """What the model said of each row, as something that can be compared."""
    if seen.predicted is not None:
        return list(map(int, seen.predicted))
    if seen.predicted_spans is not None:
        return _counted(seen.predicted_spans, seen.n)
    if seen.predicted_boxes is not None:
        return _boxes(seen.predicted_boxes, seen.n)
    return None


def _counted(spans: Spans, n: int) -> list[Hashable]:
    found: list[Counter[str]] = [Counter() for _ in range(n)]
    for row, kind in zip(spans.row.tolist(), spans.type, strict=True):
        found[row][kind] += 1
    return [tuple(sorted(one.items())) for one in found]


def _boxes(boxes: Boxes, n: int) -> list[Hashable]:
    found: list[Counter[int]] = [Counter() for _ in range(n)]
    sure = np.ones(len(boxes.row), bool) if boxes.score is None else boxes.score >= SCORE_CUT
    for row, label in zip(boxes.row[sure].tolist(), boxes.label[sure].tolist(), strict=True):
        found[row][label] += 1
    return [tuple(sorted(one.items())) for one in found]
