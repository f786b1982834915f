"""What a comparison comes to: one sentence a system, and the gates on how much worse it may be."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence

from karat.errors import UsageError
from karat.model.report import Comparison, Difference, Gate
from karat.stats.compare import LEVEL, SAME

POINTS = ("fraction", "percent")


def headline(differences: Sequence[Difference]) -> Difference | None:
    """The difference that a comparison is summed up by: the first main one with a direction."""
    main = [one for one in differences if one.main] or list(differences)
    directed = [one for one in main if one.better in ("higher", "lower")]
    return next(iter(directed or main), None)


def better_by(found: Difference) -> float | None:
    """How much better the system is than the baseline, None where better has no direction."""
    if found.value is None or found.better not in ("higher", "lower"):
        return None
    return -found.value if found.better == "lower" else found.value


def surely(found: Difference, alpha: float) -> bool:
    """Whether the difference is more than chance: Holm's p is below alpha."""
    p = found.p if found.adjusted_p is None else found.adjusted_p
    return p is not None and p < alpha


def sentence(system: str, baseline: str, differences: Sequence[Difference], level: float) -> str:
    """One sentence: who beats whom by how much, how sure that is, and what this data can see.

    Where the first score cannot tell the two apart because nothing moves it, the first main score
    that surely differs is named, too.
    """
    found = headline(differences)
    if found is None:
        return f"{system} and {baseline} have no score in common."
    if found.value is None:
        return f"{system} and {baseline} cannot be compared by {found.name}: {found.reason}."
    alpha = 1 - level
    if found.no_interval != SAME:
        return _told(system, baseline, found, surely(found, alpha)) + _sight(found) + "."
    told = f"{system} and {baseline} do the same on every item, as far as {found.name} goes"
    apart = next((one for one in differences if one.main and surely(one, alpha)), None)
    if apart is not None:
        told += f"; {_told(system, baseline, apart, True)}{_sight(apart)}"
    return told + "."


def _sight(found: Difference) -> str:
    """How large a difference must be for this data to show it, or why nobody knows."""
    if found.smallest_seen is not None:
        size, _ = _units(found)
        seen = _number(found.smallest_seen * size, _places(found))
        return f"; this test set can see differences of {seen}"
    return f"; there is no interval: {found.no_interval}" if found.no_interval else ""


def _told(system: str, baseline: str, found: Difference, sure: bool) -> str:
    """Who is ahead, with the interval turned so that it speaks of that."""
    assert found.value is not None
    size, unit = _units(found)
    ahead = better_by(found)
    p = _p(found)
    if ahead is None or not sure:
        amount = _signed(found.value * size, _places(found))
        between = _between(found.low, found.high, size, _places(found))
        if ahead is None:
            return f"{system} minus {baseline} is {amount}{unit} {found.name}{between}{p}"
        return (
            f"{system} and {baseline} cannot be told apart by {found.name}: "
            f"{amount}{unit}{between}{p}"
        )
    amount = _number(abs(found.value) * size, _places(found))
    ends = (found.low, found.high)
    if found.value < 0 and found.low is not None and found.high is not None:
        ends = (-found.high, -found.low)
    verb = "beats" if ahead > 0 else "loses to"
    between = _between(*ends, size, _places(found))
    return f"{system} {verb} {baseline} by {amount}{unit} {found.name}{between}{p}"


def _units(found: Difference) -> tuple[float, str]:
    """What to multiply by, and what the result is called."""
    if found.scale in POINTS:
        return (100.0 if found.scale == "fraction" else 1.0), " points"
    return 1.0, ""


def _places(found: Difference) -> int:
    """As many decimals as the interval supports."""
    size, _ = _units(found)
    half = (
        (found.high - found.low) / 2 * size
        if found.low is not None and found.high is not None
        else 0.0
    )
    if not (half > 0 and math.isfinite(half)):
        return 2
    return min(max(1 - math.floor(math.log10(half)), 0), 8)


def _number(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    return text if any(c in "123456789" for c in text) else text.lstrip("-")


def _signed(value: float, places: int) -> str:
    text = _number(value, places)
    return text if text.startswith("-") or value <= 0 else f"+{text}"


def _between(low: float | None, high: float | None, size: float, places: int) -> str:
    if low is None or high is None:
        return ""
    return f" [{_number(low * size, places)}, {_number(high * size, places)}]"


def _p(found: Difference) -> str:
    p, name = found.adjusted_p, "p"
    if p is None:
        p = found.p
    elif found.p is not None and p != found.p:
        name = "adjusted p"
    if p is None:
        return ""
    return f", {name} < 0.001" if p < 0.001 else f", {name} = {p:.2g}"


def parse(rule: str) -> tuple[str, float]:
    """(metric, margin) of a rule such as `accuracy=0.01`."""
    name, equals, margin = rule.partition("=")
    try:
        limit = float(margin)
    except ValueError:
        limit = math.nan
    if not (name.strip() and equals and 0 <= limit < math.inf):
        raise UsageError(
            f"cannot read the rule {rule!r}",
            help="write it as 'f1_macro=0.01': how much worse a system may be at most",
        )
    return name.strip(), limit


def judge(comparisons: Sequence[Comparison], rules: Sequence[str]) -> list[Gate]:
    """How each system does by each rule: the interval's worse end must stay within the margin."""
    return [_judged(one, rule) for rule in rules for one in comparisons]


def _judged(comparison: Comparison, rule: str) -> Gate:
    name, margin = parse(rule)
    found = next((one for one in comparison.differences if one.name == name), None)
    if found is None:
        names = [one.name for one in comparison.differences]
        close = difflib.get_close_matches(name, names, n=3) or names[:8]
        raise UsageError(
            f"there is no score named {name!r} to compare", help=f"there is {', '.join(close)}"
        )
    if found.better not in ("higher", "lower"):
        raise UsageError(f"{name} has no better and worse, so no system can be worse by it")
    worst = _worst(found)
    who = f"{comparison.system} against {comparison.baseline}"
    if worst is None:
        why = found.reason or found.no_interval or "there is no difference"
        text = f"{who}: {name} cannot be judged: {why}"
        return Gate(rule=rule, passed=False, value=None, text=text)
    passed = worst <= margin
    verb = "within" if passed else "more than"
    text = f"{who}: {name} may be worse by {max(worst, 0.0):.6g}, {verb} the margin {margin:g}"
    return Gate(rule=rule, passed=passed, value=worst, text=text)


def _worst(found: Difference) -> float | None:
    """How much worse the system may be by the interval's worse end; below 0 it is surely better.

    A difference that is equally large on every unit is its own worse end.
    """
    ahead = better_by(found)
    if ahead is not None and found.no_interval in (SAME, LEVEL):
        return -ahead
    if found.low is None or found.high is None:
        return None
    return found.high if found.better == "lower" else -found.low
