"""Fields of both sides as joint codes: equal values, equal codes, whichever side they are on.

A key of several fields is one code too, so that matching mentions is matching integers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.errors import UsageError
from karat.model.pairs import BoolArray, IntArray
from karat.tasks.linking.annotations import Annotations

PLAIN = (
    "docid", "start", "end", "span", "eid", "kbid", "score", "type", "is_nil", "is_linked",
    "is_first", "candidates", "link",
)  # fmt: skip
"""The fields that every mention has."""


@dataclass(frozen=True)
class Coded:
    """One field or key: codes of gold and system in range(size)."""

    gold: IntArray
    system: IntArray
    size: int

    @classmethod
    def of(cls, parts: Sequence[IntArray], size: int) -> Coded:
        """From both sides, gold first."""
        return cls(parts[0], parts[1], size)

    def joint(self) -> IntArray:
        """Both sides in one array, gold first."""
        return np.concatenate([self.gold, self.system])


class Fields:
    """The fields of two sides; what was coded once is kept.

    A candidate without a member that others hold in their types has None there; `strict` refuses.
    """

    def __init__(self, gold: Annotations, system: Annotations, strict: bool = False) -> None:
        self.gold, self.system, self.strict = gold, system, strict
        self._kept: dict[tuple[str, ...], Coded] = {}

    def key(self, names: Sequence[str]) -> Coded:
        """The joint code of several fields."""
        names = tuple(names)
        # docid, start and end together are the span, which is likely to be coded already.
        if {"docid", "start", "end"} <= set(names):
            names = ("span", *(n for n in names if n not in ("docid", "start", "end", "span")))
        if names not in self._kept:
            self._kept[names] = self._compound(names) if len(names) > 1 else self._single(names[0])
        return self._kept[names]

    def keep(self, name: str) -> tuple[BoolArray, BoolArray]:
        """Which mentions of gold and system a filter keeps: those whose field is true."""
        name = _bare(name)
        if name == "span":
            return np.ones(len(self.gold), dtype=bool), np.ones(len(self.system), dtype=bool)
        if name in ("candidates", "link"):
            return self.gold.candidates > 0, self.system.candidates > 0
        coded = self.key((name,))
        true = np.array([bool(value) for value in self.values(name)], dtype=np.bool_)
        return true[coded.gold], true[coded.system]

    def candidate_kbid(self, side: Annotations) -> IntArray:
        """The code that `kbid` has for each candidate of a side, not only the best."""
        codes = _recoded(side.ids, self._ids) + 1
        return np.where(side.nil_ids, 0, codes)[side.eid]

    def values(self, name: str) -> list[Any]:
        """The value of each code of a field."""
        name = _bare(name)
        coded = self.key((name,))
        if name == "docid":
            return list(self._docs)
        if name in ("eid", "kbid"):
            return [None, *self._ids]
        if name in ("is_nil", "is_linked"):
            return [None, False, True]
        if name == "is_first":
            return [False, True]
        if name == "span":
            return [list(value) for value in self._sample(name, coded)]
        return self._sample(name, coded)

    def _sample(self, name: str, coded: Coded) -> list[Any]:
        """A value of each code, from any mention that has it."""
        joint = coded.joint()
        out: list[Any] = [None] * coded.size
        codes, rows = np.unique(joint, return_index=True)
        n = len(self.gold)
        for code, row in zip(codes.tolist(), rows.tolist(), strict=True):
            side, at = (self.gold, row) if row < n else (self.system, row - n)
            out[code] = self._value(name, side, at)
        return out

    def _value(self, name: str, side: Annotations, row: int) -> Any:
        if name == "span":
            return side.docs[side.doc[row]], int(side.start[row]), int(side.end[row])
        if name in ("start", "end"):
            return int(getattr(side, name)[row])
        if name == "score":
            score = float(side.top_score[row])
            return None if np.isnan(score) else score
        kind = int(side.top_kind[row])
        return None if kind < 0 else _of_type(side.kinds[kind]).get(name)

    @cached_property
    def _docs(self) -> dict[str, int]:
        return _united(self.gold.docs, self.system.docs)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return _united(self.gold.ids, self.system.ids)

    def _single(self, name: str) -> Coded:
        bare = _bare(name)
        if bare != name:
            return self.key((bare,))
        sides = (self.gold, self.system)
        if name == "docid":
            parts = [_recoded(s.docs, self._docs)[s.doc] for s in sides]
            return Coded.of(parts, len(self._docs))
        if name == "eid":
            parts = [np.append(_recoded(s.ids, self._ids) + 1, 0)[s.top_eid] for s in sides]
            return Coded.of(parts, len(self._ids) + 1)
        if name == "kbid":
            eid = self.key(("eid",))
            parts = [
                np.where(s.is_linked, c, 0)
                for s, c in zip(sides, (eid.gold, eid.system), strict=True)
            ]
            return Coded.of(parts, eid.size)
        if name in ("is_nil", "is_linked"):
            # A mention without candidate is neither true nor false.
            parts = [np.where(s.candidates > 0, 1 + getattr(s, name), 0) for s in sides]
            return Coded.of(parts, 3)
        if name == "is_first":
            doc, eid = self.key(("docid",)), self.key(("eid",))
            parts = [
                _is_first(d * eid.size + e)
                for d, e in ((doc.gold, eid.gold), (doc.system, eid.system))
            ]
            return Coded.of(parts, 2)
        if name in ("candidates", "link"):
            raise UsageError(f"{name} filters mentions, but they cannot be compared by it")
        if name == "span":
            return self._compound(("docid", "start", "end"))
        if name in ("start", "end"):
            return _dense([getattr(s, name) for s in sides])
        if name == "score":
            return _dense([np.where(np.isnan(s.top_score), -np.inf, s.top_score) for s in sides])
        return self._from_type(name)

    def _from_type(self, name: str) -> Coded:
        """`type`, or another field that a type written as JSON holds."""
        known: dict[Any, int] = {None: 0}
        parts, found = [], name == "type"
        for side in (self.gold, self.system):
            levels = [_of_type(kind) for kind in side.kinds]
            found = found or any(name in level for level in levels)
            if self.strict:
                _all_have(side, name, levels)
            codes = [_code(known, level.get(name), name) for level in levels]
            parts.append(np.array([*codes, 0], dtype=np.int64)[side.top_kind])
        if not found:
            raise UsageError(
                f"mentions have no field {name!r}", help=f"there are {', '.join(PLAIN)}"
            )
        return Coded.of(parts, len(known))

    def _compound(self, names: tuple[str, ...]) -> Coded:
        if len(names) > 2:
            left, right = (
                self.key(names[:-1]) if names[0] == "span" else self._chain(names[:-1]),
                self.key(names[-1:]),
            )
        else:
            left, right = self.key(names[:1]), self.key(names[1:])
        return _crossed(left, right)

    def _chain(self, names: tuple[str, ...]) -> Coded:
        coded = self.key(names[:1])
        for name in names[1:]:
            coded = _crossed(coded, self.key((name,)))
        return coded


def densely(values: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """Codes in range(size) in the order of the values, and the size."""
    if not len(values):
        return np.zeros(0, dtype=np.int64), 0
    if values.dtype.kind == "i":
        low = values.min()
        # Where the range is not much wider than the data, marking beats sorting.
        if int(values.max()) - int(low) < 4 * len(values) + 1024:
            shifted = values - low
            rank = np.cumsum(np.bincount(shifted) > 0) - 1
            return rank[shifted], int(rank[-1]) + 1
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64, copy=False), len(distinct)


def _dense(parts: Sequence[npt.NDArray[Any]]) -> Coded:
    codes, size = densely(np.concatenate(list(parts)))
    return Coded(codes[: len(parts[0])], codes[len(parts[0]) :], size)


def _crossed(left: Coded, right: Coded) -> Coded:
    """The code of two together; sizes stay below the number of mentions, so nothing overflows."""
    parts = [
        a * np.int64(right.size) + b
        for a, b in ((left.gold, right.gold), (left.system, right.system))
    ]
    return _dense(parts)


def _united(first: Sequence[str], second: Sequence[str]) -> dict[str, int]:
    out = {text: i for i, text in enumerate(first)}
    for text in second:
        out.setdefault(text, len(out))
    return out


def _recoded(levels: Sequence[str], known: dict[str, int]) -> IntArray:
    return np.fromiter(map(known.__getitem__, levels), dtype=np.int64, count=len(levels))


def _is_first(key: IntArray) -> IntArray:
    """1 where a code comes up for the first time."""
    out = np.zeros(len(key), dtype=np.int64)
    out[np.unique(key, return_index=True)[1]] = 1
    return out


def _bare(name: str) -> str:
    """`link.eid` is the same as `eid`."""
    head, _, rest = name.partition(".")
    if head == "link" and rest:
        return {"id": "eid"}.get(rest, rest)
    if rest:
        raise UsageError(f"mentions have no field {name!r}", help=f"there are {', '.join(PLAIN)}")
    return name


def _of_type(kind: str) -> dict[str, Any]:
    """The fields that a type cell holds: itself, or the members of the JSON object it is."""
    if not kind.startswith("{"):
        return {"type": kind}
    fields: dict[str, Any] = json.loads(kind)
    return fields


def _all_have(side: Annotations, name: str, levels: Sequence[dict[str, Any]]) -> None:
    """Return if every best candidate has a field; one without any type has no other field."""
    lacking = np.array([*(name not in level for level in levels), name != "type"], dtype=np.bool_)
    rows = np.flatnonzero(lacking[side.top_kind] & (side.candidates > 0))
    if len(rows):
        place = f"{side.name}:{int(side.line[rows[0]])}"
        raise UsageError(f"{place}: this mention has no field {name!r}")


def _code(known: dict[Any, int], value: Any, name: str) -> int:
    if isinstance(value, (list, dict)):
        raise UsageError(f"{name} holds a list or object in some type, so it cannot be compared")
    return known.setdefault(value, len(known))
