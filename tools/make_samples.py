"""Write the built-in samples of `karat demo`, byte for byte the same on every machine.

Each sample comes from a model that we know: logits are a margin on the right class plus noise, so
the calibrated probabilities are softmax(margin * logits); the sample model is somewhat surer than
that. One slice of each set has a smaller margin: the weakness that slicing should find.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import sample_phrases as words
from sample_config import configuration

TARGET = Path(__file__).parents[1] / "src" / "karat" / "samples"
OVERCONFIDENCE = 1.35

Row = dict[str, Any]
T = TypeVar("T")


@dataclass
class Dice:
    """Seeded chance, from `Random.random` alone: its stream is the same on every Python."""

    seed: str
    source: Random = field(init=False)

    def __post_init__(self) -> None:
        self.source = Random(self.seed)

    def pick(self, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """One of the options."""
        if weights is None:
            return options[int(self.source.random() * len(options))]
        mark = self.source.random() * sum(weights)
        for option, weight in zip(options, weights, strict=True):
            mark -= weight
            if mark < 0:
                return option
        return options[-1]

    def normal(self) -> float:
        """A standard normal number, by Box and Muller."""
        radius = math.sqrt(-2 * math.log(1 - self.source.random()))
        return radius * math.cos(2 * math.pi * self.source.random())

    def probabilities(self, label: int, classes: int, margin: float) -> list[float]:
        """What the sample model says about an item: four decimals that sum to 1."""
        logits = [self.normal() + margin * (k == label) for k in range(classes)]
        raised = [math.exp(2.0 * OVERCONFIDENCE * z) for z in logits]
        shares = [round(10_000 * r / sum(raised)) for r in raised]
        shares[shares.index(max(shares))] += 10_000 - sum(shares)
        return [s / 10_000 for s in shares]


def day(dice: Dice, month: int) -> str:
    """A date of that month."""
    return f"2025-{month:02d}-{1 + int(dice.source.random() * 28):02d}"


def conversations(dice: Dice, side: str, rows: int) -> Iterator[tuple[Row, list[float]]]:
    """Messages to a shop; several of one conversation share their luck. Weak: the phone."""
    shares = (0.45, 0.35, 0.2) if side == "ref" else (0.35, 0.3, 0.35)
    made = number = 0
    while made < rows:
        number += 1
        channel = dice.pick(words.CHANNELS, shares)
        language = dice.pick(("en", "de"), (0.8, 0.2))
        luck = 0.45 * dice.normal()
        margin = {"chat": 2.4, "email": 2.7, "phone": 1.3}[channel] + luck
        value = round(math.exp(3.6 + 0.7 * dice.normal()), 2)
        when = day(dice, 2 if side == "ref" else 5)
        said: set[str] = set()
        for turn in range(min(dice.pick((1, 2, 3, 4), (0.25, 0.35, 0.25, 0.15)), rows - made)):
            label = dice.pick((0, 1, 2, 3), (0.35, 0.25, 0.25, 0.15))
            row = {
                "text": message(dice, label, channel, language, said),
                "label": label,
                "timestamp": f"{when} {8 + turn:02d}:{int(dice.source.random() * 60):02d}:00",
                "meta": {
                    "conversation": f"{side}-{number:03d}",
                    "channel": channel,
                    "language": language,
                    "order_value": value,
                },
            }
            yield row, dice.probabilities(label, 4, max(margin, 0.2))
            made += 1


def message(dice: Dice, label: int, channel: str, language: str, said: set[str]) -> str:
    """One message of a class that was not `said` before. Greetings belong to the channel."""
    template = dice.pick([m for m in words.MESSAGES[language][label] if m not in said])
    said.add(template)
    body = template.format(
        good=dice.pick(words.GOODS[language]), day=dice.pick(words.DAYS[language])
    )
    if language == "de":
        return body[0].upper() + body[1:]
    text = dice.pick(words.OPENINGS[channel]) + body + dice.pick(words.CLOSINGS[channel])
    return text.lower().replace("?", "").replace(",", "") if channel == "phone" else text


def inferences(dice: Dice, side: str, rows: int) -> Iterator[tuple[Row, list[float]]]:
    """Premises with up to three hypotheses, which share their luck. Weak: the telephone."""
    made = number = 0
    while made < rows:
        number += 1
        scene = dice.pick(words.SCENES)
        who, place = dice.pick(words.WHO), dice.pick(words.PLACES)
        genre = dice.pick(words.GENRES)
        margin = (0.9 if genre == "telephone" else 1.9) + 0.4 * dice.normal()
        labels = [0, 1, 2]
        for _ in range(min(dice.pick((1, 2, 3), (0.2, 0.3, 0.5)), rows - made)):
            label = labels.pop(int(dice.source.random() * len(labels)))
            row = {
                "text": scene[0].format(who=who, place=place),
                "text_pair": scene[1 + label].format(who=who, place=place),
                "label": label,
                "meta": {"conversation": f"{side}-{number:03d}", "genre": genre},
            }
            yield row, dice.probabilities(label, 3, max(margin, 0.2))
            made += 1


def images(dice: Dice, side: str, rows: int) -> Iterator[tuple[Row, list[float]]]:
    """Fruit on a sorting belt under three cameras. Weak: camera C, which sees the least light."""
    shares = (0.5, 0.35, 0.15) if side == "ref" else (0.4, 0.3, 0.3)
    light = {"A": 0.62, "B": 0.55, "C": 0.31}
    for number in range(rows):
        camera = dice.pick(words.CAMERAS, shares)
        brightness = min(max(light[camera] + 0.09 * dice.normal(), 0.02), 0.98)
        label = dice.pick(range(5), (0.3, 0.25, 0.2, 0.1, 0.15))
        row = {
            "image_path": f"images/{side}/{number:04d}.jpg",
            "label": label,
            "timestamp": day(dice, 2 if side == "ref" else 5),
            "meta": {"camera": camera, "brightness": round(brightness, 3)},
        }
        yield row, dice.probabilities(label, 5, 0.9 + 2.6 * brightness)


@dataclass(frozen=True)
class Sample:
    """One sample set: its folder, its name in a run configuration, and how its rows are made."""

    name: str
    model_task: str
    class_names: Sequence[str]
    make: Callable[[Dice, str, int], Iterator[tuple[Row, list[float]]]]
    rows: int
    numeric: Sequence[str] = ()
    categorical: Sequence[str] = ()


SAMPLES = (
    Sample(
        "text-classification", "Text Classification", words.CLASSES, conversations, 200,
        numeric=("order_value",), categorical=("channel", "language"),
    ),
    Sample(
        "nli", "Natural Language Inference", ("entailment", "neutral", "contradiction"),
        inferences, 180, categorical=("genre",),
    ),
    Sample("image-classification", "Image Classification", words.FRUIT, images, 160),
)  # fmt: skip


def declared(sample: Sample) -> Row:
    """What the run configuration of a sample says of its data."""
    profiling: Row = {"class_names": list(sample.class_names)}
    if sample.numeric:
        profiling["custom_numeric_metadata"] = list(sample.numeric)
    if sample.categorical:
        profiling["custom_categorical_metadata"] = list(sample.categorical)
    return profiling


def files(sample: Sample) -> Iterator[tuple[str, str]]:
    """Name and content of every file of a sample."""
    names = {"eval": ("gold", "predictions"), "ref": ("ref", "ref_predictions")}
    for side, (gold, predictions) in names.items():
        pairs = list(sample.make(Dice(f"{sample.name} {side}"), side, sample.rows))
        yield f"{gold}.jsonl", lines(row for row, _ in pairs)
        yield f"{predictions}.jsonl", lines({"probabilities": p} for _, p in pairs)
    yield "config.json", configuration(sample.name, sample.model_task, declared(sample))


def lines(rows: Iterator[Row]) -> str:
    """JSONL."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main(target: Path = TARGET) -> None:
    """Write all samples below `target`."""
    for sample in SAMPLES:
        folder = target / sample.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files(sample):
            (folder / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
