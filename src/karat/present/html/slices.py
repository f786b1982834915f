"""Slices as a forest plot, worst first: a table whose rows hold their own piece of the picture."""

from __future__ import annotations

from karat.model.direction import badness
from karat.model.report import Report, Score, Slice, SliceScore
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
from karat.present.html.sheet import Cell, Column, sheet, with_span
from karat.present.numbers import SIGNIFICANT, chance
from karat.present.terminal import headline

MOST_SLICES = 60
MOST_METRICS = 8

Found = tuple[Slice, SliceScore]


def slice_section(report: Report, heading: str, below: str) -> Safe:
    """The headline score in every slice; the other main scores folded below."""
    first = headline(report)
    if first is None or not report.slices:
        return Safe("")
    others = [s for s in main_scores(report.scores) if s.name != first.name][:MOST_METRICS]
    note = (
        "Each dot is the score in one slice with its interval; the upright line is the score of "
        "all the data. Coloured and starred: surely different from the rest, all slices taken "
        f"together (q < {SIGNIFICANT})."
    )
    folded = [
        joined(element(below, f"Slices by {score.name}"), forest(report, score))
        for score in others
        if _found(report, score)
    ]
    rest = element("details", element("summary", "The other scores by slice"), folded)
    title = element(heading, f"Slices by {first.name}, worst first")
    shown = joined(title, element("p", note, class_="note"), forest(report, first))
    return joined(shown, rest if folded else None)


def forest(report: Report, score: Score) -> Safe:
    """One score in every slice."""
    found = sorted(
        _found(report, score), key=lambda pair: badness(pair[1].value, score.better, score.near)
    )
    shown = found[:MOST_SLICES]
    values = [v for _, one in shown for v in (one.value, one.low, one.high)]
    scale = svg.across(*spanning([*values, score.value]))
    fields = len({piece.field for piece, _ in found}) > 1
    name = "slice" if fields else next((piece.field for piece, _ in found), "slice")
    columns = [
        Column(breakable(name)),
        Column(breakable(score.name), numeric=True),
        Column("interval", numeric=True, extra=True),
        Column("", sortable=False),
        Column("n", numeric=True, extra=True),
        Column("to the rest", numeric=True),
        Column("q", numeric=True, extra=True),
    ]
    rows = [_row(piece, one, score, scale, fields) for piece, one in shown]
    foot: list[Content] = ["", "", "", svg.axis(scale), "", "", ""]
    table = sheet(f"Slices by {score.name}", columns, rows, foot=foot, kind="full forest")
    more = len(found) - len(shown)
    return joined(
        table, element("p", f"and {more} more in the file", class_="note") if more else ""
    )


def _found(report: Report, score: Score) -> list[Found]:
    return [
        (piece, one) for piece in report.slices for one in piece.scores if one.name == score.name
    ]


def _row(
    piece: Slice, one: SliceScore, score: Score, scale: Scale, fields: bool
) -> list[Cell | Content]:
    value = value_of(score.scale, one.value, one.low, one.high)
    span = interval_of(score.scale, one.value, one.low, one.high)
    gap = signed(score.scale, one.difference, one.difference_low, one.difference_high)
    sure = one.q is not None and one.q < SIGNIFICANT
    kind = meaning(one.difference, score.better, sure)
    level = joined(
        element("span", f"{piece.field} = ", class_="dim") if fields else "", piece.level
    )
    picture: Content = element("small", one.reason, class_="remark") if one.reason else None
    if one.value is not None:
        label = f"{piece.field} {piece.level}: {value}" + (f", interval {span}" if span else "")
        picture = svg.interval(
            one.value, one.low, one.high, scale, label, reference=score.value, meaning=kind
        )
    return [
        Cell(level, piece.level),
        Cell(with_span(value, span), one.value),
        Cell(span, one.low),
        picture,
        Cell(whole(piece.n), piece.n),
        Cell(gap + (" *" if sure else ""), one.difference, kind),
        Cell(chance(one.q), one.q),
    ]
