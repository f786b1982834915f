"""The slow look at one JSON text: every defect of the text itself, and its value all the same.

Typed decoding stops at the first trouble and cannot see repeated keys. This reader takes what
Python's `json` takes, notes what JSON forbids, and hands on the value for the checks of the task.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from karat.read.place import Place, Spoiled, Written, printable

HALF_PAIR = re.compile("[\ud800-\udfff]")
NAMES = re.compile(r"\b(?:None|True|False)\b")


class Malformed(Exception):
    """The text is no JSON at all; `at` is the offset, `message` the whole sentence."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class Repeated(dict[str, Any]):
    """An object in which keys were repeated; `times` counts them."""

    times: Counter[str]


class StrictReader:
    """Reads one value at a time and remembers what was wrong inside it."""

    def __init__(self) -> None:
        self._literals: list[str] = []
        self._huge: list[str] = []
        self._repeats = False
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs,
            parse_float=self._number,
            parse_constant=self._constant,
        )

    def read(self, text: str, at: int = 0) -> tuple[Any, int]:
        """The value that starts at `at` and the offset behind it. Raises Malformed."""
        self.forget()
        try:
            return self._decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            column = error.pos - text.rfind("\n", 0, error.pos)
            hint = _hint(text, error.pos)
            message = f"not valid JSON: {error.msg} at column {column}{hint}"
            raise Malformed(message, error.pos) from None
        except RecursionError:
            raise Malformed("not valid JSON: nested too deeply", at) from None
        except ValueError:
            # Python refuses to make an integer of so many digits.
            raise Malformed("a whole number has too many digits to be read", at) from None

    def forget(self) -> None:
        """Forget what was wrong with the last value."""
        self._literals.clear()
        self._huge.clear()
        self._repeats = False

    def report(self, value: Any, place: Place) -> bool:
        """Whether the last value read was free of errors; what was wrong is reported."""
        for name in dict.fromkeys(self._literals):
            text = f"bare {name} is not JSON; drop the row or write a finite number"
            place.add("nan-literal", text)
        for number in self._huge:
            place.add("number-overflow", f"{number[:40]} is too large for a number of 64 bits")
        if self._repeats:
            report_repeats(value, "", place)
        report_half_pairs(value, "", place)
        return not (self._literals or self._huge or self._repeats)

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        self._repeats = True
        repeated = Repeated(found)
        repeated.times = Counter(key for key, _ in pairs)
        return repeated

    def _number(self, text: str) -> float:
        number = Written(text)
        if number in (float("inf"), float("-inf")):
            self._huge.append(text)
            return Spoiled("nan")
        return number

    def _constant(self, name: str) -> float:
        self._literals.append(name)
        return Spoiled("nan")


def path(parent: str, key: str | int) -> str:
    """The path of a member: `meta.channel`, `entities[2]`."""
    if isinstance(key, int):
        return f"{parent}[{key}]"
    return f"{parent}.{key}" if parent else key


def ordinary(value: Any) -> Any:
    """The value with plain numbers in place of those that know how they were written."""
    if isinstance(value, dict):
        return {key: ordinary(item) for key, item in value.items()}
    if isinstance(value, list):
        return [ordinary(item) for item in value]
    return float(value) if isinstance(value, Written) else value


def _hint(text: str, at: int) -> str:
    """What a text that is no JSON may be instead."""
    if text[at : at + 1] == "'":
        return " (single quotes: looks like Python repr; use json.dumps)"
    name = NAMES.match(text, at)
    return f" ({name[0]}: looks like Python repr; use json.dumps)" if name else ""


def report_repeats(value: Any, where: str, place: Place) -> None:
    """Report the keys that were repeated in any object of a value."""
    if isinstance(value, dict):
        for key, times in getattr(value, "times", {}).items():
            if times > 1:
                often = "twice" if times == 2 else f"{times} times"
                text = f"key '{printable(key)}' appears {often} in one object"
                place.add(
                    "duplicate-key",
                    f"{text}; JSON readers keep only the last value",
                    printable(path(where, key)),
                )
        for key, item in value.items():
            report_repeats(item, path(where, key), place)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            report_repeats(item, path(where, i), place)


def report_half_pairs(value: Any, where: str, place: Place) -> None:
    """Warn of the texts of a value that hold half of a surrogate pair."""
    if isinstance(value, str):
        half = HALF_PAIR.search(value)
        if half:
            text = (
                f"text holds half of a surrogate pair (\\u{ord(half[0]):04x}); it is kept as it is"
            )
            place.add("lone-surrogate", text, printable(where), severity="warning")
    elif isinstance(value, dict):
        for key, item in value.items():
            report_half_pairs(item, path(where, key), place)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            report_half_pairs(item, path(where, i), place)
