"""The metrics of question answering, named as the official scripts name them, in percent."""

from __future__ import annotations

from collections.abc import Callable

from karat.model.metric import About, Events, Metric, Ratio, Smooth, Totals
from karat.model.pairs import FloatArray
from karat.tasks.answers.measure import PARTS, best_of, score_curves

_WHICH = {
    "": ("n", "there are no questions"),
    "HasAns_": ("n, over the questions with an answer", "no question has an answer"),
    "NoAns_": ("n, over the questions without an answer", "every question has an answer"),
}
_AT_BEST = "the best of many thresholds is an extreme, which has no honest interval"
_COUNT = "a count of the data, not an estimate"


def metrics20(curves: bool) -> list[Metric]:
    """All that the 2.0 script gives; best thresholds and curves where there are probabilities."""
    found: list[Metric] = []
    for part in PARTS:
        found += _block(part, f"{part}exact")
        found.append(_total(part))
    if curves:
        found += [*_best("exact"), *_best("f1")]
        found.append(_curves())
    return found


def metrics11() -> list[Metric]:
    """The two numbers of the 1.1 script."""
    return _block("", "exact_match")


def _block(part: str, exact: str) -> list[Metric]:
    over, undefined = _WHICH[part]
    about = {
        "scale": "percent",
        "main": True,
        "undefined": undefined,
        "group": part.rstrip("_"),
        "over": _sum_of(f"{part}n"),
    }
    return [
        Ratio(
            "answers",
            (exact,),
            {f"{part}exact": 1},
            {f"{part}n": 1},
            About(formula=f"100 · questions said as in a gold answer / {over}", **about),  # type: ignore[arg-type]
            proportion=True,
            factor=100.0,
        ),
        Ratio(
            "answers",
            (f"{part}f1",),
            {f"{part}f1": 1},
            {f"{part}n": 1},
            About(formula=f"100 · Σ best F1 of the words with a gold answer / {over}", **about),  # type: ignore[arg-type]
            factor=100.0,
        ),
    ]


def _total(part: str) -> Metric:
    return Smooth(
        "answers",
        f"{part}total",
        _sum_of(f"{part}n"),
        About(better="none", scale="count", formula=_WHICH[part][0], group=part.rstrip("_")),
        no_interval=_COUNT,
    )


def _sum_of(cell: str) -> Callable[[Totals], FloatArray]:
    return lambda totals: totals[cell]


def _best(column: str) -> list[Metric]:
    """The best value over all thresholds, and the threshold."""
    value = About(
        scale="percent",
        main=True,
        formula=f"100 · the largest sum of {column} over all thresholds / n",
        undefined="there are no questions",
        group="best",
    )
    where = About(
        better="none", scale="unbounded", formula="the threshold of the best value", group="best"
    )
    return [
        Events("silence", (f"best_{column}",), best_of(column, 0), value, _AT_BEST),
        Events("silence", (f"best_{column}_thresh",), best_of(column, 1), where, _AT_BEST),
    ]


def _curves() -> Metric:
    about = About(
        scale="percent",
        formula="Σ over thresholds of precision · (step of recall); oracle: of answerable alone",
        undefined="no question has an answer",
        group="curves",
    )
    return Events("silence", ("pr_exact_ap", "pr_f1_ap", "pr_oracle_ap"), score_curves, about)
