"""Whether the end of a span is its last character or the place after it, told from the data.

Each span votes: under the right reading it stops at the edge of a word. Where votes are few, spans
count that have one reading only: those that end with the text, or start and end at one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, IntArray

Convention = Literal["exclusive", "inclusive"]

OTHER, WORD, SPACE = 0, 1, 2
FEWEST_VOTES = 5
FEWEST_AGAINST = 2
"""So many votes that all agree are believed where single spans prove the opposite."""

MAJORITY = 0.9

ClassArray = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Texts:
    """The characters of all documents by class.

    `at[d]` is where document d begins, `length[d]` how many characters it has, -1 where it could
    not be read; `ascii[d]` says that all of them are ASCII.
    """

    classes: ClassArray
    at: IntArray
    length: IntArray
    ascii: BoolArray

    def of(self, doc: IntArray, place: IntArray) -> ClassArray:
        """The class of the character at a place of a document; OTHER outside of it."""
        inside = (place >= 0) & (place < self.length[doc])
        if inside.all():
            return np.asarray(self.classes[self.at[doc] + place])
        found = self.classes[np.where(inside, self.at[doc] + place, 0)]
        return np.where(inside, found, np.uint8(OTHER)).astype(np.uint8)


class TextReader:
    """Collects texts batch by batch; keeps one byte a character."""

    def __init__(self) -> None:
        self._table: ClassArray | None = None
        self._classes: list[ClassArray] = []
        self._lengths: list[IntArray] = []
        self._ascii: list[BoolArray] = []

    def add(self, texts: list[str]) -> None:
        """Take the next texts."""
        joined = "\0".join(texts) + "\0" if texts else ""
        self._lengths.append(np.fromiter(map(len, texts), np.int64, len(texts)))
        if joined.isascii():
            points: npt.NDArray[np.integer] = np.frombuffer(joined.encode(), dtype=np.uint8)
            self._ascii.append(np.ones(len(texts), dtype=bool))
        else:
            packed = joined.encode("utf_32_le", "surrogatepass")
            points = np.frombuffer(packed, dtype=np.uint32)
            self._ascii.append(np.fromiter(map(str.isascii, texts), bool, len(texts)))
        self._classes.append(self._look_up(points))

    def skip(self, rows: int) -> None:
        """Take rows that could not be read; their texts have length -1."""
        self._lengths.append(np.full(rows, -1, dtype=np.int64))
        self._ascii.append(np.ones(rows, dtype=bool))

    def finish(self) -> Texts:
        """All texts."""
        length = _joined(self._lengths, np.int64)
        classes = _joined(self._classes, np.uint8)
        at = np.concatenate([[0], np.cumsum(length + 1)[:-1]]).astype(np.int64)[: len(length)]
        if not len(classes):
            classes = np.zeros(1, dtype=np.uint8)
        return Texts(classes, at, length, _joined(self._ascii, np.bool_))

    def _look_up(self, points: npt.NDArray[np.integer]) -> ClassArray:
        if self._table is None:
            self._table = np.fromiter(map(character_class, map(chr, range(128))), np.uint8, 128)
        most = int(points.max(initial=0))
        if most >= len(self._table) and most < 1 << 16:
            self._table = np.fromiter(
                map(character_class, map(chr, range(1 << 16))), np.uint8, 1 << 16
            )
        if most < len(self._table):
            return np.asarray(self._table[points])
        # Characters beyond the first plane are few: each distinct one is looked at.
        distinct, place = np.unique(points, return_inverse=True)
        found = np.fromiter(
            map(character_class, map(chr, distinct.tolist())), np.uint8, len(distinct)
        )
        return np.asarray(found[place])


def character_class(character: str) -> int:
    """WORD, SPACE or OTHER."""
    if character.isalnum() or character == "_":
        return WORD
    return SPACE if character.isspace() else OTHER


def _joined(parts: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a file says about its ends, and why. `convention` None: nothing decides it.

    `leaning` is where most of the votes of an undecided file point.
    """

    convention: Convention | None
    why: str
    mixed: bool = False
    leaning: Convention | None = None


def decide(texts: Texts, doc: IntArray, start: IntArray, end: IntArray) -> Verdict:
    """The convention of the ends of one file; `end` is as it was written."""
    for_exclusive, for_inclusive = votes(texts, doc, end)
    total = for_exclusive + for_inclusive
    if total >= FEWEST_VOTES:
        if for_exclusive >= MAJORITY * total:
            return Verdict("exclusive", _tally(for_exclusive, for_inclusive))
        if for_inclusive >= MAJORITY * total:
            return Verdict("inclusive", _tally(for_inclusive, for_exclusive))
    last, point = end == texts.length[doc], end == start
    at_end, same = int(last.sum()), int(point.sum())
    # What the spans that prove nothing say.
    plain = ~(last | point)
    one, other = votes(texts, doc[plain], end[plain])
    leaning: Convention | None = None
    if one != other:
        leaning = "exclusive" if one > other else "inclusive"
    agreed = max(one, other) if not min(one, other) else 0
    if agreed >= FEWEST_AGAINST and (at_end if other else same):
        return Verdict(leaning, _tally(agreed, 0))
    if at_end and same:
        return Verdict(
            None, f"{at_end} ends equal the length of the text, {same} equal the start", True
        )
    if at_end:
        return Verdict("exclusive", f"{at_end} ends equal the length of the text")
    if same:
        return Verdict("inclusive", f"{same} ends equal the start")
    if not total:
        return Verdict(None, "no span says")
    said = f"{for_exclusive} spans say exclusive, {for_inclusive} inclusive"
    return Verdict(None, said, leaning=leaning)


def _tally(most: int, others: int) -> str:
    return f"{most} to {others} spans stop at the edge of a word"


def votes(texts: Texts, doc: IntArray, end: IntArray) -> tuple[int, int]:
    """How many spans stop at the edge of a word under one reading only: exclusive, inclusive."""
    before, here, after = (texts.of(doc, end + step) for step in (-1, 0, 1))
    # The character that follows the text counts as an edge, but a span cannot reach it.
    inside = end < texts.length[doc]
    exclusive = (before == WORD) & (here != WORD)
    inclusive = (here == WORD) & (after != WORD) & inside
    return int((exclusive & ~inclusive).sum()), int((inclusive & ~exclusive).sum())
