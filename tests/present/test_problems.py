"""Problems as lines."""

from __future__ import annotations

from karat.model.problem import Problem
from karat.present.problems import counted, problem_lines
from karat.present.style import Style


def test_ruff_style_with_each_help_once() -> None:
    found = [
        Problem("label-range", "error", "7 of 3 classes", "g.jsonl", 4, 3, "label", "count from 0"),
        Problem("label-range", "error", "8 of 3 classes", "g.jsonl", 5, 4, "label", "count from 0"),
        Problem("probability-sum", "warning", "sums to 0.9\n", "p.jsonl", 9),
    ]
    assert problem_lines(found, {"label-range": 1037}, Style()) == [
        "g.jsonl:4: label-range `label` 7 of 3 classes",
        "  help: count from 0",
        "g.jsonl:5: label-range `label` 8 of 3 classes",
        "p.jsonl:9: probability-sum sums to 0.9\\n [warning]",
        "and 1,037 more of `label-range`",
    ]


def test_counts_in_words() -> None:
    assert counted({"error": 2, "warning": 1, "note": 0}) == "2 errors, 1 warning"
    assert counted({"note": 1}) == "0 errors, 0 warnings, 1 note"
