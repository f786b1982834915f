"""The tests of a stress run as lines of text, worst first."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.model.report import Report
from karat.model.suite import ORDER, Case, Change, Status, Test
from karat.present.grid import Cell, grid
from karat.present.numbers import chance, fixed, interval, plural
from karat.present.style import Meaning, Style
from karat.present.widths import clean, wrap

WORDS: dict[Status, tuple[str, Meaning]] = {
    "fail": ("FAIL", "bad"),
    "warning": ("warn", "warn"),
    "pass": ("pass", "good"),
    "skip": ("skip", "dim"),
}
SHOWN_CASES, SHOWN_ROWS = 3, 6


def tests_of(report: Report) -> list[Test]:
    """The tests of a stress run, worst first; none of any other run."""
    if report.tests is msgspec.UNSET:
        return []
    assert not isinstance(report.tests, msgspec.UnsetType)
    return sorted(report.tests, key=lambda test: -ORDER.index(test.status))


def counts_of(report: Report) -> str:
    """How many tests stand where, worst first: `2 fail, 3 warn, 25 pass, 3 skip`."""
    if isinstance(report.summary, msgspec.UnsetType):
        return ""
    counts = report.summary.counts
    return ", ".join(f"{counts.get(s, 0)} {WORDS[s][0].lower()}" for s in reversed(ORDER[1:])) + (
        f", {counts['skip']} skipped" if counts.get("skip") else ""
    )


def changes_of(report: Report) -> dict[str, Change]:
    """The metrics on both sides."""
    return {} if isinstance(report.metrics, msgspec.UnsetType) else report.metrics


def place_of(case: Case, most: int = SHOWN_ROWS) -> str:
    """The first rows that a case concerns: `gold.jsonl:12, 21 and 4 more`."""
    if not case.rows:
        return ""
    shown = case.rows[:most]
    lines = ", ".join(str(row.index if row.line is None else row.line) for row in shown)
    where = shown[0].file if shown[0].line is not None else f"{shown[0].file} record"
    more = case.rows_total - len(shown)
    return f"{where}:{lines}" + (f" and {more} more" if more > 0 else "")


def numbers_of(case: Case) -> str:
    """What a case was judged by: value, limits, p or interval, power."""
    parts = []
    if case.value is not None:
        parts.append(
            f"{case.statistic} {case.value:.4g}" if case.statistic else f"{case.value:.4g}"
        )
    levels = [
        f"{word} {x:g}" for word, x in (("warn", case.warn), ("fail", case.fail)) if x is not None
    ]
    parts += [" ".join(levels)] if levels else []
    if case.q is not None:
        parts.append(f"q {chance(case.q)}")
    elif case.p is not None:
        parts.append(f"p {chance(case.p)}")
    if case.low is not None and case.high is not None:
        parts.append(f"95 % {case.low:.3g} to {case.high:.3g}")
    if case.underpowered and case.status == "pass":
        parts.append("too few rows to see a warning level")
    return "; ".join(parts)


def suite_lines(report: Report, style: Style, everything: bool) -> list[list[str]]:
    """Blocks of lines: what changed, what fails and warns, what passed and was skipped."""
    tests = tests_of(report)
    if not tests:
        return []
    loud = [test for test in tests if everything or test.status in ("fail", "warning")]
    quiet = [test for test in tests if test not in loud]
    return [
        [style.paint(counts_of(report), "strong")],
        *(_test(test, style, everything) for test in loud),
        [*_passed(quiet, style), *_skipped(quiet, style)],
        _changes(report, style),
    ]


def _changes(report: Report, style: Style) -> list[str]:
    """The metrics of both sides, and their change with its interval."""
    rows = []
    for name, one in changes_of(report).items():
        rows.append(
            [
                Cell(name),
                Cell(fixed(one.ref, 3, style), decimal=True),
                Cell(fixed(one.eval, 3, style), "strong", decimal=True),
                Cell(fixed(one.change, 3, style, signed=True), decimal=True),
                Cell(interval(one.low, one.high, 3, style)),
            ]
        )
    return grid(["", "ref", "eval", "change", "95 % interval"], rows, style) if rows else []


def _test(test: Test, style: Style, everything: bool) -> list[str]:
    """A test: its status and title, then its cases, worst first."""
    word, meaning = WORDS[test.status]
    lines = [f"{style.paint(word, meaning)}  {style.paint(test.title, 'strong')}  {test.name}"]
    if test.reason:
        return lines + wrap(test.reason, "      ")
    cases = test.cases if everything else [c for c in test.cases if c.status == test.status]
    for case in cases if everything else cases[:SHOWN_CASES]:
        lines += _case(case, style)
    hidden = len(test.cases) - len(cases[:SHOWN_CASES])
    if hidden > 0 and not everything:
        lines.append(style.paint(f"      and {hidden} more {plural('case', hidden)}", "dim"))
    return lines


def _case(case: Case, style: Style) -> list[str]:
    lines = wrap(f"{clean(case.subject)}: {clean(case.text)}", "      ")
    for more in (numbers_of(case), place_of(case)):
        if more:
            lines += [style.paint(line, "dim") for line in wrap(more, "        ")]
    return lines


def _passed(tests: Sequence[Test], style: Style) -> list[str]:
    names = [test.name for test in tests if test.status == "pass"]
    if not names:
        return []
    word, meaning = WORDS["pass"]
    first, *rest = wrap(", ".join(names), "....  ", "      ")
    return [first.replace("....", style.paint(word, meaning), 1), *rest]


def _skipped(tests: Sequence[Test], style: Style) -> list[str]:
    """The skipped tests, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for test in tests:
        if test.status == "skip":
            reasons.setdefault(test.reason, []).append(test.name)
    word, meaning = WORDS["skip"]
    lines = []
    for reason, names in reasons.items():
        first, *rest = wrap(f"{', '.join(names)}: {reason}", "....  ", "      ")
        lines += [first.replace("....", style.paint(word, meaning), 1), *rest]
    return lines
