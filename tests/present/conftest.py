"""A report made by hand, with one of everything."""

from __future__ import annotations

import pytest

from karat.model.problem import Problem
from karat.model.report import Gate, Input, Report, Score, Slice, SliceScore, Table
from karat.model.signature import Signature


@pytest.fixture
def report() -> Report:
    accuracy = SliceScore(
        name="accuracy",
        value=0.7876,
        low=0.77,
        high=0.805,
        difference=-0.0466,
        difference_low=-0.07,
        difference_high=-0.023,
        p=0.0001,
        q=0.0002,
    )
    return Report(
        task="text-classification",
        title="Text classification",
        item="text",
        n=11873,
        scores=[
            Score(name="accuracy", value=0.80112, low=0.794, high=0.8083, n=11873, main=True),
            Score(
                name="ece",
                value=0.0312,
                n=11873,
                better="lower",
                chance=0.012,
                no_interval="biased under resampling",
                main=True,
            ),
            Score(name="mcc", value=None, n=11873, reason="one class only", main=True),
            Score(name="recall_class_a", value=0.5, low=0.4, high=0.6, n=100, group="classes"),
        ],
        slices=[
            Slice(
                field="meta.language",
                level="en",
                n=9004,
                scores=[SliceScore(name="accuracy", value=0.849, low=0.841, high=0.857)],
            ),
            Slice(field="meta.language", level="de", n=2869, scores=[accuracy]),
        ],
        tables=[
            Table(
                name="confusion",
                title="confusion",
                kind="confusion",
                columns=["", "a", "b"],
                rows=[["a", 9000, 33], ["b", 40, 2800]],
            )
        ],
        gates=[
            Gate(rule="accuracy>=0.8", passed=True, value=0.80112, text="accuracy is 0.80112"),
            Gate(rule="ece<=0.01", passed=False, value=0.0312, text="ece is 0.0312"),
        ],
        problems=[
            Problem("probability-sum", "warning", "sums to 0.98", file="p.jsonl", line=33),
            Problem("field-unknown", "note", "is not read", file="p.jsonl"),
        ],
        problem_counts={"error": 0, "warning": 7, "note": 1},
        inputs=[
            Input(role="gold", name="gold.jsonl", digest="9be2"),
            Input(role="predictions", name="pred.jsonl", digest="77d0"),
        ],
        signature=Signature(
            task="text-classification",
            n=11873,
            interval="delta",
            seed=12345,
            versions={"karat": "1"},
        ),
    )
