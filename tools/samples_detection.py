"""Writes the object-detection sample: a harbour camera, invented from first to last.

Four classes, three kinds of weather. The detector is good in clear weather and misses much in fog;
now and then it takes a buoy for a gull, draws a box askew, or draws one twice.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sample_config import configuration

TARGET = Path(__file__).parents[1] / "src" / "karat" / "samples"
NAME = "object-detection"
CLASSES = ("boat", "buoy", "person", "gull")
SHARES = (0.4, 0.2, 0.25, 0.15)
SIZES = (0.24, 0.07, 0.10, 0.05)
WEATHER = ("clear", "rain", "fog")
WIDTH, HEIGHT = 640, 480
IMAGES = 90

Row = dict[str, Any]
Box = dict[str, Any]


def scene(dice: random.Random, fog: float) -> list[Box]:
    """The true boxes of one image."""
    boxes = []
    for _ in range(dice.choice((0, 1, 2, 2, 3, 4, 5))):
        label = dice.choices(range(4), SHARES)[0]
        size = SIZES[label] * dice.uniform(0.6, 1.7) * (1 - 0.3 * fog)
        boxes.append({"class_id": label, **corners(dice, size, size * dice.uniform(0.8, 1.5))})
    return boxes


def corners(dice: random.Random, width: float, height: float) -> Box:
    """A box of this size somewhere in the image, in fractions of four decimals."""
    x, y = dice.uniform(0, 1 - width), dice.uniform(0, 1 - height)
    ends = {"x_min": x, "x_max": x + width, "y_min": y, "y_max": y + height}
    return {name: round(min(max(value, 0.0), 1.0), 4) for name, value in ends.items()}


def moved(dice: random.Random, box: Box, much: float) -> Box:
    """The same box, drawn by a model."""
    width, height = box["x_max"] - box["x_min"], box["y_max"] - box["y_min"]
    shift = {"x": width * much, "y": height * much}
    names = ("x_min", "x_max", "y_min", "y_max")
    return {n: round(min(max(box[n] + dice.gauss(0, shift[n[0]]), 0.0), 1.0), 4) for n in names}


def vector(dice: random.Random, label: int, sure: float) -> list[float]:
    """Probabilities of four decimals that sum to 1, most of them on `label`."""
    raw = [dice.uniform(0.02, 1.0) * (1 - sure) for _ in CLASSES]
    raw[label] += 0.4 + sure
    units = [int(10_000 * value / sum(raw)) for value in raw]
    units[label] += 10_000 - sum(units)
    return [unit / 10_000 for unit in units]


def detections(dice: random.Random, truths: list[Box], fog: float) -> Iterator[Box]:
    """What the model draws in one image."""
    for truth in truths:
        if dice.random() < 0.08 + 0.35 * fog:
            continue
        label, sure = truth["class_id"], dice.uniform(0.3, 0.95) - 0.25 * fog
        if dice.random() < 0.07:
            label, sure = (label + 2) % 4, sure - 0.2
        askew = 0.25 if dice.random() < 0.08 else 0.035
        yield {**moved(dice, truth, askew), "probabilities": vector(dice, label, sure)}
        if dice.random() < 0.05:
            yield {**moved(dice, truth, 0.04), "probabilities": vector(dice, label, sure - 0.3)}
    if dice.random() < 0.3:
        label = dice.randrange(4)
        yield {
            **corners(dice, 0.12, 0.12),
            "probabilities": vector(dice, label, dice.uniform(0, 0.5)),
        }


def rows(side: str) -> Iterator[tuple[Row, Row]]:
    """Data and predictions of one side, image by image."""
    dice = random.Random(f"{NAME} {side}")
    shares = (0.6, 0.3, 0.1) if side == "ref" else (0.45, 0.3, 0.25)
    for number in range(IMAGES):
        weather = dice.choices(WEATHER, shares)[0]
        fog = {"clear": 0.0, "rain": 0.3, "fog": 1.0}[weather]
        truths = scene(dice, fog)
        data = {
            "image_path": f"harbour/{side}/{number:04d}.jpg",
            "width": WIDTH,
            "height": HEIGHT,
            "label": truths,
            "meta": {"weather": weather, "pier": dice.choice("NSW")},
        }
        found = [box for box in detections(dice, truths, fog) if drawn(box)]
        yield data, {"predicted_bounding_boxes": found}


def drawn(box: Box) -> bool:
    """Whether a box has an area."""
    return bool(box["x_min"] < box["x_max"] and box["y_min"] < box["y_max"])


def main(target: Path = TARGET) -> None:
    """Write the sample below `target`."""
    folder = target / NAME
    folder.mkdir(parents=True, exist_ok=True)
    for side, names in {"eval": ("gold", "predictions"), "ref": ("ref", "ref_predictions")}.items():
        pairs = list(rows(side))
        for place, name in enumerate(names):
            text = "".join(json.dumps(pair[place]) + "\n" for pair in pairs)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="\n")
    text = configuration(NAME, "Object Detection", {"class_names": list(CLASSES)})
    (folder / "config.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
