"""`karat score` on COCO files and caches: official numbers, intervals, conventions, options."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.source import Source
from karat.run import pipeline
from karat.stats.points import points
from karat.tasks import card

_spec = importlib.util.spec_from_file_location(
    "coco_cases", Path(__file__).with_name("coco_cases.py")
)
assert _spec is not None
assert _spec.loader is not None
coco_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(coco_cases)

SUMMARY = (
    "AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large",
    "AR_1", "AR_10", "AR_100", "AR_small", "AR_medium", "AR_large",
)  # fmt: skip


def data(folder: str) -> Path:
    home = os.environ.get("KARAT_REFERENCE_DATA")
    if not home:
        pytest.skip("KARAT_REFERENCE_DATA does not say where the reference data is")
    return Path(home) / folder


def written(tmp_path: Path, gold: Any, found: Any) -> tuple[str, str]:
    paths = tmp_path / "gold.json", tmp_path / "found.json"
    for path, value in zip(paths, (gold, found), strict=True):
        path.write_text(json.dumps(value), encoding="utf-8")
    return str(paths[0]), str(paths[1])


def measured(gold: str, found: str, **options: Any) -> pipeline.Measured:
    request = Request((Source.of(gold),), (Source.of(found),), options)
    return pipeline.measure(card("object-detection"), request, Problems())


def test_the_twelve_numbers_of_the_real_files() -> None:
    home = data("detection")
    expected = json.loads((home / "expected_val2014_100.json").read_bytes())
    report = karat.score(
        str(home / "instances_val2014_100.json"),
        str(home / "instances_val2014_fakebbox100_results.json"),
    )
    assert {name: report[name].value for name in expected} == expected
    assert tuple(s.name for s in report.scores[:12]) == SUMMARY


@pytest.mark.parametrize("seed", range(60))
def test_the_summary_and_every_class(seed: int, tmp_path: Path) -> None:
    """Official values are pycocotools' doubles, weighted totals agree to 1e-12."""
    gold, found = coco_cases.case(20_000 + seed)
    official, _ = coco_cases.pycocotools(gold, found)
    run = measured(*written(tmp_path, gold, found))
    for name, value in zip(SUMMARY, official.stats, strict=True):
        mine = run.official[name]
        assert mine == value or (np.isnan(mine) and value == -1), name
    table = official.eval["precision"][:, :, :, 0, -1]
    for k, category in enumerate(official.params.catIds):
        known = table[:, :, k][table[:, :, k] > -1]
        mine = run.official[f"AP_class_{category}"]
        assert mine == np.mean(known) if len(known) else np.isnan(mine)
    for one in points(run.metrics, run.evidence, {}):
        if one.name in run.official and one.value is not None:
            assert one.value == pytest.approx(run.official[one.name], abs=1e-12), one.name


def test_custom_rules_are_honoured(tmp_path: Path) -> None:
    """Thresholds, areas and limits reach the summary, where pycocotools wants exactly three."""
    gold, found = coco_cases.case(41)
    official, _ = coco_cases.pycocotools(
        gold, found, maxDets=[2, 5, 7], iouThrs=np.array([0.5, 0.6])
    )
    run = measured(*written(tmp_path, gold, found), iou="0.5,0.6", max_boxes="2,5,7")
    table, recall = official.eval["precision"][..., 0, -1], official.eval["recall"][..., 0, :]
    assert run.official["AP"] == np.mean(table[table > -1])
    for m, most in enumerate((2, 5, 7)):
        values = recall[..., m]
        assert run.official[f"AR_{most}"] == np.mean(values[values > -1])


def test_weights_are_what_repeated_images_are(tmp_path: Path) -> None:
    """Weight w of an image equals pycocotools over w copies of it, where no scores tie."""
    rng = np.random.default_rng(8)
    gold, found = coco_cases.case(77)
    for i, one in enumerate(found):
        one["score"] = round(0.01 + i / 1000, 4)
    run = measured(*written(tmp_path, gold, found))
    images = sorted(image["id"] for image in gold["images"])
    weights = rng.integers(1, 4, size=len(images))
    big: dict[str, Any] = {"images": [], "categories": gold["categories"], "annotations": []}
    many: list[Any] = []
    for image, times in zip(images, weights.tolist(), strict=True):
        for copy in range(times):
            new = image * 10 + copy
            big["images"].append({"id": new})
            big["annotations"] += [
                {**a, "image_id": new} for a in gold["annotations"] if a["image_id"] == image
            ]
            many += [{**f, "image_id": new} for f in found if f["image_id"] == image]
    for i, note in enumerate(big["annotations"]):
        note["id"] = i + 1
    official, _ = coco_cases.pycocotools(big, many)
    evidence = run.evidence[0]
    summary = next(m for m in run.metrics if m.names[0] == "AP")
    values = summary.score(evidence, weights.astype(float), False).values  # type: ignore[union-attr]
    for mine, theirs in zip(values, official.stats, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9) or (np.isnan(mine) and theirs == -1)


def test_influence_is_the_derivative_of_recall_and_near_that_of_precision(tmp_path: Path) -> None:
    """Recall has an exact derivative; precision is compared with its average over the hits."""
    home = data("detection")
    run = measured(
        str(home / "instances_val2014_100.json"),
        str(home / "instances_val2014_fakebbox100_results.json"),
    )
    summary = next(m for m in run.metrics if m.names[0] == "AP")
    evidence = run.evidence[0]
    scored = summary.score(evidence, None, True)  # type: ignore[union-attr]
    ones = np.ones(evidence.n)
    for name in ("AR_1", "AR_100", "AR_large"):
        place = summary.names.index(name)
        for image in (0, 17, 60):
            step = ones.copy()
            step[image] += 1e-6
            moved = summary.score(evidence, step, False).values  # type: ignore[union-attr]
            slope = (moved[place] - scored.values[place]) / 1e-6
            assert scored.influence[place][image] == pytest.approx(slope, abs=1e-7)
    assert abs(scored.influence[0].sum()) < 1e-12


def test_intervals_hold_their_values(tmp_path: Path) -> None:
    """Images that repeat push AP upwards; its draws are moved back, as wide as they were."""
    home = data("detection")
    gold = json.loads((home / "instances_val2014_100.json").read_bytes())
    found = json.loads((home / "instances_val2014_fakebbox100_results.json").read_bytes())
    report = karat.score(*written(tmp_path, gold, found * 2))
    for score in report.scores:
        if score.low is not None:
            assert score.low <= score.value <= score.high, score.name
    ap = report["AP"]
    assert ap.method == "bootstrap percentile, 1000 resamples, centred"
    assert ap.high - ap.low == pytest.approx(2 * 1.96 * ap.se, rel=0.1)


def test_bootstrap_draws_images(tmp_path: Path) -> None:
    """The interval of AP from closed forms is near that of the bootstrap, over many images."""
    sample = Path(karat.__file__).parent / "samples" / "object-detection"
    files = str(sample / "gold.jsonl"), str(sample / "predictions.jsonl")
    closed, drawn = karat.score(*files), karat.score(*files, bootstrap=300)
    for name in ("AP", "AP50", "AP_class_0", "AR_100"):
        a, b = closed[name].se, drawn[name].se
        assert a is not None
        assert b is not None
        assert a == pytest.approx(b, rel=0.35), name


@pytest.mark.parametrize("side", ["ref", "eval"])
def test_caches_against_other_tools(side: str) -> None:
    """faster-coco-eval's mean precisions; counts at the cut from a matching written apart."""
    home = data("prediction-caches")
    expected = json.loads((home / "expected.json").read_bytes())["object_detection"][side]
    folder = home / "object_detection"
    files = str(folder / f"{side}.jsonl"), str(folder / f"{side}_predictions.jsonl")
    report = karat.score(*files)
    names = {"AP": "map_50_95", "AP50": "map_50", "AP75": "map_75"}
    for mine, theirs in names.items():
        assert report[mine].value == pytest.approx(expected["coco"][theirs], abs=1e-6)
    every = karat.score(*files, score_cut=0.0)
    for run, at in ((report, expected["iou50_conf50"]), (every, expected["iou50_all_scores"])):
        assert run["precision"].value == pytest.approx(at["precision"], abs=1e-6)
        assert run["recall"].value == pytest.approx(at["recall"], abs=1e-6)
        for name, one in at["by_class"].items():
            assert run[f"precision_class_{name}"].value == pytest.approx(one["precision"], abs=1e-6)
            assert run[f"recall_class_{name}"].value == pytest.approx(one["recall"], abs=1e-6)
    assert report["boxes_per_image"].value == expected["predicted"] / expected["images"]


# --- Pascal VOC ----------------------------------------------------------------------------------


def iou(a: list[float], b: list[float]) -> float:
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return w * h / (a[2] * a[3] + b[2] * b[3] - w * h) if w > 0 and h > 0 else 0.0


def voc(gold: Any, found: Any, category: int, eleven: bool) -> float:
    """Average precision by the devkit's loop: the best truth or none, difficult ones ignored."""
    notes = [a for a in gold["annotations"] if a["category_id"] == category]
    total = sum(not a["iscrowd"] for a in notes)
    if not total:
        return float("nan")
    mine = [f for f in found if f["category_id"] == category]
    images = sorted(i["id"] for i in gold["images"])
    mine.sort(key=lambda f: (-f["score"], images.index(f["image_id"])))
    taken, tp, fp, curve = set(), 0, 0, []
    for one in mine:
        best, which = 0.0, None
        for a in notes:
            if a["image_id"] == one["image_id"] and iou(one["bbox"], a["bbox"]) > best:
                best, which = iou(one["bbox"], a["bbox"]), a
        if which is not None and best >= 0.5:
            if which["iscrowd"]:
                continue
            if which["id"] in taken:
                fp += 1
            else:
                taken.add(which["id"])
                tp += 1
        else:
            fp += 1
        curve.append((tp / total, tp / (tp + fp)))
    if eleven:
        tops = [max((p for r, p in curve if r >= t / 10), default=0.0) for t in range(11)]
        return sum(tops) / 11
    area, before = 0.0, 0.0
    for i, (r, _) in enumerate(curve):
        area += (r - before) * max(p for _, p in curve[i:])
        before = r
    return area


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("convention", ["voc07", "voc10"])
def test_pascal_voc(convention: str, seed: int, tmp_path: Path) -> None:
    gold, found = coco_cases.case(30_000 + seed)
    if len(found) > 100:
        found = found[:100]
    run = measured(*written(tmp_path, gold, found), convention=convention)
    values = {e.name: e.value for e in points(run.metrics, run.evidence, run.official)}
    for category in (c["id"] for c in gold["categories"]):
        mine, theirs = (
            values[f"AP_class_{category}"],
            voc(gold, found, category, convention == "voc07"),
        )
        assert mine == pytest.approx(theirs, abs=1e-9) if mine is not None else np.isnan(theirs)


# --- vectors -------------------------------------------------------------------------------------


def cache(boxes: list[list[float]]) -> tuple[list[Any], list[Any]]:
    corners = {"x_min": 0.1, "x_max": 0.5, "y_min": 0.1, "y_max": 0.5}
    gold = [{"image_path": "a.png", "label": [{"class_id": 1, **corners}]}]
    return gold, [{"predicted_bounding_boxes": [{**corners, "probabilities": p} for p in boxes]}]


def scored(vectors: list[list[float]], **options: Any) -> karat.Report:
    return karat.score(*cache(vectors), task="object-detection", **options)


def test_argmax_takes_the_first_of_equal_classes() -> None:
    assert pytest.approx(1) == scored([[0.1, 0.45, 0.45]]).AP
    assert scored([[0.45, 0.45, 0.1]]).AP == 0


def test_background_is_never_predicted() -> None:
    assert scored([[0.2, 0.3, 0.5]]).AP == 0
    assert pytest.approx(1) == scored([[0.2, 0.3, 0.5]], background="last").AP
    assert pytest.approx(1) == scored([[0.5, 0.3, 0.2]], background="first").AP


def test_several_classes_of_one_box() -> None:
    assert pytest.approx(1) == scored([[0.6, 0.3, 0.1]], boxes="multilabel:0.2").AP
    assert scored([[0.6, 0.3, 0.1]], boxes="multilabel:0.4").AP == 0
    assert pytest.approx(1) == scored([[0.6, 0.3, 0.1]], boxes="topk:2").AP
    assert scored([[0.6, 0.3, 0.1]], boxes="topk:1").AP == 0


def test_calibration_reads_the_whole_vector() -> None:
    """By hand: the box lies on class 1; p = (.6, .3, .1)."""
    report = scored([[0.6, 0.3, 0.1]])
    assert report["log_loss"].value == pytest.approx(-np.log(0.3))
    assert report["brier"].value == pytest.approx(0.6**2 + 0.7**2 + 0.1**2)
    assert report["ece"].value == pytest.approx(0.6)


def test_areas_need_sizes() -> None:
    """Fractions without image sizes have no area; they are never all small."""
    gold, found = cache([[0.1, 0.9, 0.0]])
    assert "AP_small" not in [s.name for s in karat.score(gold, found).scores]
    sized = [{**gold[0], "width": 100, "height": 100}]
    report = karat.score(sized, found)
    assert report["AP_medium"].value == pytest.approx(1)
    assert report["AP_small"].value is None
    share = karat.score(gold, found, areas="little=0%:10%,much=10%:100%")
    assert share["AP_much"].value == pytest.approx(1)
    with pytest.raises(karat.UsageError, match="sizes of the images"):
        karat.score(gold, found, areas="small=0:1024")


def test_confusion_errors_and_doubts() -> None:
    report = scored([[0.95, 0.05, 0.0]])
    tables = {table.name: table for table in report.tables}
    assert tables["confusion"].rows[1][1] == 1
    assert ["class", 1, pytest.approx(1.0)] in tables["errors"].rows
    assert tables["doubtful_labels"].rows == [["a.png", "wrong class?", "0", "1", 0.95]]
