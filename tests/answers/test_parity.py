"""The real dev sets: the numbers that the official scripts gave, and give on this Python."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from reference import official11, official20

import karat
from karat.compat import squad, squad11

FOLDER = os.environ.get("KARAT_REFERENCE_DATA")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="KARAT_REFERENCE_DATA does not name the folder of reference data"
)
HERE = Path(FOLDER or ".") / "squad"
PUBLISHED = sys.version_info < (3, 12)  # sums of floats changed their last digits


def path(name: str) -> str:
    return str(HERE / name)


def load(name: str) -> Any:
    return json.loads((HERE / name).read_text("utf-8"))


def test_version_2(capsys: pytest.CaptureFixture[str]) -> None:
    files = path("dev-v2.0.json"), path("predictions-v2.0-bert.json")
    assert squad.main(list(files)) == 0
    printed = capsys.readouterr().out
    expected = official20(load("dev-v2.0.json"), load("predictions-v2.0-bert.json"))
    assert printed == json.dumps(expected, indent=2) + "\n"
    report = karat.score(*files)
    assert report.task == "squad2"
    for name, value in expected.items():
        assert report[name].value == value, name
    if PUBLISHED:
        assert json.loads(printed) == load("expected-v2.0-bert.json")


def test_version_2_with_probabilities() -> None:
    files = path("dev-v2.0.json"), path("predictions-v2.0-bert.json")
    report = karat.score(*files, na_probs=path("na-probs-v2.0.json"), na_prob_threshold=0.5)
    chances = load("na-probs-v2.0.json")
    expected = official20(load("dev-v2.0.json"), load(files[1]), chances, 0.5, curves=True)
    if PUBLISHED:
        assert expected == load("expected-v2.0-bert-na-0.5.json")
    for name, value in expected.items():
        assert report[name].value == value, name


def test_version_1(capsys: pytest.CaptureFixture[str]) -> None:
    files = path("dev-v1.1.json"), path("predictions-v1.1-logreg.json")
    assert squad11.main(list(files)) == 0
    said = capsys.readouterr()
    expected = load("expected-v1.1-logreg.json")
    assert json.loads(said.out) == expected == official11(load("dev-v1.1.json"), load(files[1]))
    assert said.out.count("\n") == 1
    assert said.err.count("will receive score 0.") == 13
    report = karat.score(*files, missing="zero")
    assert report.task == "squad1"
    assert {score.name: score.value for score in report} == expected


def test_weighted_totals_agree_with_the_official_sums() -> None:
    files = path("dev-v2.0.json"), path("predictions-v2.0-bert.json")
    plain = karat.score(*files, confidence=None)
    from karat.model.problem import Problems
    from karat.model.task import Request
    from karat.read.source import Source
    from karat.run.pipeline import measure
    from karat.stats.points import points
    from karat.tasks import card

    sources = [(Source.of(file),) for file in files]
    run = measure(card("squad2"), Request(*sources), Problems())
    for found in points(run.metrics, run.evidence, {}):
        assert found.value == pytest.approx(plain[found.name].value, rel=1e-12)
