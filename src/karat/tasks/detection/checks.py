"""What can be wrong with one record of a cache, and how it is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.model.task import Declared
from karat.read.checks import check_embedding, check_meta, check_timestamp, found
from karat.read.fields import check_paths
from karat.read.images import check_image
from karat.read.place import Place, Spoiled, kind, show
from karat.read.probabilities import UsualLength, report_outside
from karat.tasks.detection.records import BOXES, COORDINATES, KNOWN, LARGEST_CLASS

PIXELS = 1.5
"""A larger coordinate is no fraction of an image, not even of a box that juts out."""

SUM_SLACK = 0.02


@dataclass(frozen=True, slots=True)
class DataChecks:
    """What a line of data must hold."""

    declared: Declared
    wanted: tuple[str, ...] = ()

    def diagnose(self, record: dict[str, Any], place: Place) -> None:
        """Report every defect of a line of data that typed decoding refused."""
        self.look(record, place)
        for name in self.declared.embeddings:
            check_embedding(record, name, place)

    def look(self, record: dict[str, Any], place: Place) -> None:
        """Report every defect of a line of data, but leave embeddings to their own check."""
        check_image(record, place)
        self._label(record.get("label"), place)
        for name in ("width", "height"):
            value = record.get(name)
            if value is not None and not _number(value):
                text = f"{show(value)} is a {kind(value)}; a number is required"
                place.add("image-size", text, name)
        check_timestamp(record, place)
        check_meta(record, self.declared.numeric, place)
        check_paths(record, self.wanted, place)

    def _label(self, label: Any, place: Place) -> None:
        if label is None or isinstance(label, Spoiled):
            return
        if not isinstance(label, list):
            place.add(
                "label-type", f"value is a {kind(label)}; a list of boxes is required", "label"
            )
            return
        for i, box in enumerate(label):
            path = f"label[{i}]"
            if not isinstance(box, dict):
                place.add("box-type", f"{show(box)} is a {kind(box)}; an object is required", path)
                continue
            self._class(box, path, place)
            check_box(box, path, place)

    def _class(self, box: Mapping[str, Any], path: str, place: Place) -> None:
        if "class_id" not in box:
            text = f"key 'class_id' is missing{found(box, 'class_id', COORDINATES)}"
            place.add("box-no-class", text, path)
            return
        value = box["class_id"]
        if kind(value) != "integer":
            text = f"{show(value)} is a {kind(value)}; an integer is required"
            place.add("class-id-type", text, f"{path}.class_id")
        elif value < 0:
            place.add("label-range", f"{value} is negative; classes run from 0", f"{path}.class_id")
        elif value > LARGEST_CLASS:
            text = f"{show(value)} is too large for a class index"
            place.add("label-range", text, f"{path}.class_id")


class PredictionChecks:
    """What a line of predictions must hold; `lengths` counts how long the vectors of a file are."""

    def __init__(self, lengths: Callable[[], Counter[int]]) -> None:
        self.usual = UsualLength(lengths)

    def diagnose(self, record: dict[str, Any], place: Place) -> None:
        """Report every defect of a line of predictions."""
        if BOXES not in record:
            text = f"required key '{BOXES}' is missing{found(record, BOXES, KNOWN)}"
            place.add("prediction-missing", text, BOXES)
            return
        boxes = record[BOXES]
        if boxes is None:
            place.add(
                "prediction-null", "value is null; write [] when nothing was predicted", BOXES
            )
            return
        if not isinstance(boxes, list):
            text = f"value is a {kind(boxes)}; a list of boxes is required"
            place.add("prediction-type", text, BOXES)
            return
        for i, box in enumerate(boxes):
            path = f"{BOXES}[{i}]"
            if not isinstance(box, dict):
                place.add("box-type", f"{show(box)} is a {kind(box)}; an object is required", path)
                continue
            check_box(box, path, place)
            self._vector(box, path, place)

    def _vector(self, box: Mapping[str, Any], path: str, place: Place) -> None:
        if "probabilities" not in box:
            text = f"key 'probabilities' is missing{found(box, 'probabilities', COORDINATES)}"
            place.add("box-no-probabilities", text, path)
            return
        vector = box["probabilities"]
        key = f"{path}.probabilities"
        if not isinstance(vector, list):
            text = f"value is a {kind(vector)}; a list of numbers is required"
            place.add("probabilities-type", text, key)
        elif not vector:
            place.add("probabilities-empty", "list is empty", key)
        elif _are_numbers(vector, key, place) and not self.usual.report(len(vector), BOXES, place):
            report_outside(vector, key, place)


def check_box(box: Mapping[str, Any], path: str, place: Place) -> None:
    """Report corners that are missing, no numbers, or the wrong way round."""
    good = True
    for name in COORDINATES:
        if name not in box:
            text = f"key '{name}' is missing{found(box, name, COORDINATES)}"
            place.add("box-no-coordinate", text, path)
            good = False
        else:
            good = _is_number(box[name], f"{path}.{name}", place, "coordinate-type") and good
    if not good:
        return
    for axis in "xy":
        low, high = box[f"{axis}_min"], box[f"{axis}_max"]
        if low > high:
            text = f"{axis}_min {show(low)} is greater than {axis}_max {show(high)}"
            hint = "is it x, y, width, height? this format wants both corners"
            place.add("box-order", text, path, help=hint)
            return
        if low == high:
            text = f"{axis}_min equals {axis}_max; the box has no area"
            place.add("box-empty", text, path)
            return


def _are_numbers(vector: Sequence[Any], key: str, place: Place) -> bool:
    """Whether all entries are numbers; each that is not is reported."""
    good = [_is_number(p, f"{key}[{i}]", place) for i, p in enumerate(vector)]
    return all(good)


def _is_number(value: Any, key: str, place: Place, code: str = "probability-type") -> bool:
    if isinstance(value, Spoiled):
        return False
    if _number(value):
        return True
    place.add(code, f"{show(value)} is a {kind(value)}; a number is required", key)
    return False


def _number(value: Any) -> bool:
    return kind(value) in ("integer", "float")
