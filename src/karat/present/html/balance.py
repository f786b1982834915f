"""Metrics that are best in the middle: dots around 50, and the plane of SS, LM and ICAT."""

from __future__ import annotations

from karat.model.report import Curve
from karat.present.html import svg
from karat.present.html.markup import Safe, element
from karat.present.html.scale import Scale
from karat.present.html.svg import Frame

MIDDLE = 50.0
CONTOURS = (20.0, 40.0, 60.0, 80.0)
MOST_ROWS, MOST_DOTS = 40, 400
LINE = 26
ROOM, WIDE = 110, 520


def around(curve: Curve) -> Safe:
    """A line a place with a dot a series; the note of the curve names the places."""
    names = curve.note.split("|")[:MOST_ROWS]
    scale = Scale(0.0, 100.0, ROOM, WIDE - 14)
    high = LINE * len(names) + 44
    marks = [_upright(scale, value, high) for value in (0, 25, 50, 75, 100)]
    for at, name in enumerate(names):
        y = LINE * (at + 0.75)
        marks.append(element("text", name, x=ROOM - 12, y=y + 4, text_anchor="end"))
        for number, series in enumerate(curve.series):
            for x, place in zip(series.x, series.y, strict=True):
                if place != at:
                    continue
                told, kind = f"{series.name}, {name}: {x:.2f}", f"s{number % 6 + 1}"
                way = [(scale(MIDDLE), y), (scale(x), y)]
                marks.append(svg.path(way, f"line lean {kind}", told))
                marks.append(svg.dot(scale(x), y, 5, kind, told))
    middle = (scale.start + scale.end) / 2
    marks.append(element("text", curve.x, x=middle, y=high - 6, text_anchor="middle"))
    said = f"{curve.title}: {curve.x} for {', '.join(names)}"
    return svg.picture(WIDE, high, said, *marks, kind="chart")


def _upright(scale: Scale, value: float, high: float) -> Safe:
    x, foot = scale(value), high - 34
    kind = "reference" if value == MIDDLE else "grid"
    line = element("line", x1=x, x2=x, y1=4, y2=foot, class_=kind)
    return element("g", line, element("text", f"{value:g}", x=x, y=foot + 14, text_anchor="middle"))


def plane(curve: Curve) -> Safe:
    """LM above SS: the best model stands in the middle of the top, grey lines have equal ICAT."""
    frame = Frame(curve.x, curve.y, (0.0, 100.0), (0.0, 100.0))
    marks = [_contour(frame, value) for value in CONTOURS]
    marks.append(svg.dot(frame.x(MIDDLE), frame.y(100), 4, "ideal", "ideal: SS 50, LM 100"))
    for at, series in enumerate(curve.series):
        for x, y in list(zip(series.x, series.y, strict=True))[:MOST_DOTS]:
            icat = y * min(x, 100 - x) / MIDDLE
            told = f"{series.name}: SS {x:.2f}, LM {y:.2f}, ICAT {icat:.2f}"
            marks.append(svg.dot(frame.x(x), frame.y(y), 5.5, f"s{at % 6 + 1}", told))
    names = ", ".join(series.name for series in curve.series)
    return frame.around(f"{curve.title}: {curve.y} against {curve.x} for {names}", *marks)


def _contour(frame: Frame, icat: float) -> Safe:
    """The line on which ICAT = LM * min(SS, 100 - SS) / 50 has one value."""
    edge = icat / 2
    inside = [edge + (100 - 2 * edge) * i / 60 for i in range(61)]
    points = [(frame.x(ss), frame.y(MIDDLE * icat / min(ss, 100 - ss))) for ss in inside]
    line = svg.path(points, "diagonal", f"ICAT {icat:g}")
    place = {"x": frame.x(MIDDLE), "y": frame.y(icat) + 14}
    return element("g", line, element("text", f"ICAT {icat:g}", text_anchor="middle", **place))
