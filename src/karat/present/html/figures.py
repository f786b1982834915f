"""Numbers as the page writes them, the same digits as on the terminal."""

from __future__ import annotations

from karat.model.report import Report, Score
from karat.present.numbers import count, decimals, fixed, plural
from karat.present.numbers import interval as between
from karat.present.style import Style, news

STYLE = Style(unicode=True)


def value_of(scale: str, value: float | None, low: float | None, high: float | None) -> str:
    """The value with the digits that its interval supports, a dash where it is undefined."""
    return fixed(value, decimals(scale, value, low, high), STYLE)


def interval_of(scale: str, value: float | None, low: float | None, high: float | None) -> str:
    """`0.79 – 0.86`, empty where there is none."""
    return between(low, high, decimals(scale, value, low, high), STYLE)


def signed(scale: str, value: float | None, low: float | None, high: float | None) -> str:
    """A difference with its sign; empty where there is none."""
    return "" if value is None else fixed(value, decimals(scale, value, low, high), STYLE, True)


def whole(value: int | None) -> str:
    """A count with its thousands set apart."""
    return "" if value is None else count(value, STYLE)


def size(report: Report) -> str:
    """`200 texts in 61 conversations`."""
    said = f"{whole(report.n)} {plural(report.item, report.n)}"
    if report.clusters is not None:
        unit = report.unit.rpartition(".")[2]
        unit = "cluster" if unit in ("", "item", report.item) else unit
        said += f" in {whole(report.clusters)} {plural(unit, report.clusters)}"
    return said


def meaning(difference: float | None, better: str, sure: bool) -> str:
    """The class of a mark: good, bad, or nothing while it is not sure."""
    return (news(difference, better) or "") if sure else ""


def main_scores(scores: list[Score], most: int = 12) -> list[Score]:
    """The scores a short table shows."""
    return [s for s in scores if s.main] or scores[:most]
