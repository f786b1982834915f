"""One run from inputs to Report: read, pair, measure, fold, infer.

Each step is a function from values to values; this page only puts them in order. The task says what
an item contributes, `stats` says what that makes, and neither knows of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from karat.errors import DataError, UsageError
from karat.model.evidence import Evidence
from karat.model.metric import Events, Metric
from karat.model.pairs import Pairs
from karat.model.problem import Problems
from karat.model.report import Input, Report, Score
from karat.model.task import Card, Request, Task
from karat.read.collector import without_collector
from karat.run import gates, ideal, keeping, signing, slicing
from karat.stats import intervals
from karat.stats.points import points
from karat.stats.resample import FEW_CLUSTERS
from karat.stats.units import effective


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How to infer and what to require. `level` None leaves intervals out.

    `keep_evidence` puts into the Report what a later comparison with this run needs.
    """

    level: float | None = 0.95
    bootstrap: int = 0
    seed: int = 12345
    require: tuple[str, ...] = ()
    gate: Literal["value", "bound"] = "value"
    examples: int = 0
    keep_evidence: bool = False

    def __post_init__(self) -> None:
        # A level one step below 1 has tails that round to nothing.
        if self.level is not None and not (self.level > 0 and 0.5 + self.level / 2 < 1):
            raise UsageError(f"the level of an interval lies between 0 and 1, not {self.level}")
        if self.bootstrap < 0:
            raise UsageError(f"the number of resamples cannot be {self.bootstrap}")
        if self.gate not in ("value", "bound"):
            raise UsageError(f"gate cannot be {self.gate!r}", help="choose from value, bound")
        if self.gate == "bound" and self.level is None:
            raise UsageError("a gate on the bound needs intervals")
        for rule in self.require:
            gates.parse(rule)

    @property
    def interval(self) -> str:
        """How intervals are made, for the signature."""
        if self.level is None:
            return "none"
        return f"{self.level:g}:{f'bootstrap{self.bootstrap}' if self.bootstrap else 'analytic'}"

    @property
    def inference(self) -> intervals.Settings:
        """The same for the engine."""
        return intervals.Settings(
            level=self.level or 0.95, bootstrap=self.bootstrap if self.level else 0, seed=self.seed
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """A task's data, ready to be scored under any weights."""

    card: Card
    task: Task
    request: Request
    pairs: Pairs[Any, Any]
    evidence: Sequence[Evidence]
    metrics: Sequence[Metric]
    official: Mapping[str, float]


@without_collector()
def score(card: Card, request: Request, settings: RunSettings) -> Report:
    """The Report of one run. Raises DataError with all problems where the inputs have errors."""
    problems = Problems()
    return infer(measure(card, request, problems), settings, problems)


@without_collector()
def measure(card: Card, request: Request, problems: Problems) -> Measured:
    """Inputs to evidence."""
    task = card.load()
    pairs = task.read(card, request, problems)
    if pairs is None or problems.errors:
        raise DataError(problems)
    slicing.refuse_endless(pairs.facets)
    evidence = task.measure(pairs, request.options)
    metrics = task.metrics(pairs, request.options)
    official = task.official(pairs, evidence, request.options)
    return Measured(card, task, request, pairs, evidence, metrics, official)


def infer(measured: Measured, settings: RunSettings, problems: Problems) -> Report:
    """Evidence to Report."""
    card, task, pairs, options = (
        measured.card,
        measured.task,
        measured.pairs,
        measured.request.options,
    )
    scores = estimated(measured, settings)
    slices = slicing.slices(measured, settings.inference) if measured.request.by else []
    tables, curves = task.views(pairs, measured.evidence, options)
    examples = []
    if settings.examples:
        examples = task.examples(pairs, measured.evidence, options, settings.examples)
    clusters = max((s.clusters for s in scores if s.clusters is not None), default=None)
    report = Report(
        task=card.name,
        title=card.title,
        item=pairs.item,
        n=pairs.n,
        level=settings.level,
        clusters=clusters,
        unit=pairs.cluster.name if pairs.cluster is not None else pairs.item,
        n_effective=None if pairs.weights is None else effective(pairs.weights),
        scores=scores,
        slices=slices,
        tables=[*tables, *ideal.tables(scores)],
        curves=curves,
        examples=examples,
        problems=list(problems),
        problem_counts=problems.counts,
        inputs=inputs_of(measured.request),
        notes=_notes(measured, scores),
        signature=signing.sign(measured, settings.interval, settings.seed),
    )
    if settings.keep_evidence:
        report.evidence = keeping.keep(measured, settings.bootstrap, settings.seed)
    report.gates = gates.judge(report, settings.require, settings.gate)
    return report


def estimated(measured: Measured, settings: RunSettings) -> list[Score]:
    """Every metric's estimate with what is known of the metric."""
    if settings.level is None:
        found = points(measured.metrics, measured.evidence, measured.official)
    else:
        found = intervals.estimates(
            measured.metrics, measured.evidence, settings.inference, measured.official
        )
    by_name = {estimate.name: estimate for estimate in found}
    return [
        _score(metric, by_name[name], measured.pairs.item)
        for metric in measured.metrics
        for name in metric.names
    ]


def _score(metric: Metric, found: intervals.Estimate, item: str) -> Score:
    about = metric.about
    main = about.main
    if isinstance(metric, Events) and "main" in metric.facts:
        main = found.name in metric.facts["main"]
    return Score(
        name=found.name,
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        se=found.se,
        method=found.method,
        unit=item if found.unit == "item" else found.unit,
        clusters=found.clusters,
        design_effect=found.design_effect,
        chance=found.chance,
        better=about.better,
        scale=about.scale,
        near=about.near,
        main=main,
        group=about.group,
        reason=found.reason,
        no_interval=found.no_interval,
        formula=about.formula,
        reference=about.reference,
    )


def _notes(measured: Measured, scores: Sequence[Score]) -> list[str]:
    """What the task says, and a word on few clusters and on items in no slice."""
    notes = list(measured.task.notes(measured.pairs, measured.request.options))
    for name, facet in measured.pairs.facets.items():
        missing = int((facet.codes < 0).sum())
        if missing:
            notes.append(f"{missing:,} of {len(facet):,} have no {name}, and are in no slice of it")
    shown = [s for s in scores if s.low is not None]
    few = [s for s in shown if s.clusters is not None and s.clusters < FEW_CLUSTERS]
    if few:
        least = min(few, key=lambda s: s.clusters or 0)
        whose = "" if len(few) == len(shown) else f" of {len(few)} scores, as {least.name},"
        sizes = dict.fromkeys((least.clusters, max(s.clusters or 0 for s in few)))
        notes.append(
            f"intervals{whose} rest on {' to '.join(map(str, sizes))} clusters ({least.unit}) "
            "only, so they are wide and rough"
        )
    return notes


def inputs_of(request: Request) -> list[Input]:
    """The files of a request, with their content hashes."""
    sides = (("gold", request.gold), ("predictions", request.predictions))
    return [
        Input(role=role, name=one.name, digest=one.digest(), records=one.records)
        for role, side in sides
        for one in side
    ]
