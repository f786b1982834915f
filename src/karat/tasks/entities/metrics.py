"""The metrics of entities, as functions of counts.

Notation: tp is right predictions, found is gold spans that were found (the same number, but for
the weak comparison of entities), pred all predictions, gold all gold spans.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.model.metric import About, Metric, Ratio, Smooth, Totals
from karat.model.pairs import FloatArray
from karat.tasks.entities.schemas import PARTS, SCHEMAS

SEQEVAL = "seqeval.metrics.classification_report"


def group(t: Totals, name: str) -> FloatArray:
    """(..., width): the cells of a group, also where there is one only."""
    return np.asarray(t.sums[..., t.layout.span(name)])


def over(a: FloatArray, b: FloatArray, empty: float = np.nan) -> FloatArray:
    """a / b, and `empty` where b is 0."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    return np.asarray(np.divide(a, b, out=np.full(a.shape, empty), where=b != 0))


def harmonic(tp: FloatArray, pred: FloatArray, found: FloatArray, gold: FloatArray) -> FloatArray:
    """F1 of tp / pred and found / gold; 0 where nothing is right, NaN where nothing is there."""
    precision, recall = over(tp, pred, 0.0), over(found, gold, 0.0)
    f1 = over(2 * precision * recall, precision + recall, 0.0)
    return np.asarray(np.where(pred + gold > 0, f1, np.nan))


def span_metrics(types: tuple[str, ...], level: str, factor: float, like: str) -> list[Metric]:
    """Precision, recall and F1: micro, macro, weighted, of bare spans and by type."""
    noun = "entities" if level != "mention" else "spans"
    scale = "percent" if factor == 100 else "fraction"

    def about(formula: str, undefined: str, main: bool = True, under: str = "") -> About:
        return About(
            scale=scale,  # type: ignore[arg-type]  # one of two literals
            main=main,
            group=under,
            formula=formula,
            undefined=undefined,
            reference=SEQEVAL,
        )

    no_pred, no_gold, neither = (
        f"there are no predicted {noun}",
        f"there are no gold {noun}",
        f"there are no {noun} on either side",
    )
    found: list[Metric] = [
        _micro_f1(level, factor, about("2 P R / (P + R)", neither)),
        Ratio(
            "spans",
            ("precision_micro",),
            {"tp": 1},
            {"pred": 1},
            about(f"right / predicted {noun}", no_pred),
            proportion=factor == 1,
            factor=factor,
        ),
        Ratio(
            "spans",
            ("recall_micro",),
            {"found" if level == "weak" else "tp": 1},
            {"gold": 1},
            about(f"found / gold {noun}", no_gold),
            proportion=factor == 1,
            factor=factor,
        ),
    ]
    if types and like != "conlleval":
        found += _averages(about, neither)
    if like == "":
        found += _bare(about)
    return found + _by_type(types, level, factor, about)


def _micro_f1(level: str, factor: float, about: About) -> Metric:
    if level == "weak":

        def value(t: Totals) -> FloatArray:
            return factor * harmonic(t["tp"], t["pred"], t["found"], t["gold"])

        return Smooth("spans", "f1_micro", value, about)
    return Ratio("spans", ("f1_micro",), {"tp": 2}, {"pred": 1, "gold": 1}, about, factor=factor)


Abouts = Callable[..., About]


def _parts(t: Totals) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Right, predicted, found and gold, each by type."""
    found = "type_found" if "type_found" in t.layout.groups else "type_tp"
    return group(t, "type_tp"), group(t, "type_pred"), group(t, found), group(t, "type_gold")


def _each(part: str) -> Callable[[Totals], FloatArray]:
    """(..., types): precision, recall or F1 of each type, 0 where it is undefined."""

    def values(t: Totals) -> FloatArray:
        tp, pred, found, gold = _parts(t)
        if part == "precision":
            return over(tp, pred, 0.0)
        if part == "recall":
            return over(found, gold, 0.0)
        return np.nan_to_num(harmonic(tp, pred, found, gold))

    return values


def _averages(about: Abouts, undefined: str) -> list[Metric]:
    out: list[Metric] = []
    for average in ("macro", "weighted"):
        for part in ("f1", "precision", "recall"):
            over_what = "types in gold or predictions" if average == "macro" else "gold spans"
            text = f"mean over {over_what} of the {part} of the type, 0 where it is undefined"
            why = undefined if average == "macro" else "there are no gold spans"
            out.append(
                Smooth(
                    "spans",
                    f"{part}_{average}",
                    _mean(part, average),
                    about(text, why, average == "macro"),
                )
            )
    return out


def _mean(part: str, average: str) -> Callable[[Totals], FloatArray]:
    each = _each(part)

    def value(t: Totals) -> FloatArray:
        _, pred, _, gold = _parts(t)
        weight = gold if average == "weighted" else ((pred + gold) > 0).astype(float)
        return over((each(t) * weight).sum(axis=-1), weight.sum(axis=-1))

    return value


def _bare(about: Abouts) -> list[Metric]:
    """Spans whatever their type, and the type of the spans that are right."""
    return [
        Ratio(
            "spans",
            ("span_precision",),
            {"span_tp": 1},
            {"span_pred": 1},
            about(
                "predicted spans that are gold spans, of any type / predicted spans",
                "there are no predicted spans",
            ),
            proportion=True,
        ),
        Ratio(
            "spans",
            ("span_recall",),
            {"span_tp": 1},
            {"span_gold": 1},
            about(
                "gold spans that were predicted, as any type / gold spans",
                "there are no gold spans",
            ),
            proportion=True,
        ),
        Ratio(
            "spans",
            ("span_f1",),
            {"span_tp": 2},
            {"span_pred": 1, "span_gold": 1},
            about("2 P R / (P + R) of bare spans", "there are no spans on either side"),
        ),
        Ratio(
            "spans",
            ("type_accuracy",),
            {"typed": 1},
            {"span_tp": 1},
            about(
                "spans with the right type / spans that are right",
                "no predicted span is a gold span",
            ),
            proportion=True,
        ),
    ]


def _by_type(types: tuple[str, ...], level: str, factor: float, about: Abouts) -> list[Metric]:
    if not types:
        return []

    def names(part: str) -> tuple[str, ...]:
        return tuple(f"{part}_type_{name}" for name in types)

    def told(part: str, formula: str, undefined: str) -> About:
        return about(formula, undefined, False, f"{part} by type")

    found: list[Metric] = [
        Ratio(
            "spans",
            names("precision"),
            {"type_tp": 1},
            {"type_pred": 1},
            told("precision", "right / predicted", "the type was never predicted"),
            proportion=factor == 1,
            factor=factor,
        ),
        Ratio(
            "spans",
            names("recall"),
            {"type_found" if level == "weak" else "type_tp": 1},
            {"type_gold": 1},
            told("recall", "found / gold", "the type is not in gold"),
            proportion=factor == 1,
            factor=factor,
        ),
    ]
    text = told("f1", "2 P R / (P + R)", "the type is on neither side")
    if level != "weak":
        return [
            *found,
            Ratio(
                "spans",
                names("f1"),
                {"type_tp": 2},
                {"type_pred": 1, "type_gold": 1},
                text,
                factor=factor,
            ),
        ]

    def one(place: int) -> Callable[[Totals], FloatArray]:
        return lambda t: factor * harmonic(*(part[..., place] for part in _parts(t)))

    return found + [Smooth("spans", name, one(i), text) for i, name in enumerate(names("f1"))]


def token_metrics(factor: float) -> list[Metric]:
    """The share of tokens with the right tag, O included."""
    about = About(
        scale="percent" if factor == 100 else "fraction",
        main=True,
        formula="tokens with the same tag on both sides / tokens, O included",
        undefined="there are no tokens",
        reference="seqeval.metrics.accuracy_score",
    )
    return [
        Ratio(
            "tokens",
            ("token_accuracy",),
            {"same": 1},
            {"tokens": 1},
            about,
            proportion=factor == 1,
            factor=factor,
        )
    ]


def semeval_metrics(types: tuple[str, ...]) -> list[Metric]:
    """The four schemas: scores and categories, in all and by type."""
    found: list[Metric] = []
    for schema in SCHEMAS:
        found += _schema(schema, schema, ("",), True)
    for schema in SCHEMAS:
        if types:
            found += _schema(
                f"type_{schema}", schema, tuple(f"_type_{name}" for name in types), False
            )
    return found


def _schema(cells: str, schema: str, endings: tuple[str, ...], main: bool) -> list[Metric]:
    half = 0.5 if schema in ("partial", "ent_type") else 0.0
    right = {f"{cells}_correct": 1.0} | ({f"{cells}_partial": half} if half else {})
    actual = {f"{cells}_{part}": 1.0 for part in PARTS if part != "missed"}
    possible = {f"{cells}_{part}": 1.0 for part in PARTS if part != "spurious"}
    both = {name: actual.get(name, 0) + possible.get(name, 0) for name in actual | possible}
    credit = "COR + 0.5 PAR" if half else "COR"
    under = schema if main else f"{schema} by type"

    def about(formula: str, undefined: str) -> About:
        return About(
            main=main,
            group=under,
            formula=formula,
            undefined=undefined,
            reference="nervaluate.Evaluator",
        )

    def names(part: str) -> tuple[str, ...]:
        return tuple(f"{schema}_{part}{ending}" for ending in endings)

    found: list[Metric] = [
        Ratio(
            "semeval",
            names("f1"),
            {k: 2 * v for k, v in right.items()},
            both,
            about("2 P R / (P + R)", "there are no spans on either side"),
        ),
        Ratio(
            "semeval",
            names("precision"),
            right,
            actual,
            about(f"({credit}) / (COR + INC + PAR + SPU)", "nothing was predicted"),
        ),
        Ratio(
            "semeval",
            names("recall"),
            right,
            possible,
            about(f"({credit}) / (COR + INC + PAR + MIS)", "there are no gold spans"),
        ),
    ]
    return found + [
        _count(cells, part, place, name, under)
        for part in PARTS
        for place, name in enumerate(names(part))
    ]


def _count(cells: str, part: str, place: int, name: str, under: str) -> Metric:
    """How many marks of one category there are."""
    about = About(
        better="none",
        scale="count",
        group=under,
        formula=f"spans marked {part}",
        undefined="never",
        reference="nervaluate.Evaluator",
    )

    def value(t: Totals) -> FloatArray:
        return group(t, f"{cells}_{part}")[..., place]

    return Smooth("semeval", name, value, about, no_interval="a count of what this data holds")
