"""Two gates: a test fails only where the effect is large and the data is enough to believe it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import IntArray
from karat.model.suite import Case, Plot, Status, Test, worst
from karat.stats.intervals import wilson
from karat.stats.multiple import benjamini_hochberg
from karat.suite.limits import Limit
from karat.suite.observed import Observed

Counted = Sequence[float] | npt.NDArray[Any]

ALPHA = 0.01
"""What a drift has to be less likely than by chance."""

FAMILY = 0.05
"""The share of false claims that a family of subsets may make."""

Z = 1.959963984540054

POWER = 2.8
"""So many standard errors an effect must have to be found four times out of five."""

MIN_ROWS = 30
MIN_SUBSET = 15
SHOWN_ROWS = 20


@dataclass
class Found:
    """A case and all rows concerned (the case itself shows the first ones)."""

    case: Case
    side: Observed | None = None
    rows: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


@dataclass
class Outcome:
    """A test with everything found; cases without sizes of their own have those of the sides."""

    limit: Limit
    found: list[Found] = field(default_factory=list)
    reason: str = ""
    sizes: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        for one in self.found:
            if one.case.n_ref is None:
                one.case.n_ref = self.sizes[0]
            if one.case.n_eval is None:
                one.case.n_eval = self.sizes[1]
            if one.case.status == "skip":
                one.case.warn, one.case.fail = self.limit.warn, self.limit.fail

    def test(self) -> Test:
        """The test for the report, worst cases first."""
        order = sorted(self.found, key=lambda f: _weight(f.case), reverse=True)
        cases = [f.case for f in order]
        status: Status = worst([case.status for case in cases])
        reason = self.reason
        if status == "skip" and not reason:
            reason = cases[0].text if cases else "nothing to look at"
        return Test(
            name=self.limit.name,
            category=self.limit.category,
            status=status,
            reason=reason,
            title=self.limit.title,
            cases=cases,
        )


def _weight(case: Case) -> tuple[int, float]:
    return ("skip", "pass", "warning", "fail").index(case.status), abs(case.value or 0.0)


def judged(
    limit: Limit,
    subject: str,
    value: float,
    statistic: str,
    text: str,
    *,
    believed: bool = True,
    side: Observed | None = None,
    rows: IntArray | None = None,
    **more: Any,
) -> Found:
    """A case with its status."""
    status = level(limit, value) if believed else "pass"
    case = Case(
        subject=subject,
        status=status,
        value=float(value) if np.isfinite(value) else None,
        statistic=statistic,
        warn=limit.warn,
        fail=limit.fail,
        text=text,
        **{name: _plain(one) for name, one in more.items()},
    )
    if case.plot is None and case.value is not None:
        case.plot = points([("value", case.value, case.low, case.high)])
    index = np.zeros(0, dtype=np.int64) if rows is None else np.asarray(rows, dtype=np.int64)
    if side is not None:
        case.rows = side.rows(index[:SHOWN_ROWS])
        case.rows_total = len(index)
    return Found(case, side, index)


def _plain(value: Any) -> Any:
    """The value without NumPy's types."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def level(limit: Limit, value: float) -> Status:
    """Where an effect stands by its size alone: a level is reached, but a level of 0 is passed."""
    if not np.isfinite(value):
        return "skip"
    for status, bound in (("fail", limit.fail), ("warning", limit.warn)):
        if bound is None:
            continue
        if value > bound if bound == 0 else value >= bound:
            return "fail" if status == "fail" else "warning"
    return "pass"


def skipped(subject: str, why: str, **more: Any) -> Found:
    """A case that could not be judged."""
    return Found(Case(subject=subject, status="skip", text=why, **more))


def share_case(
    limit: Limit,
    subject: str,
    rows: IntArray | Sequence[int],
    side: Observed,
    text: str,
    *,
    of: int | None = None,
    hits: int | None = None,
    usual: float | None = None,
    statistic: str = "share of rows",
    **more: Any,
) -> Found:
    """A case on the share of a side's rows concerned, with Wilson's interval.

    `hits` of `of` are counted where that is not rows of all rows;
    `usual` is the share to be expected, for the picture.
    """
    n = side.n if of is None else of
    share = (len(rows) if hits is None else hits) / max(n, 1)
    low, high = wilson(share, n) if n else (None, None)
    shown = [] if usual is None else [("to be expected", usual, None, None)]
    return judged(
        limit,
        subject,
        share,
        statistic,
        text,
        side=side,
        rows=np.asarray(rows, dtype=np.int64),
        low=low,
        high=high,
        plot=points([*shown, ("found", share, low, high)]),
        **more,
    )


def correct_family(found: Sequence[Found], limit: Limit, alpha: float = FAMILY) -> None:
    """Give every case of a family its q, and take back what the family cannot carry."""
    for one, q in zip(found, benjamini_hochberg([f.case.p for f in found]), strict=True):
        case = one.case
        case.q = q
        if case.status == "skip" or case.value is None or q is None:
            continue
        case.status = level(limit, case.value) if q < alpha else "pass"


def bars(labels: Sequence[str], ref: Counted, other: Counted, most: int = 20) -> Plot:
    """Two sides as shares; only the largest bars are drawn."""
    a, b = np.asarray(ref, dtype=float), np.asarray(other, dtype=float)
    a, b = a / max(a.sum(), 1e-300), b / max(b.sum(), 1e-300)
    order = list(range(len(labels)))
    if len(labels) > most:
        order = sorted(np.argsort(-(a + b), kind="stable")[:most].tolist())
    return Plot(
        kind="bars",
        labels=[str(labels[i]) for i in order],
        ref=[float(a[i]) for i in order],
        eval=[float(b[i]) for i in order],
    )


def points(shown: Sequence[tuple[str, float, float | None, float | None]]) -> Plot:
    """Values, each with its name and, where there is one, its interval."""
    names, values, low, high = zip(*shown, strict=True)
    return Plot(
        kind="points", labels=[*names], eval=[float(v) for v in values], low=[*low], high=[*high]
    )


def percent(share: float) -> str:
    """A share in words."""
    return f"{100 * share:.1f} %"
