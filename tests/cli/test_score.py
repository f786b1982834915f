"""`karat score`: what is passed on, what is printed, which status comes back."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import click
import msgspec
import pytest

from karat import tasks
from karat.cli import score as score_command
from karat.errors import DataError, MissingExtra, UsageError
from karat.model.problem import Problem
from karat.model.report import Gate, Report

PASSED = Gate(rule="accuracy>=0.2", passed=True, value=0.3, text="accuracy is 0.3")
FAILED = Gate(rule="mcc>=0.2", passed=False, value=None, text="mcc cannot be judged")


def test_only_what_was_said_is_passed_on(karat, scoring) -> None:
    answer = karat("score", "g", "p", "--by", "a", "--by", "b", "--require", "accuracy>=1")
    assert answer.status == 0
    ((paths, keywords),) = scoring.calls
    assert paths == ("g", "p")
    assert keywords["options"] == {}
    assert keywords["by"] == ("a", "b")
    assert keywords["require"] == ("accuracy>=1",)
    told = {
        k: keywords[k] for k in ("task", "cluster", "weights", "bootstrap", "confidence", "gate")
    }
    assert told == {
        "task": None,
        "cluster": None,
        "weights": None,
        "bootstrap": 0,
        "confidence": 0.95,
        "gate": "value",
    }


def test_options_of_the_task_are_flags(karat, scoring) -> None:
    karat("score", "g", "p", "--class-names", "a,b", "--top-k", "2", "--top-k", "4")
    options = scoring.calls[0][1]["options"]
    assert options == {"class_names": "a,b", "top_k": [2, 4]}


def test_an_option_of_another_task_names_its_owner(karat, scoring, monkeypatch) -> None:
    card = tasks.card("nli")
    bare = msgspec.structs.replace(tasks.card("text-classification"), options=())
    monkeypatch.setattr(tasks, "cards", lambda: (bare, card))
    monkeypatch.setattr(tasks, "card", {"text-classification": bare, "nli": card}.__getitem__)
    for words in (("--task", "text-classification"), ()):
        answer = karat("score", "g", "p", "--top-k", "2", *words)
        assert answer.status == 2
        assert "error: --top-k is no option of text-classification" in answer.err
        assert "help: --top-k belongs to nli" in answer.err
        assert answer.out == ""


def test_no_option_of_a_task_hides_a_flag_of_the_command() -> None:
    names = [p.name for p in score_command.command.params]
    flags = [o for p in score_command.command.params for o in (*p.opts, *p.secondary_opts)]
    assert len(set(names)) == len(names)
    assert len(set(flags)) == len(flags)


def test_the_table_is_data_and_remarks_are_not(karat, scoring) -> None:
    answer = karat("score", "g", "p")
    assert "accuracy" in answer.out
    assert "detected" not in answer.out
    assert "detected text-classification" in answer.err
    assert answer.out.isascii()


def test_quiet(karat, scoring) -> None:
    answer = karat("score", "g", "p", "--quiet")
    assert answer.err == ""
    assert "accuracy" in answer.out


def test_json_is_the_report(karat, scoring) -> None:
    answer = karat("score", "g", "p", "--json", "--quiet")
    assert Report.from_json(answer.out) == scoring.answer
    assert answer.document["scores"][0]["value"] == 0.30000000000000004


def test_score_only_is_the_bare_number(karat, scoring) -> None:
    assert karat("score", "g", "p", "--score-only").out == "0.30000000000000004\n"


def test_score_only_of_an_undefined_score(karat, scoring) -> None:
    scoring.answer.scores = scoring.answer.scores[1:]
    answer = karat("score", "g", "p", "--score-only", "--quiet")
    assert answer.out == "-\n"
    assert "one class only" in answer.err


@pytest.mark.parametrize("form", [(), ("--json",), ("--score-only",), ("--quiet",)])
def test_a_failed_gate_is_status_1_and_named(karat, scoring, form) -> None:
    scoring.answer.gates = [PASSED, FAILED]
    answer = karat("score", "g", "p", *form)
    assert answer.status == 1
    assert "gate failed: mcc>=0.2: mcc cannot be judged" in answer.err
    assert "accuracy>=0.2" not in answer.err


def test_passed_gates_are_status_0(karat, scoring) -> None:
    scoring.answer.gates = [PASSED]
    answer = karat("score", "g", "p")
    assert answer.status == 0
    assert "pass  accuracy>=0.2" in answer.out


def test_out_writes_by_extension(karat, scoring, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("r.json", "r.csv", "R.MD")]
    answer = karat("score", "g", "p", *(w for f in files for w in ("--out", f)))
    assert answer.status == 0
    assert answer.err.endswith(f"wrote {', '.join(files)}\n")
    assert json.loads(Path(files[0]).read_text())["task"] == "text-classification"
    rows = list(csv.DictReader(io.StringIO(Path(files[1]).read_text(), newline="")))
    assert rows[0]["name"] == "accuracy"
    assert Path(files[2]).read_text(encoding="utf-8").startswith("# text-classification")


@pytest.mark.parametrize(
    ("name", "part"),
    [("r.docx", ".json, .csv, .md"), ("r", ".json, .csv, .md"), ("no/r.json", "no folder")],
)
def test_out_is_checked_before_the_work_starts(karat, scoring, tmp_path, name, part) -> None:
    answer = karat("score", "g", "p", "--out", str(tmp_path / name))
    assert answer.status == 2
    assert part in answer.err
    assert scoring.calls == []


def test_a_full_disk_is_no_bug(karat, scoring, tmp_path, monkeypatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    answer = karat("score", "g", "p", "--out", str(tmp_path / "r.json"), "--quiet")
    assert answer.status == 2
    assert answer.err == f"error: --out {tmp_path / 'r.json'}: No space left on device\n"


def data_error() -> DataError:
    found = [
        Problem(
            "label-range", "error", "7 of 3 classes", "g.jsonl", i, i - 1, "label", "count from 0"
        )
        for i in range(1, 58)
    ]
    return DataError([*found, Problem("probability-sum", "warning", "sums to 2", "p.jsonl", 4)])


def test_bad_data_is_a_list_of_problems(karat, scoring) -> None:
    scoring.answer = data_error()
    answer = karat("score", "g", "p", "--quiet")
    lines = answer.err.splitlines()
    assert answer.status == 2
    assert answer.out == ""
    assert lines[:3] == [
        "g.jsonl:1: label-range `label` 7 of 3 classes",
        "  help: count from 0",
        "g.jsonl:2: label-range `label` 7 of 3 classes",
    ]
    assert lines[-2:] == [
        "and 37 more of `label-range`",
        "57 errors, 1 warning; nothing was scored",
    ]


def test_bad_data_as_json(karat, scoring) -> None:
    scoring.answer = data_error()
    answer = karat("score", "g", "p", "--json")
    assert answer.status == 2
    assert answer.document["schema"] == 1
    assert answer.document["error"] == "57 errors, 1 warning; nothing was scored"
    assert answer.document["counts"] == {"error": 57, "warning": 1, "note": 0}
    assert answer.document["hidden"] == {"label-range": 37}
    assert answer.document["problems"][0]["line"] == 1


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (UsageError("no such field", help="there is label"), ["no such field", "there is label"]),
        (MissingExtra("reading parquet", "arrow"), ["optional library", "karat[arrow]"]),
        (OSError(5, "Input/output error", "g.jsonl"), ["g.jsonl: Input/output error"]),
        (MemoryError(), ["does not fit into memory"]),
    ],
)
def test_what_cannot_go_on_is_two_lines(karat, scoring, error, lines) -> None:
    scoring.answer = error
    answer = karat("score", "g", "p", "--quiet", "--json")
    assert answer.status == 2
    told = answer.err.splitlines()
    assert [line.partition(":")[0] for line in told] == ["error", "help"][: len(lines)]
    assert all(part in line for part, line in zip(lines, told, strict=True))
    assert lines[0] in answer.document["error"]


def test_a_bug_is_one_line_and_a_traceback_only_with_debug(karat, scoring) -> None:
    scoring.answer = ZeroDivisionError("division by zero")
    answer = karat("score", "g", "p", "--quiet")
    assert answer.status == 2
    assert answer.err.splitlines()[0] == (
        "error: karat has a bug: ZeroDivisionError: division by zero"
    )
    assert "--debug" in answer.err
    assert "Traceback" not in answer.err
    for words in (("score", "g", "p", "--debug"), ("--debug", "score", "g", "p")):
        answer = karat(*words)
        assert answer.status == 2
        assert "Traceback" in answer.err


def test_interrupted(karat, scoring) -> None:
    scoring.answer = KeyboardInterrupt()
    answer = karat("score", "g", "p", "--quiet")
    assert (answer.status, answer.out, answer.err) == (130, "", "")


def test_flags_that_exclude_each_other(karat, scoring) -> None:
    assert karat("score", "g", "p", "--json", "--score-only").status == 2


def test_close_matches_of_options(karat, scoring) -> None:
    answer = karat("score", "g", "p", "--requier", "accuracy>=1")
    assert answer.status == 2
    assert "help: did you mean --require" in answer.err


def test_click_made_every_flag(karat) -> None:
    assert all(isinstance(p, click.Parameter) for p in score_command.command.params)
    answer = karat("score", "--help")
    assert answer.status == 0
    assert "--class-names" in answer.out
    assert "[text-classification, nli, image-classification" in " ".join(answer.out.split())
