"""Numbers as people read them: the digits that the interval supports, and no more."""

from __future__ import annotations

import math

from karat.present.style import Style

_USUAL = {"fraction": 4, "signed": 4, "percent": 2, "count": 0}
_MOST = 8

SIGNIFICANT = 0.05
"""Below this a p, or a q, gets its star."""

CHANCES = {"p", "q"}
"""Columns of any table whose numbers are probabilities of chance."""


def decimals(scale: str, value: float | None, low: float | None, high: float | None) -> int:
    """Decimals to show: up to one past the first digit of the half-width, or the scale's usual."""
    if low is not None and high is not None and math.isfinite(high - low) and high > low:
        first = math.floor(math.log10((high - low) / 2))
        return min(max(1 - first, 0), _MOST)
    if scale in _USUAL:
        return _USUAL[scale]
    if not value or not math.isfinite(value):
        return 2
    return min(max(3 - math.floor(math.log10(abs(value))), 0), _MOST)


def fixed(value: float | None, places: int, style: Style, signed: bool = False) -> str:
    """The number with that many decimals, thousands set apart; undefined is a dash."""
    if value is None or math.isnan(value):
        return style.undefined
    if math.isinf(value):
        return ("-" if value < 0 else "") + "inf"
    text = f"{value:+,.{places}f}" if signed else f"{value:,.{places}f}"
    if not any(c in "123456789" for c in text):
        text = text.lstrip("+-")
    if style.unicode:
        text = text.replace(",", "\u202f").replace("-", "−")
    return text


def count(value: int | None, style: Style) -> str:
    """A whole number with its thousands set apart."""
    return fixed(value, 0, style)


def chance(p: float | None) -> str:
    """A p value or its like: two digits, and no more zeros than a reader counts."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def interval(low: float | None, high: float | None, places: int, style: Style) -> str:
    """`low – high`, `−low to high` where a dash would stand among signs; empty for none."""
    if low is None or high is None:
        return ""
    between = " – " if style.unicode and low >= 0 else " to "
    return f"{fixed(low, places, style)}{between}{fixed(high, places, style)}"


def interval_title(level: float | None) -> str:
    """`95 % interval` for 0.95."""
    return "interval" if level is None else f"{100 * level:.6g} % interval"


def plural(noun: str, n: int | None) -> str:
    """The noun for that many: text, texts; query, queries; class, classes."""
    if n == 1:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def duration(seconds: float) -> str:
    """Seconds as `41 ms`, `0.83 s`, `12 s` or `3 min 05 s`."""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
