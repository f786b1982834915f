"""What went wrong, as lines a person can act on."""

from __future__ import annotations

from karat.errors import DataError, KaratError
from karat.present.problems import problem_lines
from karat.present.style import Style
from karat.present.widths import clean


def failure_lines(error: Exception, style: Style) -> list[str]:
    """Every problem of bad input; else the message and, where there is one, the advice."""
    if isinstance(error, DataError):
        return problem_lines(error.problems, error.problems.hidden, style)
    return message_lines(*describe(error), style)


def message_lines(message: str, advice: str, style: Style) -> list[str]:
    """`error:` and the message, `help:` and the advice."""
    lines = [f"{style.paint('error:', 'bad')} {clean(message)}"]
    return [*lines, f"{style.paint('help:', 'strong')} {clean(advice)}"] if advice else lines


def describe(error: Exception, on_bug: str = "report this line") -> tuple[str, str]:
    """What happened, and what to do about it; `on_bug` where karat itself is at fault."""
    if isinstance(error, KaratError):
        return error.message, error.help
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return place + error.strerror, ""
    if isinstance(error, MemoryError):
        return "the data does not fit into memory", ""
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"karat has a bug: {what}", on_bug
