"""Ids of COCO files: their numbering, and what can be wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.pairs import IntArray
from karat.tasks.detection.coco import Document, Labels, Results

SHOWN = 8


@dataclass(frozen=True, slots=True)
class Numbering:
    """Images and categories by id; `*_order` is where each stands in the file."""

    image_ids: IntArray
    image_order: IntArray
    category_ids: IntArray
    category_order: IntArray

    @classmethod
    def of(cls, labels: Labels) -> Numbering:
        """The numbering of an annotation file."""
        return cls(
            *np.unique(labels.image_ids, return_index=True),
            *np.unique(labels.category_ids, return_index=True),
        )

    def image_of(self, ids: IntArray) -> IntArray:
        """The number of each image id, -1 where it is unknown."""
        return _numbers(self.image_ids, ids)

    def category_of(self, ids: IntArray) -> IntArray:
        """The number of each category id, -1 where it is unknown."""
        return _numbers(self.category_ids, ids)


def _numbers(known: IntArray, ids: IntArray) -> IntArray:
    if not len(known):
        return np.full(len(ids), -1)
    place = np.searchsorted(known, ids)
    place[place == len(known)] = 0
    return np.where(known[place] == ids, place, -1)


def check_labels(labels: Labels, file: Document) -> None:
    """Report ids that occur twice or nowhere, and what the official script would do otherwise."""
    numbering = Numbering.of(labels)
    _unique(labels.image_ids, "image-id-duplicate", "images", file)
    _unique(labels.category_ids, "category-id-duplicate", "categories", file)
    if labels.ids is not None:
        _unique(labels.ids, "annotation-id-duplicate", "annotations", file)
        if (labels.ids == 0).any():
            index = int(np.flatnonzero(labels.ids == 0)[0])
            text = (
                "this annotation has id 0, which pycocotools never counts as found; "
                "it is counted here"
            )
            key = file.key(index, "id")
            file.place(index).add("annotation-id-zero", text, key, severity="warning")
    _known(labels.image, numbering.image_of(labels.image), "image_id", "image-unknown", file)
    _known(
        labels.category,
        numbering.category_of(labels.category),
        "category_id",
        "category-unknown",
        file,
    )
    if labels.unsized:
        text = f"{labels.unsized} annotations have no 'area'; width times height is taken"
        file.place().add("area-missing", text, "annotations", severity="warning")
    other = np.flatnonzero(labels.ignored & ~labels.crowd)
    if len(other):
        text = (
            f"{len(other)} annotations have 'ignore' without 'iscrowd'; like pycocotools, only "
            "'iscrowd' is honoured"
        )
        key = file.key(int(other[0]), "ignore")
        file.place(int(other[0])).add("ignore-unused", text, key, severity="warning")
    _sizes(labels.box, file)


def check_results(results: Results, labels: Labels, file: Document) -> None:
    """Report ids that the annotations do not have, and boxes and scores that cannot be meant."""
    numbering = Numbering.of(labels)
    _known(results.image, numbering.image_of(results.image), "image_id", "image-unknown", file)
    found = numbering.category_of(results.category)
    if (found < 0).any():
        unknown = results.category[found < 0]
        hint = ""
        if len(found) and (found < 0).all():
            hint = "are these positions in a list of classes? category ids are wanted"
        message = (
            f"{len(unknown)} detections of unknown categories are left out: {_listed(unknown)}"
        )
        index = int(np.flatnonzero(found < 0)[0])
        place = file.place(index)
        place.add("category-unknown", message, "category_id", severity="warning", help=hint)
    _sizes(results.box, file)
    low, high = results.score.min(initial=0.0), results.score.max(initial=0.0)
    if low < 0 or high > 1:
        index = int(np.flatnonzero((results.score < 0) | (results.score > 1))[0])
        text = (
            f"scores run from {low:g} to {high:g}; AP needs their order only, "
            "other scores need [0, 1]"
        )
        if low >= 0 and high <= 100 and high > 1.5:
            text += "; percentages?"
        file.place(index).add("score-range", text, "score", severity="warning")


def _unique(ids: IntArray, code: str, member: str, file: Document) -> None:
    values, counts = np.unique(ids, return_counts=True)
    twice = values[counts > 1]
    if len(twice):
        where = np.flatnonzero(ids == twice[0])
        index = int(where[1])
        here = Document(file.source, file.problems, member)
        text = f"{len(twice)} ids occur more than once: {_listed(twice)}"
        here.place(index).add(code, text, here.key(index, "id"))


def _known(ids: IntArray, found: IntArray, name: str, code: str, file: Document) -> None:
    lost = np.flatnonzero(found < 0)
    if len(lost):
        index = int(lost[0])
        what = name.removesuffix("_id")
        text = f"{len(lost)} boxes name {what} ids that the annotations lack: {_listed(ids[lost])}"
        file.place(index).add(code, text, file.key(index, name))


def _sizes(box: np.ndarray[tuple[int, ...], np.dtype[np.float64]], file: Document) -> None:
    negative = np.flatnonzero((box[:, 2] < 0) | (box[:, 3] < 0))
    if len(negative):
        index = int(negative[0])
        text = f"{len(negative)} boxes have negative sides, the first is {box[index].tolist()}"
        file.place(index).add("box-negative", text, file.key(index, "bbox"))
    empty = np.flatnonzero((box[:, 2] == 0) | (box[:, 3] == 0))
    if len(empty):
        index = int(empty[0])
        text = f"{len(empty)} boxes have no area and can match nothing"
        file.place(index).add("box-empty", text, file.key(index, "bbox"), severity="warning")


def _listed(ids: IntArray) -> str:
    values = np.unique(ids)
    shown = ", ".join(map(str, values[:SHOWN].tolist()))
    return shown + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
