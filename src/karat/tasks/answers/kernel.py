"""Exact match and F1 of every question, as the official scripts count them, to the type.

A score of the 2.0 script is the int 0 or 1 where one side has no words or nothing is shared, and a
float elsewhere. The types are kept, because from Python 3.12 on `sum` treats ints and floats
differently, and the last digits of the published number depend on it.

Most questions are settled by looking at the raw texts: nothing said, said as in a gold answer, or
something said where there is no answer. What is left is normalised many texts at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from operator import attrgetter, not_
from typing import Any, Protocol

from karat.tasks.answers.normal import (
    ARTICLES,
    ASCII_DELETED,
    ASCII_LOWER,
    VOID,
    Words,
    official_words,
)

Number = int | float
Tokens = Sequence[Any]
Rule = Callable[[Tokens, Iterable[Tokens]], tuple[Number, Number]]
"""(exact, f1) of the words said, given the words of each gold answer."""

BLOCK = 256
"""Questions that are looked at together: enough to normalise many texts at a time, and few enough
that they are still in the processor's cache."""

_ARTICLE = re.compile(b" (?:" + "|".join(sorted(ARTICLES)).encode() + b")(?= )")
_VOID = frozenset(VOID)
_TEXT = attrgetter("text")
_HARMLESS = b"\n" + bytes(range(32, 127)) + bytes(range(128, 256))


Hard = tuple[int, str, Sequence[Any]]
"""A question that needs the normal form: its place, what was said, its gold answers."""


class Text(Protocol):
    """A gold answer."""

    @property
    def text(self) -> str:
        """What it says."""


def best20(said: Tokens, golds: Iterable[Tokens]) -> tuple[Number, Number]:
    """The rule of 2.0: gold answers without words are dropped; without any, silence is right."""
    best: Number = 0
    empty = True
    bag = set(said)
    repeats = len(bag) < len(said)
    for gold in golds:
        if gold:
            if gold == said:
                return 1, 1.0
            empty = False
            same = shared(said, gold) if repeats else len(bag.intersection(gold))
            if same:
                f1 = f1_of(same, said, gold)
                if f1 > best:  # noqa: PLR1730 - calling max takes longer than all the rest
                    best = f1
    if empty:
        return int(not said), int(not said)
    return 0, best


def best11(said: Tokens, golds: Iterable[Tokens]) -> tuple[Number, Number]:
    """The rule of 1.1: every gold answer counts, and two empty sides share nothing."""
    exact, best = 0, 0.0
    for gold in golds:
        exact = exact or int(gold == said)
        best = max(best, overlap(said, gold))
    return exact, best


def overlap(said: Tokens, gold: Tokens) -> Number:
    """F1 of two bags of words; the int 0 where they share none."""
    same = shared(said, gold)
    return f1_of(same, said, gold) if same else 0


def f1_of(same: int, said: Tokens, gold: Tokens) -> float:
    """F1 of two bags of words that share some, in the official order of operations."""
    precision, recall = same / len(said), same / len(gold)
    return (2 * precision * recall) / (precision + recall)


def shared(said: Tokens, gold: Tokens) -> int:
    """How many words two texts have in common, each counted as often as both have it."""
    left = list(gold)
    same = 0
    for word in said:
        if word in left:
            left.remove(word)
            same += 1
    return same


def score(
    golds: Sequence[Sequence[Text]],
    said: Sequence[str | None],
    rule: Rule = best20,
    words: Words | None = None,
) -> tuple[list[Number], list[Number]]:
    """(exact, f1) of each question; what was not said at all (None) is 0.

    `words` replaces the official normal form.
    """
    if words is not None:
        return _score_by(golds, said, rule, words)
    exact: list[Number] = [0] * len(said)
    f1: list[Number] = [0] * len(said)
    for start in range(0, len(said), BLOCK):
        block = slice(start, start + BLOCK)
        hard = _triage(golds[block], said[block], start, rule((), ()), exact, f1)
        if hard:
            _settle(hard, rule, exact, f1)
    return exact, f1


def _triage(
    golds: Sequence[Sequence[Text]],
    said: Sequence[str | None],
    start: int,
    silence: tuple[Number, Number],
    exact: list[Number],
    f1: list[Number],
) -> list[Hard]:
    """The questions that need the normal form; the scores above 0 of all others are written."""
    hard: list[Hard] = []
    places = range(start, start + len(said))
    for at, answers, text in zip(places, golds, said, strict=True):
        if not answers:
            if text == "":
                exact[at], f1[at] = silence
            elif text is not None and text[0] in _VOID and not text.strip(VOID):
                hard.append((at, text, answers))
        elif text:
            for answer in answers:
                if answer.text == text and (text[0] not in _VOID or text.strip(VOID)):
                    exact[at], f1[at] = 1, 1.0
                    break
            else:
                hard.append((at, text, answers))
        elif text is not None and not all(answer.text.strip(VOID) for answer in answers):
            hard.append((at, text, answers))
    return hard


def _settle(hard: Sequence[Hard], rule: Rule, exact: list[Number], f1: list[Number]) -> None:
    """Write the scores of questions that need the normal form."""
    texts: list[str] = []
    for _, text, answers in hard:
        texts.append(text)
        texts += map(_TEXT, answers)
    lines = _normal_lines(texts)
    end = 0
    for at, _, answers in hard:
        line, start = lines[end], end + 1
        end = start + len(answers)
        golden = lines[start:end]
        if line in golden and line.strip():
            exact[at], f1[at] = 1, 1.0
        else:
            exact[at], f1[at] = rule(line.split(), map(bytes.split, golden))


def _normal_lines(texts: Sequence[str]) -> list[bytes]:
    """The texts in normal form, but for runs of blanks."""
    data = _joined(texts, map(str.isascii, texts))
    # Control characters are edges of words in the official form, and a line end inside a text would
    # shift all that follow: texts that have any go the long way.
    if data.translate(None, _HARMLESS) or data.count(b"\n") != len(texts) - 1:
        data = _joined(texts, [text.isascii() and text.isprintable() for text in texts])
    data = b" " + data.translate(ASCII_LOWER, ASCII_DELETED) + b" "
    return _ARTICLE.sub(b"", data).split(b"\n")


def _joined(texts: Sequence[str], plain: Iterable[bool]) -> bytes:
    """The texts as lines between blanks; those that are not plain are in normal form already."""
    lines = list(texts)
    for at in compress(range(len(texts)), map(not_, plain)):
        lines[at] = " ".join(official_words(texts[at]))
    return " \n ".join(lines).encode("utf-8", "surrogatepass")


def _score_by(
    golds: Iterable[Sequence[Text]], said: Iterable[str | None], rule: Rule, words: Words
) -> tuple[list[Number], list[Number]]:
    """(exact, f1) with another normal form."""
    exact: list[Number] = []
    f1: list[Number] = []
    for answers, text in zip(golds, said, strict=True):
        hit: Number = 0
        degree: Number = 0
        if text is not None:
            hit, degree = rule(words(text), [words(answer.text) for answer in answers])
        exact.append(hit)
        f1.append(degree)
    return exact, f1
