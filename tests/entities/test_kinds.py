"""Every kind of error is told apart, and the matrix of types adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from entities.fuzz import entities

from karat import Report, score
from karat.tasks.entities.kinds import KINDS

Span = tuple[int, int, str]


def report(gold: list[Span], pred: list[Span], **options: Any) -> Report:
    left = [{"text": "word " * 10, "entities": entities(gold)}]
    return score(left, [{"predicted_entities": entities(pred)}], end="exclusive", **options)


def kinds(found: Report) -> dict[str, int]:
    table = next(t for t in found.tables if t.name == "errors")
    return {row[0]: row[1] for row in table.rows if row[1]}


@pytest.mark.parametrize(
    ("gold", "pred", "kind"),
    [
        ([(0, 4, "A")], [(0, 4, "B")], "wrong type"),
        ([(0, 4, "A")], [(0, 9, "A")], "too long"),
        ([(0, 9, "A")], [(5, 9, "A")], "too short"),
        ([(0, 9, "A")], [(5, 14, "A")], "shifted"),
        ([(0, 9, "A")], [(0, 4, "A"), (5, 9, "A")], "split"),
        ([(0, 4, "A"), (5, 9, "A")], [(0, 9, "A")], "merged"),
        ([], [(0, 4, "A")], "spurious"),
        ([(0, 4, "A")], [], "missed"),
        ([(0, 9, "A"), (0, 4, "A")], [(0, 9, "A")], "missed"),
    ],
)
def test_each_kind(gold: list[Span], pred: list[Span], kind: str) -> None:
    assert kinds(report(gold, pred)) == {kind: 1}


def test_each_wrong_span_belongs_to_one_error() -> None:
    """On random nested spans, errors never claim more spans than there are wrong ones."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        sides = [
            sorted(
                {
                    (int(a), int(a + 1 + b), "AB"[c])
                    for a, b, c in rng.integers(0, (20, 6, 2), (6, 3))
                }
            )
            for _ in range(2)
        ]
        found = report(*sides)
        wrong_gold = len(set(sides[0]) - set(sides[1]))
        wrong_pred = len(set(sides[1]) - set(sides[0]))
        errors = kinds(found)
        both = sum(n for kind, n in errors.items() if kind not in ("spurious", "missed"))
        assert both + errors.get("missed", 0) <= wrong_gold + errors.get("merged", 0)
        assert both + errors.get("spurious", 0) <= wrong_pred + errors.get("split", 0)
        assert bool(errors) == bool(wrong_gold or wrong_pred)
        assert set(errors) <= set(KINDS)


def test_the_matrix_of_types_adds_up() -> None:
    gold = [(0, 4, "A"), (5, 9, "B"), (10, 14, "A")]
    pred = [(0, 4, "A"), (5, 9, "A"), (15, 19, "B")]
    table = next(t for t in report(gold, pred).tables if t.name == "confusion")
    assert table.rows == [["A", 1, 0, 1], ["B", 1, 0, 0], ["(none)", 0, 1, 0]]


def test_examples_tell_the_story() -> None:
    found = report([(0, 4, "A")], [(0, 9, "A")], examples=1)
    assert found.examples[0].why == 'too long: A "word word", gold A "word"'
