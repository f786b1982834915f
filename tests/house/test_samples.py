"""The samples are what their script makes, and are what the docs say they are."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from sources import PACKAGE

import make_samples

NAMES = [sample.name for sample in make_samples.SAMPLES]
WEAK = {
    "text-classification": ("channel", "phone"),
    "nli": ("genre", "telephone"),
    "image-classification": ("camera", "C"),
}


def rows(name: str, file: str) -> list[dict[str, Any]]:
    lines = (PACKAGE / "samples" / name / f"{file}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in lines.splitlines()]


def hits(name: str) -> list[tuple[dict[str, Any], bool]]:
    pairs = zip(rows(name, "gold"), rows(name, "predictions"), strict=True)
    return [(g, p["probabilities"].index(max(p["probabilities"])) == g["label"]) for g, p in pairs]


def test_every_sample_is_what_the_script_makes(tmp_path: Path) -> None:
    make_samples.main(tmp_path)
    made = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.*")}
    assert len(made) == 5 * len(NAMES)
    for path, content in made.items():
        assert (PACKAGE / "samples" / path).read_bytes() == content, path


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_are_whole(name: str) -> None:
    for file in ("predictions", "ref_predictions"):
        for row in rows(name, file):
            units = [round(10_000 * p) for p in row["probabilities"]]
            assert sum(units) == 10_000
            assert min(units) >= 0


@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_good_but_too_sure(name: str) -> None:
    right = [hit for _, hit in hits(name)]
    accuracy = sum(right) / len(right)
    sure = [max(row["probabilities"]) for row in rows(name, "predictions")]
    assert 0.75 < accuracy < 0.88
    assert 0.02 < sum(sure) / len(sure) - accuracy < 0.10


@pytest.mark.parametrize("name", NAMES)
def test_the_weak_slice_is_the_weakest(name: str) -> None:
    field, weak = WEAK[name]
    by: dict[str, list[bool]] = defaultdict(list)
    for row, hit in hits(name):
        by[row["meta"][field]].append(hit)
    shares = {level: sum(right) / len(right) for level, right in by.items()}
    assert min(shares, key=lambda level: shares[level]) == weak
    assert len(by[weak]) >= 30


@pytest.mark.parametrize("name", ["text-classification", "nli"])
def test_the_text_samples_come_in_conversations(name: str) -> None:
    sizes: dict[str, int] = defaultdict(int)
    for row in rows(name, "gold"):
        sizes[row["meta"]["conversation"]] += 1
    assert len(sizes) > 50
    assert 1 <= min(sizes.values()) < max(sizes.values()) <= 4
