"""The scores of every measure as functions of summed evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from karat.model.metric import About, Metric, Ratio, Smooth, Totals
from karat.model.pairs import FloatArray
from karat.tasks.linking.grouping import SCORES
from karat.tasks.linking.measure import RANKS, Sides, averages_conll, has_candidates
from karat.tasks.linking.measures import CONLL, Measure

ACROSS = "clusters reach across documents, so documents do not add up to this score"
MAIN = (
    "strong_typed_all_match",
    "strong_all_match",
    "strong_mention_match",
    "strong_link_match",
    "mention_ceaf",
    "b_cubed",
)

LONG, SHORT = 8, 2
ORDER = ("fscore", "precision", "recall")

REFERENCES = {
    "muc": "Vilain et al. 1995",
    "b_cubed": "Bagga and Baldwin 1998",
    "entity_ceaf": "Luo 2005",
    "mention_ceaf": "Luo 2005",
    "blanc": "Recasens and Hovy 2011; Luo et al. 2014",
    "lea": "Moosavi and Strube 2016",
    "cs_b_cubed": "Cai and Strube 2010",
    "entity_cs_ceaf": "Cai and Strube 2010",
    "mention_cs_ceaf": "Cai and Strube 2010",
}

_UNDEFINED = {
    "precision": "the system has nothing to count (the official script says 0)",
    "recall": "gold has nothing to count (the official script says 0)",
    "fscore": "neither side has anything to count (the official script says 0)",
}


def all_metrics(sides: Sides) -> list[Metric]:
    """F, precision and recall of every measure, then what is made of several."""
    level = {m.name: where for where, some in sides.levels.items() for m in some}
    found: list[Metric] = []
    for one in sides.measures:
        found += _blanc(sides) if one.aggregate == "blanc" else _three(one, level[one.name])
    if averages_conll(sides.measures):
        # Where nothing else is asked for, the average is what the report is named by.
        found.insert(0 if len(sides.measures) == len(CONLL) else len(found), _conll(level["muc"]))
    if has_candidates(sides):
        found += [_top(k) for k in RANKS]
    for place, name in enumerate(sides.group_by):
        found += _macros(sides, place, name)
    main = _main(sides.measures)
    return [replace(m, about=replace(m.about, main=m.names[0] in main)) for m in found]


def _main(measures: Sequence[Measure]) -> set[str]:
    """The scores to show first: of a long list what is looked at most, of a short one all."""
    names = [one.name for one in measures]
    if len(names) > LONG:
        return {"conll_average", *(f"{name}.fscore" for name in MAIN)}
    scores = ORDER if len(names) <= SHORT else ORDER[:1]
    return {"conll_average", *(f"{name}.{score}" for name in names for score in scores)}


def _about(measure: Measure, score: str) -> About:
    formula = {
        "precision": "ptp / (ptp + fp)",
        "recall": "rtp / (rtp + fn)",
        "fscore": "2 P R / (P + R)",
    }[score]
    return About(
        formula=f"{formula} of {measure.text}",
        undefined=_UNDEFINED[score],
        group=measure.name,
        reference=REFERENCES.get(measure.aggregate, ""),
    )


def _three(measure: Measure, level: str) -> list[Metric]:
    name = measure.name
    if level == "mentions":
        hit, fp, fn = (f"{name}.{n}" for n in ("hit", "fp", "fn"))
        sums = {
            "precision": ({hit: 1.0}, {hit: 1.0, fp: 1.0}),
            "recall": ({hit: 1.0}, {hit: 1.0, fn: 1.0}),
            "fscore": ({hit: 2.0}, {hit: 2.0, fp: 1.0, fn: 1.0}),
        }
        return [
            Ratio(level, (f"{name}.{s}",), *sums[s], _about(measure, s), proportion=s != "fscore")
            for s in ORDER
        ]
    if level == "corpus":
        return [
            Smooth(
                level,
                f"{name}.{s}",
                partial(_score, name, s),
                _about(measure, s),
                no_interval=_why(measure),
            )
            for s in ORDER
        ]
    ptp, fp, rtp, fn = (f"{name}.{n}" for n in ("ptp", "fp", "rtp", "fn"))
    return [
        Smooth(level, f"{name}.fscore", partial(_score, name, "fscore"), _about(measure, "fscore")),
        Ratio(
            level,
            (f"{name}.precision",),
            {ptp: 1.0},
            {ptp: 1.0, fp: 1.0},
            _about(measure, "precision"),
        ),
        Ratio(
            level, (f"{name}.recall",), {rtp: 1.0}, {rtp: 1.0, fn: 1.0}, _about(measure, "recall")
        ),
    ]


def _why(measure: Measure) -> str:
    if not measure.clusters:
        return "the key does not hold the document, so documents do not add up to this score"
    if measure.aggregate == "pairwise_negative":
        return "pairs reach across documents, so documents do not add up to this score"
    return ACROSS


def _score(name: str, score: str, totals: Totals) -> FloatArray:
    """Precision, recall or F from the four cells of a measure."""
    ptp, fp, rtp, fn = (totals[f"{name}.{n}"] for n in ("ptp", "fp", "rtp", "fn"))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = np.divide(ptp, ptp + fp), np.divide(rtp, rtp + fn)
        if score == "precision":
            return precision
        if score == "recall":
            return recall
        return _harmonic(ptp + fp, rtp + fn, precision, recall)


def _harmonic(
    retrieved: FloatArray, relevant: FloatArray, p: FloatArray, r: FloatArray
) -> FloatArray:
    """2PR / (P + R): 0 where nothing is right, undefined only where neither side has anything."""
    p, r = np.where(retrieved != 0, p, 0.0), np.where(relevant != 0, r, 0.0)
    total = p + r
    f = np.where(total > 0, 2 * p * r / np.where(total > 0, total, 1.0), 0.0)
    return np.asarray(np.where((retrieved != 0) | (relevant != 0), f, np.nan))


def _blanc(sides: Sides) -> list[Metric]:
    """The means over links that join and links that part; the kind that neither has is left out."""
    level = "documents" if sides.within_documents else "corpus"
    why = "" if sides.within_documents else ACROSS

    def value(score: str, totals: Totals) -> FloatArray:
        parts = []
        for kind in ("blanc.together", "blanc.apart"):
            made, held = (
                totals[f"{kind}.{a}"] + totals[f"{kind}.{b}"]
                for a, b in (("ptp", "fp"), ("rtp", "fn"))
            )
            part = np.nan_to_num(_score(kind, score, totals))
            parts.append((part, (made != 0) | (held != 0)))
        (a, has_a), (b, has_b) = parts
        both = np.where(has_a & has_b, (a + b) / 2, np.where(has_a, a, b))
        return np.asarray(np.where(has_a | has_b, both, np.nan))

    return [
        Smooth(
            level,
            f"blanc.{score}",
            partial(value, score),
            About(
                formula=f"mean of the {score} of coreferent and of non-coreferent links",
                undefined="neither side has a link of either kind",
                group="blanc",
                reference=REFERENCES["blanc"],
            ),
            no_interval=why,
        )
        for score in ORDER
    ]


def _conll(level: str) -> Metric:
    def value(totals: Totals) -> FloatArray:
        return np.asarray(sum(np.nan_to_num(_score(name, "fscore", totals)) for name in CONLL) / 3)

    about = About(
        formula="mean of the F of muc, b_cubed and entity_ceaf; an undefined one counts as 0",
        group="conll_average",
        reference="Pradhan et al. 2012",
    )
    return Smooth(
        level, "conll_average", value, about, no_interval="" if level == "documents" else ACROSS
    )


def _top(k: int) -> Metric:
    about = About(
        formula=f"gold entities among the first {k} candidates / gold mentions with an entity",
        undefined="gold has no mention with an entity",
        group="n-best recall",
    )
    return Ratio(
        "candidates", (f"recall_at_{k}",), {f"top{k}": 1.0}, {"n": 1.0}, about, proportion=True
    )


def _macros(sides: Sides, place: int, field: str) -> list[Metric]:
    """The means over the values of one field, named as the official script names them."""
    said = [f"{f}={'<macro>' if i == place else '<micro>'}" for i, f in enumerate(sides.group_by)]
    suffix = ";".join(said)
    return [
        Ratio(
            f"by {field}",
            (f"{one.name};{suffix}.{score}",),
            {f"{one.name}.{score}": 1.0},
            {"n": 1.0},
            About(
                formula=f"mean of {score} over the values of {field}, undefined as 0",
                group=f"{one.name};{suffix}",
            ),
        )
        for one in sides.measures
        if one.aggregate != "blanc"
        for score in SCORES
    ]
