"""Folders of Pascal VOC and YOLO files into the formats that are scored.

VOC's XML files become one COCO annotation file; corners there are counted from 1 and inclusive, so
a box is as wide as xmax - xmin + 1. YOLO's text files hold fractions and no image sizes, so they
become rows of a cache: data from labels, predictions from files that also have confidences.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.read.markup import elements
from karat.read.source import Source
from karat.tasks.detection.records import LARGEST_CLASS

Row = dict[str, Any]

CLASS_LIST = "classes.txt"
"""What labelling tools put beside YOLO's labels: names of classes, no boxes."""


# --- Pascal VOC ----------------------------------------------------------------------------------


def voc(
    inputs: Sequence[Path], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    """Write the COCO annotations of a folder of VOC files; difficult objects become ignored."""
    shift = 0.0 if options.get("corners") == "plain" else 1.0
    images: list[Row] = []
    found: list[tuple[str, Row]] = []
    for number, path in enumerate(_files(inputs, ".xml"), 1):
        try:
            image, boxes = _voc_image(path, number, shift, problems)
        except DataError as error:
            problems.join(error.problems)
            continue
        images.append(image)
        found += boxes
    names = sorted({name for name, _ in found})
    ids = {name: place for place, name in enumerate(names, 1)}
    notes = [{"id": i, "category_id": ids[name], **box} for i, (name, box) in enumerate(found, 1)]
    _write(
        output,
        {
            "images": images,
            "categories": [{"id": ids[name], "name": name} for name in names],
            "annotations": notes,
        },
    )


def _voc_image(
    path: Path, number: int, shift: float, problems: Problems
) -> tuple[Row, list[tuple[str, Row]]]:
    """The image of one file, and (class, box) of its objects."""
    blocks = list(Source.of(path).blocks())
    image: Row = {"id": number, "file_name": path.stem}
    for size in elements(path.name, blocks, "size"):
        sides = ("width", "height")
        values = [_number(size.children, side, path, size.line, problems) for side in sides]
        if all(value > 0 for value in values):
            image |= dict(zip(sides, values, strict=True))
        break
    out: list[tuple[str, Row]] = []
    for one in elements(path.name, blocks, "object"):
        name, corners = one.children.get("name", "").strip(), one.inner.get("bndbox")
        if not name or corners is None:
            text = "an object needs a name and a bndbox"
            problems.add("voc-object", text, file=path.name, line=one.line)
            continue
        ends = ("xmin", "ymin", "xmax", "ymax")
        x, y, right, low = (_number(corners, end, path, one.line, problems) for end in ends)
        if right < x or low < y:
            text = f"the box ends at ({right:g}, {low:g}), before it begins at ({x:g}, {y:g})"
            problems.add("voc-object", text, file=path.name, line=one.line)
            continue
        width, height = right - x + shift, low - y + shift
        hard = one.children.get("difficult", "0").strip() == "1"
        box = {"image_id": number, "bbox": [x - shift, y - shift, width, height]}
        out.append((name, {**box, "area": width * height, "iscrowd": int(hard)}))
    return image, out


def _number(
    children: Mapping[str, str], key: str, path: Path, line: int, problems: Problems
) -> float:
    try:
        value = float(children[key])
        if math.isfinite(value):
            return value
    except (KeyError, ValueError):
        pass
    problems.add("voc-number", f"a number '{key}' is needed", file=path.name, line=line, key=key)
    return 0.0


# --- YOLO ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class YoloBox:
    """One line of a YOLO file: a class, corners as fractions, a confidence where there is one."""

    category: int
    corners: Row
    confidence: float | None


def yolo_labels(
    inputs: Sequence[Path], output: Path, _options: Mapping[str, Any], problems: Problems
) -> None:
    """Write the data rows of a folder of YOLO labels, in the order of the file names."""
    rows = []
    for path in _files(inputs, ".txt"):
        boxes = list(_yolo_boxes(path, problems))
        label = [{"class_id": box.category, **box.corners} for box in boxes]
        rows.append({"image_path": path.stem, "label": label})
    _write_lines(output, rows)


def yolo_predictions(
    inputs: Sequence[Path], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    """Write the prediction rows of a folder of YOLO results, in the order of the labels' files.

    YOLO writes no file where it finds nothing: `labels=FOLDER` says which images there are.
    `classes=N` is the length of the vectors, else one more than the largest class.
    """
    if not options.get("labels"):
        raise UsageError(
            "YOLO writes no file for an image without detections",
            help="say which images there are: --option labels=FOLDER",
        )
    stems = [path.stem for path in _files([Path(str(options["labels"]))], ".txt")]
    found: dict[str, list[YoloBox]] = {}
    for path in _files(inputs, ".txt"):
        found[path.stem] = list(_yolo_boxes(path, problems))
        if path.stem not in set(stems):
            problems.add("image-unknown", "no file of labels has this name", file=path.name)
    largest = max((box.category for boxes in found.values() for box in boxes), default=0)
    width = _classes(options.get("classes"), largest + 1)
    rows = [
        {"predicted_bounding_boxes": _vectors(found.get(s, []), width, s, problems)} for s in stems
    ]
    _write_lines(output, rows)


def _classes(given: Any, least: int) -> int:
    """How long vectors are: as given, else as long as they must be."""
    if not given:
        return least
    if not str(given).isascii() or not str(given).isdigit() or not 0 < int(given) <= LARGEST_CLASS:
        raise UsageError(
            f"classes cannot be {given!r}", help="write a whole number: --option classes=80"
        )
    return int(given)


def _vectors(boxes: Sequence[YoloBox], width: int, stem: str, problems: Problems) -> list[Row]:
    """The boxes with vectors that hold the confidence at the class, 0 elsewhere."""
    out = []
    for box in boxes:
        if box.confidence is None:
            problems.add("score-missing", "a sixth number is needed", file=f"{stem}.txt")
        elif box.category >= width:
            text = f"class {box.category} but there are {width} classes"
            problems.add("label-range", text, file=f"{stem}.txt")
        else:
            vector = [0.0] * width
            vector[box.category] = box.confidence
            out.append({**box.corners, "probabilities": vector})
    return out


def _yolo_boxes(path: Path, problems: Problems) -> Iterator[YoloBox]:
    """The boxes of one file: class, centre, width, height and perhaps a confidence a line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        problems.add("encoding", f"byte 0x{byte:02x} is not UTF-8", file=path.name)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            box = _yolo_box(line)
            if box is None:
                what = "a line holds class, x, y, width, height and perhaps a confidence"
                problems.add("yolo-line", what, file=path.name, line=number)
            else:
                yield box


def _yolo_box(line: str) -> YoloBox | None:
    """The box of one line, None where it is none."""
    try:
        values = [float(part) for part in line.split()]
    except ValueError:
        return None
    if len(values) not in (5, 6) or not all(map(math.isfinite, values)):
        return None
    category, x, y, width, height = values[:5]
    if category != int(category) or not 0 <= category <= LARGEST_CLASS:
        return None
    corners = {
        "x_min": x - width / 2,
        "x_max": x + width / 2,
        "y_min": y - height / 2,
        "y_max": y + height / 2,
    }
    return YoloBox(int(category), corners, values[5] if len(values) == 6 else None)


def _files(inputs: Sequence[Path], ending: str) -> list[Path]:
    """The files of folders, by name."""
    found = [
        path
        for one in inputs
        for path in (sorted(one.iterdir()) if one.is_dir() else [one])
        if path.suffix == ending and path.name != CLASS_LIST
    ]
    if not found:
        raise UsageError(f"there is no {ending} file in {', '.join(map(str, inputs))}")
    return found


def _write(output: Path, value: Row) -> None:
    output.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8", newline="\n")


def _write_lines(output: Path, rows: Sequence[Row]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    output.write_text(text, encoding="utf-8", newline="\n")
