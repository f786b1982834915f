"""The exceptions of karat. Bad data is not one of them: it is a list of `Problem`s.

KaratError
├── UsageError      the call itself cannot work: unknown task, unknown option value, clashing flags
├── DataError       the inputs have errors; carries the problems
└── MissingExtra    an optional library is needed; says which extra installs it
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.model.problem import Problem, Problems


class KaratError(Exception):
    """Anything karat raises on purpose. `help` is a second line: what to do about it."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


class UsageError(KaratError):
    """The call cannot work as it was written."""


class DataError(KaratError):
    """The inputs have errors, so nothing was scored.

    `outcome` says so on the command line; a command that does not score says what it did not do.
    """

    outcome = "nothing was scored"

    def __init__(self, problems: Problems | Iterable[Problem], message: str = "") -> None:
        # Imported here, so that code which raises a UsageError at most needs no msgspec.
        from karat.model.problem import Problems

        if not isinstance(problems, Problems):
            collected = Problems()
            collected.take_all(problems)
            problems = collected
        self.problems = problems
        first = next((p.text for p in problems if p.severity == "error"), "")
        super().__init__(message or f"{problems.errors} error(s) in the input; the first: {first}")


class MissingExtra(KaratError):
    """A feature needs an optional library."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an optional library", help=f"pip install 'karat[{extra}]'"
        )
