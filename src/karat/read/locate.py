"""The lines on which parts of a JSON text stand.

Decoding keeps no places, so a text in which something is wrong is walked once more: parts on the
way to a wanted one are entered, all others are passed over in one step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from karat.read.strictjson import Path

_SPACE = re.compile(r"[ \t\n\r]*")


def lines_of(text: str, paths: Iterable[Path]) -> dict[Path, int]:
    """The line of each part that is found: that of its key, of the last one where it is repeated.

    The text must be JSON, or what Python takes for it.
    """
    wanted: dict[str | int, Any] = {}
    for path in paths:
        branch = wanted
        for part in path:
            branch = branch.setdefault(part, {})
    walk = _Walk(text)
    walk.value(0, (), wanted)
    lines: dict[Path, int] = {}
    line, counted = 1, 0
    for path, at in sorted(walk.found.items(), key=lambda one: one[1]):
        line, counted = line + text.count("\n", counted, at), at
        lines[path] = line
    return lines


class _Walk:
    """One walk through a text. `found` holds the offset of every part that was entered."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: dict[Path, int] = {}
        self._whole = json.JSONDecoder().raw_decode

    def value(self, at: int, path: Path, wanted: dict[str | int, Any]) -> int:
        """The offset behind the value that starts at `at`."""
        at = self._skip(at)
        self.found.setdefault(path, at)
        opening = self.text[at] if wanted else ""
        if opening == "{":
            return self._members(at + 1, path, wanted)
        if opening == "[":
            return self._items(at + 1, path, wanted)
        return self._whole(self.text, at)[1]

    def _members(self, at: int, path: Path, wanted: dict[str | int, Any]) -> int:
        at = self._skip(at)
        while self.text[at] == '"':
            key, end = self._whole(self.text, at)
            if key in wanted:
                self.found[*path, key] = at
            at = self._part(self._skip(end) + 1, path, key, wanted)
        return at + 1

    def _items(self, at: int, path: Path, wanted: dict[str | int, Any]) -> int:
        at, number = self._skip(at), 0
        while self.text[at] != "]":
            at = self._part(at, path, number, wanted)
            number += 1
        return at + 1

    def _part(self, at: int, path: Path, name: str | int, wanted: dict[str | int, Any]) -> int:
        """The offset of what follows a member or an item, behind the comma."""
        at = self._skip(at)
        if name in wanted:
            at = self.value(at, (*path, name), wanted[name])
        else:
            at = self._whole(self.text, at)[1]
        at = self._skip(at)
        return self._skip(at + 1) if self.text[at] == "," else at

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        assert found is not None
        return found.end()
