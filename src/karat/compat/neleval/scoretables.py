"""Tables that `evaluate` and `confidence` wrote, as scores with bounds."""

from __future__ import annotations

from karat.compat.neleval.systems import COLUMN
from karat.compat.neleval.systems import read_evaluation as read_numbers
from karat.errors import DataError
from karat.model.problem import Problem
from karat.read.source import Source

Bounds = tuple[float, float, float]
"""A score with its lower and upper bound."""

Scores = dict[str, dict[str, Bounds]]
"""measure -> metric -> score."""


def read_evaluation(path: str) -> Scores:
    """The scores of a table of `evaluate`; they are their own bounds."""
    return {
        measure: {metric: (row[i], row[i], row[i]) for metric, i in COLUMN.items()}
        for measure, row in read_numbers(path).items()
    }


def read_confidence(path: str, level: int | None) -> Scores:
    """The scores of a table of `confidence`, with the bounds of a level."""
    source = Source.of(path)
    lines = [
        [cell.strip() for cell in line.split("\t")]
        for line in source.data().decode("utf-8", "replace").splitlines()
    ]
    wanted = ("score", f"{level}%(", f"){level}%") if level is not None else ("score",) * 3
    missing = [name for name in wanted if not lines or name not in lines[0]]
    if missing:
        raise _broken(source.name, 1, f"the first line has no column {missing[0]!r}")
    places = [lines[0].index(name) for name in wanted]
    found: Scores = {}
    for number, row in enumerate(lines[1:], 2):
        try:
            score, low, high = (float(row[place]) for place in places)
            found.setdefault(row[0], {})[row[1]] = score, low, high
        except (IndexError, ValueError) as error:
            text = "a row is measure, metric and numbers between tabs"
            raise _broken(source.name, number, text) from error
    return found


def _broken(file: str, line: int, text: str) -> DataError:
    return DataError(
        [
            Problem(
                "confidence-broken", "error", text, file, line, help="-i confidence reads its table"
            )
        ]
    )
