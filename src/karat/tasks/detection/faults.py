"""Every defect of a COCO file, found item by item where typed decoding stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from karat.model.problem import Problems
from karat.read.members import Item, items, list_items
from karat.read.place import Place, Spoiled, kind, show
from karat.read.strictjson import Malformed, StrictReader

LARGEST_ID = 2**63 - 1
"""Ids lie between minus this and this, so that they fit into 64 bits."""

Check = Callable[[Any, Place, str], None]


def report_repeats(found: Iterable[Item], strict: StrictReader, place: Place) -> None:
    """Report keys that stand twice in one object, which typed decoding cannot see."""
    for item in found:
        strict.report(item.value, _at(item, place))


def diagnose_labels(data: bytes, place: Place, error: str) -> None:
    """Report every defect of an annotation file; `error` where none is found."""
    before = place.problems.errors
    strict = StrictReader()
    members: set[str] = set()
    checks: Mapping[str, Check] = {
        "images": _check_image,
        "annotations": check_annotation,
        "categories": _check_category,
    }

    def walk(text: str) -> None:
        for item in items(text, strict):
            members.add(item.member)
            check = checks.get(item.member)
            if check is None:
                continue
            here = _at(item, place)
            if item.number < 0:
                here.add("coco-list", f"'{item.member}' must be a list", item.member)
                continue
            strict.report(item.value, here)
            check(item.value, here, f"{item.member}[{item.number}]")

    _gone_through(data, place, walk)
    for name in checks:
        if members and name not in members:
            place.add("coco-list", f"the list '{name}' is missing", name)
    if place.problems.errors == before:
        place.add("record-type", error)


def diagnose_results(data: bytes, place: Place, error: str) -> None:
    """Report every defect of a result file; `error` where none is found."""
    before = place.problems.errors
    strict = StrictReader()

    def walk(text: str) -> None:
        if not text.lstrip().startswith("["):
            message = "results must be a list of {image_id, category_id, bbox, score}"
            place.add("json-not-list", message)
            return
        for item in list_items(text, strict):
            here = _at(item, place)
            strict.report(item.value, here)
            check_result(item.value, here, "")

    _gone_through(data, place, walk)
    if place.problems.errors == before:
        place.add("record-type", error)


def diagnose_rows(rows: Sequence[Any], name: str, problems: Problems) -> None:
    """Report every defect of results in memory."""
    for i, row in enumerate(rows):
        check_result(row, Place(problems, name, None, i), "")


def _at(item: Item, place: Place) -> Place:
    """The place of one item of a file."""
    return Place(place.problems, place.file, item.line, max(item.number, 0))


def _gone_through(data: bytes, place: Place, walk: Callable[[str], None]) -> None:
    """Walk through the text of a file; what stops the walk is reported."""
    text = ""
    try:
        text = data.decode("utf-8")
        walk(text)
    except Malformed as stop:
        line = text.count("\n", 0, stop.at) + 1
        Place(place.problems, place.file, line).add("json-syntax", stop.message)
    except UnicodeDecodeError as stop:
        byte = f"0x{data[stop.start]:02x}"
        place.add("encoding", f"byte {byte} is not UTF-8; re-save the file as UTF-8")


def _check_image(value: Any, place: Place, path: str) -> None:
    if _is_object(value, place, path):
        _check_id(value, "id", place, path)
        for name in ("width", "height"):
            if value.get(name) is not None and not _number(value[name]):
                text = f"{show(value[name])} is a {kind(value[name])}; a number is required"
                place.add("image-size", text, f"{path}.{name}")


def _check_category(value: Any, place: Place, path: str) -> None:
    if _is_object(value, place, path):
        _check_id(value, "id", place, path)
        name = value.get("name", "")
        if not isinstance(name, str):
            text = f"{show(name)} is a {kind(name)}; a string is required"
            place.add("category-name-type", text, f"{path}.name")


def check_annotation(value: Any, place: Place, path: str) -> None:
    """Report every defect of one true box."""
    if not _is_object(value, place, path):
        return
    for name in ("image_id", "category_id"):
        _check_id(value, name, place, path)
    if "id" in value:
        _check_id(value, "id", place, path)
    _check_bbox(value, place, path)
    for name in ("area", "iscrowd", "ignore"):
        part = value.get(name)
        if part is not None and not _number(part) and not isinstance(part, bool):
            text = f"{show(part)} is a {kind(part)}; a number is required"
            place.add(f"{name}-type", text, f"{path}.{name}")


def check_result(value: Any, place: Place, path: str) -> None:
    """Report every defect of one detection."""
    if not _is_object(value, place, path):
        return
    for name in ("image_id", "category_id"):
        _check_id(value, name, place, path)
    _check_bbox(value, place, path)
    score = value.get("score")
    key = _join(path, "score")
    if "score" not in value:
        place.add("score-missing", "key 'score' is missing", key)
    elif not _number(score):
        place.add("score-type", f"{show(score)} is a {kind(score)}; a number is required", key)


def _is_object(value: Any, place: Place, path: str) -> bool:
    if isinstance(value, Mapping):
        return True
    place.add("not-object", f"item is a {kind(value)}; each item must be an object", path or None)
    return False


def _check_id(value: Mapping[str, Any], name: str, place: Place, path: str) -> None:
    key = _join(path, name)
    if name not in value:
        place.add("id-missing", f"key '{name}' is missing", key)
    elif kind(value[name]) != "integer":
        shown = f"{show(value[name])} is a {kind(value[name])}"
        place.add("id-type", f"{shown}; an integer is required", key)
    elif abs(value[name]) > LARGEST_ID:
        place.add("id-type", f"{show(value[name])} is too large for an id", key)


def _check_bbox(value: Mapping[str, Any], place: Place, path: str) -> None:
    box = value.get("bbox")
    key = _join(path, "bbox")
    if "bbox" not in value:
        place.add("box-missing", "key 'bbox' is missing", key)
    elif not isinstance(box, (list, tuple)):
        text = f"value is a {kind(box)}; a list of x, y, width, height is required"
        place.add("box-type", text, key)
    elif len(box) != 4:
        text = f"{len(box)} numbers; x, y, width and height are required"
        place.add("box-length", text, key)
    else:
        for i, number in enumerate(box):
            if not _number(number):
                text = f"{show(number)} is a {kind(number)}; a number is required"
                place.add("coordinate-type", text, f"{key}[{i}]")


def _number(value: Any) -> bool:
    return kind(value) in ("integer", "float") or isinstance(value, Spoiled)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
