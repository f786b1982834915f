"""Images in records: which key locates them, and what can be wrong with that."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from karat.errors import DataError
from karat.model.task import Source
from karat.read.place import Place, show

IMAGE_KEY = "image_path"


def image_key(source: Source, known: Collection[str]) -> str:
    """The key that locates the image of each record, judged by the first record of a file."""
    try:
        return key_of(source.peek().first, known)
    except DataError:
        return IMAGE_KEY


def key_of(first: Any, known: Collection[str]) -> str:
    """The first key with a text that is not `known` to be something else; `image_path` first."""
    if not isinstance(first, dict) or isinstance(first.get(IMAGE_KEY), str):
        return IMAGE_KEY
    texts = (key for key, v in first.items() if isinstance(v, str) and key not in known)
    return next(texts, IMAGE_KEY)


def check_image(record: Mapping[str, Any], place: Place) -> None:
    """Report a record without any text that could locate an image."""
    if not any(isinstance(v, str) for k, v in record.items() if k != "timestamp"):
        message = f"no string key that could locate the image (for example {IMAGE_KEY})"
        place.add("image-key-missing", message)


def report_twins(times: Mapping[str, int], key: str, place: Place) -> None:
    """Warn of images that appear more than once; `times` says how often each does."""
    for image, n in times.items():
        if n > 1:
            text = f"{show(image)[1:-1]} appears {n} times"
            place.add("image-duplicate", text, key, severity="warning")
