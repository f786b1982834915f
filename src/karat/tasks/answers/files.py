"""Gold and predictions side by side, without the engine: what `score.py` and the task share.

Nothing here needs NumPy. The kernel sees gold answers as the structs they were decoded to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from karat.tasks.answers import kernel, records
from karat.tasks.answers.normal import chosen
from karat.tasks.answers.records import Number, Reading
from karat.tasks.answers.totals import Scores


@dataclass(frozen=True, slots=True)
class Choices:
    """The options that scoring has."""

    version: str = "2.0"
    missing: str = "error"
    normalizer: str = "squad"
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions that count: the place of each in the data, its id, and the decoded question.

    `unanswerable` counts those without a gold answer, also where they are left out later.
    """

    places: Sequence[int]
    ids: list[str]
    questions: list[Any]
    golds: list[list[records.Answer]]
    unanswerable: int

    def scored(self) -> Asked:
        """The same without what only scoring needs: most of the memory."""
        return replace(self, questions=[], golds=[])


def asked(dataset: Any, reading: Reading, version: str) -> Asked | None:
    """The questions of a data set; None where there are none, or some that cannot be scored."""
    questions = [q for a in dataset.data for p in a.paragraphs for q in p.qas]
    ids = [question.id for question in questions]
    if not ids:
        reading.place().add("file-empty", "there are no questions in this file")
        return None
    known = set(ids)
    records.check_ids(ids, known, reading.place())
    places: Sequence[int] = range(len(ids))
    if version == "1.1":
        silent = [question.id for question in questions if not question.answers]
        if silent:
            text = f"{len(silent)} questions have no gold answer: {records.listed(silent)}"
            hint = "such questions belong to SQuAD 2.0: --task squad2"
            reading.at_key(silent[0]).add("answers-missing", text, help=hint)
            return None
    elif len(known) < len(ids):
        # As in a dict: the place of the first question, the answers of the last one.
        last = {key: at for at, key in enumerate(ids)}
        places, ids = list(last.values()), list(last)
        questions = [questions[at] for at in places]
    return _asked(places, ids, questions)


def _asked(places: Sequence[int], ids: list[str], questions: list[Any]) -> Asked:
    golds = [question.answers for question in questions]
    return Asked(places, ids, questions, golds, golds.count([]))


def paired(
    gold: Asked, said: Mapping[str, str], reading: Reading, choices: Choices
) -> tuple[Asked, list[str | None]]:
    """The questions to score and what was said to each; the policy for missing ones is applied."""
    answers = list(map(said.get, gold.ids))
    missing = answers.count(None)
    if len(said) != len(gold.ids) - missing:
        records.check_extra(set(gold.ids), said, reading.place(), "predictions")
    if missing:
        records.check_missing(gold.ids, said, reading.place(), choices.missing)
        if choices.missing == "skip":
            kept = [i for i, text in enumerate(answers) if text is not None]
            if not kept and not reading.problems.errors:
                reading.place().add("prediction-missing", "no question has a prediction")
            return _chosen(gold, kept), [answers[i] for i in kept]
    return gold, answers


def _chosen(gold: Asked, kept: list[int]) -> Asked:
    places, ids = [gold.places[i] for i in kept], [gold.ids[i] for i in kept]
    return _asked(places, ids, [gold.questions[i] for i in kept])


def scored(
    gold: Asked,
    said: list[str | None],
    choices: Choices,
    chances: Mapping[str, Number] | None = None,
) -> Scores:
    """The raw scores of every question."""
    exact, f1 = kernel.score(
        gold.golds,
        said,
        kernel.best20 if choices.version == "2.0" else kernel.best11,
        chosen(choices.normalizer, choices.language),
    )
    return Scores(
        gold.ids, list(map(bool, gold.golds)), said, exact, f1, chances, gold.unanswerable
    )


def checked_chances(
    gold: Asked, said: list[str | None], chances: Mapping[str, Number], reading: Reading
) -> None:
    """Report probabilities that are missing, not asked for, or all the same."""
    needed = [key for key, text in zip(gold.ids, said, strict=True) if text is not None]
    records.check_chances(needed, chances, reading.place())
    records.check_extra(set(gold.ids), chances, reading.place(), "probabilities")
