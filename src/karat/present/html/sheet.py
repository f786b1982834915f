"""Tables of the page: real ones, which a script makes sortable and a phone can scroll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat.present.html.markup import Content, Safe, element, joined


@dataclass(frozen=True, slots=True)
class Column:
    """A column: numbers stand right, what is `extra` is left out on a phone."""

    title: Content
    numeric: bool = False
    extra: bool = False
    sortable: bool = True

    @property
    def kind(self) -> str | None:
        """Its classes."""
        words = ["number"] * self.numeric + ["extra"] * self.extra
        return " ".join(words) or None


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: `key` is what it is sorted by where its text is not."""

    content: Content
    key: float | str | None = None
    kind: str = ""


class Footnotes:
    """What stands below a table, each remark once, behind the number that its rows have."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def marks(self, remarks: Sequence[str]) -> Safe | None:
        """The raised numbers of these remarks, new ones at the end; empty remarks have none."""
        numbers = [self._numbers.setdefault(one, len(self._numbers) + 1) for one in remarks if one]
        return element("sup", ", ".join(map(str, numbers))) if numbers else None

    def shown(self) -> Safe | None:
        """The remarks, as a numbered list."""
        lines = [element("li", remark) for remark in self._numbers]
        return element("ol", lines, class_="note footnotes") if lines else None


def with_span(value: str, span: str, mark: str = "") -> Safe:
    """A number in bold; below it its interval, where a phone leaves out the column of intervals."""
    below = element("small", span, class_="remark narrow") if span else None
    return joined(element("strong", value), mark, below)


def sheet(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell | Content]],
    *,
    foot: Sequence[Content] | None = None,
    sortable: bool = True,
    kind: str = "",
) -> Safe:
    """The table; the first cell of a row names it. The caption is for those who cannot see it."""
    sortable = sortable and len(rows) > 1
    head = [
        element(
            "th",
            one.title,
            scope="col",
            class_=one.kind,
            data_sort=sortable and one.sortable and bool(one.title),
        )
        if one.title
        else element("td", class_=one.kind)
        for one in columns
    ]
    table = element(
        "table",
        element("caption", caption, class_="unseen"),
        element("thead", element("tr", head)),
        element("tbody", [_row(columns, row) for row in rows]),
        None if foot is None else element("tfoot", _row(columns, foot)),
        class_=f"sheet {kind}".strip(),
    )
    # The group can be scrolled with the keyboard, so it needs a name and a place in the order.
    return element("div", table, role="group", tabindex="0", aria_label=caption, class_="scroll")


def _row(columns: Sequence[Column], row: Sequence[Cell | Content]) -> Safe:
    cells = []
    for at, (column, given) in enumerate(zip(columns, row, strict=True)):
        cell = given if isinstance(given, Cell) else Cell(given)
        kind = " ".join(filter(None, (column.kind, cell.kind))) or None
        key = cell.key if isinstance(cell.key, str | None) else f"{cell.key:.6g}"
        name = at == 0 and bool(cell.content)
        cells.append(
            element(
                "th" if name else "td",
                cell.content,
                class_=kind,
                data_key=key,
                scope="row" if name else None,
            )
        )
    return element("tr", cells)
