"""Gold and predictions side by side, without the engine: what `score.py` and the task share.

Nothing here needs NumPy. The kernel sees gold answers as the structs they were decoded to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from karat.tasks.answers import kernel, records
from karat.tasks.answers.normal import chosen
from karat.tasks.answers.reading import Reading
from karat.tasks.answers.records import Number
from karat.tasks.answers.totals import Scores


class Choices(msgspec.Struct, frozen=True):
    """The options that scoring has."""

    version: str = "2.0"
    missing: str = "error"
    normalizer: str = "squad"
    language: str = "en"


class Asked(msgspec.Struct, frozen=True):
    """The questions that count: the place of each in the data, its id, and its gold answers.

    `in_order` says that the predictions are for the same ids in the same order.
    """

    places: Sequence[int]
    ids: list[str]
    golds: list[list[records.Answer]]
    in_order: bool = False

    def chosen(self, kept: Sequence[int]) -> Asked:
        """Some of the questions."""
        return Asked(
            [self.places[i] for i in kept],
            [self.ids[i] for i in kept],
            [self.golds[i] for i in kept],
        )


def asked(
    dataset: Any, said: Mapping[str, str] | None, reading: Reading, version: str
) -> Asked | None:
    """The questions of a data set; None where there are none, or some that cannot be scored.

    Ids in the order of the predictions cannot repeat, so they are not looked at one by one.
    """
    ids: list[str] = []
    golds: list[list[records.Answer]] = []
    for article in dataset.data:
        questions = [q for paragraph in article.paragraphs for q in paragraph.qas]
        ids += [question.id for question in questions]
        golds += [question.answers for question in questions]
    in_order = said is not None and list(said) == ids
    gold = Asked(range(len(ids)), ids, golds, in_order)
    if not ids:
        reading.add("file-empty", "there are no questions in this file")
    elif not in_order and len(set(ids)) < len(ids):
        from karat.tasks.answers.checks import check_repeated

        check_repeated(dataset, ids, version, reading)
        if version == "2.0":
            # As in a dict: the place of the first question, the answers of the last one.
            gold = gold.chosen(list({key: at for at, key in enumerate(ids)}.values()))
    silent: list[int] = []
    if version == "1.1":
        # The script looks for the answers of questions that something was said to.
        asks = range(len(ids)) if said is None else (i for i, key in enumerate(ids) if key in said)
        silent = [i for i in asks if not golds[i]]
    if silent:
        from karat.tasks.answers.checks import check_silent

        check_silent(dataset, ids, silent, reading)
    return gold if reading.tell() else None


def paired(
    gold: Asked, said: Mapping[str, str], reading: Reading, policy: str
) -> tuple[Asked, list[str | None]]:
    """The questions to score and what was said to each; the policy for missing ones is applied."""
    if gold.in_order:
        return gold, list(said.values())
    answers = list(map(said.get, gold.ids))
    missing = answers.count(None)
    if missing or len(said) != len(gold.ids):
        from karat.tasks.answers.checks import check_extra, check_missing

        check_extra(gold.ids, said, "predictions", reading)
        check_missing(gold.ids, said, policy, reading)
        reading.tell()
    if missing and policy == "skip":
        kept = [i for i, text in enumerate(answers) if text is not None]
        return gold.chosen(kept), [answers[i] for i in kept]
    return gold, answers


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
    return Scores(gold.ids, list(map(bool, gold.golds)), said, exact, f1, chances)


def check_chances(
    gold: Asked, said: list[str | None], chances: Mapping[str, Number], reading: Reading
) -> None:
    """Report probabilities that are missing, not asked for, or all the same."""
    from karat.tasks.answers import checks

    needed = [key for key, text in zip(gold.ids, said, strict=True) if text is not None]
    checks.check_chances(needed, chances, reading)
    checks.check_extra(gold.ids, chances, "probabilities", reading)
    reading.tell()
