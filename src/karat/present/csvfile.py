"""Scores and slices as one long table of comma-separated values."""

from __future__ import annotations

import csv
import io

from karat.model.report import Report

COLUMNS = (
    "kind",
    "field",
    "level",
    "name",
    "value",
    "low",
    "high",
    "n",
    "clusters",
    "difference",
    "difference_low",
    "difference_high",
    "p",
    "q",
    "reason",
    "no_interval",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def render(report: Report) -> bytes:
    """A row a score, then a row a slice and score; numbers in full, undefined left empty."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    for row in _rows(report):
        writer.writerow({name: harmless(value) for name, value in row.items()})
    return text.getvalue().encode()


def _rows(report: Report) -> list[dict[str, object]]:
    told = ("name", "value", "low", "high", "n", "clusters", "reason", "no_interval")
    rows: list[dict[str, object]] = [
        {"kind": "score"} | {name: getattr(score, name) for name in told} for score in report.scores
    ]
    shared = ("name", "value", "low", "high", "difference", "difference_low", "difference_high")
    for piece in report.slices:
        place = {"kind": "slice", "field": piece.field, "level": piece.level}
        for scored in piece.scores:
            numbers = {name: getattr(scored, name) for name in (*shared, "p", "q", "reason")}
            rows.append({**place, **numbers, "n": piece.n, "clusters": piece.clusters})
    return rows


def harmless(value: object) -> object:
    """The value, with a quote before text that a spreadsheet would run as a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value
