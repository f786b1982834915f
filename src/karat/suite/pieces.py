"""Texts cut into pieces: words, pairs of words, characters; as codes, since there are millions."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from karat.model.pairs import IntArray

WORD = re.compile(r"\w+(?:[-']\w+)*")
Codes = npt.NDArray[np.integer]


class Words(NamedTuple):
    """The words of texts, in lower case: text i has `lengths[i]` of them, one behind another.

    Word j is `names[code[j]]`; names stand in the order in which they first occur.
    """

    lengths: npt.NDArray[np.int32]
    code: npt.NDArray[np.int32]
    names: list[str]

    @property
    def row(self) -> npt.NDArray[np.int32]:
        """The text of each word."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)

    def take(self, rows: IntArray) -> Words:
        """The words of the chosen texts, which ascend."""
        chosen = np.zeros(len(self.lengths), dtype=bool)
        chosen[rows] = True
        kept = np.repeat(chosen, self.lengths)
        return Words(self.lengths[rows], self.code[kept], self.names)


class _Vocabulary(dict[str, int]):
    """Word -> its code; a new word gets the next one."""

    def __missing__(self, word: str) -> int:
        self[word] = code = len(self)
        return code


def words(texts: Sequence[str]) -> Words:
    """The words of texts."""
    code_of, codes, lengths = _Vocabulary(), array("i"), array("i")
    for text in texts:
        found = WORD.findall(text.lower())
        lengths.append(len(found))
        codes.extend(map(code_of.__getitem__, found))
    return Words(np.array(lengths, np.int32), np.array(codes, np.int32), list(code_of))


def shared(first: Words, second: Words) -> tuple[Words, Words]:
    """Both under one list of names: those of the first, then what is new in the second."""
    names = dict.fromkeys(first.names)
    names.update(dict.fromkeys(second.names))
    place = {name: i for i, name in enumerate(names)}
    lookup = np.array([place[name] for name in second.names], dtype=np.int32)
    both = list(names)
    return first._replace(names=both), Words(second.lengths, lookup[second.code], both)


def without(text: Words, names: Collection[str]) -> Words:
    """The words but those of these names."""
    kept = ~np.fromiter((name in names for name in text.names), bool, len(text.names))[text.code]
    lengths = np.bincount(text.row[kept], minlength=len(text.lengths)).astype(np.int32)
    return Words(lengths, text.code[kept], text.names)


class Keys(NamedTuple):
    """The pieces of texts as whole numbers, which `name` turns into text; j is of text `row[j]`."""

    rows: int
    row: Codes
    key: Codes
    name: Callable[[int], str]


def single(text: Words) -> Keys:
    """The words themselves."""
    return Keys(len(text.lengths), text.row, text.code, text.names.__getitem__)


def pairs(text: Words) -> Keys:
    """Words that follow each other in a text."""
    row, width = text.row, len(text.names)
    inside = np.flatnonzero(row[1:] == row[:-1])
    key = text.code[inside].astype(np.int64) * width + text.code[inside + 1]

    def name(key: int) -> str:
        return f"{text.names[key // width]} {text.names[key % width]}"

    return Keys(len(text.lengths), row[inside], key, name)


def characters(texts: Sequence[str]) -> Keys:
    """Every character."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    row = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    return Keys(len(texts), row, np.frombuffer(joined, np.uint32).astype(np.int32), chr)
