"""What the README and the pages of tasks show is real: it is run again, and must come out."""

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
TASK_PAGES = {
    "answers": "squad2",
    "detection": "object-detection",
    "entities": "entities",
    "stereotypes": "stereotypes",
}
"""Page of a task that shows scores -> the sample that they are of."""

SHOWN = re.compile(r"\$ (karat score [^\n]*)\n(?:\n```\n)?([^`]* \| [^`]*)```")
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
        else:
            steps[-1][1].append(line)
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


def literally(shown: list[str], printed: list[str]) -> bool:
    """Whether these lines were printed, all of them but where `...` stands for some."""
    at = 0
    loose = False
    for line in shown:
        if line == "...":
            loose = True
            continue
        if loose:
            rest = printed[at:]
            if line not in rest:
                return False
            at += rest.index(line)
        elif printed[at : at + 1] != [line]:
            return False
        at, loose = at + 1, False
    return loose or printed[at:] in ([], [""])


def test_the_session_comes_out_as_shown(tmp_path: Path) -> None:
    folder = tmp_path
    demo = folder / "karat-demo" / SAMPLE.name
    demo.mkdir(parents=True)
    for name in ("gold.jsonl", "predictions.jsonl"):
        shutil.copy(SAMPLE / name, demo / name)
    for command, shown in session():
        first, *words = shlex.split(command)
        if first == "cd":
            folder /= words[0]
        elif first == "karat":
            printed = on_a_terminal(words, folder)
            assert literally(shown, printed), "\n".join(printed)
        else:
            subprocess.run(command, shell=True, cwd=folder, check=True)


@pytest.mark.parametrize("page", TASK_PAGES)
def test_the_scores_on_a_page_come_out_as_shown(page: str) -> None:
    text = (ROOT / "docs" / "tasks" / f"{page}.md").read_text(encoding="utf-8")
    found = SHOWN.search(text)
    assert found is not None
    printed = subprocess.run(
        [sys.executable, "-c", MAIN, *shlex.split(found[1])[1:]],
        cwd=PACKAGE / "samples" / TASK_PAGES[page],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
        check=True,
    ).stdout
    # In this order, whatever else stands between.
    rest = iter(printed.splitlines())
    missing = [line for line in found[2].splitlines() if line != "..." and line not in rest]
    assert not missing[:1], printed


def test_literally_is_meant() -> None:
    assert literally(["a", "...", "d"], ["a", "b", "c", "d", ""])
    assert literally(["a", "..."], ["a", "b"])
    assert not literally(["a", "c"], ["a", "b", "c"])
    assert not literally(["a"], ["a", "b"])
    assert not literally(["...", "x"], ["a", "b"])
