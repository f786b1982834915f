"""HTML as values: what is text is escaped by being text, only what was built here is markup.

>>> element("td", "a < b", class_="name")
'<td class="name">a &lt; b</td>'
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

VOID = {"meta", "input", "link", "col", "br", "hr"}
SHAPES = {"line", "rect", "circle", "path"}

# Control characters, and the marks that turn the direction of the text around them.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_JOINTS = re.compile(r"(?<=[_./])(?=[^_./])")


class Safe(str):
    """Markup. Only this module and the files that a page is made of create it."""

    __slots__ = ()


Content: TypeAlias = "str | int | Iterable[Content] | None"
Value: TypeAlias = "str | float | bool | None"


def element(name: str, /, *children: Content, **attributes: Value) -> Safe:
    """`<name attributes>children</name>`; text among the children is escaped.

    In the names of attributes `_` stands for `-`, and one at the end is dropped (`class_`).
    A value of None or False leaves the attribute out, True writes its name alone.
    """
    words = [name, *(_attribute(key, value) for key, value in attributes.items())]
    start = " ".join(word for word in words if word)
    if name in VOID:
        return Safe(f"<{start}>")
    inside = joined(*children)
    if name in SHAPES and not inside:
        return Safe(f"<{start}/>")
    return Safe(f"<{start}>{inside}</{name}>")


def joined(*children: Content) -> Safe:
    """The children one after the other."""
    return Safe("".join(map(_written, children)))


def text(value: str) -> str:
    """The text with what could steer the page written as an escape; line breaks stay."""
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), value)


def breakable(name: str) -> Safe:
    """The name, which may be broken after `_`, `.` and `/` where a line is short."""
    return Safe("<wbr>".join(_written(part) for part in _JOINTS.split(name)))


def number(value: float) -> str:
    """A coordinate, as short as a picture needs it."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"


def _written(child: Content) -> str:
    if child is None:
        return ""
    if isinstance(child, Safe):
        return child
    if isinstance(child, str):
        return html.escape(text(child))
    if isinstance(child, int):
        return str(child)
    return "".join(map(_written, child))


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return name
    shown = value if isinstance(value, str) else number(value)
    return f'{name}="{html.escape(text(shown))}"'
