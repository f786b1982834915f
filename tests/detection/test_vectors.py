"""Caches with vectors score as pycocotools does once a plain loop has chosen the detections."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.source import Source
from karat.run import pipeline
from karat.tasks import card

_spec = importlib.util.spec_from_file_location(
    "coco_cases", Path(__file__).with_name("coco_cases.py")
)
assert _spec is not None
assert _spec.loader is not None
coco_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(coco_cases)

SIDES = ("x_min", "x_max", "y_min", "y_max")
SUMMARY = (
    "AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large",
    "AR_1", "AR_10", "AR_100", "AR_small", "AR_medium", "AR_large",
)  # fmt: skip


def corners(rng: Any) -> dict[str, float]:
    ends = [sorted(rng.choice(20, 2, replace=False).tolist()) for _ in "xy"]
    return dict(zip(SIDES, (16.0 * end for pair in ends for end in pair), strict=True))


def case(seed: int, background: str) -> tuple[list[Any], list[Any], list[int]]:
    """Rows in pixels on a grid, with ties within and between vectors; and the true classes."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(2, 6))
    slot = {"first": 0, "last": width - 1}.get(background)
    classes = [c for c in range(width) if c != slot]
    gold, found = [], []
    for i in range(int(rng.integers(2, 8))):
        label = [
            {"class_id": int(rng.choice(classes)), **corners(rng)}
            for _ in range(int(rng.integers(1, 5)))
        ]
        boxes = []
        for _ in range(int(rng.choice([0, 2, 5, 30]))):
            near = label[int(rng.integers(len(label)))]
            box = {s: near[s] for s in SIDES} if rng.random() < 0.6 else corners(rng)
            vector = np.round(rng.dirichlet(np.full(width, 0.5)) * 8) / 8
            boxes.append({**box, "probabilities": vector.tolist()})
        gold.append({"image_path": f"{i}.png", "label": label})
        found.append({"predicted_bounding_boxes": boxes})
    return gold, found, classes


def chosen(boxes: list[Any], classes: list[int], rule: str) -> list[tuple[int, int, float]]:
    """(box, class, score) of the detections of one image, in the order of the file."""
    mode, _, number = rule.partition(":")
    pairs = [(j, c, box["probabilities"][c]) for j, box in enumerate(boxes) for c in classes]
    if mode == "multilabel":
        return [pair for pair in pairs if pair[2] >= float(number)]
    if mode == "topk":
        best = sorted(range(len(pairs)), key=lambda i: (-pairs[i][2], i))[: int(number)]
        return [pairs[i] for i in sorted(best)]
    return [max((p for p in pairs if p[0] == j), key=lambda p: p[2]) for j in range(len(boxes))]


def xywh(box: dict[str, float]) -> list[float]:
    x, right, y, low = (box[side] for side in SIDES)
    return [x, y, right - x, low - y]


@pytest.mark.slow
@pytest.mark.parametrize("background", ["none", "first", "last"])
@pytest.mark.parametrize("rule", ["argmax", "multilabel:0.25", "multilabel:0", "topk:3", "topk:99"])
def test_detections_of_vectors(rule: str, background: str) -> None:
    for seed in range(60_000, 60_015):
        gold, found, classes = case(seed, background)
        notes = [
            {"image_id": i, "category_id": b["class_id"], "bbox": xywh(b), "iscrowd": 0}
            for i, row in enumerate(gold)
            for b in row["label"]
        ]
        notes = [
            {**note, "id": i, "area": note["bbox"][2] * note["bbox"][3]}
            for i, note in enumerate(notes, 1)
        ]
        results = []
        for i, row in enumerate(found):
            boxes = row["predicted_bounding_boxes"]
            for j, category, score in chosen(boxes, classes, rule):
                place = {"image_id": i, "category_id": category}
                results.append({**place, "bbox": xywh(boxes[j]), "score": score})
        images = [{"id": i} for i in range(len(gold))]
        whole = {"images": images, "annotations": notes, "categories": [{"id": c} for c in classes]}
        official, _ = coco_cases.pycocotools(whole, results)
        options = {"boxes": rule, "background": background}
        request = Request((Source.of(gold),), (Source.of(found),), options)
        run = pipeline.measure(card("object-detection"), request, Problems())
        for name, value in zip(SUMMARY, official.stats, strict=True):
            mine = run.official[name]
            assert mine == value or (np.isnan(mine) and value == -1), (seed, name)


def test_a_true_box_of_the_background_is_an_error() -> None:
    gold, found, _ = case(60_000, "none")
    gold[0]["label"][0]["class_id"] = 0
    with pytest.raises(karat.DataError, match="slot of the background"):
        karat.score(gold, found, task="object-detection", background="first")


def test_fractions_taken_as_pixels_are_said() -> None:
    box = dict(zip(SIDES, (0.1, 0.5, 0.1, 0.5), strict=True))
    gold = [{"image_path": "a.png", "label": [{"class_id": 0, **box}]}]
    found = [{"predicted_bounding_boxes": [{**box, "probabilities": [1.0]}]}]
    report = karat.score(gold, found, coordinates="pixels")
    assert ("coordinate-fractions", "warning") in [(p.code, p.severity) for p in report.problems]


def test_flags_of_caches_are_refused_for_coco_files(tmp_path: Path) -> None:
    paths = [tmp_path / "gold.json", tmp_path / "found.json"]
    for path, value in zip(paths, coco_cases.case(41), strict=True):
        path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(karat.UsageError, match="--boxes topk:3 says nothing"):
        karat.score(*map(str, paths), boxes="topk:3")
