"""The official output: scores of the questions folded as the scripts fold them, in their order.

Sums are Python's own `sum` over the same numbers in the same order, so they have the same last
digits on the same Python. Searches for the best threshold and precision-recall curves walk the
no-answer probabilities in ascending order, equal ones in the order of their file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, compress, repeat
from operator import mul, sub, truediv

import msgspec

from karat.tasks.answers.kernel import Number

Output = dict[str, int | float]


class Scores(msgspec.Struct, frozen=True):
    """The questions of a run in the order of the data, with their raw scores.

    `said` is None where nothing was predicted (and a policy for that was chosen). `chances` maps
    ids to no-answer probabilities in the order of their file; None where there is no such file.
    """

    ids: Sequence[str]
    answerable: Sequence[bool]
    said: Sequence[str | None]
    exact: Sequence[Number]
    f1: Sequence[Number]
    chances: Mapping[str, Number] | None = None


def quieted(scores: Scores, threshold: float) -> list[bool]:
    """Whether each question counts as answered by silence: its probability is above the threshold.

    Without a file of probabilities all of them are 0. What was not said cannot be silenced.
    """
    chances = scores.chances
    if chances is None:
        if not threshold < 0:
            return [False] * len(scores.ids)
        chances = dict.fromkeys(scores.ids, 0)
    return [
        text is not None and chances[key] > threshold
        for key, text in zip(scores.ids, scores.said, strict=True)
    ]


def silenced(scores: Scores, threshold: float) -> tuple[Sequence[Number], Sequence[Number]]:
    """(exact, f1) of the questions, those above the threshold judged as silence."""
    quiet = quieted(scores, threshold)
    if not any(quiet):
        return scores.exact, scores.f1
    right = [float(not has) for has in scores.answerable]
    exact, f1 = (
        [silence if cut else value for cut, silence, value in zip(quiet, right, raw, strict=True)]
        for raw in (scores.exact, scores.f1)
    )
    return exact, f1


def official20(scores: Scores, threshold: float = 1.0, curves: bool = False) -> Output:
    """What the 2.0 script prints. `curves` adds the average precisions."""
    exact, f1 = silenced(scores, threshold)
    n, right = len(exact), sum(exact)
    out = _block("", n, right, sum(f1))
    answerable = sum(scores.answerable)
    if answerable:
        found = sum(compress(exact, scores.answerable))
        shared = sum(compress(f1, scores.answerable))
        out |= _block("HasAns_", answerable, found, shared)
        n, right = n - answerable, right - found
    if n:
        # Silence is right or wrong, with nothing between: F1 is the exact match. Sums of whole
        # numbers have no error, so what is left of one is the sum of what is left.
        out |= _block("NoAns_", n, right, right)
    if scores.chances is not None:
        way = walk(scores)
        for name, values in (("exact", scores.exact), ("f1", scores.f1)):
            out[f"best_{name}"], out[f"best_{name}_thresh"] = best_threshold(scores, way, values)
        if curves:
            out |= {
                f"pr_{name}_ap": one.area for name, one in precision_recall(scores, way).items()
            }
    return out


def _block(name: str, n: int, exact: Number, f1: Number) -> Output:
    return {f"{name}exact": 100.0 * exact / n, f"{name}f1": 100.0 * f1 / n, f"{name}total": n}


def official11(exact: Sequence[Number], f1: Sequence[Number]) -> Output:
    """What the 1.1 script prints; it adds up one question at a time, which `sum` need not do."""
    total: Number = 0
    for value in f1:
        total += value
    return {"exact_match": 100.0 * sum(exact) / len(exact), "f1": 100.0 * total / len(f1)}


class Walk(msgspec.Struct, frozen=True):
    """The questions in ascending no-answer probability, equal ones in the order of their file.

    `cuts` are the numbers of questions after which a threshold can cut.
    """

    places: Sequence[int]
    chances: Sequence[Number]
    cuts: Sequence[int]


def walk(scores: Scores) -> Walk:
    """The walk through the questions that have a probability."""
    found = scores.chances or {}
    keys, values = list(found), list(found.values())
    # Everything is sorted, what is not asked for as well: NaN makes the order depend on all of it.
    order = sorted(range(len(values)), key=values.__getitem__)
    if keys != scores.ids:
        place = {key: at for at, key in enumerate(scores.ids)}
        order = [i for i in order if keys[i] in place]
        places = [place[keys[i]] for i in order]
    else:
        places = order
    chances = [values[i] for i in order]
    cuts = [n for n in range(1, len(chances)) if chances[n - 1] != chances[n]]
    return Walk(places, chances, [*cuts, len(chances)] if chances else [])


def best_threshold(scores: Scores, way: Walk, values: Sequence[Number]) -> tuple[float, Number]:
    """(score, threshold): the best that a threshold could have reached, by the official search.

    It looks after every question, also between equal probabilities, where no threshold can cut.
    Silence is told from the raw prediction and not from its normal form.
    """
    gains: list[Number] = [
        value if has else (0 if text == "" else -1)
        for value, has, text in zip(values, scores.answerable, scores.said, strict=True)
    ]
    start = len(scores.ids) - sum(scores.answerable)
    path = list(accumulate(map(gains.__getitem__, way.places), initial=start))
    best = max(path)
    at = path.index(best)
    return 100.0 * best / len(scores.ids), way.chances[at - 1] if at else 0.0


class RecallCurve(msgspec.Struct, frozen=True):
    """Precision and recall at every threshold that can cut, and average precision in percent."""

    area: float
    precisions: Sequence[float]
    recalls: Sequence[float]


def precision_recall(scores: Scores, way: Walk) -> dict[str, RecallCurve]:
    """The three curves by name; none where no question has an answer."""
    if not any(scores.answerable):
        return {}
    counted = {"exact": scores.exact, "f1": scores.f1, "oracle": [1] * len(scores.ids)}
    return {name: _recall_curve(scores, way, values) for name, values in counted.items()}


def _recall_curve(scores: Scores, way: Walk, values: Sequence[Number]) -> RecallCurve:
    """The curve of a score that answerable questions count with."""
    positive = sum(scores.answerable)
    gains = list(map(mul, values, scores.answerable))
    found = list(accumulate(map(gains.__getitem__, way.places), initial=0.0))
    at_cuts = [found[n] for n in way.cuts]
    precisions = [1.0, *map(truediv, at_cuts, way.cuts)]
    recalls = [0.0, *map(truediv, at_cuts, repeat(positive))]
    strips = map(mul, precisions[1:], map(sub, recalls[1:], recalls))
    # One strip after the other, as the script adds them, which `sum` need not do.
    *_, area = accumulate(strips, initial=0.0)
    return RecallCurve(100.0 * area, precisions, recalls)
