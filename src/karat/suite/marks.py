"""Drift of what rows carry: mentions and their types, boxes and their places.

Each looks at what the labels mark or at what the predictions do: `which` says at which of the two.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.model.seen import Boxes, Spans
from karat.suite.judge import Found
from karat.suite.limits import Limit
from karat.suite.movement import binned_case, number_case, ragged_case
from karat.suite.observed import Observed
from karat.suite.permute import Ragged

Which = Literal["labels", "predictions"]
ADJECTIVE: dict[Which, str] = {"labels": "labelled", "predictions": "predicted"}


def entity_type_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int, which: Which = "labels"
) -> list[Found]:
    """The types of the mentions."""
    a, b = _spans(ref, which), _spans(other, which)
    if a is None or b is None:
        return []
    names = sorted({*a.type, *b.type})
    code_of = {name: i for i, name in enumerate(names)}
    sides = [
        Ragged(
            side.n,
            spans.row,
            np.array([code_of[t] for t in spans.type], dtype=np.int64),
            len(names),
        )
        for side, spans in ((ref, a), (other, b))
    ]
    return [ragged_case(sides, names, which, limit, seed)]


def entity_length_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Characters a labelled mention."""
    if ref.spans is None or other.spans is None:
        return []
    pieces = [
        (side.n, spans.row, (spans.end - spans.start).astype(np.float64))
        for side, spans in ((ref, ref.spans), (other, other.spans))
    ]
    return [binned_case(pieces, "length of mentions", limit, seed)]


def entities_per_row_drift(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Labelled mentions a row."""
    if ref.spans is None or other.spans is None:
        return []
    counts = _counts(ref, ref.spans.row), _counts(other, other.spans.row)
    return [number_case(limit, "mentions a row", *counts, "number of mentions")]


def class_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int, which: Which = "labels"
) -> list[Found]:
    """The classes of the boxes."""
    a, b = _boxes(ref, which), _boxes(other, which)
    if a is None or b is None or not len(a.row) or not len(b.row):
        return []
    width = int(max(a.label.max(), b.label.max())) + 1
    names = [ref.classes[i] if i < len(ref.classes) else str(i) for i in range(width)]
    sides = [Ragged(s.n, boxes.row, boxes.label, width) for s, boxes in ((ref, a), (other, b))]
    return [ragged_case(sides, names, which, limit, seed)]


def box_area_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int, which: Which = "labels"
) -> list[Found]:
    """The area of the boxes."""
    a, b = _boxes(ref, which), _boxes(other, which)
    if a is None or b is None:
        return []
    pieces = [(ref.n, a.row, a.area()), (other.n, b.row, b.area())]
    return [binned_case(pieces, f"area of {ADJECTIVE[which]} boxes", limit, seed)]


def boxes_per_image_drift(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Boxes an image, labelled and predicted."""
    found = []
    for which, name in ADJECTIVE.items():
        a, b = _boxes(ref, which), _boxes(other, which)
        if a is not None and b is not None:
            counts = _counts(ref, a.row), _counts(other, b.row)
            subject, what = f"{name} boxes an image", f"number of {name} boxes"
            found.append(number_case(limit, subject, *counts, what))
    return found


def box_position_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Where the centres of labelled boxes lie."""
    if ref.boxes is None or other.boxes is None:
        return []
    found = []
    for axis, low, high in (("x", 0, 2), ("y", 1, 3)):
        pieces = [
            (side.n, boxes.row, (boxes.corners[:, low] + boxes.corners[:, high]) / 2)
            for side, boxes in ((ref, ref.boxes), (other, other.boxes))
        ]
        found.append(binned_case(pieces, f"centre {axis}", limit, seed))
    return found


def _spans(side: Observed, which: Which) -> Spans | None:
    return side.spans if which == "labels" else side.predicted_spans


def _boxes(side: Observed, which: Which) -> Boxes | None:
    return side.boxes if which == "labels" else side.predicted_boxes


def _counts(side: Observed, row: IntArray) -> FloatArray:
    """How many marks each row has."""
    return np.bincount(row, minlength=side.n).astype(np.float64)
