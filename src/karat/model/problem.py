"""What is wrong with an input, as values: collected, bounded, shown together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import msgspec

Severity = Literal["error", "warning", "note"]

SHOWN_PER_CODE = 20
"""How many problems of one code and file are kept; the others are only counted."""


class Problem(msgspec.Struct, frozen=True, omit_defaults=False):
    """One defect and its place.

    `line` counts physical lines from 1, `record` counts records from 0; both are None where the
    whole file is meant. `key` is the path inside the record, as in `predicted_entities[2].type`.
    """

    code: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    record: int | None = None
    key: str | None = None
    help: str = ""

    @property
    def place(self) -> str:
        """`file:line`, as far as either is known."""
        if self.file is None:
            return ""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """The one-line form every command prints: `file:line: CODE message`."""
        key = f"`{self.key}` " if self.key else ""
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.code} {key}{self.message}"


class Problems:
    """A bounded collector: every problem is counted, the first 20 of a code and file are kept."""

    __slots__ = ("_kept", "_totals")

    def __init__(self) -> None:
        self._kept: list[Problem] = []
        self._totals: Counter[tuple[str, Severity, str | None]] = Counter()

    def add(
        self,
        code: str,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        record: int | None = None,
        key: str | None = None,
        help: str = "",
        severity: Severity = "error",
    ) -> None:
        """Take one problem in."""
        self.take(Problem(code, severity, message, file, line, record, key, help))

    def take(self, problem: Problem) -> None:
        """Take a finished problem in."""
        tally = (problem.code, problem.severity, problem.file)
        self._totals[tally] += 1
        if self._totals[tally] <= SHOWN_PER_CODE:
            self._kept.append(problem)

    def count_more(self, code: str, severity: Severity, file: str | None, n: int) -> None:
        """Count n more problems of which enough are kept already."""
        if n > 0:
            self._totals[code, severity, file] += n

    def take_all(self, problems: Iterable[Problem]) -> None:
        """Take finished problems in."""
        for problem in problems:
            self.take(problem)

    def join(self, other: Problems) -> None:
        """Take in what another collector met; what both met counts once."""
        known = set(self._kept)
        self.take_all(problem for problem in other if problem not in known)
        for tally, n in other._totals.items():
            self._totals[tally] = max(self._totals[tally], n)

    def count(self, severity: Severity) -> int:
        """How many problems of this severity were met, shown or not."""
        return sum(n for (_, level, _), n in self._totals.items() if level == severity)

    @property
    def errors(self) -> int:
        """How many errors were met; above 0 nothing may be scored."""
        return self.count("error")

    @property
    def counts(self) -> dict[str, int]:
        """How many of each severity were met."""
        return {severity: self.count(severity) for severity in get_args(Severity)}

    @property
    def hidden(self) -> dict[str, int]:
        """Code -> how many more there are than the kept ones, in all files."""
        more: Counter[str] = Counter()
        for (code, _, _), n in self._totals.items():
            if n > SHOWN_PER_CODE:
                more[code] += n - SHOWN_PER_CODE
        return dict(more)

    def __iter__(self) -> Iterator[Problem]:
        """The kept problems: files in the order in which they were met, each by line and record.

        What concerns a whole file comes after its lines.
        """
        files = {file: at for at, file in enumerate(dict.fromkeys(p.file for p in self._kept))}

        def place(problem: Problem) -> tuple[int, bool, int, int]:
            whole = problem.line is None and problem.record is None
            return files[problem.file], whole, problem.line or 0, problem.record or 0

        return iter(sorted(self._kept, key=place))

    def __len__(self) -> int:
        return sum(self._totals.values())
