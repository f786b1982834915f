"""The Report: the only thing presenters see, and what `--json` prints. Shape 1."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Literal

import msgspec

from karat.errors import KaratError
from karat.model.kept import Kept
from karat.model.problem import Problem
from karat.model.signature import Signature
from karat.model.suite import Category, Change, Run, Summary, Test

SCHEMA = 1

PICTURES, PAGE = "karat.present.html.notebook", "karat.present.terminal"
"""What draws a report in a notebook, and what writes it as a page of text. By name, as a card names
its task: nouns know no presenter."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One number with its interval.

    `value` is None where the metric is undefined, and `reason` says why; low and high are None
    where there is no interval, and `no_interval` says why. `n` counts the items behind the number,
    `clusters` the independent units that the interval rests on.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    se: float | None = None
    method: str = ""
    unit: str = "item"
    clusters: int | None = None
    design_effect: float | None = None
    chance: float | None = None
    better: str = "higher"
    scale: str = "fraction"
    near: float | None = None
    main: bool = False
    group: str = ""
    reason: str = ""
    no_interval: str = ""
    formula: str = ""
    reference: str = ""


class SliceScore(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in one slice, and how it differs from the rest of the data."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p: float | None = None
    q: float | None = None
    reason: str = ""


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """All metrics of one slice: `field` is what was sliced by, `level` the value."""

    field: str
    level: str
    n: int
    clusters: int | None = None
    scores: list[SliceScore] = []


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was read."""

    role: str
    name: str
    digest: str
    records: int | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A small table of the task's own. `kind` tells presenters how to draw it ("confusion")."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[Any]]
    kind: str = "plain"
    note: str = ""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a curve; `size` holds the weight of each point where that means something.

    `mark` is the place (x, y) where the system works, empty where there is none.
    """

    name: str
    x: list[float]
    y: list[float]
    size: list[float] = []
    mark: list[float] = []


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A picture's data: reliability, precision-recall."""

    name: str
    title: str
    x: str
    y: str
    series: list[Series]
    kind: str = "line"
    note: str = ""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One item with its story: why it lost points. `fields` is what to show, in order."""

    id: str
    record: int
    score: float | None
    why: str
    fields: dict[str, Any] = {}
    line: int | None = None
    kind: str = ""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one system against the baseline, on the same items: system minus baseline.

    `value` is None where there is no difference, and `reason` says why; `no_interval` says why a
    difference has no interval. `p` is two-sided; `adjusted_p` is Holm's over all systems, `q`
    Benjamini and Hochberg's over all slices. `smallest_seen` is what a test on this data would
    find four times out of five.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    p: float | None = None
    adjusted_p: float | None = None
    q: float | None = None
    test: str = ""
    smallest_seen: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    system_value: float | None = None
    baseline_value: float | None = None
    better: str = "higher"
    scale: str = "fraction"
    main: bool = False
    reason: str = ""
    no_interval: str = ""


class SliceDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The main metrics of one system against the baseline in one slice."""

    field: str
    level: str
    n: int
    clusters: int | None = None
    differences: list[Difference] = []


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One system against the baseline; `sentence` says what came out."""

    system: str
    baseline: str
    differences: list[Difference] = []
    slices: list[SliceDifference] = []
    sentence: str = ""


class System(msgspec.Struct, frozen=True, kw_only=True):
    """One of the systems that were compared, the baseline first, with its own scores.

    `beats` names, by metric, the systems that it surely beats. `stored` says that its evidence
    comes from a kept run.
    """

    name: str
    letter: str = ""
    stored: bool = False
    scores: list[Score] = []
    beats: dict[str, list[str]] = {}


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement and how it went."""

    rule: str
    passed: bool
    value: float | None
    text: str


class Report(msgspec.Struct, kw_only=True):
    """Everything one run found.

    Scores can be read by name: `report["f1_macro"].low`, or `report.f1_macro` for the value.
    `print(report)` shows what the command line does.
    The last five fields are those of a stress run, and absent from the document of any other.
    """

    schema: int = SCHEMA
    kind: Literal["score", "compare", "stress"] = "score"
    task: str = ""
    title: str = ""
    item: str = "item"
    n: int = 0
    clusters: int | None = None
    unit: str = "item"
    n_effective: float | None = None
    level: float | None = 0.95
    scores: list[Score] = []
    slices: list[Slice] = []
    systems: list[System] = []
    comparisons: list[Comparison] = []
    tables: list[Table] = []
    curves: list[Curve] = []
    examples: list[Example] = []
    gates: list[Gate] = []
    problems: list[Problem] = []
    problem_counts: dict[str, int] = {}
    inputs: list[Input] = []
    notes: list[str] = []
    signature: Signature = msgspec.field(default_factory=Signature)
    evidence: Kept | None = None
    run: Run | msgspec.UnsetType = msgspec.UNSET
    summary: Summary | msgspec.UnsetType = msgspec.UNSET
    metrics: dict[str, Change] | msgspec.UnsetType = msgspec.UNSET
    categories: list[Category] | msgspec.UnsetType = msgspec.UNSET
    tests: list[Test] | msgspec.UnsetType = msgspec.UNSET

    def __getitem__(self, name: str) -> Score:
        found = next((score for score in self.scores if score.name == name), None)
        if found is None:
            raise KeyError(self._unknown(name))
        return found

    def __getattr__(self, name: str) -> float | None:
        # Only called when the Struct has no such field: `report.accuracy`.
        found = None
        if not name.startswith("_"):
            found = next((score for score in self.scores if score.name == name), None)
        if found is None:
            raise AttributeError(name if name.startswith("_") else self._unknown(name))
        return found.value

    def __contains__(self, name: object) -> bool:
        return any(score.name == name for score in self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __dir__(self) -> list[str]:
        """What a shell completes: fields and methods, and the scores."""
        return [*super().__dir__(), *(score.name for score in self.scores)]

    def __repr__(self) -> str:
        main = [score for score in self.scores if score.main][:3]
        values = ", ".join(f"{score.name}={score.value!r}" for score in main)
        return f"<Report {self.kind} {self.task} n={self.n}{': ' if values else ''}{values}>"

    def __str__(self) -> str:
        page: str = importlib.import_module(PAGE).render(self)
        return page

    def _unknown(self, name: str) -> str:
        """What to say of a name that no score has."""
        names = [score.name for score in self.scores]
        close = get_close_matches(name, names, n=3)
        if close:
            return f"no score named {name!r}; did you mean {' or '.join(close)}?"
        return f"no score named {name!r}; there are {', '.join(names[:12])}"

    @property
    def ok(self) -> bool:
        """Whether every gate was passed."""
        return all(gate.passed for gate in self.gates)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as Python values."""
        result: dict[str, Any] = msgspec.to_builtins(self)
        return result

    def to_json(self, indent: int = 2) -> str:
        """The JSON document, full precision."""
        return msgspec.json.format(msgspec.json.encode(self), indent=indent).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """The Report that `to_json` wrote."""
        return msgspec.json.decode(text, type=cls)

    def _repr_html_(self) -> str:
        """The verdict, scores and slices with their pictures, for notebooks."""
        fragment: str = importlib.import_module(PICTURES).fragment(self)
        return fragment

    def to_pandas(self) -> Any:
        """The scores as a pandas data frame, where pandas is installed."""
        return _library("pandas").DataFrame(self._rows())

    def to_polars(self) -> Any:
        """The scores as a polars data frame, where polars is installed."""
        return _library("polars").DataFrame(self._rows(), infer_schema_length=None)

    def _rows(self) -> list[dict[str, Any]]:
        """The scores as plain rows."""
        rows: list[dict[str, Any]] = msgspec.to_builtins(self.scores)
        return rows


def _library(name: str) -> Any:
    """An optional library; a KaratError says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise KaratError(f"{name} is not installed", help=f"pip install {name}") from None
