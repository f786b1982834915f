"""Perfect predictions of the stereotypes task: no candidate lost, and no side preferred."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from karat.model.task import Card


def perfect_predictions(card: Card, gold: Path, into: Path) -> Path:
    """Related candidates before the unrelated one, stereotype and anti-stereotype in turn."""
    turns: Counter[tuple[str, str]] = Counter()
    scores: dict[str, list[dict[str, object]]] = {"intrasentence": [], "intersentence": []}
    for line in gold.read_text("utf-8").splitlines():
        row = json.loads(line)
        turn = turns[row["section"], row["target"]]
        turns[row["section"], row["target"]] += 1
        told = {"stereotype": 2 + turn % 2, "anti-stereotype": 3 - turn % 2, "unrelated": 0}
        scores[row["section"]] += [
            {"id": row[f"c{i}_id"], "score": told[row[f"c{i}_gold_label"]]} for i in (1, 2, 3)
        ]
    path = into / "perfect.json"
    path.write_text(json.dumps(scores), "utf-8")
    return path
