"""Scores and slices as one long table of comma-separated values."""

from __future__ import annotations

import csv
import io

from karat.model.report import Comparison, Difference, Report
from karat.present.suite import tests_of

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
    "system",
    "baseline",
    "adjusted_p",
    "smallest_seen",
    "wins",
    "ties",
    "losses",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def render(report: Report) -> bytes:
    """A row a score, a slice and score, a difference, then the signature; numbers in full."""
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
    rows += _cases(report)
    shared = ("name", "value", "low", "high", "difference", "difference_low", "difference_high")
    for piece in report.slices:
        place = {"kind": "slice", "field": piece.field, "level": piece.level}
        for scored in piece.scores:
            numbers = {name: getattr(scored, name) for name in (*shared, "p", "q", "reason")}
            rows.append({**place, **numbers, "n": piece.n, "clusters": piece.clusters})
    for system in report.systems:
        place = {"kind": "score", "system": system.name}
        rows += [place | {name: getattr(score, name) for name in told} for score in system.scores]
    rows += [row for one in report.comparisons for row in _differences(report, one)]
    return [*rows, {"kind": "signature", "name": report.signature.text}]


def _differences(report: Report, comparison: Comparison) -> list[dict[str, object]]:
    """A row a difference, of all items and then of each slice."""
    who = {"kind": "difference", "system": comparison.system, "baseline": comparison.baseline}
    rows = [{**who, **_difference(one), "n": report.n} for one in comparison.differences]
    for part in comparison.slices:
        place = {**who, "field": part.field, "level": part.level, "n": part.n}
        rows += [{**place, **_difference(one)} for one in part.differences]
    return rows


def _difference(one: Difference) -> dict[str, object]:
    same = ("name", "p", "q", "adjusted_p", "smallest_seen", "wins", "ties", "losses")
    found: dict[str, object] = {name: getattr(one, name) for name in same}
    found |= {"difference": one.value, "difference_low": one.low, "difference_high": one.high}
    return found | {"reason": one.reason, "no_interval": one.no_interval}


def _cases(report: Report) -> list[dict[str, object]]:
    """A row a case of a stress test: its test as the field, its subject as the level."""
    return [
        {
            "kind": case.status,
            "field": test.name,
            "level": case.subject,
            "name": case.statistic,
            "value": case.value,
            "low": case.low,
            "high": case.high,
            "n": case.n_eval,
            "p": case.p,
            "q": case.q,
            "reason": case.text,
        }
        for test in tests_of(report)
        for case in test.cases
    ]


def harmless(value: object) -> object:
    """The value, with a quote before text that a spreadsheet would run as a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value
