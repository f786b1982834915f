"""Requirements on scores: `f1_macro>=0.8`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from karat.errors import UsageError
from karat.model.report import Gate, Report, Score

# The last sign of a rule counts: a class may be named `>=50K`.
_RULE = re.compile(r"^\s*(?P<name>.+)(?P<sign>>=|<=)\s*(?P<limit>[-+0-9.eE]+)\s*$")


def parse(rule: str) -> tuple[str, str, float]:
    """(metric, sign, limit) of a rule."""
    match = _RULE.match(rule)
    try:
        if match:
            return match["name"].rstrip(), match["sign"], float(match["limit"])
    except ValueError:
        pass
    raise UsageError(
        f"cannot read the requirement {rule!r}", help="write it as 'f1_macro>=0.8' or 'ece<=0.05'"
    )


def judge(report: Report, rules: Iterable[str], by: str) -> list[Gate]:
    """How each requirement went. `by` is "value", or "bound" for the interval's worse end."""
    return [_judged(report, rule, by) for rule in rules]


def _judged(report: Report, rule: str, by: str) -> Gate:
    name, sign, limit = parse(rule)
    score = next((s for s in report.scores if s.name == name), None)
    if score is None:
        names = [s.name for s in report.scores]
        close = difflib.get_close_matches(name, names, n=3) or names[:8]
        raise UsageError(
            f"there is no score named {name!r} to require", help=f"there is {', '.join(close)}"
        )
    value = _judged_value(score, sign, by)
    if value is None:
        why = score.reason or score.no_interval or "it has no value"
        return Gate(rule=rule, passed=False, value=None, text=f"{name} cannot be judged: {why}")
    passed = value >= limit if sign == ">=" else value <= limit
    what = "the interval's worse end of " if by == "bound" else ""
    verb = "meets" if passed else "misses"
    return Gate(
        rule=rule,
        passed=passed,
        value=value,
        text=f"{what}{name} is {value:.6g}, which {verb} {sign} {limit:g}",
    )


def _judged_value(score: Score, sign: str, by: str) -> float | None:
    if by == "value":
        return score.value
    return score.low if sign == ">=" else score.high
