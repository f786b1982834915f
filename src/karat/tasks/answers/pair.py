"""Both sides of question answering for the engine: questions, answers, and what they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.errors import DataError
from karat.model.pairs import Pairs
from karat.model.problem import Problem, Problems
from karat.model.task import Card, Request
from karat.read.fields import Fields, Selected
from karat.read.source import Source
from karat.tasks.answers import files, records
from karat.tasks.answers.facets import articles_of, default_cluster, schema, select
from karat.tasks.answers.reading import Reading
from karat.tasks.answers.totals import Scores

ALONE = "question"


@dataclass(frozen=True, slots=True)
class Gold:
    """Where the questions that count stand in the file, and what was asked for.

    `skipped` counts those that were left out for want of a prediction.
    """

    places: Sequence[int]
    request: Request
    choices: files.Choices
    skipped: int


AnswerPairs = Pairs[Gold, Scores]


def read(card: Card, request: Request, problems: Problems) -> AnswerPairs | None:
    """The pairs of a request, None where there is nothing sound to score."""
    choices = _choices(card, request.options)
    fields = Fields(
        request.by, request.cluster if request.cluster != ALONE else None, request.weights
    )
    gold_file = _reading(request.gold[0], problems)
    dataset = records.read_questions(gold_file, schema(fields.names))
    gold_file.release()
    found = _scored(dataset, gold_file, request, choices, problems)
    if found is None:
        return None
    gold, scores, skipped = found
    articles, titles = articles_of(dataset, gold.places)
    selected = Selected({}, None, None)
    if fields.names:
        selected = select(fields, dataset, gold, gold_file, problems)
    if problems.errors:
        return None
    cluster = selected.cluster
    if request.cluster is None:
        cluster = default_cluster(dataset, gold, articles, titles)
    return Pairs(
        n=len(gold.ids),
        gold=Gold(gold.places, request, choices, skipped),
        pred=scores,
        ids=gold.ids,
        item=card.item,
        facets=selected.facets,
        cluster=cluster,
        weights=selected.weights,
    )


def _choices(card: Card, options: Mapping[str, Any]) -> files.Choices:
    return files.Choices(
        version="1.1" if card.name == "squad1" else "2.0",
        missing=options.get("missing") or "error",
        normalizer=options.get("normalizer") or "squad",
        language=options.get("language") or "en",
    )


def _scored(
    dataset: Any,
    gold_file: Reading,
    request: Request,
    choices: files.Choices,
    problems: Problems,
) -> tuple[files.Asked, Scores, int] | None:
    """(the questions that count, their scores, how many were left out), None after an error.

    All files are read before anything is given up, so that all that is wrong is told at once.
    """
    said_file = chance_file = said = chances = None
    if request.predictions:
        said_file = _reading(request.predictions[0], problems)
        said = records.read_predictions(said_file)
    elif request.purpose == "score":
        text = "no predictions: give a file of question ids and answers"
        problems.add("prediction-missing", text)
    if request.options.get("na_probs"):
        chance_file = _reading(Source.of(request.options["na_probs"]), problems)
        chances = records.read_chances(chance_file)
    gold = None if dataset is None else files.asked(dataset, said, gold_file, choices.version)
    if gold is None or said is None or said_file is None:
        return None
    before = len(gold.ids)
    gold, answers = files.paired(gold, said, said_file, choices.missing)
    if chances is not None and chance_file is not None:
        files.check_chances(gold, answers, chances, chance_file)
    if problems.errors:
        return None
    return gold, files.scored(gold, answers, choices, chances), before - len(gold.ids)


def _reading(source: Any, problems: Problems) -> Reading:
    """A source as a file to be read."""

    def fetch() -> bytes:
        if source.rows is not None:
            text = "rows in memory have no articles; give a path, or the file's content as bytes"
            raise DataError([Problem("squad-structure", "error", text, source.name)])
        return bytes(source.data())

    return Reading(fetch, source.name, problems)
