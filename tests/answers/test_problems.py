"""What is wrong with the files is named, with its place, and nothing is scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from making import dataset, question, written

import karat
from karat.errors import DataError
from karat.model.problem import Problem

GOLD = dataset([question("q1", "Paris"), question("q2"), question("q3", "the cat")])
SAID = {"q1": "paris", "q2": "", "q3": "cat"}


def problems(folder: Path, gold: Any, said: Any, **options: Any) -> list[Problem]:
    """The problems of a pair of files, warnings included."""
    files = written(folder, "gold.json", gold), written(folder, "said.json", said)
    return karat.check(*files, task="squad2", **options).problems


def test_sound_files_have_none(tmp_path: Path) -> None:
    assert problems(tmp_path, GOLD, SAID) == []


@pytest.mark.parametrize(
    ("said", "code", "line", "key"),
    [
        ('{"q1": "a",\n "q2": null, "q3": "b"}', "answer-null", 2, "q2"),
        ('{"q1": "a",\n "q2": "",\n "q3": 7}', "answer-type", 3, "q3"),
        ('["a", "b"]', "not-mapping", None, None),
        ('{"q1": "a",\n "q2": }', "json-syntax", 2, None),
        ('{"q1": "a", "q2": NaN, "q3": ""}', "nan-literal", 1, "q2"),
        ('{"q1": "a",\n "q2": "",\n "q1": "b", "q3": ""}', "duplicate-key", 3, "q1"),
        ('{"q1" : "a",\n "q1": "", "q2" : "", "q3": "\\\\"}', "duplicate-key", 2, "q1"),
        ('{"q1": "a"}', "prediction-missing", None, None),
        ("", "file-empty", None, None),
    ],
)
def test_predictions(tmp_path: Path, said: str, code: str, line: int | None, key: Any) -> None:
    found = problems(tmp_path, GOLD, said)
    assert [(p.code, p.line, p.key, p.severity) for p in found] == [(code, line, key, "error")]
    assert found[0].file == str(tmp_path / "said.json")


@pytest.mark.parametrize(
    ("gold", "code"),
    [
        ({"version": "v2.0", "data": 3}, "squad-structure"),
        ({"version": "v2.0"}, "squad-structure"),
        ([1], "squad-structure"),
        (dataset([{"id": "q1", "question": "?"}]), "answers-missing"),
        (dataset([{"id": 5, "answers": []}]), "question-id"),
        (dataset([{"id": "q1", "answers": [{"text": None}]}]), "gold-answer"),
        (dataset([]), "file-empty"),
    ],
)
def test_gold(tmp_path: Path, gold: Any, code: str) -> None:
    assert {p.code for p in problems(tmp_path, gold, SAID)} == {code}


def test_a_defect_of_gold_has_its_path(tmp_path: Path) -> None:
    gold = dataset([question("q1", "x"), question("q2", "x"), {"id": "q3"}])
    (found,) = problems(tmp_path, gold, SAID)
    assert found.key == "data[1].paragraphs[0].qas[0].answers"
    assert found.record == 2


def test_a_list_of_records_is_told_without_naming_the_task(tmp_path: Path) -> None:
    records = [{"id": "q1", "prediction_text": "paris"}]
    files = written(tmp_path, "g.json", GOLD), written(tmp_path, "p.json", records)
    (found,) = karat.check(*files).problems
    assert (found.code, found.severity) == ("not-mapping", "error")
    assert "{id: answer}" in found.help


def test_extra_and_repeated_ids_are_warnings(tmp_path: Path) -> None:
    gold = dataset([question("q1", "x"), question("q2", "y"), question("q1", "z")])
    found = problems(tmp_path, gold, {"q1": "z", "q2": "", "q9": ""})
    assert {(p.code, p.severity) for p in found} == {
        ("question-duplicate", "warning"),
        ("prediction-extra", "warning"),
    }
    report = karat.score(str(tmp_path / "gold.json"), str(tmp_path / "said.json"), task="squad2")
    assert report.n == 2
    assert report.exact == 50.0  # the second q1 counts


@pytest.mark.parametrize("lines", [None, 1])
def test_the_first_extra_id_has_its_line(tmp_path: Path, lines: int | None) -> None:
    (found,) = problems(tmp_path, GOLD, json.dumps({**SAID, "q9": "", "q8": ""}, indent=lines))
    assert (found.line, found.key) == (5 if lines else 1, "q9")


@pytest.mark.parametrize("said", ["\\", '\\"', '"', '":', "\\\\", '"q1": "b"'])
def test_quotes_inside_of_answers_are_no_repeated_keys(tmp_path: Path, said: str) -> None:
    assert problems(tmp_path, GOLD, {**SAID, "q1": said, "q3": said * 2}) == []


def test_another_encoding_is_told_once(tmp_path: Path) -> None:
    written(tmp_path, "gold.json", GOLD)
    (tmp_path / "said.json").write_bytes(json.dumps(SAID).encode("utf-16"))
    files = str(tmp_path / "gold.json"), str(tmp_path / "said.json")
    assert [p.code for p in karat.check(*files).problems] == ["encoding"]


def test_answers_as_columns_get_a_hint(tmp_path: Path) -> None:
    gold = dataset([{"id": "q1", "answers": {"text": ["x"], "answer_start": [0]}}])
    (found,) = problems(tmp_path, gold, SAID)
    assert found.code == "answers-missing"
    assert '[{"text": ...}, ...]' in found.help


def test_missing_predictions_are_counted_and_named(tmp_path: Path) -> None:
    files = written(tmp_path, "g.json", GOLD), written(tmp_path, "p.json", {"q3": "cat"})
    with pytest.raises(DataError, match=r"no prediction for 2 of 3 questions: q1, q2"):
        karat.score(*files)
    zero, skip = karat.score(*files, missing="zero"), karat.score(*files, missing="skip")
    assert (zero.n, zero.exact) == (3, pytest.approx(100 / 3))
    assert zero["NoAns_exact"].value == 0
    assert (skip.n, skip.exact) == (1, 100.0)
    assert skip["NoAns_exact"].value is None
    for report, word in ((zero, "zero"), (skip, "skip")):
        assert f"missing:{word}" in report.signature.text
        assert any(f"--missing {word}" in note for note in report.notes)
    assert len({zero.signature.digest, skip.signature.digest}) == 2


@pytest.mark.parametrize(
    ("chances", "code", "severity"),
    [
        ({"q1": 0.5, "q2": 0.5}, "na-prob-missing", "error"),
        ({"q1": 0.5, "q2": None, "q3": 0.1}, "na-prob-type", "error"),
        ({"q1": 0.5, "q2": "0.5", "q3": 0.1}, "na-prob-type", "error"),
        ({"q1": 0.5, "q2": 0.5, "q3": 0.5}, "na-prob-constant", "warning"),
        ('{"q1": 0.5, "q2": NaN, "q3": 0.1}', "nan-literal", "error"),
        ([0.5], "not-mapping", "error"),
    ],
)
def test_probabilities(tmp_path: Path, chances: Any, code: str, severity: str) -> None:
    path = written(tmp_path, "na.json", chances)
    found = problems(tmp_path, GOLD, SAID, na_probs=path)
    assert [(p.code, p.severity) for p in found] == [(code, severity)]


def test_a_lone_surrogate_is_scored_as_the_script_does(tmp_path: Path) -> None:
    gold = dataset([question("q1", "x \ud800"), question("q2", "y")])
    files = (
        written(tmp_path, "g.json", gold),
        written(tmp_path, "p.json", {"q1": "X \ud800", "q2": "n"}),
    )
    report = karat.score(*files)
    assert report.exact == 50.0
    assert {p.code for p in report.problems} == {"lone-surrogate"}
    assert karat.score(*files, examples=2).to_json()


def test_version_1_refuses_silence(tmp_path: Path) -> None:
    files = written(tmp_path, "g.json", GOLD), written(tmp_path, "p.json", SAID)
    with pytest.raises(DataError, match="no gold answer for 1 of 3 questions: q2"):
        karat.score(*files, task="squad1")


def test_a_missing_file_of_probabilities(tmp_path: Path) -> None:
    found = problems(tmp_path, GOLD, SAID, na_probs=str(tmp_path / "none.json"))
    assert [p.code for p in found] == ["file-missing"]
