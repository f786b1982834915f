"""XML as a stream of flat elements: no entities of its own, no network, bounded.

A document type or entity declaration is refused before anything is expanded, so neither a billion
laughs nor a foreign file can be had. Memory is that of one element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from karat.errors import DataError
from karat.model.problem import Problem

DEEPEST = 64
LONGEST = 1 << 20


@dataclass
class Element:
    """One element: its attributes, the text of each child by name, and the line it starts on.

    `inner` holds the text of the children of each child. The first child of a name counts.
    """

    name: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    children: dict[str, str] = field(default_factory=dict)
    inner: dict[str, dict[str, str]] = field(default_factory=dict)
    text: str = ""


def elements(name: str, blocks: Iterable[bytes], wanted: str) -> Iterator[Element]:
    """Every element of that name, at any depth. Raises DataError where the file is no sound XML."""
    reader = _Reader(name, wanted)
    for block in blocks:
        reader.feed(block)
        yield from reader.taken()
    reader.feed(b"", last=True)
    yield from reader.taken()


class _Reader:
    """The walk through one file."""

    def __init__(self, name: str, wanted: str) -> None:
        self.name, self.wanted = name, wanted
        self.path: list[str] = []
        self.element: Element | None = None
        self.at = 0
        self.first = False
        self.found: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.EntityDeclHandler = self.doctype
        self.parser.ExternalEntityRefHandler = self.doctype

    def feed(self, block: bytes, last: bool = False) -> None:
        """Parse one block."""
        try:
            self.parser.Parse(block, last)
        except expat.ExpatError as error:
            raise self.broken("xml-broken", expat.ErrorString(error.code), error.lineno) from error

    def taken(self) -> list[Element]:
        """The finished elements, which are then forgotten."""
        found, self.found = self.found, []
        return found

    def broken(self, code: str, message: str, line: int | None = None) -> DataError:
        """The error that stops the reading."""
        line = line or self.parser.CurrentLineNumber
        return DataError([Problem(code, "error", message, self.name, line)])

    def doctype(self, *_: object) -> int:
        """Refuse every declaration."""
        raise self.broken(
            "xml-declaration", "XML with a document type or entities of its own is refused"
        )

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.path.append(name)
        if len(self.path) > DEEPEST:
            raise self.broken("xml-too-deep", f"elements are nested more than {DEEPEST} deep")
        if self.element is None and name == self.wanted:
            self.element = Element(name, self.parser.CurrentLineNumber, attributes)
            self.at = len(self.path)
        elif self.element is not None and len(self.path) == self.at + 1:
            self.first = name not in self.element.children
            self.element.children.setdefault(name, "")

    def text(self, data: str) -> None:
        """Text of the element or of a child."""
        one = self.element
        if one is None:
            return
        if len(self.path) == self.at:
            one.text += data
        elif self.first:
            child = self.path[self.at]
            one.children[child] += data
            if len(one.children[child]) > LONGEST:
                raise self.broken("xml-too-long", f"{child} holds more than {LONGEST:,} characters")
            if len(self.path) == self.at + 2:
                inner = one.inner.setdefault(child, {})
                inner[self.path[-1]] = inner.get(self.path[-1], "") + data

    def end(self, _: str) -> None:
        """An element ends."""
        if self.element is not None and len(self.path) == self.at:
            self.found.append(self.element)
            self.element = None
        self.path.pop()
