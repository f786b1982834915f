"""Scores of questions to evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.model.evidence import Counts, Evidence, Layout, Table, coded
from karat.model.metric import Scored
from karat.model.pairs import BoolArray, Facet, FloatArray, IntArray, Which
from karat.tasks.answers.pair import AnswerPairs
from karat.tasks.answers.totals import silenced

PARTS = ("", "HasAns_", "NoAns_")
CELLS = ("n", "exact", "f1")


def measure(pairs: AnswerPairs, options: Mapping[str, Any]) -> list[Evidence]:
    """Exact match and F1 of the questions, and where there are probabilities, their order."""
    found: list[Evidence] = [_answers(pairs, threshold(options))]
    if pairs.pred.chances is not None:
        found.append(_silence(pairs))
    return found


def threshold(options: Mapping[str, Any]) -> float:
    """The no-answer threshold."""
    given = options.get("na_prob_threshold")
    return 1.0 if given is None else float(given)


def _answers(pairs: AnswerPairs, cut: float) -> Counts:
    """Distinct (answerable, exact, F1) rows: a few hundred, however many questions."""
    scores = pairs.pred
    n = len(scores.ids)
    hits, f1 = silenced(scores, cut)
    exact = np.fromiter(hits, np.int32, n)
    # A dict and not np.unique, whose first call loads masked arrays.
    place = {value: code for code, value in enumerate(sorted(set(f1)))}
    degree = np.fromiter(map(place.__getitem__, f1), np.int32, n)
    degrees = np.array(list(place), dtype=np.float64)
    has = np.array(scores.answerable, dtype=np.int32)
    codes, (row_has, row_exact, row_degree) = coded([has, exact, degree], [2, 2, len(degrees)])
    triple = np.stack([np.ones(len(row_has)), row_exact, degrees[row_degree]], axis=1)
    answerable = row_has.astype(np.float64)[:, None]
    matrix = np.concatenate([triple, triple * answerable, triple * (1 - answerable)], axis=1)
    layout = Layout({f"{part}{cell}": 1 for part in PARTS for cell in CELLS})
    table = Table.dense(layout, matrix)
    return Counts("answers", table, codes, pairs.cluster, pairs.weights, exact=False)


@dataclass(frozen=True, slots=True)
class Silence:
    """Questions in the order of their no-answer probability.

    `rank` is the place in the file of probabilities, which decides between equal ones. `spoke` says
    whether the raw prediction was anything but the empty text.
    """

    chance: FloatArray
    rank: IntArray
    answerable: BoolArray
    exact: FloatArray
    f1: FloatArray
    spoke: BoolArray
    cluster: Facet | None
    weights: FloatArray | None
    name: str = "silence"

    @property
    def n(self) -> int:
        """How many questions there are."""
        return len(self.chance)

    def take(self, which: Which) -> Silence:
        """The evidence of the chosen questions alone."""
        return Silence(
            self.chance[which],
            self.rank[which],
            self.answerable[which],
            self.exact[which],
            self.f1[which],
            self.spoke[which],
            None if self.cluster is None else self.cluster.take(which),
            None if self.weights is None else self.weights[which],
        )

    def order(self) -> IntArray:
        """The questions by ascending probability; one without a probability comes last."""
        return np.lexsort((self.rank, self.chance)).astype(np.int64)


def _silence(pairs: AnswerPairs) -> Silence:
    scores = pairs.pred
    chances = scores.chances or {}
    place = {key: at for at, key in enumerate(chances)}
    n = len(scores.ids)
    return Silence(
        np.array([chances.get(key, np.inf) for key in scores.ids], dtype=np.float64),
        np.array([place.get(key, n) for key in scores.ids], dtype=np.int64),
        np.array(scores.answerable, dtype=bool),
        np.array(scores.exact, dtype=np.float64),
        np.array(scores.f1, dtype=np.float64),
        np.array([text != "" for text in scores.said], dtype=bool),
        pairs.cluster,
        pairs.weights,
    )


def _weight(evidence: Silence, weights: FloatArray | None) -> FloatArray:
    return np.ones(evidence.n) if weights is None else weights


def best_of(column: str, cell: int) -> Callable[[Silence, FloatArray | None, bool], Scored]:
    """A score of the evidence: the largest running sum (cell 0), or where it is (cell 1)."""

    def score(evidence: Silence, weights: FloatArray | None, influence: bool) -> Scored:
        del influence  # an extreme has none
        order, w = evidence.order(), _weight(evidence, weights)
        start = float(w[~evidence.answerable].sum())
        values: FloatArray = getattr(evidence, column)
        gain = np.where(evidence.answerable, values, -1.0 * evidence.spoke) * w
        path = np.concatenate([[start], start + np.cumsum(gain[order])])
        at, total = int(path.argmax()), float(w.sum())
        best = 100.0 * float(path[at]) / total if total else np.nan
        where = float(evidence.chance[order[at - 1]]) if at else 0.0
        return Scored(np.array([(best, where)[cell]]))

    return score


def score_curves(evidence: Silence, weights: FloatArray | None, influence: bool) -> Scored:
    """Average precision of the three curves, with the influence of each question."""
    order, w = evidence.order(), _weight(evidence, weights)
    has = evidence.answerable
    positive = float(w[has].sum())
    columns = (evidence.exact, evidence.f1, np.ones(evidence.n))
    if not positive:
        return Scored(np.full(3, np.nan), [None] * 3 if influence else None)
    chance = evidence.chance[order]
    group = np.concatenate([[0], np.cumsum(chance[1:] != chance[:-1])]).astype(np.int64)
    groups = int(group[-1]) + 1
    seen = np.cumsum(np.bincount(group, w[order], groups))
    values, moves = [], []
    for column in columns:
        gain = np.where(has, column, 0.0)
        step = np.bincount(group, (gain * w)[order], groups)
        precision = np.divide(np.cumsum(step), seen, out=np.zeros(groups), where=seen > 0)
        value = float((step * precision).sum() / positive)
        values.append(100.0 * value)
        if influence:
            rate = np.divide(step, seen, out=np.zeros(groups), where=seen > 0)
            later = np.cumsum(rate[::-1])[::-1]
            lost = np.cumsum((rate * precision)[::-1])[::-1]
            mine = np.empty(evidence.n, dtype=np.int64)
            mine[order] = group
            slope = gain * (precision[mine] + later[mine]) - lost[mine] - has * value
            moves.append(100.0 * w * slope / positive)
    return Scored(np.array(values), list(moves) if influence else None)
