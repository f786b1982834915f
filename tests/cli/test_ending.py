"""How the documented command lines end: a closed pipe, Ctrl-C, wrong files, a bug."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat.compat.ending import ended
from karat.errors import DataError, UsageError
from karat.model.problem import Problems

SAMPLES = Path(karat.__file__).parent / "samples"
SQUAD2, SQUAD1, PAIRS, LINKS = (
    SAMPLES / name for name in ("squad2", "squad1", "stereotypes", "entity-linking")
)

CALLS = {
    "squad": [SQUAD2 / "gold.json", SQUAD2 / "predictions.json"],
    "squad11": [SQUAD1 / "gold.json", SQUAD1 / "predictions.json"],
    "stereoset_evaluation": [
        "--predictions-file",
        PAIRS / "predictions.json",
        "--intrasentence-df-file",
        PAIRS / "gold.jsonl",
        "--skip-intersentence",
    ],
    "neleval": ["evaluate", "-g", LINKS / "gold.tsv", LINKS / "predictions.tsv"],
}


@pytest.mark.parametrize("module", CALLS)
def test_nobody_reads_what_is_printed(module: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", f"karat.compat.{module}", *map(str, CALLS[module])]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def failing(error: BaseException) -> int:
    def work() -> int:
        raise error

    return ended(work, 2)


def test_what_goes_wrong_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    problems = Problems()
    problems.add("id-repeated", "twice", file="a.json", line=3, help="once is enough")
    assert failing(DataError(problems)) == 2
    assert capsys.readouterr().err == "a.json:3: id-repeated twice\n  help: once is enough\n"
    assert failing(UsageError("no such thing", help="another one")) == 2
    assert capsys.readouterr().err == "error: no such thing\nhelp: another one\n"
    assert failing(PermissionError(13, "Permission denied", "x")) == 2
    assert capsys.readouterr().err == "error: x: Permission denied\n"
    assert failing(ZeroDivisionError("division by zero")) == 2
    assert "karat has a bug: ZeroDivisionError" in capsys.readouterr().err


def test_ctrl_c_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == ""


def test_the_status_may_depend_on_the_error() -> None:
    def work() -> int:
        raise UsageError("late")

    assert ended(work, lambda error: 7 if isinstance(error, UsageError) else 1) == 7
