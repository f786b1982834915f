"""What a stress run found: tests, their cases, and where each stands. Part of the Report."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Status = Literal["pass", "warning", "fail", "skip"]

ORDER: tuple[Status, ...] = ("skip", "pass", "warning", "fail")
"""From least to most serious."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a file: `index` counts from 0, `line` from 1."""

    file: str
    line: int | None
    index: int


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """A small picture's data: two sides over the same labels, or values with intervals."""

    kind: Literal["bars", "points", "curve"]
    labels: list[str]
    ref: list[float | None] = []
    eval: list[float | None] = []
    low: list[float | None] = []
    high: list[float | None] = []


class Case(msgspec.Struct, kw_only=True):
    """One look at one subject (a column, a class, a subset).

    The status is that of two gates together: `value` against the limits `warn` and `fail`, and the
    evidence (`p`, `q` after correction for the family, or the interval). `rows` holds the first
    rows concerned; `rows_total` counts them all.
    """

    subject: str
    status: Status
    value: float | None = None
    statistic: str = ""
    warn: float | None = None
    fail: float | None = None
    p: float | None = None
    q: float | None = None
    low: float | None = None
    high: float | None = None
    n_ref: int | None = None
    n_eval: int | None = None
    underpowered: bool = False
    text: str = ""
    rows: list[Row] = []
    rows_total: int = 0
    table: dict[str, Any] = {}
    plot: Plot | None = None


class Test(msgspec.Struct, kw_only=True):
    """One test: its status is that of its worst case; `reason` says why it was skipped."""

    name: str
    category: str
    status: Status
    reason: str = ""
    title: str = ""
    cases: list[Case] = []


class Category(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of one kind, by name."""

    name: str
    status: Status
    tests: list[str]


class RunInput(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the run."""

    path: str
    sha256: str
    rows: int | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What was run."""

    name: str
    task: str
    seed: int
    tool_version: str
    config_sha256: str | None = None
    inputs: list[RunInput] = []
    started: str = ""
    seconds: float = 0.0


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of the run."""

    status: Status
    counts: dict[str, int]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A metric on both sides, and eval minus ref with its interval."""

    ref: float | None
    eval: float | None
    change: float | None = None
    low: float | None = None
    high: float | None = None


class FailingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row concerned by a case that warns or fails."""

    test: str
    subject: str
    status: Status
    row: Row


def worst(statuses: list[Status]) -> Status:
    """The most serious of several; "skip" where there is none."""
    return max(statuses, key=ORDER.index, default="skip")
