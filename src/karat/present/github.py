"""A Report as workflow commands: failed gates and problems become annotations of a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from karat.model.problem import Problem
from karat.model.report import Report

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report) -> bytes:
    """A line an annotation: failed gates first, then the problems at their place in the files."""
    lines = [
        _command("error", f"{gate.rule}: {gate.text}", title="karat gate failed")
        for gate in report.gates
        if not gate.passed
    ]
    return "".join(f"{line}\n" for line in lines).encode() + of_problems(report.problems)


def of_problems(problems: Iterable[Problem]) -> bytes:
    """A line a problem, at its place in the files."""
    return "".join(f"{_problem(problem)}\n" for problem in problems).encode()


def _problem(problem: Problem) -> str:
    key = f"`{problem.key}` " if problem.key else ""
    said = f"{key}{problem.message}" + (f"\nhelp: {problem.help}" if problem.help else "")
    return _command(
        _COMMANDS[problem.severity],
        said,
        file=problem.file,
        line=None if problem.line is None else str(problem.line),
        title=f"karat {problem.code}",
    )


def _command(name: str, message: str, **properties: str | None) -> str:
    """`::error file=a.jsonl,line=3::message`; what has a meaning in it is written as a code."""
    told = ",".join(
        f"{key}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
        if value is not None
    )
    return f"::{name} {told}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
