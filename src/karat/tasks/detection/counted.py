"""Computed fields of an image to slice by: how many boxes, how many classes, how large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from karat.model.pairs import Facet, FloatArray
from karat.read.facets import Column, crossed, factors
from karat.tasks.detection.scene import Found, Scene

COMPUTED = ("gold_boxes", "predicted_boxes", "gold_classes", "median_area")


def is_computed(by: str) -> bool:
    """Whether a field to slice by is computed, or crossed with one that is."""
    return not set(COMPUTED).isdisjoint(factors(by))


def computed_facets(
    by: Sequence[str], stored: Mapping[str, Facet], scene: Scene, found: Found
) -> dict[str, Facet]:
    """The computed ones among the wanted fields, over the images; `stored` has the others."""
    out = {}
    for name in filter(is_computed, by):
        parts = [
            _facet(part, scene, found) if part in COMPUTED else stored[part]
            for part in factors(name)
        ]
        out[name] = parts[0] if len(parts) == 1 else crossed(name, parts)
    return out


def _facet(name: str, scene: Scene, found: Found) -> Facet:
    column = Column(name)
    column.add_numbers(_values(name, scene, found))
    return column.facet()


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
