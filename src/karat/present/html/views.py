"""The task's own pictures and tables, packed into two columns of about the same height."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Report, Table
from karat.present.html.charts import figure
from karat.present.html.markup import Safe, element, joined
from karat.present.html.tables import FOLDED, drawn

MOST_VIEWS = 60
FIGURE = 13
"""A picture is as high as this many rows of a table."""

NARROW = 76
"""A table with more characters in a row gets the whole width of the page."""


def view_section(report: Report, heading: str, below: str) -> Safe:
    """All of them: the narrow ones side by side, then those that need the whole width."""
    narrow = [(figure(curve, below), FIGURE) for curve in report.curves[:MOST_VIEWS]]
    wide = []
    for table in report.tables[:MOST_VIEWS]:
        view = drawn(table, below)
        if is_wide(table):
            wide.append(view)
        else:
            narrow.append((view, min(len(table.rows), FOLDED) + 4))
    blocks = [*_columns([view for view in narrow if view[0]]), *filter(None, wide)]
    if not blocks:
        return Safe("")
    return joined(element(heading, "A closer look"), element("div", blocks, class_="views"))


def is_wide(table: Table) -> bool:
    """Whether a table needs more than half of the page; a matrix has its largest cells beside."""
    if table.kind == "confusion":
        return True
    lengths = [
        max(len(table.columns[at]), *(_length(row[at]) for row in table.rows[:FOLDED]))
        for at in range(len(table.columns) if table.rows else 0)
    ]
    return sum(lengths) + 2 * len(lengths) > NARROW


def _length(value: object) -> int:
    """The characters of a cell, about; long text is broken into lines anyway."""
    return 6 if isinstance(value, float) else min(len(str(value)), NARROW // 2)


def _columns(views: Sequence[tuple[Safe, int]]) -> list[Safe]:
    """The views in two columns, each in the one that is shorter so far."""
    columns: tuple[list[Safe], list[Safe]] = ([], [])
    heights = [0, 0]
    for view, height in views:
        at = int(heights[1] < heights[0])
        columns[at].append(view)
        heights[at] += height
    sides = [element("div", column) for column in columns if column]
    return [element("div", sides, class_="columns")] if sides else []
