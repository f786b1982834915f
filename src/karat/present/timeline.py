"""A history of runs as lines, as JSON, and as one page that draws each score over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import msgspec

from karat.model.history import Logged
from karat.model.report import Score
from karat.present.grid import Cell, grid
from karat.present.numbers import count, decimals, fixed, interval
from karat.present.style import Meaning, Style

_MARK = {"better": "better", "worse": "WORSE", "different": "changed"}
_SIGN = {"better": "▲", "worse": "▼", "different": "◆"}
_MEANING: dict[str, Meaning] = {"better": "good", "worse": "bad"}
_WIDTH, _HEIGHT, _LEFT, _TOP = 640, 180, 64, 14


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


def page(runs: Sequence[Logged], metrics: Sequence[str] = ()) -> bytes:
    """One page without a script: a drawing and a table for each score of each data set."""
    series: dict[tuple[str, str, str], list[Logged]] = {}
    for run in runs:
        series.setdefault((run.task, run.data, run.options), []).append(run)
    parts = []
    for (task, data, _), same in series.items():
        parts.append(f"<h2>{escape(task)} <small>data {escape(data[:12])}</small></h2>")
        names = dict.fromkeys(s.name for run in same for s in run.scores if s.main)
        wanted = [name for name in metrics or names if any(_named(run, name) for run in same)]
        parts += [_figure(same, name) for name in wanted]
    body = "\n".join(parts) or "<p>No runs.</p>"
    return _PAGE.replace("BODY", body).encode()


def _figure(runs: Sequence[Logged], name: str) -> str:
    """One score over the runs: the drawing, and the same as a table."""
    points = [(run, score) for run in runs if (score := _named(run, name)) is not None]
    rows = "".join(_html_row(run, score) for run, score in points)
    titles = ("when (UTC)", "run", "value", "interval", "n", "change")
    head = "<tr>" + "".join(f"<th scope=col>{title}</th>" for title in titles) + "</tr>"
    return (
        f"<figure><figcaption>{escape(name)}</figcaption>{_drawing(points, name)}"
        f"<details><summary>Table</summary><table><thead>{head}</thead>"
        f"<tbody>{rows}</tbody></table></details></figure>"
    )


def _html_row(run: Logged, score: Score) -> str:
    places = decimals(score.scale, score.value, score.low, score.high)
    style = Style(unicode=True)
    cells = (
        run.at[:16].replace("T", " "),
        run.name,
        fixed(score.value, places, style),
        interval(score.low, score.high, places, style),
        count(run.n, style),
        run.changes.get(score.name, ""),
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _drawing(points: Sequence[tuple[Logged, Score]], name: str) -> str:
    """Dots with intervals, joined by a line; a mark above each real change."""
    drawn = [(run, s, s.value) for run, s in points if s.value is not None]
    if not drawn:
        return "<p>undefined in every run</p>"
    ends = [e for _, s, v in drawn for e in (v, s.low, s.high) if e is not None]
    low, high = min(ends), max(ends)
    room = (high - low) or abs(high) or 1.0
    step = (_WIDTH - _LEFT - 20) / max(len(drawn) - 1, 1)

    def x(at: int) -> float:
        return _LEFT + 10 + at * step

    def y(value: float) -> float:
        return _TOP + 14 + (1 - (value - low) / room) * (_HEIGHT - _TOP - 40)

    marks = [_mark(x(at), y, run, score, value) for at, (run, score, value) in enumerate(drawn)]
    path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, (_, _, value) in enumerate(drawn))
    axis = "".join(_label(y(end), end) for end in dict.fromkeys((low, high)))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(name)} over time">'
        f'{axis}<polyline class="line" points="{path}"/>{"".join(marks)}</svg>'
    )


def _mark(x: float, y: Callable[[float], float], run: Logged, score: Score, value: float) -> str:
    """One run: its interval, its dot with a title, and the sign of a change."""
    told = f"{run.at[:16]} {run.name}: {value:.6g}"
    bar = ""
    if score.low is not None and score.high is not None:
        told += f" [{score.low:.6g}, {score.high:.6g}]"
        ends = f'y1="{y(score.low):.1f}" y2="{y(score.high):.1f}"'
        bar = f'<line class="bar" x1="{x:.1f}" x2="{x:.1f}" {ends}/>'
    change = run.changes.get(score.name, "")
    sign = ""
    if change:
        told += f", {change} than the run before"
        top = y(score.high if score.high is not None else value) - 6
        place = f'x="{x:.1f}" y="{top:.1f}" text-anchor="middle"'
        sign = f'<text class="{change}" {place}>{_SIGN[change]}</text>'
    dot = f'<circle cx="{x:.1f}" cy="{y(value):.1f}" r="4"/>'
    return f"<g><title>{escape(told)}</title>{bar}{dot}{sign}</g>"


def _label(y: float, value: float) -> str:
    place = f'x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end"'
    return f'<text class="axis" {place}>{value:.4g}</text>'


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>karat: history</title>
<style>
:root { color-scheme: light dark; --ink: #1d2330; --faint: #5b6472; --line: #3b5bdb;
  --good: #18713a; --bad: #b3261e; --back: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ee; --faint: #a3abba; --line: #8ea2ff;
  --good: #67d391; --bad: #ff8f85; --back: #14171f; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
small, .axis { color: var(--faint); fill: var(--faint); font-weight: normal; font-size: .8rem; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; } svg { width: 100%; height: auto; }
.line { fill: none; stroke: var(--line); stroke-width: 1.5; opacity: .6; }
.bar { stroke: var(--line); stroke-width: 2; } circle { fill: var(--line); }
.better { fill: var(--good); } .worse { fill: var(--bad); } .different { fill: var(--ink); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--faint); }
</style></head><body><main>
<h1>History of runs</h1>
<p>Each dot is a run with its interval. ▲ marks a change for the better and ▼ one for the worse that
is more than chance, against the run before on the same data. The two runs are taken as
independent; 'karat compare' pairs their items and sees smaller changes.</p>
BODY
</main></body></html>
"""
