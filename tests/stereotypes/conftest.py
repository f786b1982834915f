"""Small stereotype data made in the tests, and the folder of reference data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LABELS = ("stereotype", "anti-stereotype", "unrelated")
Make = Callable[..., tuple[Path, Path]]


@pytest.fixture(scope="session")
def reference() -> Path:
    root = os.environ.get("KARAT_REFERENCE_DATA")
    if not root or not (Path(root) / "stereoset" / "expected.json").is_file():
        pytest.skip("KARAT_REFERENCE_DATA is not set: real data and predictions are there")
    return Path(root) / "stereoset"


def row(number: int, domain: str, target: str, **more: Any) -> dict[str, Any]:
    """An example with candidates k<number>S, k<number>A and k<number>U, in turning order."""
    order = [LABELS[(number + i) % 3] for i in range(3)]
    found: dict[str, Any] = {
        "id": f"e{number}",
        "target": target,
        "bias_type": domain,
        "context": f"The {target} was BLANK.",
    }
    for i, label in enumerate(order, 1):
        word = f"{label} {number}"
        found[f"c{i}_id"] = f"k{number}{label[0].upper()}"
        found[f"c{i}_word"] = word
        found[f"c{i}_sentence"] = f"The {target} was {word}."
        found[f"c{i}_gold_label"] = label
    return found | more


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes rows and scores: examples are (domain, target, S, A, U)."""

    def made(
        examples: list[tuple[str, str, float, float, float]], section: str = "intrasentence"
    ) -> tuple[Path, Path]:
        rows, scores = [], []
        for i, (domain, target, *values) in enumerate(examples):
            rows.append(row(i, domain, target))
            for label, value in zip(LABELS, values, strict=True):
                scores.append({"id": f"k{i}{label[0].upper()}", "score": value})
        gold, predictions = tmp_path / "gold.jsonl", tmp_path / "model.json"
        gold.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
        predictions.write_text(json.dumps({section: scores}, indent=2), "utf-8")
        return gold, predictions

    return made
