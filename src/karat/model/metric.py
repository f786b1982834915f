"""A metric: a pure function of weighted totals or weighted events, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from karat.model.direction import Better
from karat.model.evidence import Layout
from karat.model.pairs import FloatArray

Scale = Literal["fraction", "percent", "signed", "count", "unbounded"]


@dataclass(frozen=True, slots=True)
class Totals:
    """Weighted sums of evidence by name: shape (k,) or (B, k); `totals["tp"]` is (..., width).

    A group of width 1 comes back without its last axis.
    """

    layout: Layout
    sums: FloatArray

    def __getitem__(self, group: str) -> FloatArray:
        part = self.sums[..., self.layout.span(group)]
        return part[..., 0] if self.layout.groups[group] == 1 else part


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What presenters and gates need to know of a metric.

    `near` is the ideal of a metric that is best at a value (StereoSet's SS: 50).
    `formula` is one line of plain text; `undefined` says when there is no value.
    `main` marks the few metrics a short table shows; `group` heads a family in long ones.
    `over` counts the items that each name is about, where those are not all of them.
    """

    better: Better = "higher"
    scale: Scale = "fraction"
    near: float | None = None
    formula: str = ""
    undefined: str = "the denominator is 0"
    main: bool = False
    group: str = ""
    reference: str = ""
    over: Callable[[Totals], FloatArray] | None = None


@dataclass(frozen=True, slots=True)
class Ratio:
    """A family of quotients of two sums: names[c] = scale * sum(num)[c] / sum(den)[c].

    `num` and `den` map a group of cells to its coefficient; all groups have the width of `names`
    (or width 1, for a single metric). Intervals are in closed form, so 1,000 classes cost what
    one does. `proportion` says that the numerator counts items among the denominator's: Wilson
    then serves where there are few.
    """

    reads: str
    names: tuple[str, ...]
    num: Mapping[str, float]
    den: Mapping[str, float]
    about: About
    proportion: bool = False
    factor: float = 1.0

    def values(self, totals: Totals) -> FloatArray:
        """(..., len(names)); NaN where the denominator is 0."""
        num = sum(
            c * np.atleast_1d(totals.sums[..., totals.layout.span(g)]) for g, c in self.num.items()
        )
        den = sum(
            c * np.atleast_1d(totals.sums[..., totals.layout.span(g)]) for g, c in self.den.items()
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = np.where(den != 0, np.divide(num, den), np.nan)
        return np.asarray(self.factor * quotient)


@dataclass(frozen=True, slots=True)
class Smooth:
    """A differentiable function of the totals: (..., k) -> (...). NaN means undefined.

    `no_interval` gives the reason why no interval is shown (an extreme such as MCE).
    `chance` is a second function of the totals shown beside the value: what a perfect model of the
    same size would get by chance.
    """

    reads: str
    name: str
    value: Callable[[Totals], FloatArray]
    about: About
    no_interval: str = ""
    chance: Callable[[Totals], FloatArray] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """A family of one."""
        return (self.name,)

    def values(self, totals: Totals) -> FloatArray:
        """(..., 1)."""
        return np.asarray(self.value(totals))[..., None]


@dataclass(frozen=True, slots=True)
class Scored:
    """What an event metric gives for one set of weights.

    `values` has an entry a name; `influence[c]` is (weight of the unit) * d values[c] / d weight
    for each unit, None where there is no such derivative (then the interval comes from the
    bootstrap, or, where `no_interval` says why, there is none). `chance`, where it is given, is
    what a perfect model of this size would get.
    """

    values: FloatArray
    influence: list[FloatArray | None] | None = None
    chance: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Events:
    """A family of metrics that read ordered evidence: AP, AUROC.

    `score(evidence, weights, influence)` returns `Scored`; weights are one a unit, None for ones.
    `facts` may hold `main`, the names that short tables show, and `resamples`, how many draws its
    interval takes unasked where the closed form would be too narrow, and `centred`, that draws are
    moved onto the value because units that repeat push the score upwards.
    """

    reads: str
    names: tuple[str, ...]
    score: Callable[[Any, FloatArray | None, bool], Scored]
    about: About
    no_interval: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


Metric = Ratio | Smooth | Events
