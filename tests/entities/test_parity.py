"""karat --like TOOL equals the tool, as doubles, on clean, messy, nested and fuzzed data."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pytest
import seqeval.scheme
from entities.fuzz import Spans, Tags, scored_spans, scored_tags, spans, tags
from nervaluate import Evaluator
from seqeval.metrics import accuracy_score, classification_report

ROUNDS = 40
POOLS = {
    "clean": ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"],
    "iobes": ["O", "B-PER", "I-PER", "E-PER", "S-PER", "S-LOC", "B-LOC", "E-LOC"],
    "odd": [
        *("O", "B-PER", "I-PER", "E-PER", "S-LOC", "U-PER", "L-PER", "U-LOC", "PER", "BPER", "I"),
        *("B", "B-A-B", "B-", ".", ".-PER", "U-_", "X-_", "I-_", "I--PER", "E-LOC", "I-LOC"),
    ],
}
STRICT = {"IOB1": "IB", "IOB2": "IB", "IOE1": "IE", "IOE2": "IE", "IOBES": "IBES", "BILOU": "BILU"}
AVERAGES = {"micro avg": "micro", "macro avg": "macro", "weighted avg": "weighted"}


def same_as_seqeval(ours: dict[str, float | None], report: dict[str, Any]) -> int:
    """How many numbers were compared; where seqeval divides nothing by nothing, karat has none."""
    if len(report) == len(AVERAGES):
        assert ours["f1_micro"] is None
        return 1
    compared = 0
    for name, row in report.items():
        ending = AVERAGES.get(name, f"type_{name}")
        for part, theirs in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score")):
            assert ours[f"{part}_{ending}"] == row[theirs], (name, part)
            compared += 1
    return compared


def seqeval_report(gold: Tags, pred: Tags, **options: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report: dict[str, Any] = classification_report(gold, pred, output_dict=True, **options)
    return report


@pytest.mark.parametrize("pool", POOLS)
def test_like_seqeval(pool: str) -> None:
    dice, compared = Random(pool), 0
    for _ in range(ROUNDS):
        gold, pred = tags(dice, POOLS[pool])
        ours = scored_tags(gold, pred, like="seqeval")
        compared += same_as_seqeval(ours, seqeval_report(gold, pred))
        assert ours["token_accuracy"] == accuracy_score(gold, pred)
    assert compared > 10 * ROUNDS


@pytest.mark.parametrize("scheme", STRICT)
def test_like_seqeval_strict(scheme: str) -> None:
    letters = STRICT[scheme]
    pool = ["O", *(f"{c}-{kind}" for c in letters for kind in ("P", "Q-R", "-Z-")), letters[0]]
    dice, compared = Random(scheme), 0
    for _ in range(ROUNDS):
        gold, pred = tags(dice, pool)
        report = seqeval_report(gold, pred, mode="strict", scheme=getattr(seqeval.scheme, scheme))
        ours = scored_tags(gold, pred, like=f"seqeval-strict:{scheme}")
        compared += same_as_seqeval(ours, report)
    assert compared > 5 * ROUNDS


def same_as_nervaluate(ours: dict[str, float | None], found: Any) -> None:
    parts = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")
    for schema, result in found["overall"].items():
        for part in parts:
            assert ours[f"{schema}_{part}"] == getattr(result, part), (schema, part)
    for kind, schemas in found["entities"].items():
        for schema, result in schemas.items():
            for part in parts:
                name = f"{schema}_{part}_type_{kind}"
                assert ours[name] == getattr(result, part), name


@pytest.mark.parametrize("least", [1.0, 50.0, 100.0])
def test_like_nervaluate_on_spans(least: float) -> None:
    dice = Random(str(least))
    for _ in range(3 * ROUNDS):
        gold, pred = spans(dice)
        if any(gold) or any(pred):
            ours = scored_spans(gold, pred, like="nervaluate", min_overlap=least)
            same_as_nervaluate(ours, evaluated(gold, pred, least))


def evaluated(gold: Spans, pred: Spans, least: float) -> Any:
    left, right = (
        [[{"start": a, "end": b, "label": k} for a, b, k in line] for line in side]
        for side in (gold, pred)
    )
    return Evaluator(
        left, right, tags=list("ABC"), loader="dict", min_overlap_percentage=least
    ).evaluate()


@pytest.mark.parametrize("pool", [POOLS["clean"], ["O", "B-", "I-", "I-A-B", "B-A", "I-0"]])
def test_like_nervaluate_on_tags(pool: list[str]) -> None:
    dice = Random("list")
    for _ in range(ROUNDS):
        gold, pred = tags(dice, pool)
        if any(tag != "O" for line in gold + pred for tag in line):
            types = sorted({tag[2:] for tag in pool if tag != "O"})
            theirs = Evaluator(gold, pred, tags=types, loader="list").evaluate()
            same_as_nervaluate(scored_tags(gold, pred, like="nervaluate"), theirs)


def test_exact_spans_are_the_strict_schema() -> None:
    """The default equals nervaluate's strict schema wherever no span stands twice."""
    gold = [[(0, 3, "A"), (6, 9, "B")], [(2, 4, "A")], []]
    pred = [[(0, 3, "A"), (6, 8, "B")], [(2, 4, "C")], [(1, 1, "A")]]
    theirs = evaluated(gold, pred, 1.0)["overall"]["strict"]
    ours = scored_spans(gold, pred)
    assert ours["precision_micro"] == theirs.precision
    assert ours["recall_micro"] == theirs.recall
    assert ours["f1_micro"] == pytest.approx(theirs.f1, abs=1e-15)


def test_nothing_on_either_side_is_undefined_and_no_crash() -> None:
    ours = scored_tags([["O", "O"]], [["O", "O"]])
    assert ours["f1_micro"] is None
    assert ours["token_accuracy"] == 1.0
    assert scored_spans([[]], [[]], like="nervaluate")["strict_f1"] is None
