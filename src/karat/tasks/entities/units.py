"""Offsets that count bytes or UTF-16 units: they slip off the words once a text is not ASCII."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.pairs import BoolArray, IntArray
from karat.model.task import Source
from karat.read.pick import pick
from karat.tasks.entities.columns import Written
from karat.tasks.entities.ends import FEWEST_VOTES, MAJORITY, WORD, Texts, character_class

UNITS = {"UTF-16 units": ("utf_16_le", 2), "UTF-8 bytes": ("utf_8", 1)}
"""What offsets may count instead of characters -> the encoding, and the bytes of a unit."""

MOST_TEXTS = 200
"""So many texts are read again at most."""


@dataclass(frozen=True, slots=True)
class Slipped:
    """Spans of texts beyond ASCII that do not stop at words, in one text."""

    text: str
    edges: list[tuple[int, int]]

    def fitting(self, encoding: str, size: int) -> int:
        """How many of them stop at words if their edges count units of the encoding."""
        widths = (len(c.encode(encoding, "surrogatepass")) // size for c in self.text)
        place, at = {0: 0}, 0
        for i, width in enumerate(widths, 1):
            at += width
            place[at] = i
        return sum(_stops_at_words(self.text, place.get(a), place.get(b)) for a, b in self.edges)


def check_units(side: Written, texts: Texts, sane: BoolArray, end: IntArray, gold: Source) -> None:
    """Warn where spans that miss the words would fit them if offsets counted something else.

    `sane` are the spans that could be looked up in their text if it were long enough, `end` the
    exclusive ends.
    """
    if not sane.any():
        return
    at = np.flatnonzero(sane & ~texts.ascii[np.where(sane, side.doc, 0)])
    doc, start, stop = side.doc[at], side.start[at], end[at]
    stops = (texts.of(doc, stop - 1) == WORD) & (texts.of(doc, stop) != WORD)
    stops &= (texts.of(doc, start) == WORD) & (texts.of(doc, start - 1) != WORD)
    missed = at[~stops]
    chosen = np.unique(side.doc[missed])[:MOST_TEXTS]
    missed = missed[np.isin(side.doc[missed], chosen)]
    if len(missed) < FEWEST_VOTES:
        return
    found = [
        Slipped(
            str(record.get("text", "")),
            [(int(side.start[i]), int(end[i])) for i in missed[side.doc[missed] == d].tolist()],
        )
        for d, (_, record) in pick(gold, chosen.tolist()).items()
    ]
    for unit, (encoding, size) in UNITS.items():
        fitting = sum(one.fitting(encoding, size) for one in found)
        if fitting >= MAJORITY * len(missed):
            message = (
                f"{len(missed)} spans of texts that are not plain ASCII miss the words, but "
                f"{fitting} of them fit if offsets count {unit}; here they count characters"
            )
            side.reader.place().add("offset-units", message, side.key, severity="warning")
            return


def _stops_at_words(text: str, start: int | None, end: int | None) -> bool:
    """Whether a span starts and ends with a word; None is no place in the text."""
    if start is None or end is None or start >= end:
        return False
    word = [character_class(c) == WORD for c in (text[start], text[end - 1])]
    outside = [
        character_class(c) == WORD for c in (text[start - 1 : start], text[end : end + 1]) if c
    ]
    return all(word) and not any(outside)
