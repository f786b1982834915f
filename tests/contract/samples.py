"""The samples that ship with karat, measured."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.read.source import Source
from karat.run.pipeline import Measured, measure


def sample_files(card: Card) -> tuple[Path, Path]:
    """Gold and predictions that ship with karat."""
    folder, gold, predictions = card.sample[:3]
    home = Path(str(resources.files("karat.samples"))) / folder
    return home / gold, home / predictions


def measured(card: Card, gold: Path, predictions: Path) -> Measured:
    request = Request((Source.of(gold),), (Source.of(predictions),))
    return measure(card, request, Problems())


def exempt(card: Card, test: str) -> None:
    """Skip where the task's folder says why its official definition cannot hold this."""
    if test in card.exemptions:
        pytest.skip(f"{card.name} is exempt: {card.exemptions[test]}")
