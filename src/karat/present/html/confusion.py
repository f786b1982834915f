"""The confusion matrix as a table in colours, its classes ordered so that blocks show."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Table
from karat.present.html.figures import whole
from karat.present.html.markup import Content, Safe, element, joined
from karat.present.html.sheet import Cell, Column, sheet

SHADES = 9
MOST_CLASSES = 40
TOP = 10
NO_CLASS = {"background"}

Matrix = Sequence[Sequence[int]]


def matrix(table: Table) -> Safe:
    """The matrix, a row a gold class, with its largest confusions below."""
    names, columns = [str(row[0]) for row in table.rows], table.columns[1:]
    cells = [row[1:] for row in table.rows]
    order = seriation(names, cells) if names == columns else list(range(len(names)))
    top = confusions(names, columns, cells)
    if len(names) > MOST_CLASSES:
        folded = element("summary", f"The whole matrix of {len(names)} classes")
        return joined(top, element("details", folded, _grid(table, names, cells, order)))
    said = "Darker is more of the row's class; the diagonal is right."
    if order != list(range(len(names))):
        said += " Classes that are mistaken for each other stand together."
    note = element("p", said, class_="note")
    grid = _grid(table, names, cells, order)
    return joined(note, element("div", grid, top if len(names) > 2 else None, class_="beside"))


def confusions(names: Sequence[str], columns: Sequence[str], cells: Matrix) -> Safe:
    """The most frequent mistakes."""
    wrong = [
        (value, i, j)
        for i, row in enumerate(cells)
        for j, value in enumerate(row)
        if value and names[i] != columns[j]
    ]
    wrong.sort(key=lambda cell: (-cell[0], cell[1], cell[2]))
    if not wrong:
        return Safe("")
    rows: list[list[Cell | Content]] = [
        [
            names[i],
            columns[j],
            Cell(whole(value), value),
            Cell(f"{100 * value / sum(cells[i]):.1f} %", value / sum(cells[i])),
        ]
        for value, i, j in wrong[:TOP]
    ]
    heads = [
        Column("gold"),
        Column("predicted"),
        Column("items", numeric=True),
        Column("of the class", numeric=True),
    ]
    return sheet("Most frequent confusions", heads, rows)


def seriation(names: Sequence[str], cells: Matrix) -> list[int]:
    """The order of the classes: those often taken for each other become neighbours.

    The two groups with the closest ends are joined until one is left; numbers keep their order,
    what is no class ("(none)", "background") stays last.
    """
    fixed = [i for i, name in enumerate(names) if name.startswith("(") or name in NO_CLASS]
    free = [i for i in range(len(names)) if i not in fixed]
    if len(free) < 3 or len(free) > 2 * MOST_CLASSES or all(_numeric(names[i]) for i in free):
        return free + fixed
    totals = [sum(row) or 1 for row in cells]
    near = [
        [cells[i][j] / totals[i] + cells[j][i] / totals[j] for j in range(len(names))]
        for i in range(len(names))
    ]
    groups = [[i] for i in free]
    while len(groups) > 1:
        a, b, joined_up = _closest(groups, near)
        if joined_up is None:
            break
        groups[a] = joined_up
        del groups[b]
    return [i for group in groups for i in group] + fixed


def _closest(
    groups: list[list[int]], near: Sequence[Sequence[float]]
) -> tuple[int, int, list[int] | None]:
    """The two groups to join and what they make; None where no ends have anything in common."""
    best, found = 0.0, (0, 0, None)
    pair: tuple[int, int, list[int] | None] = found
    for a, left in enumerate(groups):
        for b in range(a + 1, len(groups)):
            right = groups[b]
            for one in (left, left[::-1]):
                for other in (right, right[::-1]):
                    if near[one[-1]][other[0]] > best:
                        best = near[one[-1]][other[0]]
                        pair = (a, b, one + other)
    return pair


def _grid(table: Table, names: list[str], cells: Matrix, order: list[int]) -> Safe:
    columns = table.columns[1:]
    places = order if len(columns) == len(order) else list(range(len(columns)))
    heads = [Column(table.columns[0] or "gold \\ predicted")]
    heads += [Column(columns[j], numeric=True) for j in places]
    rows: list[list[Cell | Content]] = []
    for i in order:
        total = sum(cells[i]) or 1
        row: list[Cell | Content] = [names[i]]
        for j in places:
            shade = _shade(cells[i][j] / total)
            kind = "right" if names[i] == columns[j] else "wrong"
            shown = whole(cells[i][j]) if cells[i][j] else element("span", "0", class_="none")
            row.append(Cell(shown, cells[i][j], f"{kind} h{shade}" if shade else ""))
        rows.append(row)
    return sheet(table.title, heads, rows, sortable=False, kind="matrix")


def _shade(share: float) -> int:
    """0 for nothing, else 1 to 9; small shares are kept apart more than large ones."""
    return 0 if share <= 0 else max(1, round(SHADES * share**0.5))


def _numeric(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
