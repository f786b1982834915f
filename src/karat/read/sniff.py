"""The first look at an input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from karat.model.task import Peek

HEAD = 1 << 16
"""How many bytes a first look takes in."""

LOOKED_AT = 8
"""So many records are looked at together: any one of them may lack a key."""

MANY = 64
"""An object that has more keys than this in its head is taken for a map of ids."""

PACKED = (".gz", ".zst", ".bz2", ".xz")
LINES = (".jsonl", ".ndjson")
TABLES = (".tsv", ".tab", ".csv")


def look(name: str, head: bytes, whole: Callable[[], bytes]) -> Peek:
    """What kind of file this is, by its name, its first bytes and its first record.

    `whole` gives the full content; it is asked for only where an object is longer than the head,
    because the keys of a long object may come last.
    """
    shape = _shape(name, head)
    return Peek(name, shape, head, _first(shape, head, whole))


def is_empty(head: bytes) -> bool:
    """Whether there is nothing but white space, or an empty list."""
    return len(head) < HEAD and not head.strip(b"[] \t\r\n")


def together(records: Iterable[Any]) -> dict[str, Any] | None:
    """The keys of several records with their first values; None where no record is an object."""
    found: dict[str, Any] = {}
    seen = False
    for record in records:
        if isinstance(record, Mapping):
            seen = True
            for key, value in record.items():
                if found.get(key) is None:
                    found[key] = value
    return found if seen else None


def paths(record: Any, above: str = "") -> Iterator[str]:
    """The names of the values one could slice by: `label`, `meta.channel`."""
    if not isinstance(record, Mapping):
        return
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from paths(value, f"{above}{key}.")
        elif not isinstance(value, list):
            yield above + key


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
    if b"\0" in head and start not in (b"{", b"["):
        return "binary"
    if start == b"[" and not ending.endswith(TABLES):
        return "lines" if ending.endswith(LINES) and _many(head) else "list"
    if start == b"{" and not ending.endswith(TABLES):
        return "lines" if ending.endswith(LINES) or _many(head) else "object"
    if ending.endswith(LINES):
        return "lines"
    first = head.lstrip(b"\r\n").split(b"\n", 1)[0]
    return "table" if b"\t" in first or ending.endswith(TABLES) else "text"


def _many(head: bytes) -> bool:
    """Whether the first line is a value of its own and an object follows."""
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
    if shape in ("lines", "list"):
        records = _of_lines(text) if shape == "lines" else _of_list(text, start)
        first = next(records, None)
        return together((first, *islice(records, LOOKED_AT - 1))) or first
    return first_object(text, start) if shape == "object" else None


def _of_lines(text: str) -> Iterator[Any]:
    """The records of a head of lines, as far as each can be read."""
    for line in text.split("\n"):
        if line.strip():
            yield _value(line, _space(line, 0))


def _of_list(text: str, start: int) -> Iterator[Any]:
    """The items of a head of a list, up to the first that is cut off or broken."""
    at = _space(text, start + 1)
    decoder = json.JSONDecoder()
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield _value(text, at)
            return
        yield value
        at = _space(text, end)
        if text[at : at + 1] != ",":
            return
        at = _space(text, at + 1)


def _value(text: str, at: int) -> Any:
    """The value that starts at `text[at]`; of a broken object what comes before the break."""
    if text[at : at + 1] == "{":
        return first_object(text, at)
    try:
        return json.JSONDecoder().raw_decode(text, at)[0]
    except (ValueError, RecursionError):
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
