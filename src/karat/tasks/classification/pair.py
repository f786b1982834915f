"""Both sides of a classification task put together: rows with a label, beside their predictions."""

from __future__ import annotations

import numpy as np

from karat.model.pairs import IntArray, LineIds, Pairs, Which
from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.tasks.classification.columns import Predictions
from karat.tasks.classification.measure import ClassPairs, Gold, wanted
from karat.tasks.classification.rows import read_side


def read(card: Card, request: Request, problems: Problems) -> ClassPairs | None:
    """The pairs of a request, None where there is nothing sound to pair."""
    keep_scores = request.purpose == "score" and "order" in wanted(request.options)
    side = read_side(card.name, request, problems, keep_scores)
    pred, labels = side.predictions, side.gold.labels
    if pred is None or problems.errors or len(labels) != pred.n:
        return None
    names = class_names(request, pred.classes, problems)
    known = labels >= 0
    every = bool(known.all())
    index: IntArray | None = None if every else np.flatnonzero(known)
    chosen = side.gold.selected
    which: Which = slice(None) if every else known  # type: ignore[assignment]  # both index alike
    return Pairs(
        n=int(known.sum()),
        gold=Gold(labels[which], names, index, request),
        pred=pred if index is None else _labelled(pred, index),
        ids=LineIds(int(known.sum()), index),
        item=card.item,
        facets={
            name: facet if every else facet.take(which) for name, facet in chosen.facets.items()
        },
        cluster=chosen.cluster if chosen.cluster is None or every else chosen.cluster.take(which),
        weights=chosen.weights if chosen.weights is None else chosen.weights[which],
    )


def class_names(request: Request, classes: int, problems: Problems) -> tuple[str, ...]:
    """Given names, or the class numbers; a wrong number of them is a problem."""
    given = request.options.get("class_names")
    names = request.declared.class_names or ()
    if given:
        names = tuple(name.strip() for name in str(given).split(","))
    if not names:
        return tuple(map(str, range(classes)))
    if len(names) != classes or len(set(names)) != classes:
        problems.add(
            "class-names-length",
            f"{len(set(names))} different class names but {classes} probabilities a row",
            key="class_names",
        )
    return names


def _labelled(pred: Predictions, index: IntArray) -> Predictions:
    """The predictions of the rows that have a label; scores stay whole and are indexed later."""
    return Predictions(
        pred.classes,
        pred.top[index],
        pred.confidence[index],
        pred.rank[index],
        pred.log_loss[index],
        pred.brier[index],
        pred.constant,
        pred.scores,
    )
