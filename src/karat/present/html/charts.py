"""The curves of a report, each drawn by its kind; an unknown kind is drawn as lines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import msgspec

from karat.model.report import Curve, Series
from karat.present.html import balance, svg
from karat.present.html.markup import Safe, element, joined
from karat.present.html.scale import spanning, thinned
from karat.present.html.svg import Frame

COLOURS = 6
MOST_SERIES = 12
MOST_BARS = 60
MOST_DOTS = 400
SHOWN_NUMBERS = 40
DOTTED = {"reliability", "histogram", "bars", "scatter", "points", "around", "icat"}
"""Kinds whose series are told apart by colour alone or are filled, so that their key is a dot."""
NAMED_PLACES = {"around"}
"""Kinds whose note names the places of their axis, so that it is no text to show."""


def figure(curve: Curve, heading: str) -> Safe:
    """The picture under its title, with its legend and, folded away, its numbers."""
    series = [one for one in curve.series if one.x][:MOST_SERIES]
    if not series:
        return Safe("")
    draw = KINDS.get(curve.kind, _lines)
    kept = msgspec.structs.replace(curve, series=series)
    hidden = len(curve.series) - len(series)
    note = "" if curve.kind in NAMED_PLACES else curve.note
    note += f" {hidden} more series are in the file." if hidden else ""
    return element(
        "figure",
        element("figcaption", element(heading, curve.title), element("p", note) if note else None),
        draw(kept),
        _legend(series, curve.kind in DOTTED) if len(series) > 1 else None,
        _numbers(kept),
        class_=f"curve {curve.kind}" if curve.kind in KINDS else "curve",
    )


def _reliability(curve: Curve) -> Safe:
    """Confidence against accuracy: the diagonal is perfect, dots are as large as their bins."""
    frame = Frame(curve.x, curve.y)
    x, y = frame.x, frame.y
    marks = [svg.path([(x(0), y(0)), (x(1), y(1))], "diagonal", "perfectly calibrated")]
    for at, series in enumerate(curve.series):
        sizes = series.size or [1.0] * len(series.x)
        most, total = max(sizes) or 1.0, sum(sizes) or 1.0
        kind = _colour(at)
        for a, b, size in list(zip(series.x, series.y, sizes, strict=True))[:MOST_DOTS]:
            told = f"{curve.x} {a:.3f}, {curve.y} {b:.3f}, {size / total:.1%} of the items"
            marks.append(svg.path([(x(a), y(a)), (x(a), y(b))], "gap", told))
            marks.append(svg.dot(x(a), y(b), 3 + 9 * (size / most) ** 0.5, kind, told))
    return frame.around(_told(curve), *marks)


def _lines(curve: Curve) -> Safe:
    """A line a series."""
    return _drawn(curve, step=False)


def _steps(curve: Curve) -> Safe:
    """A line a series that keeps its height until the next point."""
    return _drawn(curve, step=True)


def _drawn(curve: Curve, step: bool) -> Safe:
    frame = _frame(curve)
    marks = []
    for at, series in enumerate(curve.series):
        xs, ys = thinned(series.x, series.y)
        points = [(frame.x(a), frame.y(b)) for a, b in zip(xs, ys, strict=True)]
        if step:
            points = _stairs(points)
        if len(points) == 1:
            marks.append(svg.dot(*points[0], 5, _colour(at), series.name))
        marks.append(svg.path(points, f"line {_colour(at)}", series.name))
    marks += [_mark(curve, at, series, frame) for at, series in enumerate(curve.series)]
    return frame.around(_told(curve), *marks)


def _mark(curve: Curve, at: int, series: Series, frame: Frame) -> Safe:
    """A ring at the place where the system works."""
    if len(series.mark) != 2:
        return Safe("")
    x, y = series.mark
    told = f"{series.name}, where it works: {curve.x} {x:.3f}, {curve.y} {y:.3f}"
    return svg.dot(frame.x(x), frame.y(y), 5, f"ring {_colour(at)}", told)


def _dots(curve: Curve) -> Safe:
    """A dot a point, as large as its weight where there is one."""
    frame = _frame(curve)
    marks = []
    for at, series in enumerate(curve.series):
        most = max(series.size, default=0.0) or 1.0
        for i, (a, b) in enumerate(list(zip(series.x, series.y, strict=True))[:MOST_DOTS]):
            radius = 3 + 7 * (series.size[i] / most) ** 0.5 if series.size else 5
            told = f"{series.name}: {curve.x} {a:.4g}, {curve.y} {b:.4g}"
            marks.append(svg.dot(frame.x(a), frame.y(b), radius, _colour(at), told))
    return frame.around(_told(curve), *marks)


def _bars(curve: Curve) -> Safe:
    """Bars next to each other, one of each series a place."""
    first = curve.series[0]
    places = sorted({a for series in curve.series for a in series.x})[:MOST_BARS]
    gap = min((b - a for a, b in itertools.pairwise(places)), default=1.0)
    tallest = max((b for series in curve.series for b in series.y), default=1.0)
    low, high = places[0] - gap / 2, places[-1] + gap / 2
    frame = Frame(curve.x, curve.y, (low, high), (0.0, 1.06 * tallest or 1.0))
    wide = (frame.x(first.x[0] + gap / 2) - frame.x(first.x[0] - gap / 2)) * 0.86
    each = wide / len(curve.series)
    marks = []
    for at, series in enumerate(curve.series):
        for a, b in zip(series.x, series.y, strict=True):
            if a not in places:
                continue
            told = f"{series.name}: {curve.x} {a:.4g}, {curve.y} {b:.4g}"
            left, top = frame.x(a) - wide / 2 + at * each, frame.y(b)
            marks.append(_bar(left, top, each, frame.y(0) - top, _colour(at), told))
    return frame.around(_told(curve), *marks)


def _frame(curve: Curve) -> Frame:
    """Axes from 0 to 1 where all values lie there, else around the values."""
    xs = [a for series in curve.series for a in series.x]
    ys = [b for series in curve.series for b in series.y]
    return Frame(curve.x, curve.y, _range(xs), _range(ys))


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    if low >= 0 and high <= 100:
        return 0.0, 100.0 if high > 50 else spanning([0, high])[1]
    return spanning(values)


def _stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    stairs = list(points[:1])
    for (_, before), (x, y) in itertools.pairwise(points):
        stairs += [(x, before), (x, y)]
    return stairs


def _bar(x: float, y: float, width: float, height: float, kind: str, told: str) -> Safe:
    title = element("title", told)
    return element("rect", title, x=x, y=y, width=width, height=height, class_=f"mark {kind}")


def _colour(at: int) -> str:
    return f"s{at % COLOURS + 1}"


def _told(curve: Curve) -> str:
    """What a screen reader says of the picture."""
    names = ", ".join(series.name for series in curve.series)
    return f"{curve.title}: {curve.y} against {curve.x} for {names}"


def _legend(series: Sequence[Series], dots: bool) -> Safe:
    def line(at: int, one: Series) -> Safe:
        mark = element("line", x1=1, x2=21, y1=6, y2=6, class_=f"line {_colour(at)}")
        if dots:
            mark = element("circle", cx=11, cy=6, r=5, class_=f"mark {_colour(at)}")
        key = element("svg", mark, width=22, height=12, aria_hidden="true")
        return element("li", key, " ", one.name)

    return element("ul", [line(at, one) for at, one in enumerate(series)], class_="legend")


def _numbers(curve: Curve) -> Safe:
    """The points as a table: the picture for those who do not see it."""
    blocks = []
    for series in curve.series:
        xs, ys = thinned(series.x, series.y, SHOWN_NUMBERS)
        body = [
            element("tr", element("td", f"{a:.4g}"), element("td", f"{b:.4g}"))
            for a, b in zip(xs, ys, strict=True)
        ]
        head = element(
            "tr", element("th", curve.x, scope="col"), element("th", curve.y, scope="col")
        )
        blocks.append(
            element(
                "table",
                element("caption", series.name),
                element("thead", head),
                element("tbody", body),
                class_="numbers",
            )
        )
    inside = element("div", joined(blocks), class_="side-by-side")
    return element("details", element("summary", f"The numbers of “{curve.title}”"), inside)


KINDS: dict[str, Callable[[Curve], Safe]] = {
    "reliability": _reliability,
    "line": _lines,
    "pr": _steps,
    "step": _steps,
    "histogram": _bars,
    "bars": _bars,
    "scatter": _dots,
    "points": _dots,
    "around": balance.around,
    "icat": balance.plane,
}
"""Kind of a curve -> what draws it."""
