"""What pycocotools scores in silence is said; every defect of a cache has its code and place."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat

Defect = Callable[[Any, Any], None]


def good() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    gold: Any = {
        "images": [{"id": i, "width": 640, "height": 480} for i in range(1, 9)],
        "categories": [{"id": c, "name": f"c{c}"} for c in (1, 2, 3, 4, 5)],
        "annotations": [],
    }
    for i in range(40):
        x, y = rng.integers(0, 400, 2).tolist()
        w, h = rng.integers(20, 80, 2).tolist()
        note = {"id": i + 1, "image_id": i % 8 + 1, "category_id": i % 5 + 1, "iscrowd": 0}
        gold["annotations"].append({**note, "bbox": [x, y, w, h], "area": w * h})
    found = [
        {k: a[k] for k in ("image_id", "category_id")}
        | {"bbox": list(a["bbox"]), "score": 0.9 - i / 100}
        for i, a in enumerate(gold["annotations"])
    ]
    return gold, found


def rows_first(found: Any) -> None:
    found["bbox"] = [found["bbox"][i] for i in (1, 0, 3, 2)]


def corners_rows_first(found: Any) -> None:
    corners(found)
    rows_first(found)


def centres(found: Any) -> None:
    x, y, w, h = found["bbox"]
    found["bbox"] = [x + w / 2, y + h / 2, w, h]


def each(change: Callable[[Any], None]) -> Defect:
    return lambda gold, found: [change(one) for one in found] and None


def one(change: Callable[[Any], Any]) -> Defect:
    return lambda gold, found: change(found[3]) and None


def notes(change: Callable[[Any], None]) -> Defect:
    return lambda gold, found: [change(one) for one in gold["annotations"]] and None


def note(change: Callable[[Any], Any]) -> Defect:
    return lambda gold, found: change(gold["annotations"][3]) and None


def corners(found: Any) -> None:
    x, y, w, h = found["bbox"]
    found["bbox"] = [x, y, x + w, y + h]


def fractions(found: Any) -> None:
    found["bbox"] = [v / (640, 480)[i % 2] for i, v in enumerate(found["bbox"])]


CASES: list[tuple[str, Defect, str, str]] = [
    ("xyxy", each(corners), "box-corners", "warning"),
    ("xyxy in the annotations", notes(corners), "box-corners", "warning"),
    ("xyxy on both sides", lambda g, f: [corners(o) for o in [*f, *g["annotations"]]] and None,
     "box-outside", "warning"),
    ("yxyx", each(corners_rows_first), "box-layout", "warning"),
    ("yxhw", each(rows_first), "box-layout", "warning"),
    ("centres", each(centres), "box-layout", "warning"),
    ("centres in the annotations", notes(centres), "box-layout", "warning"),
    ("another size", each(lambda f: f.update(bbox=[v / 3 for v in f["bbox"]])),
     "boxes-elsewhere", "warning"),
    ("image ids off by one", each(lambda f: f.update(image_id=f["image_id"] % 8 + 1)),
     "rows-shifted", "warning"),
    ("far outside", one(lambda f: f.update(bbox=[5000, 10, 50, 50])), "box-outside", "warning"),
    ("normalised", each(fractions), "coordinate-mixed", "error"),
    ("an id of 80 bits", one(lambda f: f.update(image_id=2**80)), "id-type", "error"),
    ("a name that is a number", lambda g, f: g["categories"][1].update(name=5),
     "category-name-type", "error"),
    ("classes off by one", each(lambda f: f.update(category_id=f["category_id"] - 1)),
     "classes-permuted", "warning"),
    ("score of 97", each(lambda f: f.update(score=97 * f["score"])), "score-range", "warning"),
    ("NaN score", one(lambda f: f.update(score=float("nan"))), "nan-literal", "error"),
    ("no score", one(lambda f: f.pop("score")), "score-missing", "error"),
    ("negative width", one(lambda f: f["bbox"].__setitem__(2, -4)), "box-negative", "error"),
    ("NaN corner", one(lambda f: f["bbox"].__setitem__(1, float("nan"))), "nan-literal", "error"),
    ("three numbers", one(lambda f: f["bbox"].pop()), "box-length", "error"),
    ("unknown image", one(lambda f: f.update(image_id=77)), "image-unknown", "error"),
    ("unknown category", one(lambda f: f.update(category_id=77)), "category-unknown", "warning"),
    ("text as image id", one(lambda f: f.update(image_id="4")), "id-type", "error"),
    ("annotation id 0", note(lambda a: a.update(id=0)), "annotation-id-zero", "warning"),
    ("duplicate id", note(lambda a: a.update(id=1)), "annotation-id-duplicate", "error"),
    ("ignore", note(lambda a: a.update(ignore=1)), "ignore-unused", "warning"),
    ("no area", note(lambda a: a.pop("area")), "area-missing", "warning"),
    ("no image id", note(lambda a: a.pop("image_id")), "id-missing", "error"),
    ("no suppression", lambda g, f: f.extend(copy.deepcopy(f)), "box-duplicate", "warning"),
    ("no categories", lambda g, f: g.pop("categories") and None, "coco-list", "error"),
]  # fmt: skip


def check(tmp_path: Path, gold: Any, found: Any) -> list[Any]:
    paths = tmp_path / "gold.json", tmp_path / "found.json"
    for path, value in zip(paths, (gold, found), strict=True):
        text = value if isinstance(value, str) else json.dumps(value)
        path.write_text(text, encoding="utf-8")
    return list(karat.check(str(paths[0]), str(paths[1]), task="object-detection").problems)


@pytest.mark.parametrize(
    ("defect", "code", "severity"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_nothing_passes_in_silence(
    defect: Defect, code: str, severity: str, tmp_path: Path
) -> None:
    gold, found = good()
    defect(gold, found)
    problems = check(tmp_path, gold, found)
    assert (code, severity) in [(p.code, p.severity) for p in problems]


def test_good_files_are_good(tmp_path: Path) -> None:
    assert check(tmp_path, *good()) == []


def test_no_detections_are_no_error(tmp_path: Path) -> None:
    gold, _ = good()
    assert check(tmp_path, gold, []) == []


def test_the_line_of_a_defect_is_named(tmp_path: Path) -> None:
    gold, found = good()
    found[7].pop("score")
    text = "[\n" + ",\n".join(map(json.dumps, found)) + "\n]"
    (tmp_path / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    (tmp_path / "found.json").write_text(text, encoding="utf-8")
    paths = str(tmp_path / "gold.json"), str(tmp_path / "found.json")
    (problem,) = karat.check(*paths, task="object-detection").problems
    assert (problem.code, problem.line, problem.record, problem.key) == (
        "score-missing",
        9,
        7,
        "score",
    )


SYNTAX = [
    ("]]", 42, "Extra data at column 2"),
    (",\n]", 43, "Expecting value at column 1"),
    ("", 42, "Expecting ',' delimiter at column 1"),
]


@pytest.mark.parametrize(("end", "line", "message"), SYNTAX, ids=[s[2] for s in SYNTAX])
def test_the_place_of_broken_json(end: str, line: int, message: str, tmp_path: Path) -> None:
    gold, found = good()
    text = "\n[" + ",\n".join(map(json.dumps, found)) + "\n" + end
    (problem,) = check(tmp_path, gold, text)
    assert (problem.code, problem.line) == ("json-syntax", line)
    assert message in problem.message


@pytest.mark.parametrize("side", [0, 1], ids=["annotations", "results"])
def test_a_key_that_stands_twice_is_an_error(side: int, tmp_path: Path) -> None:
    files = [json.dumps(one) for one in good()]
    files[side] = files[side].replace('"category_id": 1', '"category_id": 2, "category_id": 1', 1)
    (problem,) = check(tmp_path, *files)
    assert (problem.code, problem.line, problem.record) == ("duplicate-key", 1, 0)


def test_keys_that_few_results_have_are_fine(tmp_path: Path) -> None:
    gold, found = good()
    found[3]["note"] = {"text": 'a "score": of', "more": [1]}
    gold["annotations"][5]["more"] = {"bbox": [1]}
    assert check(tmp_path, gold, found) == []


def broken() -> list[str]:
    home = os.environ.get("KARAT_REFERENCE_DATA")
    folder = Path(home or "none") / "prediction-caches" / "broken"
    return sorted(p.name for p in folder.glob("object_detection__*")) or ["none"]


@pytest.mark.parametrize("name", broken())
def test_every_broken_cache(name: str) -> None:
    home = os.environ.get("KARAT_REFERENCE_DATA")
    if not home:
        pytest.skip("KARAT_REFERENCE_DATA does not say where the reference data is")
    folder = Path(home) / "prediction-caches" / "broken" / name
    expected = json.loads((folder / "defect.json").read_bytes())
    (problem,) = karat.check(str(folder / "config.json")).problems
    for key in ("code", "severity", "file", "line", "key", "message"):
        assert getattr(problem, key) == expected[key], key
    assert problem.record == expected["index"]


def test_pixels_on_both_sides_are_fine_and_mixed_units_are_not() -> None:
    gold, found = cache_of(640.0, 480.0)
    report = karat.score(gold, found, task="object-detection")
    assert pytest.approx(1) == report.AP
    assert any("pixels" in note for note in report.notes)
    fractions, _ = cache_of(1.0, 1.0)
    with pytest.raises(karat.DataError, match="coordinate-mixed"):
        karat.score(fractions, found, task="object-detection")


def test_predictions_moved_by_a_row_are_noticed() -> None:
    gold, found = cache_of(1.0, 1.0)
    problems = karat.check(gold, [found[-1], *found[:-1]], task="object-detection").problems
    assert "rows-shifted" in [p.code for p in problems]


def cache_of(width: float, height: float) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(3)
    gold, found = [], []
    for i in range(60):
        x, y = rng.uniform(0.05, 0.6, 2).tolist()
        box = {
            "x_min": x * width,
            "x_max": (x + 0.2) * width,
            "y_min": y * height,
            "y_max": (y + 0.2) * height,
        }
        gold.append({"image_path": f"{i}.png", "label": [{"class_id": i % 2, **box}]})
        vector = [float(i % 2 == c) for c in range(2)]
        found.append({"predicted_bounding_boxes": [{**box, "probabilities": vector}]})
    return gold, found
