"""`karat report`: a stored run in every form."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from karat.cli.report import FORMATS
from karat.model.report import Example, Gate, Report, Score
from karat.present.html.embedded import reports_in


def a_run(name: str = "nli", value: float = 0.1 + 0.2) -> Report:
    return Report(
        task=name,
        title=name.upper(),
        n=4,
        scores=[Score(name="accuracy", value=value, low=0.1, high=0.5, n=4, main=True)],
        gates=[Gate(rule="accuracy>=0.8", passed=False, value=value, text="accuracy is low")],
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(a_run().to_json(), encoding="utf-8")
    return path


def test_a_run_becomes_a_page_and_comes_back(karat, run: Path, tmp_path: Path) -> None:
    made = tmp_path / "page.html"
    answer = karat("report", str(run), "-o", str(made))
    assert (answer.status, answer.out) == (0, "")
    assert f"wrote {made}" in answer.err
    back = karat("report", str(made), "--json")
    assert Report.from_json(back.out) == a_run()
    assert back.out == karat("report", str(run), "--json").out


def test_several_runs_share_a_page(karat, run: Path, tmp_path: Path) -> None:
    other, made = tmp_path / "other.json", tmp_path / "page.htm"
    other.write_text(a_run(value=0.5).to_json(), encoding="utf-8")
    assert karat("report", str(run), str(other), "-o", str(made), "--quiet").err == ""
    assert reports_in(made.read_bytes()) == [a_run(), a_run(value=0.5)]
    assert [one["n"] for one in karat("report", str(made), "--json").document] == [4, 4]


def test_without_a_form_it_prints_as_score_does(karat, run: Path) -> None:
    answer = karat("report", str(run))
    assert answer.status == 0
    assert answer.out.startswith("NLI | 4 items")
    assert "FAIL" in answer.out


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_is_printed(karat, run: Path, form: str) -> None:
    answer = karat("report", str(run), "--format", form)
    assert answer.status == 0
    assert "accuracy" in answer.out.replace("\\_", "_")


def test_forms_are_what_they_are_called(karat, run: Path) -> None:
    assert ET.fromstring(karat("report", str(run), "--format", "junit").out.encode()).tag
    assert karat("report", str(run), "--format", "github").out.startswith("::error title=")
    assert json.loads(karat("report", str(run), "--format", "json").out)["task"] == "nli"


def test_a_check_can_annotate_a_pull_request(karat, tmp_path: Path) -> None:
    gold, bad = tmp_path / "gold.jsonl", tmp_path / "bad.jsonl"
    gold.write_text('{"text": "a", "label": 0}\n{"text": "b", "label": 1}\n')
    bad.write_text('{"probabilities": [0.5, 0.5]}\n{"probabilities": [0.2, 0.3]}\n')
    words = ("check", str(gold), str(bad), "--task", "text-classification", "--format", "github")
    answer = karat(*words)
    assert answer.status == 2
    assert answer.out.startswith(f"::error file={bad},line=2,title=karat probabilities-sum::")
    assert answer.out.count("\n") == 1
    assert karat(*words, "--json").status == 2


@pytest.mark.parametrize("content", [b"", b"{", b"<html></html>", b"[1]", b'{"n": "x"}', b"\xff"])
def test_what_is_no_report_is_refused(karat, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    answer = karat("report", str(path))
    assert answer.status == 2
    assert "is no report of karat" in answer.err
    assert "Traceback" not in answer.err


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_boxes_are_drawn_over_the_images_of_a_folder(karat, tmp_path: Path) -> None:
    photos, made = tmp_path / "photos", tmp_path / "page.html"
    (photos / "a").mkdir(parents=True)
    (photos / "a" / "1.png").write_bytes(PIXEL)
    (photos / "no.png").write_bytes(b"root:x:0:0")
    (tmp_path / "outside.png").write_bytes(PIXEL)
    names = ["a/1.png", "no.png", "../outside.png", "missing.png"]
    boxes = {"boxes": [{"box": [0, 0, 5, 5], "role": "gold"}]}
    run = a_run()
    run.examples = [Example(id=n, record=0, score=0, why="", fields=boxes) for n in names]
    path = tmp_path / "run.json"
    path.write_text(run.to_json(), encoding="utf-8")
    assert karat("report", str(path), "-o", str(made), "--images", str(photos)).status == 0
    text = made.read_text(encoding="utf-8")
    shown = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
    assert re.findall(r'<image href="([^"]+)"', text) == [shown]
    assert text.count('class="box gold"') == 4
    assert "boxes:" not in karat("report", str(path)).out


def test_other_mistakes_are_said(karat, run: Path, tmp_path: Path) -> None:
    missing = karat("report", str(tmp_path / "none.json"))
    assert (missing.status, "cannot be read" in missing.err) == (2, True)
    two = karat("report", str(run), str(run), "-o", str(tmp_path / "two.csv"))
    assert (two.status, "can hold one run" in two.err) == (2, True)
    both = karat("report", str(run), "--json", "--format", "csv")
    assert (both.status, "exclude each other" in both.err) == (2, True)
