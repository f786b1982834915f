"""The task's own tables, each drawn by its kind; an unknown kind is drawn as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from karat.model.report import Table
from karat.present.html.confusion import matrix
from karat.present.html.figures import STYLE, whole
from karat.present.html.markup import Content, Safe, breakable, element, joined
from karat.present.html.sheet import Cell, Column, sheet
from karat.present.numbers import CHANCES, chance, fixed

MOST_ROWS = 200
FOLDED = 12
"""A table with more rows than a third again shows this many, and all of them on request."""

BAR = 56


def drawn(table: Table, heading: str) -> Safe:
    """The table under its title."""
    if not table.rows:
        return Safe("")
    draw = KINDS.get(table.kind, _plain)
    note = element("p", table.note, class_="note") if table.note else None
    return element("section", element(heading, table.title), draw(table), note, class_="view")


def _plain(table: Table) -> Safe:
    """Rows as they are."""
    return _sheet(table, bars=False)


def _classes(table: Table) -> Safe:
    """Rows as they are, with a bar below every share."""
    return _sheet(table, bars=True)


def _sheet(table: Table, bars: bool) -> Safe:
    columns = [
        Column(breakable(name), numeric=not any(isinstance(row[at], str) for row in table.rows))
        for at, name in enumerate(table.columns)
    ]
    places = [_places(table, at) for at in range(len(columns))]
    rows = [
        [
            Cell(chance(value), value)
            if name in CHANCES and isinstance(value, float)
            else _cell(value, bars, digits)
            for value, digits, name in zip(row, places, table.columns, strict=True)
        ]
        for row in table.rows[:MOST_ROWS]
    ]
    if 3 * len(rows) <= 4 * FOLDED:
        return sheet(table.title, columns, rows)
    total = len(table.rows)
    word = f"All {whole(total)} rows of “{table.title}”"
    if total > MOST_ROWS:
        word = f"The first {MOST_ROWS} of {whole(total)} rows of “{table.title}”; the file has all"
    return joined(
        sheet(table.title, columns, rows[:FOLDED]),
        element("details", element("summary", word), sheet(word, columns, rows)),
    )


def _places(table: Table, at: int) -> int:
    """The decimals of a column: three for shares, two for what is larger, none for the huge."""
    sizes = [abs(row[at]) for row in table.rows if isinstance(row[at], float)]
    largest = max(sizes, default=0.0)
    return 3 if largest <= 1 else 2 if largest < 1e6 else 0


def _cell(value: Any, bars: bool, places: int) -> Cell | Content:
    if value is None:
        return Cell(STYLE.undefined, "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return Cell(whole(value), value)
    if isinstance(value, float):
        shown = fixed(value, places, STYLE)
        if bars and 0 <= value <= 1:
            return Cell(joined(shown, _bar(value)), value)
        return Cell(shown, value)
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)
    return breakable(str(value))


def _bar(share: float) -> Safe:
    """A share as a line below its number; the number says it, so readers may skip it."""
    return element(
        "svg",
        element("rect", x=0, y=0, width=BAR, height=4, class_="track-box"),
        element("rect", x=0, y=0, width=BAR * share, height=4, class_="mark s1"),
        viewBox=f"0 0 {BAR} 4",
        width=BAR,
        height=4,
        class_="share",
        aria_hidden="true",
    )


KINDS: dict[str, Callable[[Table], Safe]] = {
    "plain": _plain,
    "classes": _classes,
    "errors": _classes,
    "confusion": matrix,
    "confusions": _plain,
}
"""Kind of a table -> what draws it."""
