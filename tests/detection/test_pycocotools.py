"""Every array equals pycocotools', double for double, and so does the printed summary."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.compat.pycocotools import COCO, COCOeval

_spec = importlib.util.spec_from_file_location(
    "coco_cases", Path(__file__).with_name("coco_cases.py")
)
assert _spec is not None
assert _spec.loader is not None
coco_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(coco_cases)

CASES, BATCH = 2_000, 100
PARAMS: list[dict[str, Any]] = [
    {"maxDets": [2, 5, 300]},
    {"iouThrs": np.array([0.75, 0.3, 0.5])},
    {"iouThrs": np.linspace(0.05, 0.95, 37), "maxDets": [1, 3, 7]},
    {"areaRng": [[0, 1e10], [0, 100], [100, 1024], [9216, 9216]]},
    {"useCats": 0},
    {"recThrs": np.linspace(0.0, 1.0, 11)},
]


def ours(gold: Any, found: Any, **params: Any) -> tuple[COCOeval, str]:
    truth = COCO()
    truth.dataset = copy.deepcopy(gold)
    truth.createIndex()
    mine = COCOeval(truth, truth.loadRes(copy.deepcopy(found)), "bbox")
    for name, value in params.items():
        setattr(mine.params, name, value)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        mine.evaluate()
        mine.accumulate()
        mine.summarize()
    return mine, printed.getvalue()


def same(gold: Any, found: Any, **params: Any) -> None:
    official, printed = coco_cases.pycocotools(gold, found, **params)
    mine, text = ours(gold, found, **params)
    for name in ("precision", "recall", "scores"):
        assert np.array_equal(mine.eval[name], official.eval[name]), name
    assert np.array_equal(mine.stats, official.stats)
    assert mine.eval["counts"] == official.eval["counts"]
    assert text == printed


def reference(name: str) -> Any:
    home = os.environ.get("KARAT_REFERENCE_DATA")
    if not home:
        pytest.skip("KARAT_REFERENCE_DATA does not say where the reference data is")
    return json.loads((Path(home) / "detection" / name).read_bytes())


# The first batch runs always, the others with the slow tests.
STARTS = [pytest.param(s, marks=pytest.mark.slow if s else ()) for s in range(0, CASES, BATCH)]


@pytest.mark.parametrize("start", STARTS)
def test_adversarial_cases(start: int) -> None:
    for seed in range(start, start + BATCH):
        same(*coco_cases.case(seed))


@pytest.mark.parametrize("params", PARAMS, ids="-".join)
def test_other_parameters(params: dict[str, Any]) -> None:
    for seed in range(40):
        same(*coco_cases.case(10_000 + seed), **params)


def test_the_real_annotations() -> None:
    gold = reference("instances_val2014_100.json")
    found = reference("instances_val2014_fakebbox100_results.json")
    same(gold, found)


def test_some_images_and_categories_only() -> None:
    gold = reference("instances_val2014_100.json")
    found = reference("instances_val2014_fakebbox100_results.json")
    images = sorted(image["id"] for image in gold["images"])[10:60]
    same(gold, found, imgIds=images, catIds=[18, 1, 3, 44])


def test_an_annotation_of_id_0_counts() -> None:
    """pycocotools takes id 0 for no match; here a perfect prediction is perfect."""
    box = [10.0, 10.0, 50.0, 50.0]
    note = {"image_id": 1, "category_id": 1, "bbox": box, "area": 2500.0, "iscrowd": 0}
    gold = {"images": [{"id": 1}], "categories": [{"id": 1}], "annotations": [{**note, "id": 0}]}
    found = [{"image_id": 1, "category_id": 1, "bbox": box, "score": 0.9}]
    official, _ = coco_cases.pycocotools(gold, found)
    assert official.stats[0] == 0
    assert ours(gold, found)[0].stats[0] == pytest.approx(1, abs=1e-15)


def test_unknown_images_are_named() -> None:
    truth = COCO()
    truth.dataset = {"images": [{"id": 1}], "categories": [], "annotations": []}
    truth.createIndex()
    with pytest.raises(AssertionError, match="unknown image ids 7"):
        truth.loadRes([{"image_id": 7, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1.0}])


def test_rows_of_an_array() -> None:
    gold, found = coco_cases.case(3)
    rows = [[f["image_id"], *f["bbox"], f["score"], f["category_id"]] for f in found]
    mine, _ = ours(gold, np.array(rows))
    assert np.array_equal(mine.eval["precision"], ours(gold, found)[0].eval["precision"])
