"""Both sides of a stress run as the classification tasks see them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.model.problem import Problems
from karat.model.seen import Seen, Trials
from karat.model.task import Card, Request
from karat.read.place import Place
from karat.tasks.classification.columns import Predictions
from karat.tasks.classification.pair import class_names
from karat.tasks.classification.rows import Side
from karat.tasks.classification.sides import check_sides


def observe(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Seen]:
    """What each side holds, after the sides were checked apart and against each other."""
    sides = check_sides(card, requests, configuration, problems)
    if problems.errors:
        return {}
    return {name: _seen(side, requests[name], problems) for name, side in sides.items()}


def _seen(side: Side, request: Request, problems: Problems) -> Seen:
    labels, pred = side.gold.labels.astype(np.int64), side.predictions
    reader = side.gold.reader
    if pred is None:
        classes = int(labels.max(initial=-1)) + 1
        names = request.declared.class_names or tuple(map(str, range(classes)))
        return Seen(reader.name, len(labels), reader.line_of, labels >= 0, names, labels)
    names = class_names(request, pred.classes, problems)
    top = pred.top.astype(np.int64)
    known = np.flatnonzero(labels >= 0)
    hit = labels[known] == top[known]
    return Seen(
        reader.name,
        len(labels),
        reader.line_of,
        labels >= 0,
        names,
        labels,
        top,
        pred.confidence,
        chance_of=partial(_chance_of, pred),
        trials=(
            Trials("true label", "recall", names, labels[known], hit, known),
            Trials("predicted label", "precision", names, top[known], hit, known),
        ),
    )


def _chance_of(pred: Predictions, classes: IntArray) -> FloatArray:
    """The probability of the class that each row is asked for."""
    assert pred.scores is not None
    found = np.empty(len(classes))
    for one in np.unique(classes):
        rows = np.flatnonzero(classes == one)
        found[rows] = pred.scores.column(int(one), rows)
    return found
