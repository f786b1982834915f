"""Seeded adversarial data sets for COCO evaluation, and pycocotools' answer to them."""

from __future__ import annotations

import contextlib
import copy
import io
from typing import Any

import numpy as np

Data = dict[str, Any]


def pycocotools(gold: Data, found: list[Data], **params: Any) -> tuple[Any, str]:
    """The evaluated COCOeval of pycocotools and what its summary printed."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    gold, found = copy.deepcopy(gold), copy.deepcopy(found)
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = gold
        truth.createIndex()
        if found:
            result = truth.loadRes(found)
        else:
            result = COCO()
            result.dataset = {**gold, "annotations": []}
            result.createIndex()
        official = COCOeval(truth, result, "bbox")
        for name, value in params.items():
            setattr(official.params, name, value)
        official.evaluate()
        official.accumulate()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        official.summarize()
    return official, printed.getvalue()


def case(seed: int) -> tuple[Data, list[Data]]:
    """Annotations and results: equal overlaps, score ties, crowds, areas on the borders."""
    rng = np.random.default_rng(seed)
    images = [int(i) for i in rng.choice(50, int(rng.integers(1, 5)), replace=False)]
    classes = [int(i) for i in rng.choice(20, int(rng.integers(1, 4)), replace=False)]
    step, grid = float(rng.choice([1, 8, 16, 0.37])), int(rng.choice([4, 8, 40, 100]))
    notes = [
        _note(rng, i + 1, images, classes, step, grid) for i in range(int(rng.integers(0, 25)))
    ]
    many = int(rng.choice([0, 3, 20, 60, 400], p=[0.05, 0.2, 0.4, 0.3, 0.05]))
    found = [_found(rng, notes, images, classes, step, grid) for _ in range(many)]
    gold = {
        "images": [{"id": i} for i in images],
        "categories": [{"id": c} for c in classes],
        "annotations": notes,
    }
    return gold, found


def _box(rng: Any, step: float, grid: int) -> list[float]:
    corner = [float(rng.integers(-2, grid)) * step for _ in range(2)]
    side = rng.random()
    if side < 0.15:
        return [*corner, 32.0, 32.0]
    if side < 0.25:
        return [*corner, 96.0, 96.0]
    return [*corner, *(float(rng.integers(1, grid)) * step for _ in range(2))]


def _note(rng: Any, i: int, images: list[int], classes: list[int], step: float, grid: int) -> Data:
    box = _box(rng, step, grid)
    borders = (1024.0, 9216.0, 1023.99, 500.0, 20000.0)
    area = box[2] * box[3] if rng.random() < 0.6 else float(rng.choice(borders))
    return {
        "id": i,
        "image_id": int(rng.choice(images)),
        "category_id": int(rng.choice(classes)),
        "bbox": box,
        "area": area,
        "iscrowd": int(rng.random() < 0.2),
    }


def _found(
    rng: Any, notes: list[Data], images: list[int], classes: list[int], step: float, grid: int
) -> Data:
    box = _box(rng, step, grid)
    image, category = int(rng.choice(images)), int(rng.choice(classes))
    if notes and rng.random() < 0.6:
        near = notes[int(rng.integers(len(notes)))]
        shift = [float(s) * step for s in rng.integers(-1, 2, size=4)]
        moved = [a + b for a, b in zip(near["bbox"], shift, strict=True)]
        box = [*moved[:2], max(moved[2], step), max(moved[3], step)]
        if rng.random() < 0.7:
            image, category = near["image_id"], near["category_id"]
    score = float(rng.integers(0, 8)) / 8 if rng.random() < 0.7 else float(rng.random())
    return {
        "image_id": image,
        "category_id": category if rng.random() < 0.95 else 99,
        "bbox": box,
        "score": score,
    }
