"""A history of runs as lines and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.model.history import Logged
from karat.model.report import Score
from karat.present.grid import Cell, grid
from karat.present.numbers import count, decimals, fixed, interval
from karat.present.style import Meaning, Style

_MARK = {"better": "better", "worse": "WORSE", "different": "changed"}
_MEANING: dict[str, Meaning] = {"better": "good", "worse": "bad"}


def lines(runs: Sequence[Logged], metrics: Sequence[str], style: Style) -> list[str]:
    """A line a run and score, and what the marks mean."""
    if not runs:
        return ["no runs"]
    found = [
        (run, score)
        for run in runs
        for name in metrics or _headline(run)
        if (score := _named(run, name)) is not None
    ]
    if not found:
        return [f"no run has {', '.join(metrics)}"]
    # What is the same in every line is no column.
    tasks = len({run.task for run, _ in found}) > 1
    names = len({score.name for _, score in found}) > 1
    head = ["when (UTC)", *(["task"] if tasks else []), "run", *(["score"] if names else [])]
    head += ["value" if names else found[0][1].name, "interval", "n", ""]
    rows = [_row(run, score, style, tasks, names) for run, score in found]
    left = [*range(1, len(head) - 4), len(head) - 1]
    table = grid(head, rows, style, left=left, indent="")
    told = "better, WORSE: more than chance since the run before on the same data"
    return [*table, style.paint(told, "dim")] if any(run.changes for run in runs) else table


def _row(run: Logged, score: Score, style: Style, tasks: bool, names: bool) -> list[Cell]:
    places = decimals(score.scale, score.value, score.low, score.high)
    change = run.changes.get(score.name, "")
    return [
        Cell(run.at[:16].replace("T", " ")),
        *([Cell(run.task)] if tasks else []),
        Cell(run.name),
        *([Cell(score.name)] if names else []),
        Cell(fixed(score.value, places, style), "strong", decimal=True),
        Cell(interval(score.low, score.high, places, style)),
        Cell(count(run.n, style)),
        Cell(_MARK.get(change, ""), _MEANING.get(change)),
    ]


def _headline(run: Logged) -> list[str]:
    main = [score.name for score in run.scores if score.main] or [s.name for s in run.scores]
    return main[:1]


def _named(run: Logged, name: str) -> Score | None:
    return next((score for score in run.scores if score.name == name), None)


def document(runs: Sequence[Logged]) -> str:
    """The runs as one JSON document."""
    found = {"schema": 1, "runs": list(runs)}
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
