"""The four schemas of SemEval-2013 task 9.1: strict, partial, ent_type and exact.

Predictions are taken in the order of the file; each looks through the gold spans that are still
free, in their order. Only spans that touch can matter to each other, so everything but tangles of
more than two is settled in columns; the tangles are few and are walked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from karat.model.pairs import BoolArray, CodeArray, IntArray
from karat.tasks.entities.overlap import overlaps
from karat.tasks.entities.records import Spans

SCHEMAS = ("strict", "partial", "ent_type", "exact")
PARTS = ("correct", "incorrect", "partial", "missed", "spurious")
CORRECT, INCORRECT, PARTIAL, MISSED, SPURIOUS = range(5)


@dataclass(frozen=True, slots=True)
class Marks:
    """The categories that one schema gave: one mark for each, with its document.

    The `own` marks come from matching each type by itself; they carry the type.
    """

    doc: IntArray
    part: CodeArray
    own_doc: IntArray
    own_part: CodeArray
    own_kind: CodeArray


@dataclass(frozen=True, slots=True)
class _Contact:
    """Pairs that overlap enough, in the order of predictions and then gold, and how well."""

    gold: IntArray
    pred: IntArray
    same_span: BoolArray
    same_kind: BoolArray
    distance: IntArray

    def take(self, which: BoolArray) -> _Contact:
        """The chosen pairs."""
        return _Contact(
            self.gold[which],
            self.pred[which],
            self.same_span[which],
            self.same_kind[which],
            self.distance[which],
        )


def semeval(gold: Spans, pred: Spans, least: float = 1.0) -> Iterator[tuple[str, Marks]]:
    """Each schema with its marks. `least` is the smallest overlap that counts, percent of gold."""
    contact = _contact(gold, pred, least)
    overall = _settle(contact, len(gold), len(pred))
    own = _settle(contact.take(contact.same_kind), len(gold), len(pred))
    del contact
    for schema in SCHEMAS:
        pred_part, gold_free = overall[schema]
        own_part, own_free = own[schema]
        marks = Marks(
            np.concatenate([pred.doc, gold.doc[gold_free]]),
            _with_missed(pred_part, gold_free),
            np.concatenate([pred.doc, gold.doc[own_free]]),
            _with_missed(own_part, own_free),
            np.concatenate([pred.kind, gold.kind[own_free]]),
        )
        yield schema, marks


def _with_missed(part: CodeArray, free: BoolArray) -> CodeArray:
    return np.concatenate([part, np.full(int(free.sum()), MISSED, dtype=np.int32)])


def _contact(gold: Spans, pred: Spans, least: float) -> _Contact:
    g, p = overlaps(gold, pred)
    start, end = np.maximum(gold.start[g], pred.start[p]), np.minimum(gold.end[g], pred.end[p])
    length = gold.end[g] - gold.start[g]
    # The same operations in the same order as the original, so that limits fall the same way.
    enough = ((end - start) / length) * 100.0 >= least
    distance = np.abs(gold.start[g] - pred.start[p]) + np.abs(gold.end[g] - pred.end[p])
    found = _Contact(g, p, distance == 0, gold.kind[g] == pred.kind[p], distance)
    return found.take(enough)


def _settle(contact: _Contact, golds: int, preds: int) -> dict[str, tuple[CodeArray, BoolArray]]:
    """Schema -> (category of each prediction, which gold spans stayed free)."""
    alone = (np.bincount(contact.gold, minlength=golds)[contact.gold] == 1) & (
        np.bincount(contact.pred, minlength=preds)[contact.pred] == 1
    )
    simple, tangle = contact.take(alone), contact.take(~alone)
    perfect = simple.same_span & simple.same_kind
    rules = {
        "strict": (
            np.where(perfect, CORRECT, INCORRECT),
            INCORRECT,
            _nearest_perfect(tangle.same_span & tangle.same_kind),
        ),
        "exact": (
            np.where(simple.same_span, CORRECT, INCORRECT),
            INCORRECT,
            _nearest_perfect(tangle.same_span),
        ),
        "ent_type": (
            np.where(simple.same_kind, CORRECT, INCORRECT),
            INCORRECT,
            _nearest_alike(tangle),
        ),
    }
    out: dict[str, tuple[CodeArray, BoolArray]] = {}
    for schema, (easy, second, choose) in rules.items():
        part = np.full(preds, SPURIOUS, dtype=np.int32)
        free = np.ones(golds, dtype=bool)
        part[simple.pred], free[simple.gold] = easy, False
        for prediction, span, right in _walk(tangle, choose):
            part[prediction], free[span] = CORRECT if right else second, False
        out[schema] = part, free
    # Partial matches as exact does; what is incorrect there is partial here.
    part, free = out["exact"]
    out["partial"] = np.where(part == INCORRECT, PARTIAL, part).astype(np.int32), free
    return out


Choice = Callable[[list[int]], tuple[int, bool]]
"""From the free pairs of a prediction: which one it takes, and whether it is right."""


def _walk(tangle: _Contact, choose: Choice) -> list[tuple[int, int, bool]]:
    """(prediction, gold span, right) for every prediction that takes a span, in file order."""
    taken: set[int] = set()
    found: list[tuple[int, int, bool]] = []
    golds = tangle.gold.tolist()
    rows = zip(tangle.pred.tolist(), range(len(golds)), strict=True)
    for prediction, group in groupby(rows, key=itemgetter(0)):
        free = [i for _, i in group if golds[i] not in taken]
        if free:
            i, right = choose(free)
            taken.add(golds[i])
            found.append((prediction, golds[i], right))
    return found


def _nearest_perfect(perfect: BoolArray) -> Choice:
    """The first perfect pair, else the first pair."""
    good = perfect.tolist()

    def choose(free: list[int]) -> tuple[int, bool]:
        for i in free:
            if good[i]:
                return i, True
        return free[0], False

    return choose


def _nearest_alike(tangle: _Contact) -> Choice:
    """The pair of one type whose boundaries are nearest, else the first pair."""
    alike, distance = tangle.same_kind.tolist(), tangle.distance.tolist()

    def choose(free: list[int]) -> tuple[int, bool]:
        good = [i for i in free if alike[i]]
        if good:
            return min(good, key=distance.__getitem__), True
        return free[0], False

    return choose
