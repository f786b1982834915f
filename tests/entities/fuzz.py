"""Random gold and predicted tags and spans, and karat's numbers for them."""

from __future__ import annotations

from random import Random
from typing import Any

from karat import score

Tags = list[list[str]]
Spans = list[list[tuple[int, int, str]]]


def tags(dice: Random, pool: list[str]) -> tuple[Tags, Tags]:
    """A few sentences, and what a poor tagger says about them."""
    gold = [
        [dice.choice(pool) for _ in range(dice.randint(1, 9))] for _ in range(dice.randint(1, 6))
    ]
    pred = [[t if dice.random() < 0.7 else dice.choice(pool) for t in line] for line in gold]
    return gold, pred


def spans(dice: Random) -> tuple[Spans, Spans]:
    """Nested, overlapping and repeated spans with inclusive ends, in any order."""

    def some() -> list[tuple[int, int, str]]:
        starts = [dice.randint(0, 20) for _ in range(dice.randint(0, 6))]
        return [(a, a + dice.randint(0, 8), dice.choice("ABC")) for a in starts]

    gold = [some() for _ in range(dice.randint(1, 5))]
    pred = [[one for one in line if dice.random() < 0.4] + some() for line in gold]
    for line in pred:
        dice.shuffle(line)
    return gold, pred


def scored_tags(gold: Tags, pred: Tags, **options: Any) -> dict[str, float | None]:
    """karat's scores of tags, by name."""
    left = [{"tokens": ["w"] * len(line), "ner_tags": line} for line in gold]
    right = [{"predicted_tags": line} for line in pred]
    report = score(left, right, task="entities", confidence=None, **options)
    return {one.name: one.value for one in report.scores}


def entities(line: list[tuple[int, int, str]]) -> list[dict[str, Any]]:
    """Spans as caches hold them."""
    return [
        {"type": kind, "mentions": [{"start_offset": a, "end_offset": b}]} for a, b, kind in line
    ]


def scored_spans(gold: Spans, pred: Spans, **options: Any) -> dict[str, float | None]:
    """karat's scores of spans with inclusive ends, by name."""
    left = [{"text": "x" * 40, "entities": entities(line)} for line in gold]
    right = [{"predicted_entities": entities(line)} for line in pred]
    report = score(left, right, task="entities", confidence=None, end="inclusive", **options)
    return {one.name: one.value for one in report.scores}
