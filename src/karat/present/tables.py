"""The task's own tables as text: a confusion matrix while it fits, then its largest cells."""

from __future__ import annotations

import json
from typing import Any

from karat.model.report import Example, Table
from karat.present.grid import Cell, grid
from karat.present.numbers import CHANCES, chance, count, fixed
from karat.present.style import Style
from karat.present.widths import WIDTH, clean, elide, width, wrap

MOST_CLASSES = 8
TOP_CONFUSIONS = 5
SHOWN_ROWS = 12
DRAWN = {"boxes", "size"}
"""Fields of an item that only a picture can show."""


def table_lines(table: Table, style: Style, everything: bool = False) -> list[str]:
    """The lines of one table under its title."""
    if table.kind == "confusion":
        lines = _confusion(table, style)
    else:
        lines = _plain(table, style, everything)
    if not lines:
        return []
    note = wrap(table.note, "  ") if table.note else []
    return [style.paint(elide(clean(table.title), WIDTH, style.cut), "dim"), *lines, *note]


def _plain(table: Table, style: Style, everything: bool) -> list[str]:
    """Rows as they are; columns that hold text are left-aligned."""
    if not table.rows:
        return []
    shown = table.rows if everything else table.rows[:SHOWN_ROWS]
    left = [c for c in range(len(table.columns)) if any(isinstance(r[c], str) for r in shown)]
    cells = [
        [_cell(value, style, name) for value, name in zip(row, table.columns, strict=True)]
        for row in shown
    ]
    lines = grid([clean(c) for c in table.columns], cells, style, left or [0])
    if len(table.rows) > len(shown):
        lines.append(style.paint(f"  and {len(table.rows) - len(shown)} more", "dim"))
    return lines


def _cell(value: Any, style: Style, column: str) -> Cell:
    if value is None:
        return Cell(style.undefined)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Cell(str(value))
    if isinstance(value, int):
        return Cell(count(value, style))
    if column in CHANCES:
        return Cell(chance(value), decimal=True)
    return Cell(fixed(value, 4, style), decimal=True)


def _confusion(table: Table, style: Style) -> list[str]:
    """The matrix (a row a gold class, first its name), or its largest off-diagonal cells."""
    names = [clean(str(row[0])) for row in table.rows]
    matrix = [row[1:] for row in table.rows]
    widest = max((width(count(v, style)) for row in matrix for v in row), default=1)
    room = (WIDTH - 2 - 12) // max(len(names), 1) - 2
    if len(names) <= MOST_CLASSES and max(widest, 4) <= room:
        return _matrix(table, names, matrix, room, style)
    return _top_confusions(table, names, matrix, style)


def _matrix(
    table: Table, names: list[str], matrix: list[list[Any]], room: int, style: Style
) -> list[str]:
    corner = table.columns[0] or ("gold ↓ predicted →" if style.unicode else "gold, predicted")
    head = [corner, *(elide(clean(name), room, style.cut) for name in table.columns[1:])]
    rows = [
        [
            Cell(name),
            *(Cell(count(v, style), "strong" if i == j else None) for j, v in enumerate(row)),
        ]
        for i, (name, row) in enumerate(zip(names, matrix, strict=True))
    ]
    return grid(head, rows, style)


def _top_confusions(
    table: Table, names: list[str], matrix: list[list[Any]], style: Style
) -> list[str]:
    columns = [clean(c) for c in table.columns[1:]]
    wrong = [
        (value, i, j)
        for i, row in enumerate(matrix)
        for j, value in enumerate(row)
        if value and names[i] != columns[j]
    ]
    wrong.sort(key=lambda cell: (-cell[0], cell[1], cell[2]))
    rows = [
        [
            Cell(names[i]),
            Cell(columns[j]),
            Cell(count(value, style)),
            Cell(f"{100 * value / sum(matrix[i]):.1f} %"),
        ]
        for value, i, j in wrong[:TOP_CONFUSIONS]
    ]
    lines = grid(["gold", "predicted", "items", "of the class"], rows, style, left=(0, 1))
    if len(wrong) > len(rows):
        lines.append(style.paint(f"  and {len(wrong) - len(rows)} more pairs of classes", "dim"))
    return lines


def example_lines(example: Example, style: Style) -> list[str]:
    """One item and why it lost points."""
    place = f"line {example.line}" if example.line is not None else f"record {example.record}"
    score = "" if example.score is None else f", score {fixed(example.score, 4, style)}"
    lines = wrap(f"{example.id} ({place}{score}): {example.why}", "  ", "    ")
    for name, value in example.fields.items():
        if name in DRAWN:
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append("    " + elide(clean(f"{name}: {text}").rstrip(), WIDTH - 4, style.cut))
    return lines
