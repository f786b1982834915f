"""Computed fields of an image to slice by: how many boxes, how many classes, how large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.model.pairs import Facet, FloatArray
from karat.read.fields import Column
from karat.tasks.detection.scene import Found, Scene

COMPUTED = ("gold_boxes", "predicted_boxes", "gold_classes", "median_area")


def computed_facets(by: Sequence[str], scene: Scene, found: Found) -> dict[str, Facet]:
    """The computed ones among the wanted fields, over the images."""
    out = {}
    for name in by:
        if name in COMPUTED:
            column = Column(name)
            column.add_numbers(_values(name, scene, found))
            out[name] = column.facet()
    return out


def _values(name: str, scene: Scene, found: Found) -> FloatArray:
    truths = scene.truths
    if name == "gold_boxes":
        return np.bincount(truths.image, minlength=scene.n).astype(np.float64)
    if name == "predicted_boxes":
        return found.boxes.astype(np.float64)
    if name == "gold_classes":
        k = len(scene.classes)
        pairs = np.unique(truths.image.astype(np.int64) * k + truths.category)
        return np.bincount(pairs // max(k, 1), minlength=scene.n).astype(np.float64)
    out = np.full(scene.n, np.nan)
    order = np.lexsort((truths.area, truths.image))
    edges = np.searchsorted(truths.image[order], np.arange(scene.n + 1))
    some = edges[1:] > edges[:-1]
    middle = (edges[:-1] + edges[1:] - 1) // 2
    out[some] = truths.area[order][middle[some]]
    return out
