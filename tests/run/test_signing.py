"""The signature: what was read is named by its content, never by where it lies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from contract.samples import sample_files

import karat
from karat import tasks


@pytest.fixture
def sides() -> tuple[Path, Path]:
    return sample_files(tasks.card("entity-linking"))


def test_a_file_named_by_an_option_is_told_by_its_content(
    sides: tuple[Path, Path], tmp_path: Path
) -> None:
    first, moved, other = (tmp_path / name for name in ("a.tsv", "b.tsv", "c.tsv"))
    first.write_text("PER\tORG\t0.5\n")
    shutil.copy(first, moved)
    other.write_text("PER\tORG\t0.25\n")
    measure = ["strong_typed_mention_match"]
    told = [
        karat.score(*sides, measure=measure, type_weights=str(file)).signature
        for file in (first, moved, other)
    ]
    assert told[0] == told[1]
    assert told[0].digest != told[2].digest
    assert str(tmp_path) not in told[0].text


def test_a_copy_of_the_inputs_has_the_same_signature(
    sides: tuple[Path, Path], tmp_path: Path
) -> None:
    copies = [shutil.copy(file, tmp_path / f"{at}.tsv") for at, file in enumerate(sides)]
    here, there = karat.score(*sides), karat.score(*copies)
    assert there.signature == here.signature
    assert there.scores == here.scores
    assert karat.score(*sides, seed=1).signature != here.signature
    assert karat.score(*sides, by="type").signature != here.signature


def test_each_system_of_a_comparison_has_its_own_file_in_it(tmp_path: Path) -> None:
    gold, said = sample_files(tasks.card("squad2"))
    ids = [
        question["id"]
        for article in json.loads(gold.read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    told = []
    for second in (0.25, 0.75):
        for name, chance in (("one", 0.5), ("two", second)):
            (tmp_path / name).write_text(json.dumps(dict.fromkeys(ids, chance)))
        files = f"{tmp_path / 'one'},{tmp_path / 'two'}"
        told.append(karat.compare(gold, said, said, na_probs=files).signature)
    assert told[0] != told[1]
    assert str(tmp_path) not in told[0].text
