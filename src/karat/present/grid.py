"""Columns of text that fit into 80: right-aligned numbers, names cut in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat.present.style import Meaning, Style
from karat.present.widths import WIDTH, clean, elide, pad, width

_NARROWEST = 6
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; `decimal` aligns it by its decimal point."""

    text: str
    meaning: Meaning | None = None
    decimal: bool = False


def grid(
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    style: Style,
    left: Sequence[int] = (0,),
    indent: str = "  ",
) -> list[str]:
    """The lines of a table. Columns in `left` hold names and give way; the others hold numbers."""
    if not rows:
        return []
    table = [list(head), *([clean(cell.text) for cell in row] for row in rows)]
    for column in range(len(head)):
        _align_decimals(table, rows, column)
    widths = _fit([max(width(row[c]) for row in table) for c in range(len(head))], left, indent)
    lines = []
    for at, texts in enumerate(table):
        cells = []
        for column, text in enumerate(texts):
            fitted = elide(text, widths[column], style.cut)
            padded = pad(fitted, widths[column], right=column not in left)
            cells.append(style.paint(padded, rows[at - 1][column].meaning if at else "dim"))
        lines.append((indent + _GAP.join(cells)).rstrip())
    return lines


def _align_decimals(table: list[list[str]], rows: Sequence[Sequence[Cell]], column: int) -> None:
    """Pad the numbers of a column so that their decimal points stand below each other."""
    numbers = [at for at, row in enumerate(rows, 1) if row[column].decimal]
    after = {at: len(table[at][column].partition(".")[2]) for at in numbers}
    most = max(after.values(), default=0)
    for at in numbers:
        # A number without a point also lacks the point's own column.
        missing = most - after[at] + (1 if most and "." not in table[at][column] else 0)
        table[at][column] += " " * missing


def _fit(widths: list[int], left: Sequence[int], indent: str) -> list[int]:
    """The widths after the widest name columns gave way until everything fits; then the others."""
    over = len(indent) + sum(widths) + len(_GAP) * (len(widths) - 1) - WIDTH
    while over > 0:
        names = [c for c in left if widths[c] > _NARROWEST] or range(len(widths))
        widest = max(names, key=widths.__getitem__)
        if widths[widest] <= 1:
            break
        widths[widest] -= 1
        over -= 1
    return widths
