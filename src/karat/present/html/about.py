"""What stands behind the numbers: gates, problems, inputs, signature, formulas."""

from __future__ import annotations

from karat.model.problem import Problem
from karat.model.report import Gate, Report, Score
from karat.present.html.figures import whole
from karat.present.html.markup import Content, Safe, element, joined
from karat.present.html.sheet import Cell, Column, sheet
from karat.present.problems import counted

MOST_PROBLEMS = 200
MOST_FORMULAS = 150
NAMED = 6


def gate_section(report: Report, heading: str) -> Safe:
    """A line a requirement."""
    if not report.gates:
        return Safe("")
    lines = [_gate(gate) for gate in report.gates]
    return joined(element(heading, "Gates"), element("ul", lines, class_="gates"))


def _gate(gate: Gate) -> Safe:
    word = "passed" if gate.passed else "failed"
    badge = element("span", word, class_=f"badge {'good' if gate.passed else 'bad'}")
    return element("li", badge, " ", element("code", gate.rule), ": ", gate.text)


def problem_section(report: Report, heading: str) -> Safe:
    """What was wrong with the inputs, though not so wrong that nothing could be scored."""
    if not report.problems:
        return Safe("")
    met = counted(report.problem_counts)
    columns = [Column("severity"), Column("place"), Column("code"), Column("what")]
    rows = [_problem(one) for one in report.problems[:MOST_PROBLEMS]]
    return joined(
        element(heading, "Problems found"),
        element("p", f"{met} in the input."),
        sheet("Problems found", columns, rows),
    )


def _problem(one: Problem) -> list[Cell | Content]:
    kind = {"error": "bad", "warning": "warn"}.get(one.severity, "")
    key = element("code", one.key, " ") if one.key else None
    help_line = element("small", one.help, class_="remark") if one.help else None
    return [
        Cell(element("span", one.severity, class_=f"badge {kind}".strip()), one.severity),
        Cell(one.place, f"{one.file or ''}:{one.line or 0:09d}"),
        element("code", one.code),
        joined(key, one.message, help_line),
    ]


def about_section(report: Report, heading: str, prefix: str) -> Safe:
    """Notes, files, the signature to paste into a paper, and every formula."""
    notes = [element("li", note) for note in report.notes]
    return joined(
        element(heading, "About these numbers"),
        element("ul", notes, class_="notes") if notes else None,
        _signature(report, prefix),
        _inputs(report),
        _formulas(report),
    )


def _signature(report: Report, prefix: str) -> Safe:
    place = f"{prefix}signature"
    copy = element("button", "Copy", type="button", data_copy=place, hidden=True)
    return element(
        "div",
        element("p", element("strong", "Signature "), copy),
        element("code", report.signature.text, id=place, class_="signature"),
    )


def _inputs(report: Report) -> Safe:
    if not report.inputs:
        return Safe("")
    columns = [Column("input"), Column("file"), Column("content hash", extra=True)]
    rows: list[list[Cell | Content]] = [
        [one.role, one.name, element("code", one.digest[:16])] for one in report.inputs
    ]
    return sheet("Inputs", columns, rows)


def _formulas(report: Report) -> Safe:
    """How each number is computed, scores with one formula together."""
    scores = report.scores or [s for system in report.systems[:1] for s in system.scores]
    families: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        if score.formula or score.reference:
            families.setdefault((score.formula, score.reference), []).append(score)
    if not families:
        return Safe("")
    lines = []
    for (formula, reference), members in list(families.items())[:MOST_FORMULAS]:
        said = joined(formula, element("small", reference, class_="remark") if reference else None)
        lines.append(joined(element("dt", _names(members)), element("dd", said)))
    methods = sorted({score.method for score in scores if score.method})
    how = element("p", f"Intervals: {', '.join(methods)}.") if methods else None
    inside = joined(element("dl", lines, class_="formulas"), how)
    return element("details", element("summary", "How each number is computed"), inside)


def _names(members: list[Score]) -> str:
    """The names of the scores, shortened where there are many."""
    names = [score.name for score in members]
    if len(names) <= NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:2])} … {names[-1]} ({whole(len(names))} scores)"
