"""The session in the README is a real one: it is run again, and what it shows must come out."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sources import PACKAGE, ROOT

SAMPLE = PACKAGE / "samples" / "text-classification"
MAIN = "import sys; from karat.cli.main import main; sys.exit(main())"


def session() -> list[tuple[str, list[str]]]:
    """(command, the lines shown under it) of the README's console block."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```console\n(.*?)```", text, re.DOTALL)
    assert block is not None
    steps: list[tuple[str, list[str]]] = []
    for line in block[1].replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif line.strip() not in ("", "..."):
            steps[-1][1].append(line.rstrip())
    return steps


def on_a_terminal(words: list[str], folder: Path) -> list[str]:
    """What is to be read on a terminal without colours after a program printed to it."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", MAIN, *words],
        cwd=folder,
        stdout=theirs,
        stderr=theirs,
        # CI: no progress, which a slow machine would draw between the lines.
        env={**os.environ, "NO_COLOR": "1", "CI": "1", "PYTHONIOENCODING": "utf-8"},
    )
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not piece:
            break
        pieces.append(piece)
    child.wait(timeout=60)
    os.close(ours)
    # On a slow machine a sign of life is drawn, and wiped away by what follows a carriage return.
    return [line.rstrip().rpartition("\r")[2] for line in b"".join(pieces).decode().split("\n")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample, and a copy of its predictions with two lines spoilt."""
    for name in ("gold.jsonl", "predictions.jsonl"):
        shutil.copy(SAMPLE / name, tmp_path / name)
    lines = (tmp_path / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    lines[6] = '{"probabilities": [0.2, 0.3, 0.4, 0.0]}'
    lines[8] = '{"probabilities": [2.1, -0.3, 0.4, 1.0]}'
    (tmp_path / "broken.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("command", "shown"), session())
def test_the_session_comes_out_as_shown(command: str, shown: list[str], folder: Path) -> None:
    printed = on_a_terminal(shlex.split(command)[1:], folder)
    assert shown
    rest = iter(printed)
    missing = [line for line in shown if line not in rest]
    assert missing == [], "\n".join(printed)
