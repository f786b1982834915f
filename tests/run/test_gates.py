"""Requirements as they are written, and how they are judged."""

from __future__ import annotations

import pytest

from karat.errors import UsageError
from karat.model.report import Report, Score
from karat.run.gates import judge, parse


@pytest.mark.parametrize(
    ("rule", "read"),
    [
        ("f1_macro>=0.8", ("f1_macro", ">=", 0.8)),
        (" ece <= 5e-2 ", ("ece", "<=", 0.05)),
        ("mcc>=-.5", ("mcc", ">=", -0.5)),
        ("recall_class_>=50K>=0.7", ("recall_class_>=50K", ">=", 0.7)),
        ("f1_class_a=b<=1", ("f1_class_a=b", "<=", 1.0)),
        ("f1_class_x < y>=.25", ("f1_class_x < y", ">=", 0.25)),
    ],
)
def test_the_last_sign_counts(rule: str, read: tuple[str, str, float]) -> None:
    assert parse(rule) == read


@pytest.mark.parametrize(
    "rule", ["", "f1", "f1>0.8", "f1=0.8", "f1>=80%", "f1>=nan", ">=0.8", "f1>=1e"]
)
def test_what_cannot_be_read_is_refused(rule: str) -> None:
    with pytest.raises(UsageError, match="cannot read the requirement"):
        parse(rule)


@pytest.mark.parametrize(
    ("rule", "by", "passed", "value"),
    [
        ("f1>=0.8", "value", True, 0.8),
        ("f1>=0.8", "bound", False, 0.7),
        ("f1<=0.85", "value", True, 0.8),
        ("f1<=0.85", "bound", False, 0.9),
        ("ece<=0.5", "value", True, 0.1),
        ("ece<=0.5", "bound", False, None),
        ("lost>=0", "value", False, None),
    ],
)
def test_judged_by_the_value_or_by_the_worse_end(
    rule: str, by: str, passed: bool, value: float | None
) -> None:
    scores = [
        Score(name="f1", value=0.8, low=0.7, high=0.9),
        Score(name="ece", value=0.1, no_interval="an extreme"),
        Score(name="lost", value=None, reason="there is nothing"),
    ]
    (gate,) = judge(Report(scores=scores), [rule], by)
    assert (gate.passed, gate.value) == (passed, value)
    assert value is not None or scores[1].no_interval in gate.text or scores[2].reason in gate.text
