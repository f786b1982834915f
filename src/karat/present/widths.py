"""Text as a terminal counts it: display width, cutting to a width, wrapping, harmless characters.

Names come from data, so they may hold wide characters, line breaks or escape sequences.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

WIDTH = 80
"""No line of a table is wider, whatever the terminal: it can be pasted into a mail or an issue."""


def clean(text: str) -> str:
    """The text on one line, with everything that could steer a terminal written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if _harmless(c) else c.encode("unicode_escape").decode() for c in text)


def _harmless(character: str) -> bool:
    # Python does not call spaces other than the ASCII one printable; we set thousands apart by one.
    return character.isprintable() or unicodedata.category(character) == "Zs"


def width(text: str) -> int:
    """How many columns the text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_columns(c) for c in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def elide(text: str, most: int, mark: str = "..") -> str:
    """The text in at most that many columns; too long, it loses its middle."""
    if width(text) <= most:
        return text
    room = most - width(mark)
    if room < 2:
        return _head(text, most)
    tail = _head(text[::-1], room // 2)[::-1]
    return _head(text, room - width(tail)) + mark + tail


def _head(text: str, most: int) -> str:
    """As many characters from the start as fit."""
    taken = 0
    for at, character in enumerate(text):
        taken += _columns(character)
        if taken > most:
            return text[:at]
    return text


def pad(text: str, columns: int, right: bool = False) -> str:
    """The text filled with spaces to that many columns."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def wrap(text: str, first: str = "", rest: str | None = None, *, breaks: str = " ") -> list[str]:
    """The text in lines of at most 80 columns, cut after `breaks`; `first` leads the first one."""
    rest = " " * width(first) if rest is None else rest
    lines: list[str] = []
    line, lead = "", first
    for piece in _pieces(clean(text), breaks, WIDTH - max(width(first), width(rest))):
        if line and width(lead + line + piece.rstrip()) > WIDTH:
            lines.append((lead + line).rstrip())
            line, lead = "", rest
        line += piece
    lines.append((lead + line).rstrip())
    return lines


def _pieces(text: str, breaks: str, most: int) -> Iterable[str]:
    """The text cut after every break character, and wherever a piece alone is too long."""
    piece = ""
    for character in text:
        if width(piece) + _columns(character) > most:
            yield piece
            piece = ""
        piece += character
        if character in breaks:
            yield piece
            piece = ""
    yield piece
