"""Scores that are best at a value, tested against it: is SS farther from 50 than by chance."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Score, Table
from karat.stats.multiple import benjamini_hochberg
from karat.stats.quantiles import t_p


def tables(scores: Sequence[Score]) -> list[Table]:
    """A table of the tests, none where no score has an ideal value and a standard error.

    The test is two-sided, of the score's difference to its ideal in standard errors over the
    drawn units; q is adjusted for all of them.
    """
    tested = [s for s in scores if s.near is not None and s.value is not None and s.se]
    ps = [_p(score) for score in tested]
    rows = [
        [score.name, score.value, score.value - score.near, p, q]
        for score, p, q in zip(tested, ps, benjamini_hochberg(ps), strict=True)
        if score.value is not None and score.near is not None
    ]
    if not rows:
        return []
    return [
        Table(
            name="against_ideal",
            title="Against the ideal value",
            columns=["score", "value", "difference", "p", "q"],
            rows=rows,
            kind="tests",
            note="two-sided; q is adjusted for all rows (Benjamini and Hochberg)",
        )
    ]


def _p(score: Score) -> float | None:
    """The two-sided p of the score against its ideal."""
    units = score.clusters if score.clusters is not None else score.n
    if score.value is None or score.near is None or not score.se or units < 2:
        return None
    return t_p((score.value - score.near) / score.se, units - 1)
