"""Digits, separators and dashes."""

from __future__ import annotations

import pytest

from karat.present.numbers import count, decimals, duration, fixed, interval, plural
from karat.present.style import Style

PLAIN, RICH = Style(), Style(unicode=True)


@pytest.mark.parametrize(
    ("low", "high", "places"),
    [
        (79.40, 80.83, 2),  # half-width 0.715: first digit at 0.1, one more
        (0.838, 0.860, 3),  # 0.011
        (0.8389, 0.8399, 5),  # 0.0005
        (10.0, 30.0, 0),  # 10
        (100.0, 900.0, 0),  # never rounds to tens
    ],
)
def test_the_interval_decides_how_many_decimals(low: float, high: float, places: int) -> None:
    assert decimals("fraction", (low + high) / 2, low, high) == places


@pytest.mark.parametrize(
    ("scale", "value", "places"),
    [
        ("fraction", 0.5, 4),
        ("percent", 50.0, 2),
        ("count", 12.0, 0),
        ("unbounded", 0.4391, 4),
        ("unbounded", 1234.5, 0),
        ("unbounded", 0.0, 2),
    ],
)
def test_without_an_interval_the_scale_decides(scale: str, value: float, places: int) -> None:
    assert decimals(scale, value, None, None) == places


def test_an_interval_of_no_width_says_nothing_about_digits() -> None:
    assert decimals("fraction", 1.0, 1.0, 1.0) == 4


def test_numbers_in_both_styles() -> None:
    assert fixed(1234567.5, 1, PLAIN) == "1,234,567.5"
    assert fixed(-1234.5, 1, RICH) == "−1\u202f234.5"
    assert fixed(0.02, 3, PLAIN, signed=True) == "+0.020"
    assert fixed(float("inf"), 3, PLAIN) == "inf"
    assert count(11873, RICH) == "11\u202f873"


def test_rounded_to_zero_has_no_sign() -> None:
    assert fixed(-0.0001, 3, PLAIN) == "0.000"
    assert fixed(0.0001, 3, PLAIN, signed=True) == "0.000"


@pytest.mark.parametrize("value", [None, float("nan")])
def test_undefined_is_a_dash(value: float | None) -> None:
    assert fixed(value, 3, RICH) == "–"
    assert fixed(value, 3, PLAIN) == "-"


def test_intervals_are_told_apart_from_minus_signs() -> None:
    assert interval(-0.02, 0.01, 2, PLAIN) == "-0.02 to 0.01"
    assert interval(-0.02, 0.01, 2, RICH) == "−0.02 to 0.01"
    assert interval(-0.02, -0.01, 2, RICH) == "−0.02 to −0.01"
    assert interval(0.01, 0.02, 2, RICH) == "0.01 – 0.02"
    assert interval(None, 0.01, 2, RICH) == ""


@pytest.mark.parametrize(
    ("noun", "n", "word"),
    [
        ("text", 1, "text"),
        ("text", 0, "texts"),
        ("query", 2, "queries"),
        ("class", 2, "classes"),
        ("display", 2, "displays"),
    ],
)
def test_plurals(noun: str, n: int, word: str) -> None:
    assert plural(noun, n) == word


def test_durations() -> None:
    assert [duration(s) for s in (0.041, 0.834, 12.4, 185)] == [
        "41 ms",
        "0.83 s",
        "12 s",
        "3 min 05 s",
    ]
