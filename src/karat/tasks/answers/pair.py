"""Both sides of question answering for the engine: questions, answers, and what they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.errors import DataError
from karat.model.pairs import CodeArray, Pairs
from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.read.fields import Fields, Selected
from karat.read.source import Source
from karat.tasks.answers import files, records
from karat.tasks.answers.facets import articles_of, default_cluster, schema, select
from karat.tasks.answers.records import Number, Reading
from karat.tasks.answers.totals import Scores

ALONE = "question"


@dataclass(frozen=True, slots=True)
class Gold:
    """The questions that count, where each stands in the files, and what was asked for."""

    asked: files.Asked
    articles: CodeArray
    request: Request
    choices: files.Choices
    skipped: int
    chances_digest: str


AnswerPairs = Pairs[Gold, Scores]


def read(card: Card, request: Request, problems: Problems) -> AnswerPairs | None:
    """The pairs of a request, None where there is nothing sound to score."""
    options = request.options
    choices = files.Choices(
        version="1.1" if card.name == "squad1" else "2.0",
        missing=options.get("missing") or "error",
        normalizer=options.get("normalizer") or "squad",
        language=options.get("language") or "en",
    )
    fields = Fields(
        request.by, request.cluster if request.cluster != ALONE else None, request.weights
    )
    reading = _opened(request.gold[0], problems)
    dataset = None
    if reading is not None:
        dataset = records.read_questions(reading, schema(fields.names))
    gold = None
    if dataset is not None and reading is not None:
        gold = files.asked(dataset, reading, choices.version)
        if not fields.names:
            reading.data = b""  # much of the memory, and no longer needed
    if not request.predictions:
        if request.purpose == "score":
            text = "no predictions: give a file of question ids and answers"
            problems.add("prediction-missing", text)
        return None
    scores, gold, digest, before = _predicted(request, gold, choices, problems)
    if scores is None or gold is None or reading is None:
        return None
    articles, titles = articles_of(dataset, gold.places)
    selected = Selected({}, None, None)
    if fields.names:
        selected = select(fields, dataset, gold, titles, reading)
    if problems.errors:
        return None
    cluster = selected.cluster
    if request.cluster is None:
        cluster = default_cluster(dataset, gold, articles, titles)
    return Pairs(
        n=len(gold.ids),
        gold=Gold(gold.scored(), articles, request, choices, before - len(gold.ids), digest),
        pred=scores,
        ids=gold.ids,
        item=card.item,
        facets=selected.facets,
        cluster=cluster,
        weights=selected.weights,
    )


def _opened(source: Source | Any, problems: Problems) -> Reading | None:
    """A source as bytes, None where it cannot be opened."""
    if source.rows is not None:
        text = "rows in memory have no articles; give a path, or the file's content as bytes"
        problems.add("squad-structure", text, file=source.name)
        return None
    try:
        return Reading(source.data(), source.name, problems)
    except DataError as error:
        for problem in error.problems:
            problems.take(problem)
        return None


def _predicted(
    request: Request, gold: files.Asked | None, choices: files.Choices, problems: Problems
) -> tuple[Scores | None, files.Asked | None, str, int]:
    """(scores, questions that count, digest of the probabilities, questions before a skip)."""
    reading = _opened(request.predictions[0], problems)
    said = None if reading is None else records.read_predictions(reading)
    chances: Mapping[str, Number] | None = None
    digest = ""
    path = request.options.get("na_probs")
    chance_reading = None
    if path:
        source = Source.of(path)
        chance_reading = _opened(source, problems)
        if chance_reading is not None:
            chances, digest = records.read_chances(chance_reading), source.digest()
    if gold is None or said is None or reading is None:
        return None, gold, digest, 0
    before = len(gold.ids)
    gold, answers = files.paired(gold, said, reading, choices)
    if chances is not None and chance_reading is not None:
        files.checked_chances(gold, answers, chances, chance_reading)
    if problems.errors:
        return None, gold, digest, before
    return files.scored(gold, answers, choices, chances), gold, digest, before
