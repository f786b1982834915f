"""Write the built-in sample of named entities, byte for byte the same on every machine.

Sentences are filled-in patterns about invented people, places and firms. The sample tagger misses,
cuts, lengthens and mistypes spans at known rates; on pages from the harbour desk it errs three
times as often, which slicing by `meta.desk` should find.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

from sample_config import configuration

TARGET = Path(__file__).parents[1] / "src" / "karat" / "samples" / "entities"
ROWS = 240
DESKS = ("city", "harbour", "sports")

PEOPLE = ("Mira Oduya", "Tove Lind", "Jonas Feldt", "Amara Quist", "Pél Ferenczy", "Dr. Ines Roca")
PLACES = ("Port Selwyn", "Lower Hamm", "Aldersea", "Quay Nine", "Öster Vik", "Marrow Hill")
FIRMS = ("Selwyn Ferries", "Hamm & Daughters", "Tidewater Bank", "Oakline Rail", "Aldersea FC")
EVENTS = ("Lantern Regatta", "Winter Market", "Founders' Cup")
PATTERNS = (
    "{PER} left {ORG} for {LOC} on Monday.",
    "The {EVENT} in {LOC} was opened by {PER}.",
    "{ORG} and {ORG} share a pier at {LOC}.",
    "{PER} of {ORG} said the {EVENT} would go on.",
    "Rain is due in {LOC} by noon.",
    "Fans of {ORG} walked from {LOC} to {LOC}.",
    "Nobody was hurt.",
    "{PER} met {PER} near {LOC}; {PER} paid.",
)
FILLERS = {"PER": PEOPLE, "LOC": PLACES, "ORG": FIRMS, "EVENT": EVENTS}
Span = tuple[int, int, str]


def pick(dice: Random, options: tuple[str, ...]) -> str:
    """One of the options, by `Random.random` alone: its stream is the same on every Python."""
    return options[int(dice.random() * len(options))]


def sentence(dice: Random) -> tuple[str, list[Span]]:
    """A text and its spans."""
    text, spans = "", []
    rest = pick(dice, PATTERNS)
    while "{" in rest:
        before, _, rest = rest.partition("{")
        kind, _, rest = rest.partition("}")
        filled = pick(dice, FILLERS[kind])
        text += before
        spans.append((len(text), len(text) + len(filled), kind))
        text += filled
    return text + rest, spans


def predicted(dice: Random, text: str, spans: list[Span], rate: float) -> list[Span]:
    """What the sample tagger says: each span goes wrong with that chance, in one of four ways."""
    out: list[Span] = []
    for start, end, kind in spans:
        if dice.random() >= rate:
            out.append((start, end, kind))
            continue
        way = int(dice.random() * 4)
        space = text.find(" ", start, end)
        if way == 0 and space > 0:
            out.append((space + 1, end, kind))
        elif way == 1 and (more := text.find(" ", end + 1)) > 0:
            out.append((start, more, kind))
        elif way == 2:
            out.append((start, end, "ORG" if kind != "ORG" else "LOC"))
    if dice.random() < rate / 3:
        word = text.split(" ", 1)[0]
        if not any(start < len(word) for start, _, _ in out):
            out.append((0, len(word.rstrip(".")), "PER"))
    return sorted(out)


def groups(text: str, spans: list[Span]) -> list[dict[str, Any]]:
    """The spans as entities; mentions with the same words are one entity."""
    found: dict[tuple[str, str], list[dict[str, int]]] = {}
    for start, end, kind in spans:
        mention = {"start_offset": start, "end_offset": end}
        found.setdefault((kind, text[start:end]), []).append(mention)
    return [{"type": kind, "mentions": mentions} for (kind, _), mentions in found.items()]


def main(target: Path = TARGET) -> None:
    """Write both files."""
    target.mkdir(parents=True, exist_ok=True)
    for gold_name, pred_name, seed in (
        ("gold", "predictions", "entities"),
        ("ref", "ref_predictions", "entities before"),
    ):
        dice = Random(seed)
        gold, pred = [], []
        for i in range(ROWS):
            text, spans = sentence(dice)
            desk = DESKS[int(dice.random() * len(DESKS))]
            rate = 0.45 if desk == "harbour" and gold_name == "gold" else 0.15
            said = predicted(dice, text, spans, rate)
            meta = {"desk": desk, "page": i // 4 + 1}
            gold.append({"text": text, "entities": groups(text, spans), "meta": meta})
            pred.append({"predicted_entities": groups(text, said)})
        for name, rows in ((gold_name, gold), (pred_name, pred)):
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (target / f"{name}.jsonl").write_bytes(lines.encode())
    profiling = {"custom_categorical_metadata": ["desk"]}
    config = configuration("entities", "Named Entity Recognition", profiling)
    (target / "config.json").write_text(config, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
