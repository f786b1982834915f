"""The scores with their intervals, drawn in the row on the axis of their scale."""

from __future__ import annotations

from karat.model.direction import RANGES
from karat.model.report import Report, Score
from karat.present.html import svg
from karat.present.html.figures import (
    STYLE,
    interval_of,
    main_scores,
    value_of,
    whole,
)
from karat.present.html.markup import Content, Safe, breakable, element, joined
from karat.present.html.scale import Scale
from karat.present.html.sheet import Cell, Column, Footnotes, sheet, with_span
from karat.present.numbers import fixed, interval_title

MOST_ROWS = 200


def score_section(report: Report, heading: str) -> Safe:
    """The main scores; all of them folded below."""
    if not report.scores:
        return Safe("")
    main = main_scores(report.scores)
    rest = len(report.scores) - len(main)
    title = element(heading, "Scores")
    if not rest:
        return joined(title, score_table(report, main, "Scores"))
    shown = report.scores[:MOST_ROWS]
    word = f"All {whole(len(report.scores))} scores"
    if len(shown) < len(report.scores):
        word = f"The first {MOST_ROWS} of {whole(len(report.scores))} scores; the file has all"
    folded = element("details", element("summary", word), score_table(report, shown, word))
    return joined(title, score_table(report, main, "Main scores"), folded)


def score_table(report: Report, scores: list[Score], caption: str) -> Safe:
    """A row a score: value, interval, its picture, and what stands behind it."""
    clustered = any(s.clusters is not None for s in scores)
    columns = [
        Column("score"),
        Column("value", numeric=True),
        Column(interval_title(report.level), numeric=True, extra=True),
        Column("", sortable=False),
        Column("n", numeric=True),
    ]
    if clustered:
        columns += [
            Column("clusters", numeric=True, extra=True),
            Column("design effect", numeric=True, extra=True),
        ]
    scale, notes = shared_axis(scores), Footnotes()
    rows = [_row(score, clustered, scale, notes) for score in scores]
    foot: list[Content] | None = None
    if scale is not None:
        foot = ["", "", "", svg.axis(scale), *[""] * (len(columns) - 4)]
    return joined(sheet(caption, columns, rows, foot=foot, kind="full"), notes.shown())


def shared_axis(scores: list[Score]) -> Scale | None:
    """The axis on which all of these are drawn, None where none of them has ends.

    Percentages have one of their own; correlations use that of fractions unless one is negative.
    """
    drawn = [s for s in scores if s.value is not None and s.scale in RANGES]
    if not drawn:
        return None
    high = RANGES[drawn[0].scale][1]
    below = any(v is not None and v < 0 for s in drawn for v in (s.value, s.low))
    return svg.across(-high if below else 0.0, high)


def _row(
    score: Score, clustered: bool, scale: Scale | None, notes: Footnotes
) -> list[Cell | Content]:
    value = value_of(score.scale, score.value, score.low, score.high)
    span = interval_of(score.scale, score.value, score.low, score.high)
    wanted = _direction(score)
    below = element("small", wanted, class_="remark") if wanted else None
    marks = notes.marks(_reasons(score))
    row: list[Cell | Content] = [
        Cell(joined(breakable(score.name), marks, below), score.name),
        Cell(with_span(value, span), score.value),
        Cell(span, score.low),
        score_bar(score, scale),
        Cell(whole(score.n), score.n),
    ]
    if clustered:
        effect = score.design_effect
        row += [
            Cell(whole(score.clusters), score.clusters),
            Cell("" if effect is None else fixed(effect, 2, STYLE), effect),
        ]
    return row


def score_bar(score: Score, scale: Scale | None) -> Safe:
    """The interval on the shared axis; nothing where the score's own scale ends elsewhere."""
    if scale is None or score.value is None or RANGES.get(score.scale, (0, 0))[1] != scale.high:
        return Safe("")
    value = value_of(score.scale, score.value, score.low, score.high)
    span = interval_of(score.scale, score.value, score.low, score.high)
    label = f"{score.name} {value}" + (f", interval {span}" if span else "")
    return svg.interval(score.value, score.low, score.high, scale, label)


def _direction(score: Score) -> str:
    """What is good, where that is not the most."""
    if score.better == "near" and score.near is not None:
        return f"best near {score.near:g}"
    return "lower is better" if score.better == "lower" else ""


def _reasons(score: Score) -> list[str]:
    """Why there is no value or no interval, and what chance alone gives."""
    if score.value is None:
        return [score.reason]
    reasons = [score.no_interval] if score.low is None else []
    if score.chance is not None:
        shown = fixed(score.chance, 3, STYLE)
        reasons.append(f"a perfectly calibrated model of this size gets {shown} by chance")
    return reasons
