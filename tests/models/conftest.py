"""Tiny models: the reference ones, and others made on the spot from a configuration."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from models.original import FOLDERS

# The light half of the tests runs without karat[models]; nothing here could even be imported then.
HAVE = all(find_spec(name) is not None for name in ("torch", "transformers"))
collect_ignore_glob = [] if HAVE else ["test_*.py"]
if HAVE:
    import torch

    # Small products on many threads are slower than on one, and other tests run beside.
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of tiny models with the original code's scores."""
    root = os.environ.get("KARAT_REFERENCE_DATA")
    if not root:
        pytest.skip("KARAT_REFERENCE_DATA is not set: no reference scores")
    return Path(root) / "stereoset" / "inference"


@pytest.fixture(scope="session")
def model(reference: Path) -> Callable[[str], str]:
    return lambda short: str(reference / "models" / FOLDERS[short])


@pytest.fixture(scope="session")
def data(reference: Path) -> dict[str, str]:
    """Section -> the data file of 60 examples."""
    return {
        s: str(reference / "data" / s / f"df_{s}_en.pkl")
        for s in ("intrasentence", "intersentence")
    }


@pytest.fixture(scope="session")
def examples(data: dict[str, str]) -> dict[str, Any]:
    from karat.run.predicting import Job, read_examples

    return read_examples(Job(files=dict(data), paths={}))


@pytest.fixture(scope="session")
def score() -> Callable[..., dict[str, list[float | None]]]:
    """The scores of a path, whatever the batches."""
    from karat.models.paths import make
    from karat.models.running import Pace, rows_of

    def run(settings: Any, section: str, name: str, chosen: Any, **more: Any) -> Any:
        size, budget = more.pop("batch_size", None), more.pop("budget", None)
        path, identity, _ = make(settings, section, name, chosen, **more)
        rows, _ = rows_of(path.work, identity, settings, Pace(size, budget), None, name)
        return path.scores(rows)

    return run


@pytest.fixture
def karat(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs one command line in this process: (status, out, err)."""
    from karat.cli.main import main

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, out, err

    return run
