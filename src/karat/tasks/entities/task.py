"""Entities, put together: read, measure, score, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.model.evidence import Counts, Evidence
from karat.model.metric import Metric
from karat.model.pairs import FloatArray
from karat.model.problem import Problems
from karat.model.report import Curve, Example, Table
from karat.model.task import Card, Request
from karat.tasks.entities import breakdown, explain, metrics, official
from karat.tasks.entities.formats import read
from karat.tasks.entities.measure import measure
from karat.tasks.entities.pair import EntityPairs

SCHOOLS = {
    "conlleval": (
        "conlleval.pl@2004-01-26",
        "chunks as conlleval.pl finds them, percent, 0 where undefined",
    ),
    "seqeval": (
        "seqeval@1.2.2",
        "chunks as seqeval's default mode finds them, 0 where undefined",
    ),
    "seqeval-strict": (
        "seqeval@1.2.2",
        "chunks as seqeval's strict mode finds them, 0 where undefined",
    ),
    "nervaluate": (
        "nervaluate@1.2.1",
        "SemEval-2013 categories, greedy in file order, 0 where undefined",
    ),
}
"""School of scoring -> the tool it follows, and what it compares."""

COMPARED = {
    "mention": "sets of (document, start, end, type)",
    "entity": "sets of (document, type, all mentions)",
    "weak": "entities of one type that share a mention",
}
"""Level -> what is compared at it."""


class Entities:
    """Named entities: spans with a type, in texts or in tagged tokens."""

    def read(self, card: Card, request: Request, problems: Problems) -> EntityPairs | None:
        """Paired spans; documents without gold are left out of scoring."""
        return read(card, request, problems)

    def measure(self, pairs: EntityPairs, options: Mapping[str, Any]) -> Sequence[Evidence]:
        """Counts by document."""
        return measure(pairs, options)

    def metrics(self, pairs: EntityPairs, options: Mapping[str, Any]) -> Sequence[Metric]:
        """What the school of scoring shows."""
        like, types = _like(options), pairs.gold.spans.types
        if like == "nervaluate":
            return metrics.semeval_metrics(types)
        factor = 100.0 if like == "conlleval" else 1.0
        found = metrics.span_metrics(types, _level(options), factor, like)
        return found + (metrics.token_metrics(factor) if pairs.gold.tokens is not None else [])

    def labels(self, pairs: EntityPairs) -> tuple[str, ...]:
        """The types of both sides, sorted."""
        return pairs.gold.spans.types

    def relabelled(self, pairs: EntityPairs, labels: tuple[str, ...]) -> EntityPairs:
        """The same spans over a longer list of types."""
        gold = replace(pairs.gold, spans=pairs.gold.spans.renamed(labels))
        pred = replace(pairs.pred, spans=pairs.pred.spans.renamed(labels))
        return replace(pairs, gold=gold, pred=pred)

    def official(
        self, pairs: EntityPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """The tools' own doubles; the default's are quotients of whole numbers already."""
        like, types = _like(options), pairs.gold.spans.types
        # A tool has no number where nothing is there on either side, and none with weights.
        if not like or pairs.weights is not None or not types:
            return {}
        rule = {"conlleval": official.conlleval, "nervaluate": official.nervaluate}
        found = rule.get(like, official.seqeval)(_sums(evidence[0]), types)
        if like == "conlleval":
            found["token_accuracy"] = official.accuracy(_sums(evidence[1]))
        return found

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The choices that change a number."""
        like = _like(options)
        if like:
            tool, meaning = SCHOOLS[like]
            return {"official": tool, "spans": meaning}
        return {
            "official": "",
            "spans": COMPARED[_level(options)],
            "macro": "types in gold or predictions, undefined as 0",
        }

    def notes(self, pairs: EntityPairs, options: Mapping[str, Any]) -> list[str]:
        """How ends or tags were read, and what was collapsed."""
        return list(pairs.gold.notes)

    def views(
        self, pairs: EntityPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """The schemas, types, errors by kind, and the matrix of types."""
        types, found = pairs.gold.spans.types, explain.tables(pairs)
        if _like(options) == "nervaluate":
            found = [breakdown.schemas(_sums(evidence[0])), *found]
        elif _level(options) != "mention":
            found = [breakdown.entities(_sums(evidence[0]), types), *found]
        return found, []

    def examples(
        self,
        pairs: EntityPairs,
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """The documents with the most errors."""
        return explain.worst(pairs, most)


def _like(options: Mapping[str, Any]) -> str:
    """The school of scoring, without the scheme of a strict one; "" for karat's own."""
    return str(options.get("like") or "").partition(":")[0]


def _level(options: Mapping[str, Any]) -> str:
    """What is compared: mention, entity or weak."""
    return str(options.get("level") or "mention")


def _sums(evidence: Evidence) -> Mapping[str, FloatArray]:
    """The plain totals of each group of cells."""
    assert isinstance(evidence, Counts)
    table = evidence.table
    assert not hasattr(table, "matrix")
    value = table.value
    if evidence.codes is not None:
        value = value * np.bincount(evidence.codes, minlength=table.rows)[table.row]
    sums = np.bincount(table.cell, value, table.layout.width).astype(np.float64)
    return {name: sums[table.layout.span(name)] for name in table.layout.groups}


TASK = Entities()
