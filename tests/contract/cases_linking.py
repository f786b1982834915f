"""Perfect predictions of entity linking: the gold table itself."""

from __future__ import annotations

from pathlib import Path

from karat.model.task import Card


def perfect_predictions(card: Card, gold: Path, into: Path) -> Path:
    """The same mentions with the same entities."""
    path = into / "perfect.tsv"
    path.write_bytes(gold.read_bytes())
    return path
