"""What one line of data and one line of predictions hold, in the three classification tasks."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from karat.model.task import Declared
from karat.read.declared import Missing, data_schema
from karat.read.fields import Fields
from karat.read.images import IMAGE_KEY

LARGEST_LABEL = 2**31 - 1

Label = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_LABEL)] | Missing | None

REQUIRED_TEXTS = {
    "text-classification": ("text",),
    "nli": ("text", "text_pair"),
    "image-classification": (),
}
"""Task -> the keys that must hold text."""

KNOWN = ("text", "text_pair", "label", "timestamp", "meta", "probabilities", IMAGE_KEY)


class Prediction(msgspec.Struct, gc=False, frozen=True):
    """One line of predictions: a probability for each class."""

    probabilities: list[float]


def gold_schema(task: str, fields: Fields, declared: Declared, image: str) -> type[msgspec.Struct]:
    """The Struct of a line of data: only what is checked or asked for is decoded."""
    base: dict[str, tuple[Any, Any]] = {}
    for key in REQUIRED_TEXTS[task]:
        base[key] = (str, msgspec.NODEFAULT)
    base["label"] = (Label, msgspec.UNSET)
    if not REQUIRED_TEXTS[task]:
        base[image] = (str | None | Missing, msgspec.UNSET)
    return data_schema(base, fields, declared)
