"""Write the entity-linking sample, byte for byte the same on every machine.

Invented news of an invented coast: entities of a small knowledge base, and unknown ones that are
clustered within a document. The system is weak at organisations, which it confuses with places.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

TARGET = Path(__file__).parents[1] / "src" / "karat" / "samples" / "entity-linking"
DOCUMENTS = 24

PLACES = ("Q_Harrow_Bay", "Q_Lindt_Isle", "Q_Port_Amsel", "Q_Vessen")
PEOPLE = ("Q_Ada_Korvin", "Q_Jonas_Weil", "Q_Mira_Sand")
FIRMS = ("Q_Amsel_Ferries", "Q_Vessen_United", "Q_Harrow_Press")
TYPES = {
    **dict.fromkeys(PLACES, "GPE"),
    **dict.fromkeys(PEOPLE, "PER"),
    **dict.fromkeys(FIRMS, "ORG"),
}

Row = tuple[str, int, int, list[tuple[str, str, str]]]


def main(target: Path = TARGET) -> None:
    """Write gold.tsv and predictions.tsv."""
    dice = Random("entity-linking")
    gold: list[Row] = []
    predictions: list[Row] = []
    for number in range(1, DOCUMENTS + 1):
        document(dice, f"coast-{number:02d}", gold, predictions)
    target.mkdir(parents=True, exist_ok=True)
    for name, rows in (("gold", gold), ("predictions", predictions)):
        text = "".join(f"{line(row)}\n" for row in rows)
        (target / f"{name}.tsv").write_text(text, encoding="utf-8")


def document(dice: Random, docid: str, gold: list[Row], predictions: list[Row]) -> None:
    """The mentions of one document on both sides."""
    at = 0
    unknown = [f"NIL_{docid}_{k}" for k in (1, 2)]
    guessed = {name: f"NIL_{docid}_s{k}" for k, name in enumerate(unknown, 1)}
    for _ in range(6 + int(dice.random() * 8)):
        at += 12 + int(dice.random() * 60)
        end = at + 3 + int(dice.random() * 12)
        pool = (*PLACES, *PEOPLE, *FIRMS, *unknown)
        entity = pool[int(dice.random() * len(pool))]
        kind = TYPES.get(entity, ("PER", "ORG")[entity.endswith("2")])
        gold.append((docid, at, end, [(entity, "1.0", kind)]))
        answer = respond(dice, entity, kind, guessed)
        if answer is not None:
            shift = int(dice.random() < 0.05)
            predictions.append((docid, at, end - shift, answer))
        at = end
    if dice.random() < 0.4:
        spurious = (PLACES[int(dice.random() * len(PLACES))], "0.31", "GPE")
        predictions.append((docid, at + 20, at + 27, [spurious]))


def respond(
    dice: Random, entity: str, kind: str, guessed: dict[str, str]
) -> list[tuple[str, str, str]] | None:
    """What the system says of a mention: candidates, best first, or nothing."""
    luck = dice.random()
    if luck < 0.08:
        return None
    weak = kind == "ORG"
    right = dice.random() < (0.55 if weak else 0.88)
    wrong = PLACES[int(dice.random() * len(PLACES))]
    name = guessed.get(entity, entity)
    if not right and dice.random() < 0.3:
        name, other = "NIL_lost", None
    elif not right:
        name, other = wrong, guessed.get(entity, entity)
    else:
        other = wrong if dice.random() < 0.4 else None
    found = [(name, f"{0.6 + 0.39 * dice.random():.2f}", "GPE" if weak and not right else kind)]
    if other is not None and other != name:
        found.append((other, f"{0.1 + 0.3 * dice.random():.2f}", kind))
    return found


def line(row: Row) -> str:
    """One line of an annotation table."""
    docid, start, end, candidates = row
    return "\t".join([docid, str(start), str(end), *(cell for c in candidates for cell in c)])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
