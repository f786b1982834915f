"""The tests of a stress run: all of them in one table, then every case with its picture."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.model.report import Report
from karat.model.suite import Case, Change, Plot, Test
from karat.present.html import svg
from karat.present.html.figures import STYLE
from karat.present.html.markup import Content, Safe, breakable, element, joined, number
from karat.present.html.scale import Scale, spanning
from karat.present.html.sheet import Cell, Column, sheet
from karat.present.html.svg import Frame
from karat.present.numbers import fixed, interval, plural
from karat.present.suite import WORDS, changes_of, numbers_of, place_of, tests_of

MOST_CASES, MOST_PICTURES = 20, 120
NAME, BAR, STEP, THICK = 130, 240, 26, 9
MEANING = {"fail": "bad", "warning": "warn", "pass": "good", "skip": ""}


def suite_section(report: Report, heading: str, below: str) -> Safe:
    """What fails and warns first, the rest folded, then what changed and every case."""
    tests = tests_of(report)
    if not tests:
        return Safe("")
    loud = [test for test in tests if test.status in ("fail", "warning")]
    calm = [test for test in tests if test.status == "pass"]
    skipped = [test for test in tests if test.status == "skip"]
    left = [MOST_PICTURES]
    return joined(
        element(heading, "Stress tests"),
        _overview("Tests that fail or warn", loud),
        _folded(f"{len(calm)} passed", _overview("Tests that pass", calm)),
        _folded(f"{len(skipped)} skipped", _overview("Tests left out", skipped)),
        _changes(changes_of(report), below),
        [_test(test, below, left) for test in loud],
        _folded("The cases of the tests that pass", [_test(test, below, left) for test in calm]),
    )


def shortened(report: Report) -> Report:
    """The report with no more cases of each test than the page shows, the worst ones."""
    tests = report.tests
    if isinstance(tests, msgspec.UnsetType):
        return report
    few = [msgspec.structs.replace(test, cases=test.cases[:MOST_CASES]) for test in tests]
    return msgspec.structs.replace(report, tests=few)


def _folded(title: str, inside: Content) -> Safe:
    return element("details", element("summary", title), inside) if inside else Safe("")


def _overview(caption: str, tests: Sequence[Test]) -> Safe:
    if not tests:
        return Safe("")
    columns = [Column("test"), Column("status"), Column("kind", extra=True), Column("worst case")]
    rows: list[list[Cell | Content]] = []
    for at, test in enumerate(tests):
        told = test.reason or (
            f"{test.cases[0].subject}: {test.cases[0].text}" if test.cases else ""
        )
        small = element("small", breakable(test.name), class_="remark")
        rows.append(
            [
                Cell(joined(test.title, " ", small), test.title),
                Cell(_status(test.status), float(at)),
                test.category,
                told,
            ]
        )
    return sheet(caption, columns, rows, kind="full")


def _status(status: str) -> Safe:
    word = next(said for key, (said, _) in WORDS.items() if key == status)
    return element("span", word, class_=f"badge {MEANING[status]}".strip())


def _changes(changes: dict[str, Change], heading: str) -> Safe:
    """The metrics of both sides, each change around the line of none."""
    if not changes:
        return Safe("")
    columns = [
        Column("metric"),
        Column("reference", numeric=True, extra=True),
        Column("evaluation", numeric=True),
        Column("change", numeric=True),
        Column("95 % interval", numeric=True, extra=True),
        Column("", sortable=False),
    ]
    ends = [x for one in changes.values() for x in (one.change, one.low, one.high)]
    scale = svg.across(*spanning([0.0, *ends]))
    rows: list[list[Cell | Content]] = [
        [
            breakable(name),
            Cell(fixed(one.ref, 3, STYLE), one.ref),
            Cell(fixed(one.eval, 3, STYLE), one.eval),
            Cell(fixed(one.change, 3, STYLE, signed=True), one.change),
            Cell(interval(one.low, one.high, 3, STYLE), one.low),
            _around(name, one, scale),
        ]
        for name, one in changes.items()
    ]
    foot: list[Content] = ["", "", "", "", "", svg.axis(scale)]
    title = "Metrics of both sides"
    return joined(
        element(heading, title), sheet(title, columns, rows, foot=foot, kind="full forest")
    )


def _around(name: str, one: Change, scale: Scale) -> Safe:
    if one.change is None:
        return Safe("")
    span = interval(one.low, one.high, 3, STYLE)
    label = f"{name}: {fixed(one.change, 3, STYLE, signed=True)}"
    label += f", interval {span}" if span else ""
    return svg.interval(one.change, one.low, one.high, scale, label, reference=0.0)


def _test(test: Test, heading: str, left: list[int]) -> Safe:
    """A test with its cases, those that pass folded; `left`: pictures that may still be drawn."""
    cases = test.cases[:MOST_CASES]
    loud = [case for case in cases if case.status != "pass" or test.status == "pass"]
    calm = [case for case in cases if case not in loud]
    more = len(test.cases) - len(cases)
    return element(
        "section",
        element(heading, _status(test.status), " ", test.title),
        [_case(case, left, len(test.cases) > 1) for case in loud],
        _folded(
            f"{len(calm)} more {plural('case', len(calm))} that pass",
            [_case(case, left, True) for case in calm],
        ),
        element("p", f"and {more} more {plural('case', more)} in the JSON document", class_="note")
        if more
        else None,
        class_="test",
    )


def _case(case: Case, left: list[int], marked: bool) -> Safe:
    """One case; `marked` says that its status is not already that of its test."""
    drawn = None
    plot = case.plot
    # One value with its interval is said in the line above; a picture would only repeat it.
    if plot is not None and left[0] > 0 and (plot.kind == "curve" or len(plot.labels) > 1):
        left[0] -= 1
        drawn = _picture(plot, case.subject)
    small = [numbers_of(case), place_of(case, 12)]
    return element(
        "div",
        element(
            "p",
            (_status(case.status), " ") if marked else None,
            element("b", case.subject),
            f": {case.text}",
        ),
        [element("p", line, class_="note") for line in small if line],
        drawn,
        class_="case",
    )


def _picture(plot: Plot, label: str) -> Safe:
    if plot.kind == "curve":
        return _curve(plot, label)
    return _bars(plot, label) if plot.kind == "bars" else _points(plot, label)


def _bars(plot: Plot, label: str) -> Safe:
    """Two thin bars a label: reference above evaluation."""
    most = max([x for x in (*plot.ref, *plot.eval) if x is not None], default=0.0) or 1.0
    marks: list[Safe] = []
    for at, name in enumerate(plot.labels):
        top = at * STEP
        marks.append(_label(name, top))
        for down, side, values, kind in ((3, "ref", plot.ref, "s2"), (13, "eval", plot.eval, "s1")):
            share = values[at] or 0.0
            told = element("title", f"{name}, {side}: {share:.1%}")
            marks.append(
                element("rect", told, x=NAME, y=top + down, width=BAR * share / most,
                        height=THICK, class_=f"mark {kind}")
            )  # fmt: skip
        marks.append(_number(f"{plot.eval[at] or 0:.1%}", top))
    tall = STEP * len(plot.labels)
    drawn = svg.picture(NAME + BAR + 60, tall, f"{label}: shares of both sides", *marks)
    return joined(drawn, element("p", "upper bar: reference, lower bar: evaluation", class_="note"))


def _points(plot: Plot, label: str) -> Safe:
    """A dot with its interval a label."""
    found = [x for x in (*plot.eval, *plot.low, *plot.high) if x is not None]
    if not found:
        return Safe("")
    low, high = min(*found, 0.0), max(found)
    scale = Scale(low, high if high > low else low + 1, NAME, NAME + BAR)
    marks: list[Safe] = []
    for at, name in enumerate(plot.labels):
        value, middle = plot.eval[at], at * STEP + STEP / 2
        if value is None:
            continue
        marks.append(_label(name, at * STEP))
        a, b = plot.low[at], plot.high[at]
        if a is not None and b is not None:
            marks.append(
                element("line", x1=scale(a), x2=scale(b), y1=middle, y2=middle, class_="whisker")
            )
        marks.append(svg.dot(scale(value), middle, 4, "s1", f"{name}: {value:.3f}"))
        marks.append(_number(f"{value:.3f}", at * STEP))
    zero = scale(0.0)
    tall = STEP * len(plot.labels)
    marks.append(element("line", x1=zero, x2=zero, y1=0, y2=tall, class_="reference"))
    return svg.picture(NAME + BAR + 60, tall, f"{label}: values with intervals", *marks)


def _curve(plot: Plot, label: str) -> Safe:
    """Confidence against accuracy; the diagonal is perfect."""
    frame = Frame("confidence", "accuracy")
    marks = [svg.path([(frame.x(0), frame.y(0)), (frame.x(1), frame.y(1))], "diagonal", "perfect")]
    for x, y in zip(plot.ref, plot.eval, strict=True):
        if x is not None and y is not None:
            told = f"confidence {x:.3f}, accuracy {y:.3f}"
            marks.append(svg.dot(frame.x(x), frame.y(y), 5, "s1", told))
    return frame.around(label, *marks)


def _label(name: str, top: float) -> Safe:
    shown = name if len(name) <= 18 else f"{name[:8]}…{name[-8:]}"
    return element("text", shown, x=NAME - 6, y=number(top + 17), text_anchor="end")


def _number(text: str, top: float) -> Safe:
    return element("text", text, x=NAME + BAR + 6, y=number(top + 17))
