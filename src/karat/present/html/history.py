"""A history of runs as a page: every score over time, with intervals and the real changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat.model.history import Logged
from karat.model.report import Score
from karat.present.html import svg
from karat.present.html.figures import interval_of, value_of, whole
from karat.present.html.markup import Content, Safe, breakable, element, joined
from karat.present.html.page import document
from karat.present.html.scale import Scale, spanning, ticks
from karat.present.html.sheet import Cell, Column, sheet
from karat.present.numbers import plural

MOST_DRAWN = 100
"""More runs than this are too close to each other to be seen; the table has them."""

SIGNS = {"better": "▲", "worse": "▼", "different": "◆"}
KINDS = {"better": "good", "worse": "bad"}
WIDE, HIGH = 300, 140
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 20, 24

NOTE = (
    "Each dot is a run with its interval. ▲ marks a change for the better, ▼ one for the worse: "
    "more than chance, against the run before on the same data. The two runs are taken as "
    "independent; karat compare pairs their items and sees smaller changes."
)


@dataclass(frozen=True, slots=True)
class Line:
    """The runs that can be compared: of one task, on the same gold, with the same options."""

    runs: list[Logged]

    @property
    def name(self) -> str:
        """Task and the beginning of the gold's digest."""
        return f"{self.runs[0].task} on {self.runs[0].data[:12]}"

    def of(self, name: str) -> list[tuple[Logged, Score]]:
        """The runs that have a score of that name, oldest first."""
        found = [(run, next((s for s in run.scores if s.name == name), None)) for run in self.runs]
        return [(run, score) for run, score in found if score is not None]

    def shown(self, metrics: Sequence[str]) -> list[str]:
        """The scores to draw: those asked for, else the main ones."""
        names = metrics or dict.fromkeys(s.name for run in self.runs for s in run.scores if s.main)
        return [name for name in names if self.of(name)]


def page(runs: Sequence[Logged], metrics: Sequence[str] = ()) -> bytes:
    """The page: first what the last runs came to, then a drawing and a table for each score."""
    together: dict[tuple[str, str, str], list[Logged]] = {}
    for run in runs:
        together.setdefault((run.task, run.data, run.options), []).append(run)
    lines = [Line(found) for found in together.values()]
    title = "History of runs"
    first, *more = [said for line in lines if (said := _verdict(line, metrics))] or ["No runs."]
    lead = element(
        "div",
        element("p", first, class_="verdict"),
        element("ul", [element("li", one) for one in more]) if more else None,
        class_="lead",
    )
    parts = [element("section", _line(line, metrics), class_="block") for line in lines]
    note = element("p", NOTE, class_="note") if lines else None
    return document(title, joined(element("h1", title), lead, note, parts), [])


def _verdict(line: Line, metrics: Sequence[str]) -> str:
    """Where the first score stands now, and every score that really changed in the last run."""
    names = line.shown(metrics)
    if not names:
        return ""
    run, score = line.of(names[0])[-1]
    said = f"{line.name}: {score.name} is {_value(score)}"
    span = interval_of(score.scale, score.value, score.low, score.high)
    said += f" ({span})" if span else ""
    said += f" in {run.name}, the last of {len(line.runs)} {plural('run', len(line.runs))}"
    told = [f"{name} {kind}" for name, kind in line.runs[-1].changes.items() if name in names]
    return f"{said}; really changed: {', '.join(told)}." if told else f"{said}."


def _line(line: Line, metrics: Sequence[str]) -> Safe:
    names = line.shown(metrics)
    last = line.runs[-1]
    size = f"{whole(last.n)} {plural(last.item, last.n)} · {len(line.runs)} runs"
    figures = [_figure(line, name) for name in names]
    return joined(
        element("h2", line.name),
        element("p", size, class_="origin"),
        element("div", figures, class_="moments"),
    )


def _figure(line: Line, name: str) -> Safe:
    points = line.of(name)
    _, last = points[-1]
    caption = joined(element("h3", breakable(name)), element("p", _value(last)))
    return element(
        "figure",
        element("figcaption", caption),
        _drawing(points, name),
        element("details", element("summary", f"All values of {name}"), _table(points, name)),
    )


def _value(score: Score) -> str:
    return value_of(score.scale, score.value, score.low, score.high)


def _drawing(points: Sequence[tuple[Logged, Score]], name: str) -> Safe:
    """Dots with intervals, joined by a line; a sign above each real change."""
    drawn = [(run, s, s.value) for run, s in points if s.value is not None][-MOST_DRAWN:]
    if not drawn:
        return element("p", "undefined in every run", class_="note")
    low, high = spanning(v for _, s, value in drawn for v in (value, s.low, s.high))
    y = Scale(low, high, HIGH - BOTTOM, TOP)
    # One run alone stands in the middle.
    x = Scale(-0.5, len(drawn) - 0.5, LEFT, WIDE - RIGHT)
    marks: list[Safe] = []
    for place in ticks(low, high, 4):
        marks.append(_level(y(place), "grid"))
        marks.append(_word(f"{place:g}", LEFT - 7, y(place) + 4, "end"))
    marks.append(_word(drawn[0][0].at[:10], LEFT, HIGH - 6, "start"))
    if len(drawn) > 1:
        marks.append(_word(drawn[-1][0].at[:10], WIDE - RIGHT, HIGH - 6, "end"))
        way = [(x(at), y(value)) for at, (_, _, value) in enumerate(drawn)]
        marks.append(svg.path(way, "line lean s6", name))
    marks += [_mark(x(at), y, run, score, v) for at, (run, score, v) in enumerate(drawn)]
    label = f"{name} over {len(drawn)} {plural('run', len(drawn))}"
    return svg.picture(WIDE, HIGH, label, *marks, kind="chart")


def _mark(x: float, y: Scale, run: Logged, score: Score, value: float) -> Safe:
    """One run: its interval, its dot with a title, and the sign of a change."""
    span = interval_of(score.scale, score.value, score.low, score.high)
    told = f"{run.at[:16].replace('T', ' ')} {run.name}: {_value(score)}"
    told += f", interval {span}" if span else ""
    change = run.changes.get(score.name, "")
    kind, top, bar, sign = KINDS.get(change, ""), y(value), None, None
    if score.low is not None and score.high is not None:
        top = y(score.high)
        ends = {"y1": y(score.low), "y2": top}
        bar = element("line", x1=x, x2=x, **ends, class_=f"whisker {kind}".strip())
    if change:
        told += f", {change} than the run before"
        sign = _word(SIGNS[change], x, top - 6, "middle", kind)
    dot = element("circle", cx=x, cy=y(value), r=4.5, class_=f"dot {kind}".strip())
    return element("g", element("title", told), bar, dot, sign)


def _level(height: float, kind: str) -> Safe:
    return element("line", x1=LEFT, x2=WIDE - RIGHT, y1=height, y2=height, class_=kind)


def _word(said: str, x: float, y: float, anchor: str, kind: str = "") -> Safe:
    return element("text", said, x=x, y=y, text_anchor=anchor, class_=kind or None)


def _table(points: Sequence[tuple[Logged, Score]], name: str) -> Safe:
    """The same as numbers."""
    columns = [
        Column("when (UTC)"),
        Column("run"),
        Column("value", numeric=True),
        Column("interval", numeric=True),
        Column("n", numeric=True),
        Column("change"),
    ]
    return sheet(f"{name} over time", columns, [_row(run, score) for run, score in points])


def _row(run: Logged, score: Score) -> list[Cell | Content]:
    change = run.changes.get(score.name, "")
    said = f"{SIGNS[change]} {change}" if change else ""
    return [
        run.at[:16].replace("T", " "),
        breakable(run.name),
        Cell(element("strong", _value(score)), score.value),
        Cell(interval_of(score.scale, score.value, score.low, score.high), score.low),
        Cell(whole(run.n), run.n),
        Cell(said, change, KINDS.get(change, "")),
    ]
