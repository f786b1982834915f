"""The boxes of one image as plain values, for reports that draw them."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.tasks.detection.scene import DetectionPairs

MOST = 40


def drawing(pairs: DetectionPairs, image: int, cut: float) -> dict[str, Any]:
    """`size` (width, height) where it is known, and `boxes`: the truths, then what was found.

    A box is x, y, width and height in the unit of the size. Detections below the cut are left
    out, the surest come first.
    """
    scene, found = pairs.gold, pairs.pred.detections
    size = (float(scene.width[image]), float(scene.height[image])) if scene.sized else None
    factor = np.ones(4)
    if scene.unit == "fractions":
        size = size or (1.0, 1.0)
        factor = np.array([*size, *size])
    truths = np.flatnonzero(scene.truths.image == image)[:MOST]
    mine = np.flatnonzero((found.image == image) & (found.score >= cut))
    mine = mine[np.argsort(-found.score[mine], kind="stable")][:MOST]
    boxes: list[dict[str, Any]] = [
        {
            "role": "gold",
            "label": scene.class_names[scene.truths.category[i]],
            "box": np.round(scene.truths.box[i] * factor, 4).tolist(),
        }
        for i in truths.tolist()
    ]
    boxes += [
        {
            "role": "predicted",
            "label": scene.class_names[found.category[i]],
            "score": round(float(found.score[i]), 4),
            "box": np.round(found.box[i] * factor, 4).tolist(),
        }
        for i in mine.tolist()
    ]
    return {"boxes": boxes} if size is None else {"size": list(size), "boxes": boxes}
