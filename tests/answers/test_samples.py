"""The samples are what their script makes, and show what the docs say of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import karat

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
HOME = ROOT / "src" / "karat" / "samples"


def test_every_file_is_what_the_script_makes(tmp_path: Path) -> None:
    import samples_answers

    samples_answers.main(tmp_path)
    made = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.json")}
    assert len(made) == 5
    for path, content in made.items():
        assert (HOME / path).read_bytes() == content, path


@pytest.mark.parametrize("name", ["squad1", "squad2"])
def test_the_weak_slice_is_why(name: str) -> None:
    files = [str(HOME / name / file) for file in ("gold.json", "predictions.json")]
    report = karat.score(*files, by="question_word")
    values = {s.level: s.scores[0].value or 0.0 for s in report.slices}
    assert min(values, key=lambda level: values[level]) == "why"
    assert report.clusters == 24
