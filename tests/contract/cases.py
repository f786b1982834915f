"""What the contract needs from each task: predictions that equal the gold.

`perfect(card, gold)` finds `perfect_predictions` in `cases_<folder>.py` beside this file, named
after the task's folder. A task without one fails the contract.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from karat.model.task import Card


def perfect(card: Card, gold: Path, into: Path) -> Path:
    """A file of predictions identical to the gold, as this task writes them."""
    folder = card.module.split(".")[2]
    home = Path(__file__).with_name(f"cases_{folder}.py")
    assert home.exists(), f"write {home.name}: the contract needs perfect predictions of {folder}"
    spec = importlib.util.spec_from_file_location(f"contract_cases_{folder}", home)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path: Path = module.perfect_predictions(card, gold, into)
    return path
