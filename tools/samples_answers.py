"""Make the question-answering samples: invented places, questions and a model's answers.

    python tools/samples_answers.py [FOLDER]

Everything is made up and seeded. The model is good at names and years, poor at questions that ask
why, and answers too many of the questions that have no answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from make_samples import TARGET, Dice

PLACES = (
    "Ardmouth", "Belcairn", "Corvane", "Dunmarrow", "Eskerby", "Fallowick", "Gorsedale",
    "Hartlow", "Inverhope", "Kelloway", "Lastrigg", "Mossgate", "Norwick Sands", "Oldenfleet",
    "Penhallow", "Quarrendon", "Ravensea", "Sallowby", "Thornmere", "Ullerby", "Varrow",
    "Westerholm", "Yarrowford", "Zennick",
)  # fmt: skip
PEOPLE = (
    "Maud Hollis", "Edwin Prask", "the Tarrant brothers", "Ilse Varga", "Captain Dorn",
    "Agnes Whitlow", "Tomas Berrin", "the weaver Joan Sild",
)  # fmt: skip
THINGS = ("lighthouse", "mill", "ferry", "glassworks", "observatory", "granary")
STUFFS = ("grey granite", "tarred oak", "red brick", "local slate", "white limestone")
REASONS = (
    "the harbour had silted up", "a flood carried off the old bridge",
    "the price of wool fell by half", "fog cost three ships in one winter",
    "the spring ran dry after the quarry opened",
)  # fmt: skip
KEEPERS = ("the parish", "a trust of fishermen", "two sisters named Orrin", "the county museum")
ABSENT = (
    "Who painted the {thing} of {place}?",
    "When did {place} lose its railway?",
    "How many windows does the {thing} of {place} have?",
    "Which king visited {place}?",
)

Row = dict[str, Any]


def facts(dice: Dice, place: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """A paragraph, and questions with their gold answers."""
    thing, stuff = dice.pick(THINGS), dice.pick(STUFFS)
    who, why, keeper = dice.pick(PEOPLE), dice.pick(REASONS), dice.pick(KEEPERS)
    year = 1720 + int(dice.source.random() * 170)
    height = 9 + int(dice.source.random() * 40)
    context = (
        f"The {thing} of {place} was built in {year} by {who}, because {why}. It is made of "
        f"{stuff} and stands {height} metres high. Today it is kept by {keeper}."
    )
    bare = who.removeprefix("the ")
    return context, [
        (f"Who built the {thing} of {place}?", [who, bare] if bare != who else [who]),
        (f"When was the {thing} of {place} built?", [str(year), f"in {year}"]),
        (f"Why was the {thing} of {place} built?", [why, f"because {why}"]),
        (f"What is the {thing} of {place} made of?", [stuff, stuff.split()[1]]),
        (f"How high is the {thing} of {place}?", [f"{height} metres", str(height)]),
        (f"Which people keep the {thing} of {place} today?", [keeper]),
    ]


def said(dice: Dice, question: str, golds: list[str], context: str) -> str:
    """What the model answers."""
    luck = dice.source.random()
    sure = 0.35 if question.startswith("Why") else 0.78
    if luck < sure:
        gold = golds[0]
        return dice.pick((gold, gold, gold.capitalize(), f"the {gold}", f"{gold}."))
    words = context.split()
    if luck < sure + 0.12:
        gold = golds[0].split()
        return " ".join(gold[:-1]) if len(gold) > 1 else f"about {gold[0]}"
    start = int(dice.source.random() * (len(words) - 3))
    return "" if luck > 0.95 else " ".join(words[start : start + 3])


def articles(dice: Dice, silent: bool) -> Iterator[tuple[Row, dict[str, str], dict[str, float]]]:
    """Articles, the answers to their questions, and the no-answer probabilities."""
    number = 0
    for place in PLACES:
        paragraphs, answers, chances = [], {}, {}
        for _ in range(dice.pick((1, 2, 3), (0.3, 0.5, 0.2))):
            context, known = facts(dice, place)
            asked = [pair for pair in known if dice.source.random() < 0.7]
            if silent:
                thing = context.split()[1]
                asked += [
                    (text.format(thing=thing, place=place), [])
                    for text in ABSENT
                    if dice.source.random() < 0.5
                ]
            questions = []
            for question, golds in asked:
                number += 1
                key = f"{place.split()[0].lower()}-{number:03d}"
                row: Row = {"id": key, "question": question}
                row["answers"] = [
                    {"text": gold, "answer_start": max(context.find(gold), 0)} for gold in golds
                ]
                if silent:
                    row["is_impossible"] = not golds
                questions.append(row)
                spoken = dice.source.random() < 0.35
                if golds:
                    answers[key] = said(dice, question, golds, context)
                else:
                    answers[key] = " ".join(context.split()[-3:]) if spoken else ""
                centre = 0.2 + 0.5 * (not golds) + 0.15 * dice.normal()
                chances[key] = round(min(max(centre, 0.01), 0.99), 2)
            paragraphs.append({"context": context, "qas": questions})
        yield {"title": place, "paragraphs": paragraphs}, answers, chances


def files(silent: bool) -> Iterator[tuple[str, str]]:
    """Name and content of every file of a sample."""
    made = list(articles(Dice("squad2" if silent else "squad1"), silent))
    gold = {"version": "v2.0" if silent else "1.1", "data": [article for article, _, _ in made]}
    yield "gold.json", written(gold)
    yield "predictions.json", written({k: v for _, answers, _ in made for k, v in answers.items()})
    if silent:
        yield "na_probs.json", written({k: v for _, _, ps in made for k, v in ps.items()})


def written(value: Row) -> str:
    """JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def main(target: Path = TARGET) -> None:
    """Write both samples below `target`."""
    for name, silent in (("squad2", True), ("squad1", False)):
        folder = target / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in files(silent):
            (folder / file).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
