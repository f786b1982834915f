"""Which task is this? One broken record, or a broken side, must not hide the answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from karat import api
from karat.errors import UsageError

GOLD: list[dict[str, Any]] = [{"text": f"text {i}", "label": i % 2} for i in range(4)]
PREDICTIONS: list[dict[str, Any]] = [{"probabilities": [0.75, 0.25]} for _ in range(4)]


def written(folder: Path, name: str, rows: list[Any]) -> str:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def found(folder: Path, gold: list[Any], predictions: list[Any]) -> tuple[str, list[Any]]:
    check = api.check(written(folder, "g.jsonl", gold), written(folder, "p.jsonl", predictions))
    return check.task, [(p.code, Path(p.file or "").name, p.line) for p in check.problems]


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"label": 0, "id": "a"}, "text-missing"),
        ("{'text': 'a', 'label': 0}", "json-syntax"),
        ([1], "not-object"),
    ],
)
def test_a_broken_first_record_of_the_data(tmp_path: Path, record: Any, code: str) -> None:
    task, problems = found(tmp_path, [record, *GOLD[1:]], PREDICTIONS)
    assert (task, problems) == ("text-classification", [(code, "g.jsonl", 1)])


@pytest.mark.parametrize("wrong", [1, 4])
def test_predictions_that_are_none_are_judged_by_the_task_of_the_data(
    tmp_path: Path, wrong: int
) -> None:
    task, problems = found(tmp_path, GOLD, [{"probs": [1, 0]}] * wrong + PREDICTIONS[wrong:])
    assert task == "text-classification"
    assert problems == [("prediction-missing", "p.jsonl", i + 1) for i in range(wrong)]


def test_swapped_sides_are_not_guessed(tmp_path: Path) -> None:
    gold, predictions = written(tmp_path, "g", GOLD), written(tmp_path, "p", PREDICTIONS)
    with pytest.raises(UsageError) as told:
        api.check(predictions, gold)
    assert "swapped, this is text-classification" in told.value.help


@pytest.mark.parametrize(
    ("name", "content", "about"),
    [
        ("a.json", b"[1, 2]", "no list of objects"),
        ("a.jsonl", b"\x00\x01\x02", "not a text file"),
        ("a.jsonl", b'{"x": 1}\n{"y": 2}\n', "its first records have x, y"),
    ],
)
def test_what_is_there_is_said(tmp_path: Path, name: str, content: bytes, about: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=f"no task recognises .* \\({about}\\)"):
        api.check(str(path))


def test_an_empty_list_holds_no_records(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b" [ ]\n")
    assert [p.code for p in api.check(str(path)).problems] == ["file-empty"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.jsonl", b" \n\t\n", "file-empty"),
        ("a.jsonl.gz", gzip.compress(b"", mtime=0), "file-empty"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}\n', mtime=0)[:6], "gzip-damaged"),
        ("a.jsonl", '{"text": "a"}'.encode("utf-16"), "encoding"),
    ],
)
def test_a_file_without_a_first_record_is_said_to_be_so(
    tmp_path: Path, name: str, content: bytes, code: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    checked = api.check(str(path), written(tmp_path, "p.jsonl", [{"probabilities": [0.5, 0.5]}]))
    assert [(p.code, p.file, p.line) for p in checked.problems] == [(code, str(path), None)]


def test_a_zero_byte_in_a_text_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a", "label": 0}\n{"text": "\0", "label": 1}\n')
    checked = api.check(
        str(path), written(tmp_path, "p.jsonl", [{"probabilities": [0.5, 0.5]}] * 2)
    )
    assert [(p.code, p.line) for p in checked.problems] == [("json-syntax", 2)]


def test_standard_input_cannot_be_both_sides() -> None:
    with pytest.raises(UsageError, match="only one of the two sides"):
        api.check("-", "-")


def test_a_run_configuration_is_not_scored(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_task": "NLI", "data_info": {}, "run_name": "r"}))
    with pytest.raises(UsageError) as told:
        api.score(str(path))
    assert "'karat check' and 'karat stress' take it" in told.value.help
