"""Folders of Pascal VOC and YOLO files into the formats that are scored.

VOC's XML files become one COCO annotation file; corners there are counted from 1 and inclusive, so
a box is as wide as xmax - xmin + 1. YOLO's text files hold fractions and no image sizes, so they
become rows of a cache: data from labels, predictions from files that also have confidences.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.read.markup import Element, elements
from karat.read.source import Source

Row = dict[str, Any]


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
            for problem in error.problems:
                problems.take(problem)
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
    size = next(iter(elements(path.name, blocks, "size")), None)
    image: Row = {"id": number, "file_name": path.stem}
    if size is not None:
        sides = {side: _number(size, side, path, problems) for side in ("width", "height")}
        image |= {side: value for side, value in sides.items() if value}
    corners = list(elements(path.name, blocks, "bndbox"))
    out: list[tuple[str, Row]] = []
    for one in elements(path.name, blocks, "object"):
        # Parts of an object have boxes of their own, behind the object's.
        while corners and corners[0].line < one.line:
            corners.pop(0)
        if not corners or not one.children.get("name", "").strip():
            text = "an object needs a name and a bndbox"
            problems.add("voc-object", text, file=path.name, line=one.line)
            continue
        corner = corners.pop(0)
        ends = [_number(corner, key, path, problems) for key in ("xmin", "ymin", "xmax", "ymax")]
        x, y, width = ends[0] - shift, ends[1] - shift, ends[2] - ends[0] + shift
        height = ends[3] - ends[1] + shift
        hard = one.children.get("difficult", "0").strip() == "1"
        box = {"image_id": number, "bbox": [x, y, width, height], "area": width * height}
        out.append((one.children["name"].strip(), {**box, "iscrowd": int(hard)}))
    return image, out


def _number(element: Element, key: str, path: Path, problems: Problems) -> float:
    try:
        return float(element.children[key])
    except (KeyError, ValueError):
        text = f"{element.name} needs a number '{key}'"
        problems.add("voc-number", text, file=path.name, line=element.line, key=key)
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
    width = int(options.get("classes") or largest + 1)
    rows = [
        {"predicted_bounding_boxes": _vectors(found.get(s, []), width, s, problems)} for s in stems
    ]
    _write_lines(output, rows)


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
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            values = [float(part) for part in line.split()]
            if len(values) not in (5, 6) or values[0] < 0 or values[0] != int(values[0]):
                raise ValueError
        except ValueError:
            text = "a line holds class, x, y, width, height and perhaps a confidence"
            problems.add("yolo-line", text, file=path.name, line=number)
            continue
        _, x, y, width, height = values[:5]
        corners = {
            "x_min": x - width / 2,
            "x_max": x + width / 2,
            "y_min": y - height / 2,
            "y_max": y + height / 2,
        }
        yield YoloBox(int(values[0]), corners, values[5] if len(values) == 6 else None)


def _files(inputs: Sequence[Path], ending: str) -> list[Path]:
    """The files of folders, by name."""
    found = [
        path
        for one in inputs
        for path in (sorted(one.iterdir()) if one.is_dir() else [one])
        if path.suffix == ending
    ]
    if not found:
        raise UsageError(f"there is no {ending} file in {', '.join(map(str, inputs))}")
    return found


def _write(output: Path, value: Row) -> None:
    output.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8", newline="\n")


def _write_lines(output: Path, rows: Sequence[Row]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    output.write_text(text, encoding="utf-8", newline="\n")
