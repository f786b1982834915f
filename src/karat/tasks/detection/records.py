"""What one line of data and one line of predictions hold in a cache."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from karat.model.task import Declared
from karat.read.declared import Missing, data_schema
from karat.read.fields import Fields
from karat.read.images import IMAGE_KEY

BOXES = "predicted_bounding_boxes"
COORDINATES = ("x_min", "x_max", "y_min", "y_max")
KNOWN = ("label", "timestamp", "meta", BOXES, IMAGE_KEY, "width", "height")
LARGEST_CLASS = 2**16 - 1


class TrueBox(msgspec.Struct, gc=False, frozen=True):
    """One box of the data."""

    class_id: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_CLASS)]
    x_min: float
    x_max: float
    y_min: float
    y_max: float


class FoundBox(msgspec.Struct, gc=False, frozen=True):
    """One box of a prediction, with a probability for each class."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float
    probabilities: list[float]


class Prediction(msgspec.Struct, gc=False, frozen=True):
    """One line of predictions."""

    predicted_bounding_boxes: list[FoundBox]


class InlinePrediction(msgspec.Struct, gc=False, frozen=True):
    """One line of data of which only its own predictions matter."""

    predicted_bounding_boxes: list[FoundBox] | Missing | None = msgspec.UNSET


def gold_schema(fields: Fields, image: str, declared: Declared) -> type[msgspec.Struct]:
    """The Struct of a line of data: only what is checked or asked for is decoded."""
    base: dict[str, tuple[Any, Any]] = {
        "label": (list[TrueBox] | None | Missing, msgspec.UNSET),
        image: (str | None | Missing, msgspec.UNSET),
        "width": (float | None | Missing, msgspec.UNSET),
        "height": (float | None | Missing, msgspec.UNSET),
    }
    return data_schema(base, fields, declared)
