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

import karat
from karat.compat.pycocotools import COCO, COCOeval

_spec = importlib.util.spec_from_file_location(
    "coco_cases", Path(__file__).with_name("coco_cases.py")
)
assert _spec is not None
assert _spec.loader is not None
coco_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(coco_cases)

# What the original does in silence is said with a warning; the numbers are compared all the same.
pytestmark = pytest.mark.filterwarnings("ignore:detections of unknown categories")

CASES, BATCH = 2_000, 100
PARAMS: list[dict[str, Any]] = [
    {"maxDets": [2, 5, 300]},
    {"iouThrs": np.array([0.75, 0.3, 0.5])},
    {"iouThrs": np.linspace(0.05, 0.95, 37), "maxDets": [1, 3, 7]},
    {"areaRng": [[0, 1e10], [0, 100], [100, 1024], [9216, 9216]]},
    {"useCats": 0},
    {"recThrs": np.linspace(0.0, 1.0, 11)},
    {"iouThrs": np.array([0.0, 0.5])},
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


@pytest.mark.slow
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
    with pytest.warns(UserWarning, match="id 0"):
        mine, _ = ours(gold, found)
    assert mine.stats[0] == pytest.approx(1, abs=1e-15)


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


# --- what became of each image -------------------------------------------------------------------


def same_record(mine: Any, official: Any) -> bool:
    if mine is None or official is None:
        return mine is official
    return set(mine) == set(official) and all(
        np.array_equal(mine[key], official[key]) for key in official
    )


@pytest.mark.parametrize("seed", range(50_000, 50_060))
def test_what_became_of_each_image(seed: int) -> None:
    """Every entry of evalImgs, and the overlaps, are the original's."""
    gold, found = coco_cases.case(seed)
    params = [{}, {"useCats": 0}, {"maxDets": [1, 2, 4]}, {"iouThrs": np.linspace(0.1, 0.9, 40)}]
    official, _ = coco_cases.pycocotools(gold, found, **params[seed % 4])
    mine, _ = ours(gold, found, **params[seed % 4])
    assert len(mine.evalImgs) == len(official.evalImgs)
    for a, b in zip(mine.evalImgs, official.evalImgs, strict=True):
        assert same_record(a, b)
    for (image, category), overlaps in official.ious.items():
        if np.size(overlaps):
            assert np.array_equal(mine.computeIoU(image, category), overlaps)


def gathered(coco: Any, evaluator: Any, gold: Any, found: Any) -> Any:
    """As training code evaluates: batch by batch, the images' dicts gathered, then accumulated."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco()
        truth.dataset = copy.deepcopy(gold)
        truth.createIndex()
        run = evaluator(truth, iouType="bbox")
        images = sorted(image["id"] for image in gold["images"])
        parts = []
        for i in range(0, len(images), 2):
            batch = images[i : i + 2]
            mine = [copy.deepcopy(f) for f in found if f["image_id"] in batch]
            run.cocoDt = truth.loadRes(mine) if mine else coco()
            run.params.imgIds = batch
            run.evaluate()
            shape = (-1, len(run.params.areaRng), len(batch))
            parts.append(np.array(run.evalImgs, dtype=object).reshape(shape))
        run.evalImgs = list(np.concatenate(parts, axis=2).flatten())
        run.params.imgIds = images
        run._paramsEval = copy.deepcopy(run.params)
        run.accumulate()
        run.summarize()
    return run


@pytest.mark.parametrize("seed", range(51_000, 51_020))
def test_batches_of_images_gathered(seed: int) -> None:
    from pycocotools import coco, cocoeval

    gold, found = coco_cases.case(seed)
    mine = gathered(COCO, COCOeval, gold, found)
    official = gathered(coco.COCO, cocoeval.COCOeval, gold, found)
    for name in ("precision", "recall", "scores"):
        assert np.array_equal(mine.eval[name], official.eval[name]), name
    assert np.array_equal(mine.stats, official.stats)


CHANGES: list[dict[str, Any]] = [
    {"recThrs": np.linspace(0.0, 1.0, 11)},
    {"maxDets": [1, 10]},
    {"areaRng": [[0, 1e10], [0, 1024]], "areaRngLbl": ["all", "small"]},
]


@pytest.mark.parametrize("change", CHANGES, ids="-".join)
def test_other_parameters_for_accumulating(change: dict[str, Any]) -> None:
    for seed in range(52_000, 52_020):
        gold, found = coco_cases.case(seed)
        official, _ = coco_cases.pycocotools(gold, found)
        mine, _ = ours(gold, found)
        for run in (mine, official):
            p = copy.deepcopy(run.params)
            for name, value in change.items():
                setattr(p, name, value)
            with contextlib.redirect_stdout(io.StringIO()):
                run.accumulate(p)
        for name in ("precision", "recall", "scores"):
            assert np.array_equal(mine.eval[name], official.eval[name]), name


# --- what is refused, and what is said -----------------------------------------------------------


@pytest.mark.parametrize("kind", [(), ("segm",), ("keypoints",)])
def test_masks_and_keypoints_are_refused(kind: tuple[str, ...]) -> None:
    """Also where nothing is asked for: the original's default are masks."""
    with pytest.raises(karat.UsageError, match="is not supported"):
        COCOeval(COCO(), COCO(), *kind)


def test_masks_are_refused_later_too() -> None:
    mine = COCOeval(COCO(), COCO(), "bbox")
    mine.params.iouType = "segm"
    with pytest.raises(karat.UsageError, match="segm"):
        mine.evaluate()


DOUBTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("NaN, which match nothing", {}, {"bbox": [float("nan"), 0, 5, 5]}),
    ("negative sides", {}, {"bbox": [0, 0, -5, 5]}),
    ("NaN for a score", {}, {"score": float("nan")}),
    ("id 0", {"id": 0}, {}),
    ("unknown categories are left out: 8", {}, {"category_id": 8}),
]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("text", "note", "box"), DOUBTS, ids=[d[0] for d in DOUBTS])
def test_what_the_original_scores_in_silence(text: str, note: Any, box: Any) -> None:
    place = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}
    notes = [{"id": 1, "area": 25, "iscrowd": 0, **place, **note}]
    gold = {"images": [{"id": 1}], "categories": [{"id": 1}], "annotations": notes}
    with pytest.warns(UserWarning, match=text):
        ours(gold, [{**place, "score": 0.5, **box}])


def test_files_dicts_and_filters(tmp_path: Path) -> None:
    """Members that training code uses give what the original gives."""
    from pycocotools import coco

    gold, found = coco_cases.case(7)
    gold["info"] = {"year": 2014}
    (tmp_path / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    (tmp_path / "found.json").write_text(json.dumps(found), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        official = coco.COCO(str(tmp_path / "gold.json"))
        result = official.loadRes(str(tmp_path / "found.json"))
    for mine in (COCO(str(tmp_path / "gold.json")), COCO(gold)):
        loaded = mine.loadRes(str(tmp_path / "found.json"))
        assert loaded.dataset == result.dataset
        assert mine.getImgIds() == official.getImgIds()
        assert mine.getCatIds() == official.getCatIds()
        image, category = gold["images"][0]["id"], gold["categories"][0]["id"]
        for one, other in ((mine, official), (loaded, result)):
            assert one.getAnnIds() == other.getAnnIds()
            for asked in (
                {"imgIds": [image]},
                {"imgIds": image, "catIds": category},
                {"areaRng": [100, 2000]},
                {"iscrowd": False},
            ):
                ids = one.getAnnIds(**asked)
                assert ids == other.getAnnIds(**asked)
                assert one.loadAnns(ids) == other.loadAnns(ids)
            assert sorted(one.getImgIds(catIds=[category])) == sorted(
                other.getImgIds(catIds=[category])
            )
