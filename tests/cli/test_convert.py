"""`karat convert` as a user meets it: formats are told from the data, mistakes explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat
from karat.cli.main import main

SAMPLES = Path(karat.__file__).parent / "samples"

ROW = {
    "text": "Ada was in Rome.",
    "entities": [{"type": "LOC", "mentions": [{"start_offset": 11, "end_offset": 15}]}],
}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    return path


def test_a_file_becomes_another(gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = gold.with_name("out.conll")
    assert main(["convert", str(gold), "--to", "conll", "-o", str(target)]) == 0
    assert "cache to conll" in capsys.readouterr().err
    assert target.read_text("utf-8").splitlines()[3] == "Rome\t11\t15\tB-LOC"


def test_quiet_says_nothing(gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = gold.with_name("out.jsonl")
    assert main(["convert", str(gold), "--to", "spacy", "-o", str(target), "--quiet"]) == 0
    shown = capsys.readouterr()
    assert shown.out + shown.err == ""


def test_the_extension_of_the_output_tells_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = SAMPLES / "stereotypes" / "gold.jsonl"
    target = tmp_path / "gold.csv"
    assert main(["convert", str(rows), "-o", str(target)]) == 0
    assert "rows to csv" in capsys.readouterr().err
    assert target.read_text("utf-8").startswith("section,id,")
    assert main(["convert", str(rows), "-o", str(tmp_path / "gold.txt")]) == 2
    assert "say --from, --to" in capsys.readouterr().err


def test_list_shows_the_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "--list", "--task", "entities"]) == 0
    assert "brat to cache" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs inputs"),
        (["--to", "word", "-o", "x"], "no format 'word'"),
        (["--to", "conll", "-o", "nowhere/x"], "no folder nowhere"),
        (["--to", "conll", "-o", "x", "--option", "scheme"], "NAME=VALUE"),
        (["--to", "conll", "-o", "x", "--option", "scheme=X"], "choose from IOB1"),
        (["--to", "conll", "-o", "x", "--option", "colour=red"], "no option 'colour'"),
    ],
)
def test_mistakes_are_explained(
    arguments: list[str], message: str, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = [str(gold)] if arguments else []
    assert main(["convert", *inputs, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_broken_input_writes_nothing(gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold.write_text('{"text": "a", "entities": [{"type": "X", "mentions": []}]}\n')
    target = gold.with_name("out.conll")
    assert main(["convert", str(gold), "--to", "conll", "-o", str(target)]) == 2
    assert "mentions-empty" in capsys.readouterr().err
    assert sorted(path.name for path in gold.parent.iterdir()) == ["gold.jsonl"]


def test_an_output_that_is_an_input_is_refused(gold: Path) -> None:
    assert main(["convert", str(gold), "--to", "spacy", "-o", str(gold)]) == 2
    assert json.loads(gold.read_text("utf-8")) == ROW
