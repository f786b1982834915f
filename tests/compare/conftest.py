from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

N = 60
SAMPLES = Path(__file__).parents[2] / "src" / "karat" / "samples"


class Data:
    """A gold of two classes and systems of which we know on which items they are right."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        chance = np.random.default_rng(7)
        self.labels = chance.integers(0, 2, N)
        self.right = {
            "low": chance.random(N) < 0.6,
            "high": chance.random(N) < 0.9,
            "other": chance.random(N) < 0.75,
        }
        rows = [
            {"text": f"text {i}", "label": int(y), "meta": {"group": "ab"[i % 2], "page": i // 4}}
            for i, y in enumerate(self.labels)
        ]
        self.gold = self.write("gold", rows)
        self.systems = {
            name: self.write(name, [self.prediction(i, bool(r)) for i, r in enumerate(right)])
            for name, right in self.right.items()
        }

    def prediction(self, i: int, right: bool) -> dict[str, Any]:
        said = int(self.labels[i]) if right else 1 - int(self.labels[i])
        p = 0.6 + 0.005 * i
        return {"probabilities": [p, 1 - p] if said == 0 else [1 - p, p]}

    def write(self, name: str, rows: Sequence[Any]) -> str:
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    def said(self, name: str) -> np.ndarray[Any, Any]:
        return np.where(self.right[name], self.labels, 1 - self.labels)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("compare"))


@pytest.fixture
def worse(tmp_path: Path) -> Callable[[str], tuple[str, str, str]]:
    """(gold, predictions, predictions of a worse system) of a sample."""

    def make(name: str) -> tuple[str, str, str]:
        gold, good = MADE[name]
        path = SAMPLES / name / good
        out = tmp_path / f"worse{path.suffix}"
        out.write_text(SPOILED[name](path.read_text(encoding="utf-8")), encoding="utf-8")
        return str(SAMPLES / name / gold), str(path), str(out)

    return make


def _lines(change: Callable[[Any], Any]) -> Callable[[str], str]:
    def spoil(text: str) -> str:
        rows = [json.loads(line) for line in text.splitlines()]
        made = [change(row) if at % 5 == 0 else row for at, row in enumerate(rows)]
        return "".join(json.dumps(row) + "\n" for row in made)

    return spoil


def _reversed(row: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {key: value[::-1] for key, value in row.items()}


def _emptied(row: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {key: value[1:] for key, value in row.items()}


def _answers(text: str) -> str:
    said = json.loads(text)
    return json.dumps({k: "no" if at % 5 == 0 else v for at, (k, v) in enumerate(said.items())})


def _preferences(text: str) -> str:
    said = json.loads(text)
    for rows in said.values():
        for row in rows:
            row["score"] = -row["score"]
    return json.dumps(said)


MADE = {
    "text-classification": ("gold.jsonl", "predictions.jsonl"),
    "nli": ("gold.jsonl", "predictions.jsonl"),
    "image-classification": ("gold.jsonl", "predictions.jsonl"),
    "entities": ("gold.jsonl", "predictions.jsonl"),
    "entity-linking": ("gold.tsv", "predictions.tsv"),
    "object-detection": ("gold.jsonl", "predictions.jsonl"),
    "squad1": ("gold.json", "predictions.json"),
    "squad2": ("gold.json", "predictions.json"),
    "stereotypes": ("gold.jsonl", "predictions.json"),
}
SPOILED: dict[str, Callable[[str], str]] = {
    "text-classification": _lines(_reversed),
    "nli": _lines(_reversed),
    "image-classification": _lines(_reversed),
    "entities": _lines(_emptied),
    "object-detection": _lines(_emptied),
    "squad1": _answers,
    "squad2": _answers,
    "stereotypes": _preferences,
    "entity-linking": lambda text: "".join(
        line for at, line in enumerate(text.splitlines(keepends=True)) if at % 5
    ),
}


@pytest.fixture(params=sorted(MADE))
def sample(
    request: pytest.FixtureRequest, worse: Callable[[str], tuple[str, str, str]]
) -> tuple[str, str, str]:
    return worse(request.param)
