"""Perfect predictions of object detection."""

from __future__ import annotations

import json
from pathlib import Path

from karat.model.task import Card


def perfect_predictions(card: Card, gold: Path, into: Path) -> Path:
    """The true boxes, each with a one-hot vector of its class."""
    found = []
    for line in gold.read_text("utf-8").splitlines():
        boxes = [dict(box) for box in json.loads(line)["label"]]
        for box in boxes:
            label = box.pop("class_id")
            box["probabilities"] = [float(c == label) for c in range(4)]
        found.append(json.dumps({"predicted_bounding_boxes": boxes}))
    path = into / "perfect.jsonl"
    path.write_text("\n".join(found), "utf-8")
    return path
