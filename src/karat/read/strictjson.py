"""The slow look at one JSON text: every defect of the text itself, and its value all the same.

Typed decoding stops at the first trouble and cannot see repeated keys. This reader takes what
Python's `json` takes, notes what JSON forbids, and hands on the value for the checks of the task.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from typing import Any, NamedTuple

from karat.model.problem import Severity
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


Path = tuple[str | int, ...]
"""Where a part stands in a value: the keys and places on the way to it."""


class Defect(NamedTuple):
    """Something that JSON forbids, and where it stands in the value."""

    code: str
    message: str
    path: Path
    severity: Severity = "error"


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
            message = f"not valid JSON: {error.msg.removesuffix(' at')} at column {column}{hint}"
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
            place.add(*_unwritable(name))
        for number in self._huge:
            place.add(*_unwritable(number))
        report_defects(value, (), place)
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
            return Spoiled(text)
        return number

    def _constant(self, name: str) -> float:
        self._literals.append(name)
        return Spoiled(name)


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


def written(parts: Path) -> str:
    """A path as messages show it."""
    return printable(str(reduce(path, parts, "")))


UNWRITABLE = ("nan-literal", "number-overflow")
"""The codes of numbers that JSON does not have."""


def _unwritable(number: str) -> tuple[str, str]:
    """The code and the message of a number that JSON does not have."""
    if number[-1].isdigit():
        return "number-overflow", f"{number[:40]} is too large for a number of 64 bits"
    return "nan-literal", f"bare {number} is not JSON; drop the row or write a finite number"


def report_defects(value: Any, where: Path, place: Place) -> None:
    """Report repeated keys and half surrogate pairs in a value that stands at `where`."""
    for code, message, path, severity in defects(value):
        if code not in UNWRITABLE:
            place.add(code, message, written((*where, *path)), severity=severity)


def defects(value: Any) -> Iterator[Defect]:
    """All that JSON forbids inside a value that a StrictReader gave, in the order of the text."""
    # A list of what is left and no recursion: a value may be deeper than calls may be.
    left: list[tuple[Path, Any]] = [((), value)]
    while left:
        at, one = left.pop()
        if isinstance(one, str):
            half = HALF_PAIR.search(one)
            if half:
                text = f"text holds half of a surrogate pair (\\u{ord(half[0]):04x})"
                yield Defect("lone-surrogate", f"{text}; it is kept as it is", at, "warning")
        elif isinstance(one, Spoiled):
            yield Defect(*_unwritable(one.text), at)
        elif isinstance(one, dict):
            for key, times in getattr(one, "times", {}).items():
                if times > 1:
                    often = "twice" if times == 2 else f"{times} times"
                    text = f"key '{printable(key)}' appears {often} in one object"
                    text = f"{text}; JSON readers keep only the last value"
                    yield Defect("duplicate-key", text, (*at, key))
            left += [((*at, key), item) for key, item in reversed(one.items())]
        elif isinstance(one, list):
            left += [((*at, i), one[i]) for i in range(len(one) - 1, -1, -1)]
