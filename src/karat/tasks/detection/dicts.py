"""Annotations and results as dicts in memory, in the words of COCO, to columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import CodeArray, FloatArray
from karat.tasks.detection.boxes import Detections, Truths
from karat.tasks.detection.overlaps import candidates

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Places:
    """The numbers of images and categories by id."""

    images: Mapping[Any, int]
    categories: Mapping[Any, int]


def truths_of(notes: Sequence[Record], places: Places) -> Truths:
    """The columns of annotations."""
    n = len(notes)
    return Truths(
        _codes(notes, "image_id", places.images),
        _codes(notes, "category_id", places.categories),
        _boxes(notes),
        _numbers((note["area"] for note in notes), n),
        np.fromiter((bool(note.get("iscrowd", 0)) for note in notes), bool, n),
        np.arange(n),
    )


def detections_of(notes: Sequence[Record], places: Places) -> Detections:
    """The columns of results."""
    n = len(notes)
    return Detections(
        _codes(notes, "image_id", places.images),
        _codes(notes, "category_id", places.categories),
        _boxes(notes),
        _numbers((note["area"] for note in notes), n),
        _numbers((note["score"] for note in notes), n),
        np.arange(n),
    )


def overlaps(found: Sequence[Record], notes: Sequence[Record]) -> FloatArray:
    """(results, annotations): how much each pair overlaps."""
    crowd = np.fromiter((bool(note.get("iscrowd", 0)) for note in notes), bool, len(notes))
    first = np.zeros(len(found), dtype=np.int64)
    count = np.full(len(found), len(notes))
    pairs = candidates(_boxes(found), _boxes(notes), crowd, first, count, np.nextafter(0, 1))
    out = np.zeros((len(found), len(notes)))
    out[pairs.detection, pairs.truth] = pairs.overlap
    return out


def doubts(truths: Truths, found: Detections, ids: npt.NDArray[Any]) -> list[str]:
    """What makes a number meaningless though it can be computed; `ids` are the annotations'."""
    out = []
    for what, box in (("annotations", truths.box), ("detections", found.box)):
        if np.isnan(box).any():
            out.append(f"{what} have boxes with NaN, which match nothing")
        if (box[:, 2:] < 0).any():
            out.append(f"{what} have boxes with negative sides, which match nothing")
    if np.isnan(found.score).any():
        out.append("detections have NaN for a score; they are ranked last")
    if (ids == 0).any():
        out.append("an annotation has id 0, which pycocotools never counts as found; counted here")
    if len(np.unique(ids)) < len(ids):
        out.append("annotations share an id; pycocotools would take the last one for all of them")
    return out


def _codes(notes: Sequence[Record], key: str, places: Mapping[Any, int]) -> CodeArray:
    return np.fromiter((places[note[key]] for note in notes), np.int32, len(notes))


def _boxes(notes: Sequence[Record]) -> FloatArray:
    return np.array([note["bbox"] for note in notes], dtype=np.float64).reshape(len(notes), 4)


def _numbers(values: Iterable[Any], n: int) -> FloatArray:
    return np.fromiter(values, np.float64, n)
