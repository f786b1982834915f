"""The official output: scores of the questions folded as the scripts fold them, in their order.

Sums are Python's own `sum` over the same numbers in the same order, so they have the same last
digits on the same Python. Searches for the best threshold and precision-recall curves walk the
no-answer probabilities in ascending order, equal ones in the order of their file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, compress

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


def silenced(scores: Scores, values: Sequence[Number], threshold: float) -> Sequence[Number]:
    """The scores after the threshold: a question above it counts as answered by silence."""
    chances = scores.chances
    if chances is None:
        if threshold >= 0:
            return values
        chances = dict.fromkeys(scores.ids, 0.0)
    return [
        float(not has) if text is not None and chances[key] > threshold else value
        for key, has, text, value in zip(
            scores.ids, scores.answerable, scores.said, values, strict=True
        )
    ]


def official20(scores: Scores, threshold: float = 1.0, curves: bool = False) -> Output:
    """What the 2.0 script prints. `curves` adds the average precisions."""
    exact = silenced(scores, scores.exact, threshold)
    f1 = silenced(scores, scores.f1, threshold)
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
        for name, values in (("exact", scores.exact), ("f1", scores.f1)):
            out[f"best_{name}"], out[f"best_{name}_thresh"] = best_threshold(scores, values)
        if curves and any(scores.answerable):
            for name, values in curve_scores(scores).items():
                out[f"pr_{name}_ap"] = precision_recall(scores, values)[0]
    return out


def _block(name: str, n: int, exact: Number, f1: Number) -> Output:
    return {f"{name}exact": 100.0 * exact / n, f"{name}f1": 100.0 * f1 / n, f"{name}total": n}


def official11(exact: Sequence[Number], f1: Sequence[Number]) -> Output:
    """What the 1.1 script prints; it adds up one question at a time, which `sum` need not do."""
    total: Number = 0
    for value in f1:
        total += value
    return {"exact_match": 100.0 * sum(exact) / len(exact), "f1": 100.0 * total / len(f1)}


def curve_scores(scores: Scores) -> dict[str, Sequence[Number]]:
    """The scores that the three precision-recall curves count."""
    oracle = list(map(float, scores.answerable))
    return {"exact": scores.exact, "f1": scores.f1, "oracle": oracle}


def _walk(scores: Scores) -> tuple[list[int], list[Number]]:
    """(place of each question, its probability) in ascending probability."""
    chances = scores.chances or {}
    place = {key: at for at, key in enumerate(scores.ids)}
    ids = [key for key in sorted(chances, key=chances.__getitem__) if key in place]
    return [place[key] for key in ids], [chances[key] for key in ids]


def best_threshold(scores: Scores, values: Sequence[Number]) -> tuple[float, Number]:
    """(score, threshold): the best that a threshold could have reached, by the official search.

    It looks after every question, also between equal probabilities, where no threshold can cut.
    Silence is told from the raw prediction and not from its normal form.
    """
    order, chances = _walk(scores)
    start = len(scores.ids) - sum(scores.answerable)
    gains: list[Number] = [
        values[i] if scores.answerable[i] else (0 if scores.said[i] == "" else -1) for i in order
    ]
    path = list(accumulate(gains, initial=start))
    best = max(path)
    at = path.index(best)
    return 100.0 * best / len(scores.ids), chances[at - 1] if at else 0.0


def precision_recall(
    scores: Scores, values: Sequence[Number]
) -> tuple[float, list[float], list[float]]:
    """(average precision in percent, precisions, recalls) at every threshold that can cut."""
    order, chances = _walk(scores)
    positive = sum(scores.answerable)
    precisions, recalls = [1.0], [0.0]
    found, area = 0.0, 0.0
    for n, i in enumerate(order, 1):
        if scores.answerable[i]:
            found += values[i]
        if n == len(order) or chances[n - 1] != chances[n]:
            precision, recall = found / n, found / positive
            area += precision * (recall - recalls[-1])
            precisions.append(precision)
            recalls.append(recall)
    return 100.0 * area, precisions, recalls
