"""Data and prediction caches, and spaCy's JSON: one record a document, spans in characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.model.pairs import IntArray, LineIds, Pairs
from karat.model.problem import Problems
from karat.model.task import Card, Peek, Request, Source
from karat.read.checks import report_count, report_silence
from karat.read.pick import pick
from karat.tasks.entities import offsets
from karat.tasks.entities.columns import GoldFile, Written, read_gold, read_predictions
from karat.tasks.entities.pair import Document, EntityPairs, Gold, Lookup, Predicted
from karat.tasks.entities.records import GOLD_KEY, PREDICTED_KEY, SPACY_KEY, same_types

SHOWN = ("text", "timestamp", "meta")


def gold_key(peek: Peek) -> str:
    """The key under which a file of data holds its entities."""
    return SPACY_KEY if SPACY_KEY in peek.keys and GOLD_KEY not in peek.keys else GOLD_KEY


def prediction_key(peek: Peek) -> str:
    """The key under which a file of predictions holds them."""
    for key in (PREDICTED_KEY, SPACY_KEY, GOLD_KEY):
        if key in peek.keys:
            return key
    return PREDICTED_KEY


@dataclass(frozen=True, slots=True)
class Side:
    """Data and predictions of one side of a run, checked; `pred` is None where there are none."""

    gold: GoldFile
    pred: Written | None
    first: offsets.Ending
    second: offsets.Ending
    twins: tuple[int, int]


def read_caches(card: Card, request: Request, problems: Problems) -> EntityPairs | None:
    """The pairs of a request, None where there is nothing sound to pair."""
    side = read_side(request, problems)
    if side.pred is None and side.gold.written.n and not problems.errors:
        # Where nothing is scored, no report tells it.
        side.gold.written.told(side.first.text)
    if problems.errors or side.pred is None:
        return None
    return pairs_of(side, card.item, request)


def read_side(request: Request, problems: Problems) -> Side:
    """Everything a request names, read and checked. Whether it is sound, `problems` says."""
    source = request.gold[0]
    gold = read_gold(source, gold_key(_peek(source)), request, problems)
    pred = _predictions(gold, request, problems)
    first, second = offsets.endings(gold.texts, gold.written, pred, request.options)
    # Texts are read again by their record number, which a file with errors does not keep.
    again = source if gold.written.reader.sound else None
    offsets.check_offsets(gold.written, gold.texts, first, again)
    twins = (offsets.check_twins(gold.written), 0)
    if pred is not None:
        offsets.check_offsets(pred, gold.texts, second, again)
        offsets.check_agreement(gold.written, pred, first, second)
        twins = (twins[0], offsets.check_twins(pred))
        if not len(pred.doc) and pred.reader.sound:
            report_silence(pred.reader.place(), pred.key, pred.n, len(gold.written.doc))
    offsets.check_types(gold.written, pred)
    _check_labels(gold.written, request)
    return Side(gold, pred, first, second, twins)


def _peek(source: Source) -> Peek:
    from karat.errors import DataError

    try:
        return source.peek()
    except DataError:
        return Peek(source.name, "text", b"")


def _predictions(gold: GoldFile, request: Request, problems: Problems) -> Written | None:
    """The predictions, from their own file or from the data rows."""
    if request.predictions:
        source = request.predictions[0]
        pred = read_predictions(source, prediction_key(_peek(source)), problems)
        if pred.reader.count and gold.written.reader.count:
            report_count(
                pred.reader.place(), pred.reader.count, gold.written.reader.count, pred.key
            )
        if gold.inline and gold.written.reader.count:
            _check_conflict(gold, pred, request)
        return pred if pred.reader.count and gold.written.n == pred.n else None
    if gold.inline:
        found = Problems()
        pred = read_predictions(request.gold[0], PREDICTED_KEY, found)
        known = {(p.line, p.record, p.code, p.key) for p in problems}
        for problem in found:
            if (problem.line, problem.record, problem.code, problem.key) not in known:
                problems.take(problem)
        pred.reader.problems = problems
        return pred if gold.written.n == pred.n else None
    if request.purpose == "score" and gold.written.reader.count:
        text = f"no predictions: give a prediction file, or '{PREDICTED_KEY}' in the data rows"
        gold.written.reader.place().add("prediction-missing", text, PREDICTED_KEY)
    return None


def _check_conflict(gold: GoldFile, pred: Written, request: Request) -> None:
    """Report data rows whose own predictions are others than those of the file."""
    own = read_predictions(request.gold[0], PREDICTED_KEY, Problems())
    mine, theirs = _by_document(own), _by_document(pred)
    for record in range(min(own.n, pred.n)):
        if own.labelled[record] and mine.get(record, set()) != theirs.get(record, set()):
            line = pred.reader.line_of(record)
            where = f"line {line}" if line is not None else f"record {record}"
            message = (
                f"row carries its own '{PREDICTED_KEY}' that differs from "
                f"{pred.reader.name} {where}"
            )
            gold.written.reader.place(record).add("prediction-conflict", message, PREDICTED_KEY)


def _by_document(side: Written) -> dict[int, set[tuple[int, int, str]]]:
    found: dict[int, set[tuple[int, int, str]]] = {}
    rows = (side.doc.tolist(), side.start.tolist(), side.end.tolist(), side.kind.tolist())
    for doc, start, end, kind in zip(*rows, strict=True):
        found.setdefault(doc, set()).add((start, end, side.types[kind]))
    return found


def _check_labels(gold: Written, request: Request) -> None:
    """Say that some documents, or all, have no gold entities to score against."""
    missing = np.flatnonzero(~gold.labelled)
    if not len(missing) or not gold.reader.sound:
        return
    if len(missing) < gold.n:
        message = (
            f"{len(missing)} of {gold.n} rows have no '{gold.key}'; label tests use the others only"
        )
        place = gold.reader.place(int(missing[0]))
        place.add("label-partial", message, gold.key, severity="warning")
    elif request.purpose == "score":
        gold.reader.place().add(
            "label-missing", f"no row has '{gold.key}' to score against", gold.key
        )


def pairs_of(side: Side, item: str, request: Request) -> EntityPairs:
    """The documents that have gold entities, beside their predictions."""
    assert side.pred is not None
    gold, pred = same_types(
        offsets.spans(side.gold.written, side.first), offsets.spans(side.pred, side.second)
    )
    which = np.flatnonzero(side.gold.written.labelled)
    if len(which) < gold.n:
        gold, pred = gold.of_documents(which), pred.of_documents(which)
    selected = side.gold.selected
    return Pairs(
        n=len(which),
        gold=Gold(
            gold,
            _lookup(request.gold[0], which),
            which,
            notes=tuple(_notes(side)),
        ),
        pred=Predicted(pred),
        ids=LineIds(len(which), which),
        item=item,
        facets={name: facet.take(which) for name, facet in selected.facets.items()},
        cluster=None if selected.cluster is None else selected.cluster.take(which),
        weights=None if selected.weights is None else selected.weights[which],
    )


def _notes(side: Side) -> list[str]:
    """How ends were read, and what was collapsed."""
    if side.first.text == side.second.text:
        notes = [f"ends are {side.first.text}"]
    else:
        notes = [f"gold ends are {side.first.text}", f"predicted ends are {side.second.text}"]
    for count, noun in zip(side.twins, ("gold", "predicted"), strict=True):
        if count:
            notes.append(f"{count} {noun} mentions repeat another one and count once")
    return notes


def _lookup(source: Source, which: IntArray) -> Lookup:
    """Documents read again from the data file."""

    def find(documents: Sequence[int]) -> Mapping[int, Document]:
        picked = pick(source, [int(which[d]) for d in documents])
        return {d: _document(*picked[int(which[d])]) for d in documents}

    return find


def _document(line: int | None, record: Mapping[str, Any]) -> Document:
    text = str(record.get("text", ""))
    cut: Callable[[int, int], str] = lambda start, end: text[start:end]  # noqa: E731 - two words
    return Document(line, {key: record[key] for key in SHOWN if key in record}, cut)
