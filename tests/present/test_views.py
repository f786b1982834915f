"""How the task's own pictures and tables share the page."""

from __future__ import annotations

from karat.model.report import Curve, Report, Series, Table
from karat.present.html.views import is_wide, view_section


def table(name: str, rows: int, columns: int = 3) -> Table:
    heads = [f"c{at}" for at in range(columns)]
    return Table(name=name, title=name, columns=heads, rows=[[1] * columns] * rows)


def test_views_go_to_the_shorter_column() -> None:
    curve = Curve(name="c", title="C", x="x", y="y", series=[Series(name="s", x=[0, 1], y=[0, 1])])
    report = Report(curves=[curve], tables=[table("one", 2), table("two", 2), table("three", 9)])
    left, right = view_section(report, "h2", "h3").split("</div><div><section", 1)
    assert "<h3>C</h3>" in left
    assert [name for name in ("one", "two", "three") if f"<h3>{name}</h3>" in right] == [
        "one",
        "two",
        "three",
    ]


def test_a_table_of_many_columns_gets_the_whole_width() -> None:
    assert not is_wide(table("t", 4))
    assert is_wide(table("t", 4, 30))
    assert is_wide(Table(name="m", title="M", columns=["", "a"], rows=[["a", 1]], kind="confusion"))
    assert not is_wide(Table(name="t", title="T", columns=["a"], rows=[["word " * 900]]))


def test_a_long_table_is_folded_and_whole() -> None:
    shown = view_section(Report(tables=[table("long", 40)]), "h2", "h3")
    assert shown.count("<tr>") == (1 + 12) + (1 + 40)
    assert "All 40 rows" in shown
    assert view_section(Report(), "h2", "h3") == ""
