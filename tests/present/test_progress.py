"""Signs of life, where someone watches."""

from __future__ import annotations

import io

import pytest

from karat.present.progress import Meter, describe, meter
from karat.present.style import Style
from karat.present.widths import width


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_drawn_at_first_then_a_line_that_is_taken_away() -> None:
    stream, clock = Terminal(), Clock()
    bar = Meter(stream, clock)
    bar("gold.jsonl", 10_000_000, 100_000_000)
    assert stream.getvalue() == ""
    clock.now += 1
    bar("gold.jsonl", 50_000_000, 100_000_000)
    line = stream.getvalue()
    assert line == "\rgold.jsonl   50 %  50 of 100 MB  50 MB/s  1 s left"
    bar.clear()
    assert stream.getvalue() == line + "\r" + " " * (len(line) - 1) + "\r"


def test_it_does_not_draw_more_often_than_eyes_can_see() -> None:
    stream, clock = Terminal(), Clock()
    bar = Meter(stream, clock)
    clock.now += 1
    for done in range(1000):
        bar("gold.jsonl", done, None)
    assert stream.getvalue().count("\r") == 1


def test_a_meter_that_drew_nothing_clears_nothing() -> None:
    stream = Terminal()
    Meter(stream).clear()
    assert stream.getvalue() == ""


def test_without_a_total_there_is_no_percentage() -> None:
    assert describe("-", 2_000_000, None, 1.0, Style()) == "-  2 MB  2 MB/s"
    assert width(describe("x" * 200, 5, 10, 1.0, Style())) <= 79


@pytest.mark.parametrize(
    ("quiet", "stream", "environment", "there"),
    [
        (False, Terminal(), {}, True),
        (True, Terminal(), {}, False),
        (False, Terminal(), {"CI": "true"}, False),
        (False, io.StringIO(), {}, False),
    ],
)
def test_where_it_is_drawn(
    quiet: bool, stream: io.StringIO, environment: dict[str, str], there: bool
) -> None:
    assert (meter(quiet, stream, environment) is not None) is there


@pytest.mark.parametrize(
    ("environment", "terminal", "colour"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour(environment: dict[str, str], terminal: bool, colour: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    assert Style.of(stream, environment).colour is colour
