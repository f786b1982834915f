"""Fractions or pixels: told from the data, never mixed in silence."""

from __future__ import annotations

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.tasks.detection.cache import Data
from karat.tasks.detection.checks import PIXELS
from karat.tasks.detection.predictions import Predicted
from karat.tasks.detection.records import BOXES, COORDINATES

Side = Data | Predicted


def settle(data: Data, predicted: Predicted | None, wanted: str) -> str:
    """The unit of both files: "fractions" or "pixels". What departs from it is reported."""
    sides: list[tuple[Side, str]] = [(data, "label")]
    if predicted is not None:
        sides.append((predicted, BOXES))
    seen = [_unit(side) if wanted == "auto" else wanted for side, _ in sides]
    for (side, key), unit in zip(sides, seen, strict=True):
        if unit is not None:
            _report_mixed(side, key, unit, wanted != "auto")
    known = [unit for unit in seen if unit is not None]
    if predicted is not None and len(set(known)) > 1:
        text = f"boxes here are in {seen[1]}, those of {data.reader.name} in {seen[0]}"
        hint = "multiply fractions by the width and height of the image, or divide pixels by them"
        predicted.reader.place().add("coordinate-mixed", text, BOXES, help=hint)
    unit = known[0] if known else "fractions"
    if wanted == "pixels" and all(_unit(side) == "fractions" for side, _ in sides):
        text = "taken as pixels, but no coordinate is above 1: every area would be small"
        data.reader.place().add("coordinate-fractions", text, "label", severity="warning")
    if unit == "fractions":
        for side, key in sides:
            _clip(side, key)
    return unit


def to_boxes(
    corners: FloatArray, row: IntArray, size: FloatArray, unit: str
) -> tuple[FloatArray, FloatArray]:
    """x, y, width, height of each box, and its area in square pixels where sizes are known."""
    x, y = corners[:, 0], corners[:, 2]
    box = np.stack([x, y, corners[:, 1] - x, corners[:, 3] - y], axis=1)
    area = box[:, 2] * box[:, 3]
    if unit == "fractions":
        pixels = size[row].prod(axis=1)
        area = np.where(pixels > 0, area * pixels, area)
    return box, area


def _unit(side: Side) -> str | None:
    """What most boxes of a file are in, None where there are none."""
    if not len(side.corners):
        return None
    large = np.abs(side.corners).max(axis=1) > PIXELS
    return "pixels" if 2 * large.sum() > len(large) else "fractions"


def _report_mixed(side: Side, key: str, unit: str, told: bool) -> None:
    """Report the boxes that cannot be in the unit of their file."""
    largest = np.abs(side.corners).max(axis=1, initial=0.0)
    odd = largest > PIXELS if unit == "fractions" else largest <= 1
    if unit == "pixels" and told:
        return
    for place in np.flatnonzero(odd).tolist():
        record, index = place_of(side, place)
        if unit == "fractions":
            text = (
                f"largest coordinate is {largest[place]:g}; coordinates are fractions of width and "
                "height, divide pixels by the image size"
            )
            code = "coordinate-pixels"
        else:
            text = f"largest coordinate is {largest[place]:g}, but the file is in pixels"
            code = "coordinate-fractions"
        side.reader.place(record).add(code, text, f"{key}[{index}]")


def _clip(side: Side, key: str) -> None:
    """Cut boxes to the image and say so."""
    low, high = side.corners < 0, side.corners > 1
    outside = (low | high) & (np.abs(side.corners) <= PIXELS)
    for place, corner in zip(*np.nonzero(outside), strict=True):
        record, index = place_of(side, int(place))
        text = f"{side.corners[place, corner]:g} lies just outside [0, 1] and is clipped"
        name = f"{key}[{index}].{COORDINATES[corner]}"
        side.reader.place(record).add("coordinate-clipped", text, name, severity="warning")
    if outside.any():
        side.clipped = np.asarray(outside.any(axis=1))
        side.corners = np.where(outside, side.corners.clip(0, 1), side.corners)


def place_of(side: Side, place: int) -> tuple[int, int]:
    """(record, number within it) of a box."""
    counts = np.maximum(side.count, 0)
    ends = np.cumsum(counts)
    record = int(np.searchsorted(ends, place, side="right"))
    return record, place - int(ends[record] - counts[record])
