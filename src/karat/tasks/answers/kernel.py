"""Exact match and F1 of every question, as the official scripts count them, to the type.

A score of the 2.0 script is the int 0 or 1 where one side has no words or nothing is shared, and a
float elsewhere. The types are kept, because from Python 3.12 on `sum` treats ints and floats
differently, and the last digits of the published number depend on it.

Most questions are settled by looking at the raw texts: nothing said, said as in a gold answer, or
something said where there is no answer. What is left is normalised many texts at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from karat.tasks.answers.normal import (
    ASCII_DELETED,
    ASCII_LOWER,
    VOID,
    Words,
    official_words,
    squad_words,
)

Number = int | float
BLOCK = 256
"""Questions whose texts are normalised together."""

_ARTICLES = frozenset({b"a", b"an", b"the"})
_PLAIN = bytes(range(32, 127)) + b"\n"


class Text(Protocol):
    """A gold answer."""

    @property
    def text(self) -> str: ...


Asked = tuple[int, str, Sequence[Text]]


def score(
    golds: Iterable[Sequence[Text]], said: Iterable[str | None], words: Words | None = None
) -> tuple[list[Number], list[Number]]:
    """(exact, f1) of each question by the 2.0 script; what was not said at all (None) is 0.

    `words` replaces the official normal form.
    """
    if words is not None:
        return _score_by(golds, said, words)
    exact: list[Number] = []
    f1: list[Number] = []
    hard: list[Asked] = []
    for answers, text in zip(golds, said, strict=True):
        right: Number = 0
        if text:
            if answers:
                for answer in answers:
                    if answer.text == text:
                        if text.strip(VOID):
                            right = 1
                            break
                else:
                    hard.append((len(exact), text, answers))
                if not right and hard[-1:] != [(len(exact), text, answers)]:
                    hard.append((len(exact), text, answers))
            elif not text.strip(VOID) and not squad_words(text):
                right = 1
        elif text is not None and (not answers or _void(answers)):
            right = 1
        exact.append(right)
        f1.append(right)
    return exact, f1
