"""Pictures out of lines and dots: an interval on its axis, and the frame that curves are drawn in.

Colours come from classes, so that one picture serves the page by day and by night and on paper.
Intervals are placed in per cent, so that they fill whatever column they stand in and their dots
stay round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat.present.html.markup import Safe, element, joined, number
from karat.present.html.scale import Scale, ticks

ROW = 24
"""Height of a picture that stands in the row of a table."""

EDGE = 2.0
"""Per cent of the width that is left free at both ends, for half a dot."""

WIDE, HIGH = 520, 340
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 12, 46


def picture(width: float, height: float, label: str, *marks: Safe, kind: str = "") -> Safe:
    """A picture with its title, which screen readers read instead of the marks."""
    return element(
        "svg",
        element("title", label),
        marks,
        role="img",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        class_=f"picture {kind}".strip(),
    )


def across(low: float, high: float) -> Scale:
    """The scale of pictures that stand in the rows of one column, in per cent of its width."""
    return Scale(low, high, EDGE, 100 - EDGE)


def interval(
    value: float,
    low: float | None,
    high: float | None,
    scale: Scale,
    label: str,
    *,
    reference: float | None = None,
    meaning: str = "",
) -> Safe:
    """A dot with its interval on a line of its own, and where the reference lies."""
    marks = []
    if reference is not None:
        marks.append(_upright(scale(reference), "100%", "reference"))
    else:
        marks.append(_level(scale.start, scale.end, "50%", "track"))
    if low is not None and high is not None:
        marks.append(_level(scale(low), scale(high), "50%", f"whisker {meaning}".strip()))
    kind = f"dot {meaning}".strip()
    marks.append(element("circle", cx=_share(scale(value)), cy="50%", r=4.5, class_=kind))
    return _row(label, *marks)


def abreast(
    places: Sequence[tuple[float, float | None, float | None]], scale: Scale, label: str
) -> Safe:
    """The intervals of several systems below each other, each in its own colour."""
    marks = [_level(scale.start, scale.end, "50%", "track")]
    for at, (value, low, high) in enumerate(places):
        height, colour = _share(100 * (at + 1) / (len(places) + 1)), f"s{at + 1}"
        if low is not None and high is not None:
            marks.append(_level(scale(low), scale(high), height, f"whisker {colour}"))
        kind = f"dot {colour}"
        marks.append(element("circle", cx=_share(scale(value)), cy=height, r=4.5, class_=kind))
    return _row(label, *marks)


def axis(scale: Scale, most: int = 5) -> Safe:
    """The numbers below a column of intervals; a phone leaves every other one out."""
    places = ticks(scale.low, scale.high, most)
    shown = [f"{place:g}".replace("-", "−") for place in places]
    marks = [_level(scale.start, scale.end, "1", "rule")]
    for turn, (place, word) in enumerate(zip(places, shown, strict=True)):
        at, kind = scale(place), "extra" if turn % 2 and len(places) > 3 else None
        marks.append(_upright(at, "5", "rule"))
        marks.append(element("text", word, x=_share(at), y=17, text_anchor="middle", class_=kind))
    return _row(f"axis from {shown[0]} to {shown[-1]}", *marks)


def _row(label: str, *marks: Safe) -> Safe:
    """A picture as wide as the cell it stands in."""
    title = element("title", label)
    return element("svg", title, marks, role="img", width="100%", height=ROW, class_="picture row")


def _share(place: float) -> str:
    return f"{number(place)}%"


def _level(start: float, end: float, height: str, kind: str) -> Safe:
    return element("line", x1=_share(start), x2=_share(end), y1=height, y2=height, class_=kind)


def _upright(place: float, foot: str, kind: str) -> Safe:
    return element("line", x1=_share(place), x2=_share(place), y2=foot, class_=kind)


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes of a curve: what the two directions are called and which values they span."""

    x_label: str
    y_label: str
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)

    @property
    def x(self) -> Scale:
        """Across, from left to right."""
        return Scale(*self.x_range, LEFT, WIDE - RIGHT)

    @property
    def y(self) -> Scale:
        """Up, from the bottom."""
        return Scale(*self.y_range, HIGH - BOTTOM, TOP)

    def around(self, label: str, *marks: Safe) -> Safe:
        """The picture: grid, axes with numbers and names, and the marks on top."""
        return picture(WIDE, HIGH, label, self._grid(), self._names(), *marks, kind="chart")

    def _grid(self) -> Safe:
        parts = []
        for value in ticks(*self.x_range):
            at = self.x(value)
            parts.append(element("line", x1=at, x2=at, y1=TOP, y2=HIGH - BOTTOM, class_="grid"))
            parts.append(
                element("text", f"{value:g}", x=at, y=HIGH - BOTTOM + 16, text_anchor="middle")
            )
        for value in ticks(*self.y_range):
            at = self.y(value)
            parts.append(element("line", x1=LEFT, x2=WIDE - RIGHT, y1=at, y2=at, class_="grid"))
            parts.append(element("text", f"{value:g}", x=LEFT - 7, y=at + 4, text_anchor="end"))
        return joined(parts)

    def _names(self) -> Safe:
        middle = (TOP + HIGH - BOTTOM) / 2
        across = element(
            "text", self.x_label, x=(LEFT + WIDE - RIGHT) / 2, y=HIGH - 8, text_anchor="middle"
        )
        turn = f"translate(14 {number(middle)}) rotate(-90)"
        return joined(across, element("text", self.y_label, transform=turn, text_anchor="middle"))


def path(points: Sequence[tuple[float, float]], kind: str, title: str) -> Safe:
    """A line through the points, in pixels; hovering tells its title."""
    if not points:
        return Safe("")
    way = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return element("path", element("title", title), d=way, class_=kind)


def dot(x: float, y: float, radius: float, kind: str, told: str) -> Safe:
    """A dot that tells what it stands for."""
    return element("circle", element("title", told), cx=x, cy=y, r=radius, class_=f"mark {kind}")
