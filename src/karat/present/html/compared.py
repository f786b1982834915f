"""Systems against the baseline: what each scores, and every difference with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from karat.model.direction import RANGES
from karat.model.report import Comparison, Difference, Report, System
from karat.present.comparison import lead, tests_told
from karat.present.html import svg
from karat.present.html.figures import (
    interval_of,
    main_scores,
    meaning,
    signed,
    value_of,
    whole,
)
from karat.present.html.markup import Content, Safe, breakable, element, joined
from karat.present.html.scale import Scale, spanning
from karat.present.html.scores import shared_axis
from karat.present.html.sheet import Cell, Column, Footnotes, sheet, with_span
from karat.present.numbers import SIGNIFICANT, chance

MOST_SLICES = 60
MOST_ROWS = 300
"""Of the folded tables of all differences, all systems together: more would make the page slow."""

MOST_DRAWN = 6
"""More systems than there are colours are not drawn beside their scores."""


def comparison_section(report: Report, heading: str, below: str) -> Safe:
    """The systems side by side, then each against the baseline.

    What each comparison comes to, in a sentence, stands at the top of the page.
    """
    if not report.comparisons:
        return Safe("")
    parts = [element(heading, "Comparison"), _systems(report.systems), _legend(report)]
    systems = len(report.comparisons)
    most = math.ceil(MOST_ROWS / systems)
    for one in report.comparisons:
        title = element(below, f"{one.system} against {one.baseline}")
        parts += [title, _differences(one, most, systems > 1), _slices(one)]
    return joined(parts)


def _systems(systems: list[System]) -> Safe:
    """A row a metric, a column a system, with the letters of the systems that it surely beats."""
    letters = {one.name: one.letter or one.name for one in systems}
    names = dict.fromkeys(s.name for one in systems for s in main_scores(one.scores))
    every = [score for one in systems for score in one.scores if score.name in names]
    scale = shared_axis(every) if len(systems) <= MOST_DRAWN else None
    rows: list[list[Cell | Content]] = [
        [
            breakable(name),
            *(_score(one, name, letters) for one in systems),
            *([_abreast(systems, name, scale)] if scale else []),
        ]
        for name in names
    ]
    if not rows:
        return Safe("")
    titles = [_lettered(one, at if scale else None) for at, one in enumerate(systems, 1)]
    columns = [Column("score"), *(Column(title, numeric=True) for title in titles)]
    foot: list[Content] | None = None
    if scale:
        columns.append(Column("", extra=True, sortable=False))
        foot = [*[""] * (len(columns) - 1), svg.axis(scale)]
    return sheet("Scores of each system", columns, rows, foot=foot, kind="full systems")


def _lettered(system: System, colour: int | None) -> Safe:
    """The name of a system behind the letter that stands for it, in the colour of its marks."""
    kind = "letter" if colour is None else f"letter s{colour}"
    letter = element("span", system.letter, class_=kind) if system.letter else None
    return joined(letter, " " if letter else None, breakable(system.name))


def _abreast(systems: list[System], name: str, scale: Scale) -> Content:
    """The intervals of all systems in one metric; nothing where its scale ends elsewhere."""
    scores = [next((s for s in one.scores if s.name == name), None) for one in systems]
    places, said = [], []
    for system, score in zip(systems, scores, strict=True):
        if score is None or score.value is None:
            return None
        if RANGES.get(score.scale, (0, 0))[1] != scale.high:
            return None
        places.append((score.value, score.low, score.high))
        shown = value_of(score.scale, score.value, score.low, score.high)
        said.append(f"{system.name} {shown}")
    return svg.abreast(places, scale, f"{name}: {', '.join(said)}")


def _legend(report: Report) -> Safe:
    """What the columns mean, and which tests were made."""
    every = [one for part in report.comparisons for one in part.differences]
    told = {"p": tests_told(report)}
    if any(one.beats for one in report.systems):
        told["raised letters"] = "the systems that this one surely beats in this score"
    if any(one.smallest_seen is not None for one in every):
        told["detectable"] = "the difference that a test on this data finds four times out of five"
    if any(one.wins is not None for one in every):
        told["win / tie / loss"] = "items on which the system is better, level and worse"
    if any(part.slices for part in report.comparisons):
        told["q"] = "p adjusted for all slices of all systems (Benjamini and Hochberg)"
    told["*"] = f"{'Holm p' if len(report.comparisons) > 1 else 'p'}, or q, below {SIGNIFICANT}"
    lines = [element("li", element("strong", word), ": ", text) for word, text in told.items()]
    return element("ul", lines, class_="note key")


def _score(system: System, name: str, letters: Mapping[str, str]) -> Cell:
    """What one system has in one metric, its interval below."""
    score = next((s for s in system.scores if s.name == name), None)
    if score is None:
        return Cell("")
    value = value_of(score.scale, score.value, score.low, score.high)
    span = interval_of(score.scale, score.value, score.low, score.high)
    beaten = ",".join(letters.get(one, one) for one in system.beats.get(name, []))
    shown = joined(
        element("strong", value),
        element("sup", beaten) if beaten else None,
        element("small", span, class_="remark extra") if span else None,
    )
    return Cell(shown, score.value)


def _differences(one: Comparison, most: int, many: bool) -> Safe:
    """The main differences; the first `most` of all folded below.

    `many`: p is adjusted for several systems.
    """
    main = [d for d in one.differences if d.main] or one.differences[:12]
    caption = f"{one.system} minus {one.baseline}"
    if not main:
        return Safe("")
    table = _forest(caption, [_Row(d.name, None, d) for d in main], "metric", many)
    if len(main) == len(one.differences):
        return table
    rows = [_Row(d.name, None, d) for d in one.differences[:most]]
    word = f"All {len(one.differences)} differences: {caption}"
    if len(rows) < len(one.differences):
        word = f"The first {most} of {len(one.differences)} differences: {caption}"
    all_of_them = _forest(word, rows, "metric", many, drawn=False)
    return joined(table, element("details", element("summary", word), all_of_them))


def _slices(one: Comparison) -> Safe:
    """The difference that leads, in every slice, worst first."""
    leads = [(piece, lead(piece.differences)) for piece in one.slices]
    found = [(piece, d) for piece, d in leads if d is not None and d.value is not None]
    if not found:
        return Safe("")
    name = found[0][1].name
    found = [(piece, d) for piece, d in found if d.name == name]
    sign = -1 if found and found[0][1].better == "lower" else 1
    found.sort(key=lambda pair: sign * (pair[1].value or 0.0))
    rows = [_Row(f"{piece.field} = {piece.level}", piece.n, d) for piece, d in found[:MOST_SLICES]]
    word = f"{name} by slice: {one.system} minus {one.baseline}"
    return element(
        "details", element("summary", word), _forest(word, rows, "slice", True), open=True
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """A difference in a table: what it is of, and over how many items where that is a slice."""

    name: str
    n: int | None
    one: Difference

    @property
    def span(self) -> str:
        """Its interval."""
        return interval_of(self.one.scale, self.one.value, self.one.low, self.one.high)

    @property
    def gap(self) -> str:
        """The difference with its sign."""
        return signed(self.one.scale, self.one.value, self.one.low, self.one.high)

    @property
    def judged(self) -> float | None:
        """The p that decides, adjusted for how many differences were looked at."""
        if self.n is not None:
            return self.one.q
        return self.one.p if self.one.adjusted_p is None else self.one.adjusted_p

    @property
    def sure(self) -> bool:
        """Whether the difference is more than chance."""
        return self.judged is not None and self.judged < SIGNIFICANT

    @property
    def kind(self) -> str:
        """Good or bad news, or nothing while it is not sure."""
        return meaning(self.one.value, self.one.better, self.sure)

    @property
    def axis(self) -> str:
        """The scale it is drawn on; fractions and correlations share one."""
        return "fraction" if self.one.scale == "signed" else self.one.scale


def _forest(
    caption: str, rows: Sequence[_Row], first: str, adjusted: bool, drawn: bool = True
) -> Safe:
    """Differences around the line of none; a scale other than the first one's has no picture.

    What has an interval decides how wide the axis is, so that one large difference without any
    does not press the others together.
    """
    alike = [row.one for row in rows if row.axis == rows[0].axis]
    spread = [d for d in alike if d.low is not None] or alike
    scale = svg.across(*spanning([0.0, *(v for d in spread for v in (d.value, d.low, d.high))]))
    sized = any(row.n is not None for row in rows)
    notes = Footnotes()
    made: list[tuple[Column, Callable[[_Row], Cell]]] = [
        (Column(first), lambda row: _named(row, notes)),
        (Column("difference", numeric=True), _gap),
        (Column("interval", numeric=True, extra=True), lambda row: Cell(row.span, row.one.low)),
    ]
    if drawn:
        axis = rows[0].axis
        made.append((Column("", sortable=False), lambda row: _drawn(row, scale, axis)))
    made += [
        (Column("n" if sized else "win / tie / loss", numeric=True, extra=True), _counted),
        (Column("p", numeric=True, extra=adjusted), lambda row: Cell(chance(row.one.p), row.one.p)),
    ]
    if adjusted:
        title = "q" if sized else "Holm p"
        made.append((Column(title, numeric=True), lambda row: Cell(chance(row.judged), row.judged)))
    made.append((Column("detectable", numeric=True, extra=True), _seen))
    body = [[cell(row) for _, cell in made] for row in rows]
    foot: list[Content] | None = None
    if drawn:
        foot = ["", "", "", svg.axis(scale), *[""] * (len(made) - 4)]
    table = sheet(caption, [column for column, _ in made], body, foot=foot, kind="full forest")
    return joined(table, notes.shown())


def _named(row: _Row, notes: Footnotes) -> Cell:
    why = row.one.reason or row.one.no_interval
    return Cell(joined(breakable(row.name), notes.marks([why])), row.name)


def _gap(row: _Row) -> Cell:
    shown = with_span(row.gap or "–", row.span, " *" if row.sure else "")
    return Cell(shown, row.one.value, row.kind)


def _drawn(row: _Row, scale: Scale, axis: str) -> Cell:
    """The difference with its interval; nothing where it would fall outside of the axis."""
    one = row.one
    if one.value is None or row.axis != axis or not scale.low <= one.value <= scale.high:
        return Cell("")
    label = f"{row.name}: {row.gap}" + (f", interval {row.span}" if row.span else "")
    mark = svg.interval(one.value, one.low, one.high, scale, label, reference=0.0, meaning=row.kind)
    return Cell(mark)


def _counted(row: _Row) -> Cell:
    one = row.one
    if row.n is not None:
        return Cell(whole(row.n), row.n)
    if one.wins is None:
        return Cell("")
    return Cell(f"{whole(one.wins)} / {whole(one.ties)} / {whole(one.losses)}", one.wins)


def _seen(row: _Row) -> Cell:
    one = row.one
    if one.smallest_seen is None:
        return Cell("")
    return Cell(value_of(one.scale, one.smallest_seen, one.low, one.high), one.smallest_seen)
