"""The real command in real processes: signals, pipes, colour, what is imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STANDING_BY = """
import signal, sys, time
# A shell hands its background jobs a SIGINT that is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from karat import api
from karat.cli.main import main
def score(*args, **keywords):
    print("ready", file=sys.stderr, flush=True)
    time.sleep(60)
api.score = score
sys.exit(main(["score", "g", "p"]))
"""

A_PAGE = """
import sys
from karat import api
from karat.cli.main import main
from karat.model.report import Report, Score, Slice, SliceScore
scores = [Score(name=f"s{i}", value=0.5, n=3, main=True) for i in range(20000)]
slices = [Slice(field="f", level="\\u65e5\\u672c", n=1, scores=[SliceScore(name="s0", value=1.0)])]
api.score = lambda *a, **k: Report(task="nli", n=3, scores=scores, slices=slices)
sys.exit(main(["score", "g", "p", "--quiet"]))
"""


def environment(**more: str) -> dict[str, str]:
    # Without its buffer Python itself loses the error of a pipe that closes during a write.
    unwanted = ("NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED")
    return {k: v for k, v in os.environ.items() if k not in unwanted} | more


def imported(*words: str) -> set[str]:
    """The modules that a command line imports."""
    command = [sys.executable, "-X", "importtime", "-m", "karat.cli.main", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}


@pytest.mark.parametrize("words", [("--help",), ("--version",)])
def test_help_imports_next_to_nothing(words: tuple[str, ...]) -> None:
    modules = imported(*words)
    assert "click" in modules
    assert not modules & {"numpy", "scipy", "msgspec", "karat.api", "karat.cli.score"}


@pytest.mark.parametrize(("told", "left"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_a_command_starts_no_threads_of_numpy(told: dict[str, str], left: str) -> None:
    code = "import os; from karat.cli.main import main; main(['tasks', '--quiet']); "
    code += "print('left', os.environ['OPENBLAS_NUM_THREADS'])"
    settings = {k: v for k, v in environment().items() if k != "OPENBLAS_NUM_THREADS"} | told
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=settings
    )
    assert done.stdout.splitlines()[-1] == f"left {left}"


def test_a_library_settles_nothing() -> None:
    code = (
        "import os, karat; karat.score([{'text': 'a', 'label': 0}], [{'probabilities': [1, 0]}]); "
    )
    code += "print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    settings = {k: v for k, v in environment().items() if k != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=settings
    )
    assert done.stdout == "None\n"


@pytest.mark.parametrize(
    "words", [("score", "--help"), ("check", "--help"), ("tasks",), ("completion", "zsh")]
)
def test_help_of_a_command_imports_no_numpy(words: tuple[str, ...]) -> None:
    assert not imported(*words) & {"numpy", "scipy"}


def test_completion_of_fields_imports_no_numpy(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"text": "a", "meta": {"channel": "web"}}\n')
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "karat.cli.main"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(
            _KARAT_COMPLETE="bash_complete",
            COMP_WORDS=f"karat score {gold} p --by me",
            COMP_CWORD="5",
        ),
    )
    assert "plain,meta.channel" in done.stdout.splitlines()
    assert "numpy" not in done.stderr


def test_ctrl_c_is_quiet_and_130() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STANDING_BY],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_closed_pipe_is_quiet() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", A_PAGE],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"nli")
        process.stdout.close()
        err = process.stderr.read()
    assert err == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("settings", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_through_a_pipe(settings: dict[str, str], coloured: bool) -> None:
    command = [sys.executable, "-c", A_PAGE]
    done = subprocess.run(command, capture_output=True, check=True, env=environment(**settings))
    assert (b"\x1b[" in done.stdout) is coloured


def test_a_name_that_the_encoding_lacks_is_escaped() -> None:
    command = [sys.executable, "-c", A_PAGE]
    settings = environment(PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    done = subprocess.run(command, capture_output=True, check=True, env=settings)
    assert b"\\u65e5\\u672c" in done.stdout


def test_the_package_is_the_command() -> None:
    command = [sys.executable, "-m", "karat", "score"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 2
    assert "karat score --help" in done.stderr
