"""Labels and probabilities to evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.errors import UsageError
from karat.model.evidence import Columns, Counts, Evidence, Layout, Table, coded
from karat.model.pairs import CodeArray, Facet, FloatArray, IntArray, Pairs
from karat.model.task import Request
from karat.tasks.classification.calibration import Reliability
from karat.tasks.classification.columns import Predictions
from karat.tasks.classification.order import Ordered

ORDER_LIMIT = 200_000_000
"""Past so many probabilities, ordered metrics (a sort a class) are computed only when asked for."""


@dataclass(frozen=True, slots=True)
class Gold:
    """Labels (-1 where there is none), names of the classes, and where the rows came from."""

    labels: CodeArray
    class_names: tuple[str, ...]
    records: IntArray | None
    request: Request


USUAL_TOP = (3, 5)
"""The top-k accuracies that are shown unasked."""

ClassPairs = Pairs[Gold, Predictions]


def wanted(options: Mapping[str, Any]) -> frozenset[str]:
    """The groups of metrics to compute."""
    return frozenset(options.get("metrics") or ("labels", "probabilities", "order"))


def measure(pairs: ClassPairs, options: Mapping[str, Any]) -> list[Evidence]:
    """The evidence that the wanted metrics read."""
    groups, pred, labels = wanted(options), pairs.pred, pairs.gold.labels
    found: list[Evidence] = []
    if "labels" in groups:
        found.append(_labels(labels, pred.top, pred.classes, pairs.cluster, pairs.weights))
        tops = top_ks(options, pred.classes)
        if tops:
            found.append(_ranks(pred.rank, tops, pairs.cluster, pairs.weights))
    if "probabilities" in groups:
        found.append(_probabilities(pred, pairs.cluster, pairs.weights))
        found.append(Reliability(pred.confidence, pred.top == labels, pairs.cluster, pairs.weights))
    if measures_order(pairs, options) and pred.scores is not None:
        index = pairs.gold.records
        found.append(
            Ordered(labels, pred.scores, pred.classes, pairs.cluster, pairs.weights, index)
        )
    return found


def measures_order(pairs: ClassPairs, options: Mapping[str, Any]) -> bool:
    """Whether ordered metrics are computed: when asked for, or when the data is not too large."""
    small = pairs.n * pairs.pred.classes <= ORDER_LIMIT
    return "order" in wanted(options) and (small or bool(options.get("metrics")))


def _labels(
    gold: CodeArray, top: CodeArray, k: int, cluster: Facet | None, weights: FloatArray | None
) -> Counts:
    """Distinct (gold, predicted) pairs: the confusion matrix, kept sparse."""
    codes, (row_gold, row_pred) = coded([gold, top], [k, k])
    rows = len(row_gold)
    layout = Layout({"n": 1, "correct": 1, "tp": k, "pred": k, "gold": k})
    at = np.arange(rows, dtype=np.int64)
    hit = np.flatnonzero(row_gold == row_pred)
    row = np.concatenate([at, hit, hit, at, at])
    cell = np.concatenate(
        [
            np.zeros(rows, dtype=np.int64),
            np.ones(len(hit), dtype=np.int64),
            2 + row_gold[hit],
            2 + k + row_pred,
            2 + 2 * k + row_gold,
        ]
    )
    by_row = np.lexsort((cell, row))
    table = Table(rows, layout, row[by_row], cell[by_row], np.ones(len(row)))
    return Counts("labels", table, codes, cluster, weights)


def top_ks(options: Mapping[str, Any], classes: int) -> tuple[int, ...]:
    """The k of the top-k accuracies: those asked for, or of the usual ones what says something."""
    asked = options.get("top_k")
    if not asked:
        return tuple(k for k in USUAL_TOP if k < classes)
    for k in asked:
        if not isinstance(k, int) or k < 1:
            raise UsageError(f"top_k cannot be {k!r}", help="it counts classes: 1 or more")
    return tuple(sorted(set(asked)))


def _ranks(
    rank: CodeArray, tops: Sequence[int], cluster: Facet | None, weights: FloatArray | None
) -> Counts:
    """Whether the gold class is among the first k, for the wanted k."""
    layout = Layout({"n": 1, **{f"top{k}": 1 for k in tops}})
    # Ranks matter only as far as they lie before or behind a k.
    codes = np.searchsorted(np.array(tops), rank, side="right").astype(np.int32)
    inside = np.arange(len(tops) + 1)[:, None] <= np.arange(len(tops))
    matrix = np.column_stack([np.ones(len(tops) + 1), inside])
    return Counts("ranks", Table.dense(layout, matrix), codes, cluster, weights)


def _probabilities(pred: Predictions, cluster: Facet | None, weights: FloatArray | None) -> Counts:
    """Per-item losses; real numbers, so every item is a row of its own."""
    layout = Layout({"n": 1, "log_loss": 1, "brier": 1, "confidence": 1})
    ones = np.ones(pred.n)
    matrix = np.stack([ones, pred.log_loss, pred.brier, pred.confidence], axis=1)
    return Counts("probabilities", Columns(layout, matrix), None, cluster, weights, exact=False)
