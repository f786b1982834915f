"""The tables of errors and types, and why single documents lost points."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.model.pairs import IntArray
from karat.model.report import Example, Table
from karat.tasks.entities.breakdown import by_type
from karat.tasks.entities.kinds import KINDS, MISSED, SPURIOUS, WRONG_TYPE, Errors, errors
from karat.tasks.entities.match import Match, match
from karat.tasks.entities.pair import Document, EntityPairs
from karat.tasks.entities.records import Spans

MOST_TYPES = 30
SHOWN_SPANS = 6
UNWEIGHTED = "this table takes every mention once, whatever its weight"


def tables(pairs: EntityPairs) -> list[Table]:
    """Errors by kind, scores by type, and gold types against predicted ones."""
    same = match(pairs.gold.spans, pairs.pred.spans)
    found = errors(pairs.gold.spans, pairs.pred.spans, same)
    counts = type_matrix(pairs.gold.spans, pairs.pred.spans, same, found)
    return [_by_type(pairs, counts), _kinds(pairs, found), _matrix(pairs, counts)]


def _by_type(pairs: EntityPairs, counts: IntArray) -> Table:
    right, said, true = (
        counts.diagonal()[:-1].tolist(),
        counts.sum(axis=0)[:-1].tolist(),
        counts.sum(axis=1)[:-1].tolist(),
    )
    rows = by_type(pairs.gold.spans.types, zip(right, said, right, true, strict=True))
    columns = ["type", "precision", "recall", "f1", "gold", "predicted"]
    return Table(
        name="types",
        title="By type",
        columns=columns,
        rows=rows,
        kind="classes",
        note="" if pairs.weights is None else UNWEIGHTED,
    )


def _kinds(pairs: EntityPairs, found: Errors) -> Table:
    counts = np.bincount(found.kind, minlength=len(KINDS)).tolist()
    retyped = np.bincount(found.kind[found.retyped], minlength=len(KINDS)).tolist()
    texts = _quoted(pairs, found)
    rows: list[list[Any]] = []
    for code, name in enumerate(KINDS):
        also = None if code in (WRONG_TYPE, SPURIOUS, MISSED) else retyped[code]
        rows.append([name, counts[code], also, texts.get(code, "")])
    return Table(
        name="errors",
        title="Errors by kind",
        columns=["kind", "errors", "wrong type too", "for example"],
        rows=rows,
        kind="plain",
    )


def _quoted(pairs: EntityPairs, found: Errors) -> dict[int, str]:
    """The words of the first error of each kind."""
    codes, first = np.unique(found.kind, return_index=True)
    documents = pairs.gold.lookup([int(found.doc[i]) for i in first]) if len(first) else {}
    out: dict[int, str] = {}
    for code, i in zip(codes.tolist(), first.tolist(), strict=True):
        out[code] = _story(pairs, found, i, documents[int(found.doc[i])], False)
    return out


def _matrix(pairs: EntityPairs, counts: IntArray) -> Table:
    """Types of spans that are the same on both sides, and what each type missed or made up."""
    names = [*pairs.gold.spans.types, "(none)"]
    if len(names) > MOST_TYPES + 1:
        return _confusions(names, counts.copy())
    rows = [[name, *map(int, line)] for name, line in zip(names, counts, strict=True)]
    return Table(
        name="confusion",
        title="Types of equal spans",
        columns=["gold \\ predicted", *names],
        rows=rows,
        kind="confusion",
        note="(none): no span on the other side has the same boundaries",
    )


def _confusions(names: list[str], counts: IntArray) -> Table:
    np.fill_diagonal(counts, 0)
    most = np.argsort(-counts.ravel(), kind="stable")[:50]
    rows = [[names[i // len(names)], names[i % len(names)], int(counts.ravel()[i])] for i in most]
    return Table(
        name="confusion",
        title="Most frequent confusions of types",
        columns=["gold", "predicted", "spans"],
        rows=[row for row in rows if row[2]],
        kind="confusions",
    )


def type_matrix(gold: Spans, pred: Spans, found: Match, wrong: Errors) -> IntArray:
    """(types + 1, types + 1): gold type by predicted type of equal spans, the last for none.

    A span that is right counts on the diagonal only; other types on the same span are paired with
    what is left there.
    """
    k = len(gold.types)
    out = np.zeros((k + 1, k + 1), dtype=np.int64)
    right = pred.kind[found.pred_first & found.pred_hit]
    out[np.arange(k), np.arange(k)] = np.bincount(right, minlength=k)[:k]
    pairs = wrong.kind == WRONG_TYPE
    np.add.at(out, (gold.kind[wrong.gold[pairs]], pred.kind[wrong.pred[pairs]]), 1)
    true = np.bincount(gold.kind[found.gold_first], minlength=k)[:k]
    said = np.bincount(pred.kind[found.pred_first], minlength=k)[:k]
    out[:k, k] = true - out[:k, :k].sum(axis=1)
    out[k, :k] = said - out[:k, :k].sum(axis=0)
    return out


def worst(pairs: EntityPairs, most: int) -> list[Example]:
    """The documents with the most errors, each with what went wrong."""
    found = errors(pairs.gold.spans, pairs.pred.spans)
    count = np.bincount(found.doc, minlength=pairs.n)
    chosen = np.argsort(-count, kind="stable")[:most]
    chosen = chosen[count[chosen] > 0]
    documents = pairs.gold.lookup(list(map(int, chosen)))
    edges = np.searchsorted(found.doc, np.arange(pairs.n + 1))
    out = []
    for doc in map(int, chosen):
        rows = range(int(edges[doc]), int(edges[doc + 1]))
        told = [_story(pairs, found, i, documents[doc], True) for i in rows[:SHOWN_SPANS]]
        if len(rows) > SHOWN_SPANS:
            told.append(f"and {len(rows) - SHOWN_SPANS} more")
        kinds = sorted({KINDS[int(found.kind[i])] for i in rows})
        out.append(
            Example(
                id=pairs.ids[doc],
                record=int(pairs.gold.records[doc]),
                line=documents[doc].line,
                score=float(-len(rows)),
                why="; ".join(told),
                kind=", ".join(kinds),
                fields=dict(documents[doc].fields),
            )
        )
    return out


def _story(pairs: EntityPairs, found: Errors, i: int, document: Document, named: bool) -> str:
    """One error in words: `too long: PER "Ruth Okafor met", gold PER "Ruth Okafor"`."""
    gold, pred = pairs.gold.spans, pairs.pred.spans
    g, p = int(found.gold[i]), int(found.pred[i])
    kind = KINDS[int(found.kind[i])]
    head = f"{kind}: " if named else ""
    if p < 0:
        return f"{head}{_span(gold, g, document)}"
    if g < 0:
        return f"{head}{_span(pred, p, document)}"
    if kind == "wrong type":
        words = document.cut(int(pred.start[p]), int(pred.end[p]))
        return f'{head}"{words}" said {pred.types[pred.kind[p]]}, is {gold.types[gold.kind[g]]}'
    return f"{head}{_span(pred, p, document)}, gold {_span(gold, g, document)}"


def _span(spans: Spans, i: int, document: Document) -> str:
    words = document.cut(int(spans.start[i]), int(spans.end[i]))
    return f'{spans.types[spans.kind[i]]} "{words}"'
