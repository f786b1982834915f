"""Every defect of a classification run is named: code, place and words; clean runs stay silent."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from classification.defects import DEFECTS, EVAL, PRED, Defect, clean, moved_vectors, write

from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.source import Source
from karat.run.configuration import check_configuration
from karat.tasks.classification.checks import slack, suspect_order
from karat.tasks.classification.rows import read_side

TASKS = ("text", "nli", "image")


def found(config: Path) -> list[tuple[object, ...]]:
    problems = Problems()
    check_configuration(config, problems)
    return [(p.code, p.severity, p.file, p.line, p.record, p.key, p.message) for p in problems]


@pytest.mark.parametrize("task", TASKS)
def test_a_clean_run_has_no_finding(task: str, tmp_path: Path) -> None:
    assert found(write(clean(task), tmp_path)) == []


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda d: f"{d.task} {d.name}")
def test_defect_is_named(defect: Defect, tmp_path: Path) -> None:
    run = clean(defect.task)
    defect.break_(run)
    got = found(write(run, tmp_path))
    assert tuple(defect.expected) in got
    assert [p[0] for p in got if p != tuple(defect.expected)] == list(defect.also)


@pytest.mark.parametrize("indent", [None, 1])
def test_defects_of_a_list_have_the_line_of_their_item(indent: int | None, tmp_path: Path) -> None:
    run = clean("text")
    rows = run.pop(EVAL)
    del rows[5]["text"]
    rows[9]["label"] = "2"
    text = json.dumps(rows, indent=indent)
    run["eval.json"] = text.encode()
    run["config.json"]["data_info"]["eval_path"] = "eval.json"
    got = found(write(run, tmp_path))
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines, 1) if line == " {"] if indent else [1] * 24
    assert [(p[0], p[3], p[4]) for p in got] == [
        ("text-missing", starts[5], 5),
        ("label-type", starts[9], 9),
    ]


@pytest.mark.parametrize("ending", ["jsonl", "json"])
@pytest.mark.parametrize("odd", [1, 3])
def test_the_length_of_most_rows_is_not_that_of_the_first(
    odd: int, ending: str, tmp_path: Path
) -> None:
    """A broken row behind them makes the first rows a batch of their own."""
    run = clean("text")
    rows = run.pop(PRED)
    for record in range(odd):
        rows[record]["probabilities"] = [0.5, 0.5]
    rows[odd]["probabilities"] = None
    name = f"eval_predictions.{ending}"
    content = json.dumps(rows) if ending == "json" else "\n".join(map(json.dumps, rows))
    run[name] = content.encode()
    run["config.json"]["prediction_info"]["eval_path"] = name
    got = found(write(run, tmp_path))
    wrong = ("probabilities-length", "2 probabilities here, 3 in most rows")
    assert sorted((p[4], p[0], p[6]) for p in got) == [
        *((record, *wrong) for record in range(odd)),
        (odd, "probabilities-null", "value is null; a list of class probabilities is required"),
    ]


def test_all_defects_of_all_rows_are_reported_together(tmp_path: Path) -> None:
    run = clean("text")
    run[EVAL][2].update(text=None, label="x", timestamp="now", meta=[])
    run[EVAL][4]["label"] = -3
    run[EVAL][7] = "{"
    run[EVAL][9]["timestamp"] = "2023-02-29"
    got = found(write(run, tmp_path))
    assert [(p[0], p[4]) for p in got] == [
        ("text-null", 2),
        ("label-type", 2),
        ("timestamp-format", 2),
        ("meta-type", 2),
        ("label-range", 4),
        ("json-syntax", 7),
        ("timestamp-value", 9),
    ]


def test_rows_in_memory_are_checked_like_files() -> None:
    run = clean("text")
    run[EVAL][3]["label"] = 1.0
    run[PRED][5]["probabilities"] = [0.5, 0.6, 0.1]
    problems = Problems()
    request = Request((Source.of(run[EVAL], "data"),), (Source.of(run[PRED], "model"),))
    read_side("text-classification", request, problems)
    assert [(p.code, p.file, p.line, p.record) for p in problems] == [
        ("label-type", "data", None, 3),
        ("probabilities-sum", "model", None, 5),
    ]


def test_inline_predictions_are_used() -> None:
    run = clean("text")
    rows = [{**row, **pred} for row, pred in zip(run[EVAL], run[PRED], strict=True)]
    problems = Problems()
    side = read_side("text-classification", Request((Source.of(rows),)), problems)
    assert list(problems) == []
    assert side.predictions is not None
    tops = [max(range(3), key=row["probabilities"].__getitem__) for row in rows]
    assert side.predictions.top.tolist() == tops


def test_inline_predictions_may_repeat_the_file() -> None:
    run = clean("text")
    rows = [{**row, **pred} for row, pred in zip(run[EVAL], run[PRED], strict=True)]
    problems = Problems()
    request = Request((Source.of(rows),), (Source.of(run[PRED]),))
    read_side("text-classification", request, problems)
    assert list(problems) == []


def test_scoring_needs_predictions_and_labels() -> None:
    rows = [{"text": "a"}, {"text": "b"}]
    problems = Problems()
    read_side("text-classification", Request((Source.of(rows),)), problems)
    assert [p.code for p in problems] == ["label-missing", "prediction-missing"]


@pytest.mark.parametrize(
    ("vector", "allowed"),
    [
        ([0.3333, 0.3333, 0.3334], 1e-3),  # 3 / 2 * 1e-4 is below the floor
        ([0.33, 0.33, 0.33], 0.015),  # 3 / 2 * 1e-2
        ([0.1] * 10, 0.02),  # 10 / 2 * 1e-1 is capped
        ([1, 0, 0], 0.02),
        ([1e-3, 0.5, 0.5], 1.5e-3),
    ],
)
def test_slack_is_the_worst_rounding_error(vector: list[float], allowed: float) -> None:
    assert slack(vector) == pytest.approx(allowed, rel=1e-12)


def test_sums_are_judged_by_the_decimals_that_were_written(tmp_path: Path) -> None:
    """Whichever way a row is looked at: plain, with trailing zeros, exponents, other numbers."""
    rng = np.random.default_rng(9)
    lines, wrong = [], []
    for record in range(400):
        places = int(rng.integers(1, 6))
        vector = rng.dirichlet(np.ones(4)) * (1 + rng.choice([0, 0.003, -0.012, 0.03]))
        form = rng.choice([f".{places}f", f".{places}e"])
        written = [format(p, form) for p in vector]
        other = rng.choice(["", ', "seconds": 0.1234567', ', "seconds": 1e-7'])
        lines.append(f'{{"probabilities": [{", ".join(written)}]{other}}}\n')
        numbers = [Decimal(text) for text in written]
        shown = max(-int(number.as_tuple().exponent) for number in numbers)
        allowed = max(1e-3, min(0.02, 4 / 2 * 10.0**-shown))
        if abs(float(sum(numbers)) - 1) > allowed + 1e-12:
            wrong.append(record)
    (tmp_path / "p.jsonl").write_text("".join(lines))
    problems = Problems()
    gold = [{"text": "a", "label": i % 4} for i in range(len(lines))]
    request = Request((Source.of(gold),), (Source.of(tmp_path / "p.jsonl"),))
    read_side("text-classification", request, problems)
    assert {p.code for p in problems} == {"probabilities-sum"}
    assert problems.errors == len(wrong)
    assert [p.record for p in problems] == wrong[:20]


@pytest.mark.parametrize("by", [1, -1])
def test_shifted_rows_are_suspected(by: int) -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 5, 200).astype(np.int32)
    problems = Problems()
    place = read_place(problems)
    suspect_order(labels, np.roll(labels, by).astype(np.int32), 5, False, place)
    assert [p.code for p in problems] == ["rows-shifted"]
    # Predictions that slid down by one row have to be fetched from the next row, and back.
    assert f"move by {by:+d} row" in next(iter(problems)).message


def test_a_poor_model_is_not_suspected() -> None:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 8, 400).astype(np.int32)
    problems = Problems()
    suspect_order(labels, rng.integers(0, 8, 400).astype(np.int32), 8, False, read_place(problems))
    assert list(problems) == []


@pytest.mark.parametrize(("classes", "rows"), [(2, 24), (3, 30), (5, 30), (20, 150)])
def test_chance_alone_is_hardly_ever_suspected(classes: int, rows: int) -> None:
    rng = np.random.default_rng(8)
    suspected = 0
    for _ in range(200):
        labels, top = rng.integers(0, classes, (2, rows)).astype(np.int32)
        problems = Problems()
        suspect_order(labels, top, classes, False, read_place(problems))
        suspected += len(problems)
    assert suspected <= 6


def test_many_classes_in_another_order_are_suspected() -> None:
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 100, 2000).astype(np.int32)
    renamed = rng.permutation(100).astype(np.int32)
    problems = Problems()
    suspect_order(labels, renamed[labels], 100, False, read_place(problems))
    assert [p.code for p in problems] == ["classes-permuted"]
    assert "but 1.00 if" in next(iter(problems)).message


def test_turned_vectors_are_the_rows_they_were() -> None:
    rows = [{"probabilities": [0.1, 0.2, 0.7]}]
    assert moved_vectors(1)(rows) == [{"probabilities": [0.2, 0.7, 0.1]}]


def read_place(problems: Problems):  # type: ignore[no-untyped-def]
    from karat.read.place import Place

    return Place(problems, "predictions.jsonl")


# --- the reference sets -----------------------------------------------------------------------

REFERENCE = os.environ.get("KARAT_REFERENCE_DATA")
FOLDER = Path(REFERENCE or ".") / "prediction-caches"
MINE = ("text_classification", "nli", "image_classification")

needs_reference = pytest.mark.skipif(
    REFERENCE is None, reason="KARAT_REFERENCE_DATA does not name the folder of reference data"
)


def reference_defects() -> list[Path]:
    if REFERENCE is None:
        return []
    return sorted(
        p.parent for p in FOLDER.glob("broken/*/defect.json") if p.parent.name.startswith(MINE)
    )


@needs_reference
@pytest.mark.parametrize("task", MINE)
def test_reference_set_is_clean(task: str) -> None:
    assert found(FOLDER / task / "config.json") == []


@needs_reference
@pytest.mark.parametrize(
    "ending", ["json", "json.gz", "jsonl.gz", "bom.jsonl", "crlf.jsonl", "nofinalnewline.jsonl"]
)
def test_every_encoding_of_the_reference_set_is_clean(ending: str, tmp_path: Path) -> None:
    config = json.loads((FOLDER / "text_classification" / "config.json").read_text())
    for side in ("ref", "eval"):
        config["data_info"][f"{side}_path"] = str(FOLDER / "formats" / f"{side}.{ending}")
        config["prediction_info"][f"{side}_path"] = str(
            FOLDER / "formats" / f"{side}_predictions.{ending}"
        )
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert found(path) == []


@needs_reference
@pytest.mark.parametrize("folder", reference_defects(), ids=lambda p: p.name)
def test_reference_defect_is_named(folder: Path) -> None:
    want = json.loads((folder / "defect.json").read_text())
    got = found(folder / "config.json")
    fields = ("code", "severity", "file", "line", "index", "key", "message")
    expected = tuple(want[name] for name in fields)
    assert expected in got
    assert [p[0] for p in got if p != expected] == want["also_reported"]
