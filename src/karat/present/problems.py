"""Problems as lines: `file:line: CODE message`, then what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from karat.model.problem import Problem, Severity
from karat.present.style import Meaning, Style
from karat.present.widths import clean, elide, wrap

_MEANING: dict[Severity, Meaning] = {"error": "bad", "warning": "warn", "note": "dim"}
SHOWN_BRIEFLY = 3


def problem_lines(
    problems: Iterable[Problem], hidden: Mapping[str, int], style: Style
) -> list[str]:
    """A line a problem, each help once, then how many more there are of which code."""
    lines: list[str] = []
    helped: set[tuple[str, str]] = set()
    for problem in problems:
        lines.append(_line(problem, style))
        if problem.help and (problem.code, problem.help) not in helped:
            helped.add((problem.code, problem.help))
            lines.append(f"  {style.paint('help:', 'strong')} {clean(problem.help)}")
    lines += [f"and {n:,} more of `{code}`" for code, n in hidden.items()]
    return lines


def _line(problem: Problem, style: Style) -> str:
    """The one-line form; whatever is no error says so at its end."""
    text = clean(problem.text)
    painted = style.paint(problem.code, _MEANING[problem.severity])
    text = text.replace(problem.code, painted, 1) if style.colour else text
    return text if problem.severity == "error" else f"{text} [{problem.severity}]"


def counted(counts: Mapping[str, int]) -> str:
    """`2 errors, 1 warning`: never empty, notes only where there are any."""
    parts = [_some(counts.get("error", 0), "error"), _some(counts.get("warning", 0), "warning")]
    if counts.get("note"):
        parts.append(_some(counts["note"], "note"))
    return ", ".join(parts)


def _some(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def brief(problems: list[Problem], counts: Mapping[str, int], style: Style) -> list[str]:
    """The first few problems of a run that scored all the same, for the end of its page."""
    worth = [p for p in problems if p.severity != "note"]
    if not worth:
        return []
    lines: list[str] = []
    for problem in worth[:SHOWN_BRIEFLY]:
        word = style.paint(problem.severity, _MEANING[problem.severity])
        first, *rest = wrap(
            elide(problem.text, 300, style.cut), " " * (len(problem.severity) + 2), "  "
        )
        lines += [f"{word}: {first.lstrip()}", *rest]
    met = counts.get("error", 0) + counts.get("warning", 0)
    more = max(met, len(worth)) - min(len(worth), SHOWN_BRIEFLY)
    if more > 0:
        lines.append(style.paint(f"and {more:,} more; karat check shows them", "dim"))
    return lines
