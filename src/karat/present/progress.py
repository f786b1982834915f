"""A sign of life on standard error while something takes long."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO

from karat.present.numbers import duration
from karat.present.style import Style
from karat.present.widths import clean, elide, width

PATIENCE = 0.5
"""Seconds before anything is drawn."""
PACE = 0.1
"""Seconds between two drawings."""


class Meter:
    """Called with (name, bytes done, bytes in all or None); draws one line over and over."""

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._style = Style.of(stream)
        self._began = self._drawn = clock()
        self._name = ""
        self._since = self._began
        self._shown = 0

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """Nothing; the line is drawn anew if it is time."""
        now = self._clock()
        if name != self._name:
            self._name, self._since = name, now
        if now - self._began < PATIENCE or now - self._drawn < PACE:
            return
        self._drawn = now
        line = describe(name, done, total, now - self._since, self._style)
        self._stream.write("\r" + line + " " * max(self._shown - width(line), 0))
        self._stream.flush()
        self._shown = width(line)

    def clear(self) -> None:
        """Take the line away, so that what follows starts on a clean one."""
        if self._shown:
            self._stream.write("\r" + " " * self._shown + "\r")
            self._stream.flush()
            self._shown = 0


def describe(name: str, done: int, total: int | None, seconds: float, style: Style) -> str:
    """`gold.jsonl  41 %  120 of 293 MB  180 MB/s  1 s left`, as much as is known."""
    # Too soon after its first byte a file has no speed worth telling.
    rate = done / seconds if seconds >= PACE else 0.0
    facts = [f"{done / 1e6:.0f} MB"]
    if total:
        done = min(done, total)
        facts = [f"{100 * done / total:3.0f} %", f"{done / 1e6:.0f} of {total / 1e6:.0f} MB"]
    if rate:
        facts.append(f"{rate / 1e6:.0f} MB/s")
    if total and rate:
        left = math.ceil((total - done) / rate)
        facts.append(f"{left} s left" if left < 60 else f"{duration(left)} left")
    rest = "  ".join(facts)
    return f"{elide(clean(name), 77 - len(rest), style.cut)}  {rest}"


def meter(
    quiet: bool, stream: IO[str] | None = None, environment: Mapping[str, str] = os.environ
) -> Meter | None:
    """A meter where someone is watching: on a terminal, not in CI, not when asked to be quiet."""
    stream = stream or sys.stderr
    return None if quiet or environment.get("CI") or not stream.isatty() else Meter(stream)
