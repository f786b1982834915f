"""Perfect predictions of the classification tasks."""

from __future__ import annotations

import json
from pathlib import Path

from karat.model.task import Card


def perfect_predictions(card: Card, gold: Path, into: Path) -> Path:
    """One-hot vectors of the gold labels."""
    labels = [json.loads(line)["label"] for line in gold.read_text("utf-8").splitlines()]
    classes = max(labels) + 1
    rows = [{"probabilities": [float(c == y) for c in range(classes)]} for y in labels]
    path = into / "perfect.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path
