"""What the output may use: colour, and characters beyond ASCII.

Colour means good or bad and is never the only signal. Whatever is no terminal gets plain ASCII
from us (names out of the data stay as they are).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Literal

Meaning = Literal["good", "bad", "warn", "dim", "strong"]
_CODES: dict[Meaning, str] = {"good": "32", "bad": "31", "warn": "33", "dim": "2", "strong": "1"}


@dataclass(frozen=True, slots=True)
class Style:
    """Whether to colour, and whether to leave ASCII."""

    colour: bool = False
    unicode: bool = False

    @classmethod
    def of(cls, stream: IO[str], environment: Mapping[str, str] = os.environ) -> Style:
        """What this stream can show; NO_COLOR and FORCE_COLOR are obeyed, in that order."""
        terminal = stream.isatty()
        encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "")
        if environment.get("NO_COLOR"):
            colour = False
        elif environment.get("FORCE_COLOR"):
            colour = environment["FORCE_COLOR"] != "0"
        else:
            colour = terminal and environment.get("TERM") != "dumb"
        return cls(colour, terminal and encoding == "utf8")

    def paint(self, text: str, meaning: Meaning | None) -> str:
        """The text in the colour of its meaning, if there is colour."""
        if not self.colour or meaning is None or not text.strip():
            return text
        return f"\x1b[{_CODES[meaning]}m{text}\x1b[0m"

    @property
    def dot(self) -> str:
        """What separates facts on one line."""
        return "·" if self.unicode else "|"

    @property
    def undefined(self) -> str:
        """What stands for a number that does not exist."""
        return "–" if self.unicode else "-"

    @property
    def cut(self) -> str:
        """What stands where a name was cut."""
        return "…" if self.unicode else ".."


def news(difference: float | None, better: str) -> Meaning | None:
    """Whether a difference is good or bad; None where there is none, or no direction is better."""
    if not difference or better not in ("higher", "lower"):
        return None
    return "good" if (difference > 0) == (better == "higher") else "bad"
