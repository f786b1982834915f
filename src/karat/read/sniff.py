"""The first look at an input, and which tasks know what they see."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from karat.model.task import Card, Peek

HEAD = 1 << 16
"""How many bytes a first look takes in."""

MANY = 64
"""An object that has more keys than this in its head is taken for a map of ids."""

PACKED = (".gz", ".zst", ".bz2", ".xz")
TABLES = (".tsv", ".tab", ".csv")


def detect(cards: Iterable[Card], gold: Peek, predictions: Peek | None) -> list[tuple[Card, str]]:
    """The tasks that recognise the inputs, each with what it saw."""
    seen = ((card, card.recognise(gold, predictions)) for card in cards)
    return [(card, reason) for card, reason in seen if reason is not None]


def look(name: str, head: bytes, whole: Callable[[], bytes]) -> Peek:
    """What kind of file this is, by its name, its first bytes and its first record.

    `whole` gives the full content; it is asked for only where an object is longer than the head,
    because the keys of a long object may come last.
    """
    shape = _shape(name, head)
    return Peek(name, shape, head, _first(shape, head, whole))


def stem(name: str) -> str:
    """The lower-case name without the ending of a compression."""
    lower = name.lower()
    for ending in PACKED:
        lower = lower.removesuffix(ending)
    return lower


def first_object(text: str, at: int = 0) -> dict[str, Any]:
    """The object that starts at `text[at]`, as far as the text goes.

    Nothing is raised: a value that is cut off is None, and what follows it is not known.
    """
    found: dict[str, Any] = {}
    decoder = json.JSONDecoder()
    at = _space(text, at + 1)
    try:
        while text[at] == '"':
            key, at = decoder.raw_decode(text, at)
            found[key] = None
            at = _space(text, at)
            if text[at] != ":":
                break
            found[key], at = decoder.raw_decode(text, _space(text, at + 1))
            at = _space(text, at)
            if text[at] != ",":
                break
            at = _space(text, at + 1)
    except (ValueError, IndexError, RecursionError):
        pass
    return found


def _shape(name: str, head: bytes) -> str:
    ending = stem(name)
    start = head.lstrip()[:1]
    if ending.endswith(".xml") or (start == b"<" and not ending.endswith(TABLES)):
        return "xml"
    if ending.endswith((".pkl", ".pickle")) or head[:1] == b"\x80":
        return "pickle"
    if b"\0" in head:
        return "binary"
    if start == b"[" and not ending.endswith(TABLES):
        return "list"
    if start == b"{" and not ending.endswith(TABLES):
        return "lines" if ending.endswith((".jsonl", ".ndjson")) or _many(head) else "object"
    if ending.endswith((".jsonl", ".ndjson")):
        return "lines"
    first = head.lstrip(b"\r\n").split(b"\n", 1)[0]
    return "table" if b"\t" in first or ending.endswith(TABLES) else "text"


def _many(head: bytes) -> bool:
    """Whether the first line is an object of its own and another one follows."""
    first, _, rest = head.lstrip().partition(b"\n")
    if not rest.lstrip().startswith(b"{"):
        return False
    try:
        msgspec.json.decode(first, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _first(shape: str, head: bytes, whole: Callable[[], bytes]) -> Any:
    text = head.decode("utf-8", "replace")
    start = _space(text, 0)
    if shape == "table":
        cell = "," if "\t" not in text.split("\n", 1)[0] else "\t"
        return text.lstrip("\r\n").split("\n", 1)[0].rstrip("\r").split(cell)
    if shape == "object" and len(head) >= HEAD:
        # So many keys are ids, and what stands at the end is one more; else it may tell much.
        found = first_object(text, start)
        return found if len(found) > MANY else _keys_of(whole()) or found
    if shape == "list":
        start = _space(text, start + 1)
    if shape in ("lines", "list", "object"):
        if text[start : start + 1] == "{":
            return first_object(text, start)
        try:
            return json.JSONDecoder().raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            return None
    return None


def _keys_of(data: bytes) -> dict[str, Any] | None:
    """The keys of a long object, with the values that are short."""
    try:
        raw = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return {
            key: msgspec.json.decode(value) if len(value) < HEAD else None
            for key, value in raw.items()
        }
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _space(text: str, at: int) -> int:
    """The first place from `at` on that is not white space."""
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
