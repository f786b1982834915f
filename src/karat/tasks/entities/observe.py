"""Both sides of a stress run as the entity task sees them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from karat.model import seen
from karat.model.problem import Problems
from karat.model.seen import Seen, Trials
from karat.model.task import Card, Request
from karat.read.place import Place
from karat.tasks.entities import offsets
from karat.tasks.entities.caches import Side
from karat.tasks.entities.match import match
from karat.tasks.entities.records import Spans, same_types
from karat.tasks.entities.sides import check_sides

FEWEST = 10
"""So many mentions of a type are needed before its recall is judged."""


def observe(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Seen]:
    """What each side holds, after the sides were checked apart and against each other."""
    sides = check_sides(card, requests, configuration, problems)
    if problems.errors:
        return {}
    return {name: _seen(side) for name, side in sides.items()}


def _seen(side: Side) -> Seen:
    written = side.gold.written
    gold = offsets.spans(written, side.first)
    labelled = written.labelled.astype(bool)
    found: dict[str, seen.Spans | None] = {"spans": _plain(gold) if labelled.any() else None}
    trials: tuple[Trials, ...] = ()
    if side.pred is not None:
        pred = offsets.spans(side.pred, side.second)
        found["predicted_spans"] = _plain(pred)
        if labelled.any():
            trials = _trials(gold, pred.take(labelled[pred.doc]))
    reader = written.reader
    return Seen(reader.name, written.n, reader.line_of, labelled, trials=trials, **found)  # type: ignore[arg-type]


def _plain(spans: Spans) -> seen.Spans:
    types = [spans.types[kind] for kind in spans.kind.tolist()]
    return seen.Spans(spans.doc, types, spans.start, spans.end)


def _trials(gold: Spans, pred: Spans) -> tuple[Trials, ...]:
    """Recall by labelled type, precision by predicted type: exact matches, each span once."""
    gold, pred = same_types(gold, pred)
    found = match(gold, pred)
    out = []
    for family, metric, spans, first, hit in (
        ("type", "recall", gold, found.gold_first, found.gold_hit),
        ("predicted type", "precision", pred, found.pred_first, found.pred_hit),
    ):
        at = np.flatnonzero(first)
        code = spans.kind[at].astype(np.int64)
        out.append(Trials(family, metric, spans.types, code, hit[at], spans.doc[at], FEWEST))
    return tuple(out)
