"""A Report as LaTeX tables for a paper: booktabs, and a caption that says what the numbers mean."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Comparison, Difference, Report, Score
from karat.present.comparison import beaten, explained, score_of, shown_names
from karat.present.numbers import chance, count, decimals, fixed, plural
from karat.present.style import Style
from karat.present.suite import changes_of, counts_of
from karat.present.widths import clean

_STYLE = Style()
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
}
_RULES = "% \\usepackage{booktabs}\n"


def render(report: Report) -> bytes:
    """The tables: scores, or systems and their differences, or what a stress run saw change."""
    if report.kind == "stress":
        tables = [_changes(report)]
    elif report.comparisons:
        tables = [_systems(report), *(_comparison(report, one) for one in report.comparisons)]
    else:
        tables = [_scores(report)]
    signature = f"% {clean(report.signature.text)}\n"
    return (_RULES + signature + "\n" + "\n".join(tables)).encode()


def _scores(report: Report) -> str:
    """The main scores with their intervals."""
    shown = [s for s in report.scores if s.main] or report.scores
    rows = [
        (text(s.name), _number(s), _interval(s.low, s.high, s.scale, s.value), count(s.n, _STYLE))
        for s in shown
    ]
    methods = dict.fromkeys(s.method for s in shown if s.method)
    caption = _about(report)
    if methods:
        caption += f" {_percent(report.level)} intervals: {'; '.join(methods)}."
    head = ("", "value", "interval", "$n$")
    return _table("lrrr", head, rows, caption, f"tab:{report.task or 'scores'}")


def _changes(report: Report) -> str:
    """The metrics on both sides of a stress run; the caption says how many tests stand where."""
    rows = [
        (
            text(name),
            *(_math(fixed(side, 3, _STYLE)) for side in (one.ref, one.eval)),
            _math(fixed(one.change, 3, _STYLE, signed=True)),
            _between(one.low, one.high, 3),
        )
        for name, one in changes_of(report).items()
    ]
    caption = _about(report) + f" Tests: {counts_of(report)}."
    if rows:
        caption += (
            f" Evaluation against reference, {_percent(report.level)} intervals of the change."
        )
    head = ("", "reference", "evaluation", "change", "interval")
    return _table("lrrrr", head, rows, caption, f"tab:{report.task or 'stress'}")


def _systems(report: Report) -> str:
    """The systems' scores; superscripts name the systems that are surely beaten."""
    names = shown_names(report)
    head = ("", *(f"{one.letter}: {text(one.name)}" for one in report.systems))
    rows = []
    for name in names:
        row = [text(name)]
        for system in report.systems:
            score = score_of(system, name)
            raised = ",".join(beaten(report, system, name)) if score else ""
            number = _number(score) if score else "--"
            row.append(number + (f"$^{{\\mathrm{{{raised}}}}}$" if raised else ""))
        rows.append(tuple(row))
    caption = (
        _about(report)
        + " Superscripts name the systems that a system surely beats; "
        + _tests(report)
    )
    return _table("l" + "r" * len(report.systems), head, rows, caption, "tab:systems")


def _comparison(report: Report, one: Comparison) -> str:
    """One system against the baseline."""
    names = set(shown_names(report))
    rows = [_difference(found) for found in one.differences if found.name in names]
    adjusted = len(report.comparisons) > 1
    head = ("", "difference", "interval", "Holm $p$" if adjusted else "$p$", "smallest seen")
    size = f"{count(report.n, _STYLE)} {text(plural(report.item, report.n))}"
    caption = f"{text(one.system)} minus {text(one.baseline)} on {size}, "
    caption += f"{_percent(report.level)} intervals; {_tests(report)}"
    letter = next((s.letter for s in report.systems if s.name == one.system), "b")
    return _table("lrrrr", head, rows, caption, f"tab:difference-{letter}")


def _difference(found: Difference) -> tuple[str, ...]:
    places = decimals(found.scale, found.value, found.low, found.high)
    p = found.p if found.adjusted_p is None else found.adjusted_p
    told = chance(p)
    seen = "" if found.smallest_seen is None else fixed(found.smallest_seen, places, _STYLE)
    return (
        text(found.name),
        _math(fixed(found.value, places, _STYLE, signed=True)),
        _interval(found.low, found.high, found.scale, found.value),
        f"${told}$" if told else "--",
        seen,
    )


def _about(report: Report) -> str:
    """What was scored on what."""
    size = f"{count(report.n, _STYLE)} {plural(report.item, report.n)}"
    return text(f"{report.title or report.task}, {size}.")


def _tests(report: Report) -> str:
    told = explained(report)[0]
    return text(told) + "."


def _percent(level: float | None) -> str:
    return f"{100 * (level or 0.95):.4g}\\,\\%"


def _number(score: Score) -> str:
    places = decimals(score.scale, score.value, score.low, score.high)
    return "--" if score.value is None else _math(fixed(score.value, places, _STYLE))


def _math(number: str) -> str:
    """A number, with a real minus sign where it has a sign."""
    return f"${number}$" if number[:1] in "+-" and len(number) > 1 else number


def _interval(low: float | None, high: float | None, scale: str, value: float | None) -> str:
    return _between(low, high, decimals(scale, value, low, high))


def _between(low: float | None, high: float | None, places: int) -> str:
    if low is None or high is None:
        return "--"
    return f"[{_math(fixed(low, places, _STYLE))}, {_math(fixed(high, places, _STYLE))}]"


def _table(
    columns: str, head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str
) -> str:
    lines = [
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{caption}}}",
        f"\\label{{{label}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        " & ".join(head) + " \\\\",
        "\\midrule",
        *(" & ".join(row) + " \\\\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def text(raw: str) -> str:
    """Text from data, in which nothing is a command."""
    return "".join(_SPECIAL.get(c, c) for c in clean(raw))
