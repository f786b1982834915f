"""What the options mean: thresholds, ranges of area, limits, and how vectors become detections."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from karat.errors import UsageError
from karat.model.pairs import FloatArray, IntArray
from karat.tasks.detection.boxes import COCO_AREAS, Rules, coco_rules

Choose = Callable[[FloatArray, IntArray], tuple[IntArray, IntArray]]
"""(vectors, boxes of each image) -> (box, class) of the detections."""


def rules_of(options: Mapping[str, Any], sized: bool, pixels: bool) -> tuple[Rules, bool]:
    """The rules, and whether areas are fractions of the image.

    Ranges in pixels need pixels: without the sizes of the images only "all" is left, and asking
    for ranges is an error.
    """
    base = coco_rules()
    overlaps = _overlaps(str(options["iou"])) if options.get("iou") else base.overlaps
    most = _limits(options.get("max_boxes") or "1,10,100")
    asked = str(options.get("areas") or "")
    areas, relative = _areas(asked) if asked else (dict(COCO_AREAS), False)
    if not relative and not (pixels or sized):
        if asked:
            raise UsageError(
                "areas in pixels need the sizes of the images",
                help="add width and height to the data rows, or write ranges in %: tiny=0%:1%",
            )
        areas = {"all": COCO_AREAS["all"]}
    if relative and pixels and not sized:
        raise UsageError(
            "areas in % need the sizes of the images",
            help="add width and height to the data rows, or write ranges in square pixels",
        )
    convention = str(options.get("convention") or "coco")
    voc = convention != "coco"
    if voc and not options.get("iou"):
        overlaps = np.array([0.5])
    # Eleven decimals, not np.linspace: a recall of exactly 3/10 reaches 0.3.
    recalls = np.arange(11) / 10 if convention == "voc07" else base.recalls
    names = tuple(areas)
    return Rules(overlaps, recalls, tuple(areas.values()), names, most, voc), relative


def refuse_cache_options(options: Mapping[str, Any]) -> None:
    """Refuse what would change nothing: COCO files have classes, scores and pixels of their own."""
    for name, plain in (("boxes", "argmax"), ("background", "none"), ("coordinates", "auto")):
        given = options.get(name)
        if given not in (None, "", plain, "pixels"):
            raise UsageError(
                f"--{name} {given} says nothing about COCO files",
                help="they have classes, scores and pixels of their own; it is for caches",
            )


def _overlaps(text: str) -> FloatArray:
    """Thresholds: a list, or first:last:number as np.linspace makes it."""
    try:
        parts = [float(part) for part in str(text).split(":")] if ":" in str(text) else []
        values = [float(part) for part in str(text).split(",")] if not parts else []
    except ValueError:
        raise _bad("iou", text, "write 0.5,0.75 or 0.5:0.95:10") from None
    if len(parts) == 3 and parts[2] == int(parts[2]) and parts[2] >= 1:
        values = np.linspace(parts[0], parts[1], int(parts[2])).tolist()
    elif parts:
        raise _bad("iou", text, "a range has a first and last threshold and their number")
    if not all(0 < v <= 1 for v in values) or len(set(values)) != len(values):
        raise _bad("iou", text, "thresholds lie above 0, up to 1, each once")
    return np.array(values)


def _limits(text: str) -> tuple[int, ...]:
    try:
        values = sorted({int(part) for part in str(text).split(",")})
    except ValueError:
        raise _bad("max_boxes", text, "write 1,10,100") from None
    if values[0] < 1:
        raise _bad("max_boxes", text, "a limit is at least 1")
    return tuple(values)


def _areas(text: str) -> tuple[dict[str, tuple[float, float]], bool]:
    """Ranges by name, "all" first; fractions where written with %."""
    found = {"all": COCO_AREAS["all"]}
    for part in text.split(","):
        name, _, ends = part.partition("=")
        low, mark, high = ends.partition(":")
        try:
            if not mark or not name.strip() or name.strip() in found:
                raise ValueError
            found[name.strip()] = _area(low, 0.0), _area(high, COCO_AREAS["all"][1])
        except ValueError:
            hint = "write name=low:high, as in small=0:1024 or tiny=0%:1%; each once, all is there"
            raise _bad("areas", text, hint) from None
    relative = ["%" in part for part in text.split(",")]
    if any(relative) and not all(relative):
        raise _bad("areas", text, "ranges are all in square pixels or all in %")
    return found, any(relative)


def _area(text: str, default: float) -> float:
    text = text.strip()
    if not text:
        return default
    value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if math.isnan(value):
        raise ValueError
    return value


def chooser(options: Mapping[str, Any]) -> Choose | None:
    """How the vectors of a batch of images become detections; None: each box's likeliest class."""
    mode, _, number = str(options.get("boxes") or "argmax").partition(":")
    background = str(options.get("background") or "none")
    try:
        if mode == "argmax" and not number:
            if background == "none":
                return None
            return lambda values, _: _argmax(_foreground(values, background))
        if mode == "multilabel" and 0 <= float(number) <= 1:
            threshold = float(number)
            return lambda values, _: _several(_foreground(values, background), threshold)
        if mode == "topk" and int(number) >= 1:
            k = int(number)
            return lambda values, counts: _best(_foreground(values, background), counts, k)
    except ValueError:
        pass
    raise _bad("boxes", options.get("boxes"), "choose argmax, multilabel:T (as in 0.05) or topk:K")


def _foreground(values: FloatArray, background: str) -> FloatArray:
    """The vectors with the background out of reach."""
    if background == "none":
        return values
    out = values.copy()
    out[:, 0 if background == "first" else -1] = -np.inf
    return out


def _argmax(values: FloatArray) -> tuple[IntArray, IntArray]:
    """One detection a box: the most probable class, of equal ones the first."""
    return np.arange(len(values)), values.argmax(axis=1)


def _several(values: FloatArray, threshold: float) -> tuple[IntArray, IntArray]:
    """One detection a box and class that reaches the threshold."""
    box, best = np.nonzero(values >= threshold)
    return box, best


def _best(values: FloatArray, counts: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """The k most probable pairs of box and class of each image, ties in the order of the file."""
    row = np.repeat(np.arange(len(counts)), counts * values.shape[1])
    flat = values.reshape(-1)
    order = np.lexsort((-flat, row))
    ends = np.cumsum(counts * values.shape[1])
    starts = ends - counts * values.shape[1]
    place = np.arange(len(flat)) - starts[row]
    kept = np.sort(order[(place < k) & np.isfinite(flat[order])])
    box, best = np.divmod(kept, values.shape[1])
    return box, best


def _bad(option: str, value: Any, help: str) -> UsageError:
    return UsageError(f"--{option.replace('_', '-')} cannot be {value!r}", help=help)
