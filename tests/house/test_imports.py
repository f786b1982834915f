"""What is loaded, as a set of modules: a budget that no busy machine can break."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numpy", "scipy", "pandas", "pyarrow", "polars", "sklearn", "torch", "rich", "asyncio"}
SOURCE = Path(__file__).parents[2] / "src" / "karat"
RUN = "import sys; sys.argv = ['karat', *{}]; from karat.cli.main import main; main()"


def loaded(code: str) -> set[str]:
    """The top-level names of every module that running `code` imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    rows = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert rows, done.stderr
    return {row.rsplit("|", 1)[1].strip().split(".")[0] for row in rows}


def test_the_measure_sees_imports() -> None:
    assert {"json", "numpy"} <= loaded("import json, numpy")


def test_importing_karat_loads_nothing_but_itself() -> None:
    assert not loaded("import karat") & (HEAVY | {"msgspec", "click"})


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["score", "--help"], ["tasks"]])
def test_help_and_listing_stay_light(words: list[str]) -> None:
    names = loaded(RUN.format(words))
    assert "click" in names
    assert not names & HEAVY


def test_scoring_loads_numpy_and_no_more() -> None:
    names = loaded("import karat; karat.check, karat.score, karat.Report")
    assert not names & (HEAVY - {"numpy"})


def test_running_models_needs_torch_transformers_and_numpy_alone() -> None:
    """Machines with accelerators often have those and nothing else."""
    pytest.importorskip("torch", reason="the extra models is not installed")
    pytest.importorskip("transformers", reason="the extra models is not installed")
    blocked = "import sys; sys.modules.update(msgspec=None, click=None, scipy=None); "
    modules = ", ".join(
        f"karat.models.{file.stem}"
        for file in sorted((SOURCE / "models").glob("*.py"))
        if file.stem != "__init__"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked + f"import {modules}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
