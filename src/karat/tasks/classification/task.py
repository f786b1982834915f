"""Classification, put together: read, measure, score, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.model.evidence import Evidence
from karat.model.exact import exact_group_sums
from karat.model.metric import Metric
from karat.model.pairs import FloatArray
from karat.model.problem import Problems
from karat.model.report import Curve, Example, Series, Table
from karat.model.task import Card, Request
from karat.tasks.classification import measure as m
from karat.tasks.classification import metrics
from karat.tasks.classification.calibration import BINS, Reliability, binned
from karat.tasks.classification.explain import worst
from karat.tasks.classification.order import Ordered
from karat.tasks.classification.pair import read
from karat.tasks.classification.recall import precision_recall

CONFUSION_CLASSES = 30
CONFUSION_PAIRS = 50
COUNTED = "precision, recall and f1 are weighted; what is counted are items"


class Classification:
    """The three classification tasks: they differ in their records, not in what is measured."""

    def read(self, card: Card, request: Request, problems: Problems) -> m.ClassPairs | None:
        """Paired columns; rows without a label are left out of scoring."""
        return read(card, request, problems)

    def measure(self, pairs: m.ClassPairs, options: Mapping[str, Any]) -> Sequence[Evidence]:
        """Labels, ranks, losses, reliability and order."""
        return m.measure(pairs, options)

    def metrics(self, pairs: m.ClassPairs, options: Mapping[str, Any]) -> Sequence[Metric]:
        """What the options and the number of classes allow."""
        groups, names = m.wanted(options), pairs.gold.class_names
        found: list[Metric] = []
        if "labels" in groups:
            found += metrics.label_metrics(names, m.top_ks(options, len(names)))
        if "probabilities" in groups:
            found += metrics.probability_metrics(len(names))
        if m.measures_order(pairs, options):
            found += metrics.order_metrics(names)
        return found

    def official(
        self, pairs: m.ClassPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """Nothing: totals of counts and exact sums are the numbers themselves."""
        return {}

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The choices that change a number."""
        return {
            "argmax": "lowest index on ties",
            "macro": "classes in gold or prediction, undefined as 0",
            "ece": f"{BINS} equal bins of the top label",
            "brier": "sum over classes",
        }

    def notes(self, pairs: m.ClassPairs, options: Mapping[str, Any]) -> list[str]:
        """What was left out, and why."""
        if "order" in m.wanted(options) and not m.measures_order(pairs, options):
            return [
                (
                    "AUROC and average precision were not computed: "
                    f"{pairs.n * pairs.pred.classes:,} probabilities to sort; "
                    "ask with --metrics order"
                )
            ]
        return []

    def views(
        self, pairs: m.ClassPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """The classes, the confusion matrix, reliability, and precision over recall."""
        tables = [_classes(pairs), _confusion(pairs)]
        curves = [_reliability(one) for one in evidence if isinstance(one, Reliability)]
        names = pairs.gold.class_names
        ordered = [one for one in evidence if isinstance(one, Ordered)]
        recalls = [precision_recall(one, pairs.pred.top, names) for one in ordered]
        return tables, [*curves, *(one for one in recalls if one is not None)]

    def examples(
        self,
        pairs: m.ClassPairs,
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """The items whose gold class got the least probability."""
        return worst(pairs, most)


def _counts(pairs: m.ClassPairs, weights: FloatArray | None) -> list[FloatArray]:
    """(gold, predicted, right) of each class, in items or in their weights."""
    gold, pred, k = pairs.gold.labels, pairs.pred.top, pairs.pred.classes
    hit = gold == pred
    if weights is None:
        found = (np.bincount(codes, minlength=k) for codes in (gold, pred, gold[hit]))
        return [counts.astype(np.float64) for counts in found]
    return [
        exact_group_sums(weights, gold, k),
        exact_group_sums(weights, pred, k),
        exact_group_sums(weights[hit], gold[hit], k),
    ]


def _classes(pairs: m.ClassPairs) -> Table:
    gold, pred, _ = _counts(pairs, None)
    weighed = _counts(pairs, pairs.weights)
    rows = [
        [
            name,
            float(h / p) if p else None,
            float(h / g) if g else None,
            float(2 * h / (p + g)) if p + g else None,
            int(true),
            int(said),
        ]
        for name, true, said, g, p, h in zip(
            pairs.gold.class_names, gold, pred, *weighed, strict=True
        )
    ]
    return Table(
        name="classes",
        title="By class",
        columns=["class", "precision", "recall", "f1", "gold", "predicted"],
        rows=rows,
        kind="classes",
        note="" if pairs.weights is None else COUNTED,
    )


def _confusion(pairs: m.ClassPairs) -> Table:
    """The matrix where it is small, else the most frequent confusions."""
    names, k = pairs.gold.class_names, pairs.pred.classes
    key = pairs.gold.labels.astype(np.int64) * k + pairs.pred.top
    if k <= CONFUSION_CLASSES:
        matrix = np.bincount(key, minlength=k * k).reshape(k, k)
        rows = [[name, *map(int, line)] for name, line in zip(names, matrix, strict=True)]
        columns = ["gold \\ predicted", *names]
        return Table(
            name="confusion", title="Confusion matrix", columns=columns, rows=rows, kind="confusion"
        )
    cells, counts = np.unique(key[pairs.gold.labels != pairs.pred.top], return_counts=True)
    most = np.argsort(-counts, kind="stable")[:CONFUSION_PAIRS]
    rows = [[names[cells[i] // k], names[cells[i] % k], int(counts[i])] for i in most]
    return Table(
        name="confusion",
        title="Most frequent confusions",
        columns=["gold", "predicted", "items"],
        rows=rows,
        kind="confusions",
    )


def _reliability(evidence: Reliability) -> Curve:
    bins = binned(evidence)
    filled = np.flatnonzero(bins.weight > 0)
    series = Series(
        name="accuracy",
        x=[float(x) for x in bins.confidence[filled]],
        y=[float(y) for y in bins.accuracy[filled]],
        size=[float(s) for s in bins.weight[filled]],
    )
    return Curve(
        name="reliability",
        title="Reliability",
        x="mean confidence",
        y="accuracy",
        series=[series],
        kind="reliability",
    )


TASK = Classification()
