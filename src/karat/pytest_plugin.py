"""Tests of models: a fixture `karat` whose failures show metric, limit and interval.

    def test_model(karat):
        karat.score("gold.jsonl", "predictions.jsonl").at_least(f1_macro=0.85)
        karat.compare("gold.jsonl", "old.jsonl", "new.jsonl").not_worse(f1_macro=0.01)

pytest finds this by itself once karat is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from karat.model.report import Report


class Scored:
    """A Report with demands: each raises a test failure that says what is missing."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __getattr__(self, name: str) -> Any:
        return getattr(self.report, name)

    def __getitem__(self, name: str) -> Any:
        return self.report[name]

    def at_least(self, *, bound: bool = False, **limits: float) -> Scored:
        """The same, if every score reaches its limit; with `bound`, the interval's low end."""
        __tracebackhide__ = True
        return self._demand(">=", limits, bound)

    def at_most(self, *, bound: bool = False, **limits: float) -> Scored:
        """The same, if no score exceeds its limit; with `bound`, the interval's high end."""
        __tracebackhide__ = True
        return self._demand("<=", limits, bound)

    def _demand(self, sign: str, limits: dict[str, float], bound: bool) -> Scored:
        __tracebackhide__ = True
        from karat.run import gates

        rules = [f"{name}{sign}{limit!r}" for name, limit in limits.items()]
        judged = gates.judge(self.report, rules, "bound" if bound else "value")
        failed = [gate for gate in judged if not gate.passed]
        if failed:
            told = [f"{gate.text}{_interval(self.report, gate.rule, sign)}" for gate in failed]
            pytest.fail("\n".join((*told, self._about())), pytrace=False)
        return self

    def _about(self) -> str:
        report = self.report
        return f"({report.task}, {report.n} {report.item}s; {report.signature.text})"


class Compared:
    """A comparison with demands on every system against the baseline."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __getattr__(self, name: str) -> Any:
        return getattr(self.report, name)

    def not_worse(self, **margins: float) -> Compared:
        """The same, if by the interval's worse end no system loses more than its margin."""
        __tracebackhide__ = True
        from karat.run import verdicts

        rules = [f"{name}={margin!r}" for name, margin in margins.items()]
        failed = [g for g in verdicts.judge(self.report.comparisons, rules) if not g.passed]
        if failed:
            told = [gate.text for gate in failed]
            told += [one.sentence for one in self.report.comparisons]
            pytest.fail("\n".join(told), pytrace=False)
        return self


class Weigher:
    """What the fixture is: `karat.score` and `karat.compare`, with demands on what comes out."""

    def score(self, gold: Any, predictions: Any = None, **options: Any) -> Scored:
        """The scores of predictions; takes what `karat.score` takes."""
        from karat.api import score

        return Scored(score(gold, predictions, **options))

    def compare(self, gold: Any, *systems: Any, **options: Any) -> Compared:
        """The comparison of systems; takes what `karat.compare` takes."""
        from karat.api import compare

        return Compared(compare(gold, *systems, **options))


@pytest.fixture
def karat() -> Weigher:
    """Weighs predictions against gold; see `karat.score`."""
    return Weigher()


def _interval(report: Report, rule: str, sign: str) -> str:
    """The interval of the score that a rule names."""
    score = report[rule.partition(sign)[0]]
    if score.low is None or score.high is None:
        return f" (no interval: {score.no_interval})" if score.no_interval else ""
    return f" ({100 * (report.level or 0.95):.4g} % interval {score.low:.4g} to {score.high:.4g})"
