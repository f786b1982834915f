"""Drift of what rows carry: mentions and their types, boxes and their places."""

from __future__ import annotations

import numpy as np

from karat.model.seen import Boxes, Spans
from karat.suite.judge import Found
from karat.suite.limits import Limit
from karat.suite.movement import (
    binned_case,
    number_case,
    ragged_case,
)
from karat.suite.observed import Observed
from karat.suite.permute import Ragged


def entity_type_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The types of the labelled mentions."""
    return _types(ref, other, ref.spans, other.spans, "labels", limit, seed)


def predicted_entity_type_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int
) -> list[Found]:
    """The types of the predicted mentions."""
    spans = ref.predicted_spans, other.predicted_spans
    return _types(ref, other, *spans, "predictions", limit, seed)


def _types(
    ref: Observed,
    other: Observed,
    a: Spans | None,
    b: Spans | None,
    subject: str,
    limit: Limit,
    seed: int,
) -> list[Found]:
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
    return [ragged_case(sides, names, subject, limit, seed)]


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
    counts = [
        np.bincount(spans.row, minlength=side.n).astype(np.float64)
        for side, spans in ((ref, ref.spans), (other, other.spans))
    ]
    return [number_case(limit, "mentions a row", counts[0], counts[1], "number of mentions")]


def class_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The classes of labelled boxes."""
    return _classes(ref, other, ref.boxes, other.boxes, "labels", limit, seed)


def predicted_class_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The classes of predicted boxes."""
    boxes = ref.predicted_boxes, other.predicted_boxes
    return _classes(ref, other, *boxes, "predictions", limit, seed)


def _classes(
    ref: Observed,
    other: Observed,
    a: Boxes | None,
    b: Boxes | None,
    subject: str,
    limit: Limit,
    seed: int,
) -> list[Found]:
    if a is None or b is None or not len(a.row) or not len(b.row):
        return []
    width = int(max(a.label.max(), b.label.max())) + 1
    names = [ref.classes[i] if i < len(ref.classes) else str(i) for i in range(width)]
    sides = [Ragged(s.n, boxes.row, boxes.label, width) for s, boxes in ((ref, a), (other, b))]
    return [ragged_case(sides, names, subject, limit, seed)]


def box_area_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The area of labelled boxes."""
    return _areas(ref, other, ref.boxes, other.boxes, "area of labelled boxes", limit, seed)


def predicted_box_area_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int
) -> list[Found]:
    """The area of predicted boxes."""
    boxes = ref.predicted_boxes, other.predicted_boxes
    return _areas(ref, other, *boxes, "area of predicted boxes", limit, seed)


def _areas(
    ref: Observed,
    other: Observed,
    a: Boxes | None,
    b: Boxes | None,
    subject: str,
    limit: Limit,
    seed: int,
) -> list[Found]:
    if a is None or b is None:
        return []
    pieces = [(ref.n, a.row, a.area()), (other.n, b.row, b.area())]
    return [binned_case(pieces, subject, limit, seed)]


def boxes_per_image_drift(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Boxes an image, labelled and predicted."""
    found = []
    for name, a, b in (
        ("labelled", ref.boxes, other.boxes),
        ("predicted", ref.predicted_boxes, other.predicted_boxes),
    ):
        if a is None or b is None:
            continue
        counts = [
            np.bincount(boxes.row, minlength=side.n).astype(np.float64)
            for side, boxes in ((ref, a), (other, b))
        ]
        what = f"number of {name} boxes"
        found.append(number_case(limit, f"{name} boxes an image", counts[0], counts[1], what))
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
