"""What typed decoding cannot see in an object's keys: repeated ones and misspelt optional ones.

A cheap pass counts the byte pairs `":` of a piece of text. Where every record has as many keys as
the first one had and no optional key has gone missing, nothing can be wrong. Otherwise the piece
is decoded once more without a schema, and only the lines that cannot be explained are looked at.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import BoolArray
from karat.read.place import Place, printable
from karat.read.sniff import paths

STEP = 1 << 16
"""Bytes that NumPy looks at together: small enough to stay in the cache."""

Inside = Callable[[Sequence[Any]], int]

CLOSE = 0.75
MOST_NAMES = 1000
MOST_COLUMNS = 100


class KeyAudit:
    """Knows the keys of a schema and of the file's first record, and what departs from them.

    `inside` counts the keys of typed rows that stand in lists of objects (mentions, boxes), for
    the records that hold more of them in one row than in the next.
    `seen` holds the names of the keys that the records have, as far as anyone had to look.
    """

    def __init__(self, schema: type[msgspec.Struct], inside: Inside | None = None) -> None:
        self._decoder = msgspec.json.Decoder()
        self._schema, self._inside = schema, inside
        self._known = frozenset(schema.__struct_encode_fields__)
        fields = msgspec.structs.fields(schema)
        # What may be anything is no key of the schema but a field that the user named.
        self._optional = [f.encode_name for f in fields if not f.required and f.type is not Any]
        self._attribute = {f.encode_name: f.name for f in fields}
        self._near: dict[str, str | None] = {}
        self._usual = -1
        self._watched: list[attrgetter[Any]] = []
        self.seen: set[str] = set()

    def begin(self, text: bytes, first: dict[str, Any]) -> None:
        """Learn what is usual from the first record and the bytes it was read from."""
        self._usual = -1
        # A first record that is too deep to be counted teaches nothing.
        with contextlib.suppress(RecursionError):
            self._usual = self._usual_of(text, first)
        self.see(first)
        self.see(paths(first))
        odd = {self.near(key) for key in first}
        names = [name for name in self._optional if name in first or name in odd]
        self._watched = [attrgetter(self._attribute[name]) for name in names]

    def _usual_of(self, text: bytes, first: dict[str, Any]) -> int:
        # Lists of objects vary in length: unless someone counts inside them, no number is usual.
        counted = self._inside is not None or not any(map(_holds_objects, first.values()))
        if counted and text.count(b'":') == key_count(first):
            return key_count(first) - self._varying_of(first)
        return -1

    def suspects(self, text: bytes, rows: Sequence[Any]) -> list[int]:
        """Which rows of a piece of text deserve a slow look."""
        missing = any(msgspec.UNSET in map(value, rows) for value in self._watched)
        if not missing and count_pairs(text) == len(rows) * self._usual + self._varying(rows):
            return []
        try:
            return self._look(text, rows)
        except (msgspec.DecodeError, RecursionError):
            # What a schema skips may be deeper, or longer, than decoding without one takes.
            return list(range(len(rows)))

    def odd_line(self, line: bytes, row: Any) -> bool:
        """Whether one line deserves a slow look."""
        missing = any(value(row) is msgspec.UNSET for value in self._watched)
        return missing or line.count(b'":') != self._usual + self._varying([row])

    def _varying(self, rows: Sequence[Any]) -> int:
        """How many keys the rows have in the objects of which a record may hold any number."""
        return 0 if self._inside is None else self._inside(rows)

    def _varying_of(self, first: dict[str, Any]) -> int:
        """The same of a record that is not typed yet; 0 where it is broken."""
        if self._inside is None:
            return 0
        try:
            return self._inside([msgspec.convert(first, self._schema)])
        except msgspec.ValidationError:
            return 0

    def see(self, names: Iterable[str]) -> None:
        """Remember the names of keys, as long as they are not too many."""
        if len(self.seen) < MOST_NAMES:
            self.seen.update(names)

    def near(self, key: str) -> str | None:
        """The optional key that `key` may be a misspelling of."""
        if key in self._known:
            return None
        if key not in self._near and len(self._near) < MOST_NAMES:
            close = get_close_matches(key, self._optional, n=1, cutoff=CLOSE)
            self._near[key] = close[0] if close else None
        return self._near.get(key)

    def report(self, record: dict[str, Any], place: Place) -> None:
        """Report keys that look like misspelt optional ones."""
        self.see(record)
        for key in record:
            meant = self.near(key)
            if meant is not None and meant not in record:
                shown = printable(key)
                text = f"unknown key '{shown}' is ignored; did you mean '{meant}'?"
                place.add("key-typo", text, shown, severity="warning")

    def _look(self, text: bytes, rows: Sequence[Any]) -> list[int]:
        if text.lstrip()[:1] == b"[":
            plain = self._decoder.decode(text)
        else:
            plain = self._decoder.decode_lines(text)
        found: set[int] = set()
        names = set().union(*plain)
        self.see(names)
        odd = {key for key in names if self.near(key) is not None}
        if odd:
            found.update(i for i, row in enumerate(plain) if not odd.isdisjoint(row))
        pairs = count_pairs(text)
        if sum(map(len, plain)) != pairs and total_keys(plain) != pairs:
            found.update(self._miscounted(text, plain))
        return sorted(found)

    def _miscounted(self, text: bytes, plain: list[Any]) -> list[int]:
        lines = text.split(b"\n")
        if text.endswith(b"\n"):
            lines.pop()
        if len(lines) != len(plain):
            # A document: its items are not lines, so all of them are looked at.
            return list(range(len(plain)))
        return [i for i, line in enumerate(lines) if line.count(b'":') != key_count(plain[i])]


def key_count(value: Any) -> int:
    """How many keys an object has, those of the objects inside it included."""
    if isinstance(value, dict):
        inner = sum(key_count(v) for v in value.values() if v.__class__ in (dict, list))
        return len(value) + inner
    if value and value[0].__class__ in (dict, list):
        return sum(key_count(v) for v in value if v.__class__ in (dict, list))
    return 0


def total_keys(rows: Sequence[dict[str, Any]]) -> int:
    """The sum of `key_count` over many objects, column by column: they are mostly alike."""
    names = set().union(*rows)
    if len(names) > MOST_COLUMNS:
        return sum(map(key_count, rows))
    total = sum(map(len, rows))
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = set(map(type, values))
        if dict in kinds:
            total += total_keys([v for v in values if v.__class__ is dict])
        if list in kinds:
            total += sum(key_count(v) for v in values if v.__class__ is list)
    return total


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(key_count(value))


def count_pairs(text: bytes) -> int:
    """How often a quote and a colon follow each other."""
    view = np.frombuffer(text, dtype=np.uint8)
    total = 0
    for start in range(0, len(view), STEP):
        part = view[start : start + STEP + 1]
        pair: BoolArray = (part[:-1] == ord('"')) & (part[1:] == ord(":"))
        total += int(np.count_nonzero(pair))
    return total
