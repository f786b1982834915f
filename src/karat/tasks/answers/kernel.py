"""Exact match and F1 of every question, as the official scripts count them, to the type.

A score of the 2.0 script is the int 0 or 1 where one side has no words or nothing is shared, and a
float elsewhere. The types are kept, because from Python 3.12 on `sum` treats ints and floats
differently, and the last digits of the published number depend on it.

Most questions are settled by looking at the raw texts: nothing said, said as in a gold answer, or
something said where there is no answer. What is left is normalised many texts at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from karat.tasks.answers.normal import (
    ARTICLES,
    ASCII_DELETED,
    ASCII_LOWER,
    VOID,
    Words,
    official_words,
    squad_words,
)

Number = int | float
Tokens = Sequence[Any]
Rule = Callable[[Tokens, Iterable[Tokens]], tuple[Number, Number]]
"""(exact, f1) of the words said, given the words of each gold answer."""

BLOCK = 256
"""Questions whose texts are normalised together."""

_ARTICLES = tuple(f" {word} ".encode() for word in sorted(ARTICLES))
_VOID = frozenset(VOID)
_HARMLESS = b"\n" + bytes(range(32, 127)) + bytes(range(128, 256))


class Text(Protocol):
    """A gold answer."""

    @property
    def text(self) -> str:
        """What it says."""


Hard = tuple[int, str, Sequence[Text]]
"""A question that needs the normal form: its place, what was said, its gold answers."""


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
                best = max(best, f1_of(same, said, gold))
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
    hard: list[Hard] = []
    silence = rule((), ())
    for at, (answers, text) in enumerate(zip(golds, said, strict=True)):
        if answers and text:
            for answer in answers:
                if answer.text == text and _speaks(text):
                    exact[at], f1[at] = 1, 1.0
                    break
            else:
                hard.append((at, text, answers))
        elif not answers and text == "":
            exact[at], f1[at] = silence
        elif text is not None and _undecided(answers, text):
            golden = (squad_words(answer.text) for answer in answers)
            exact[at], f1[at] = rule(squad_words(text), golden)
    for start in range(0, len(hard), BLOCK):
        _settle(hard[start : start + BLOCK], exact, f1, rule)
    return exact, f1


def _speaks(text: str) -> bool:
    """Whether a text that is not empty surely has words; if not, it may have some all the same."""
    return text[0] not in _VOID or bool(text.strip(VOID))


def _undecided(answers: Sequence[Text], text: str) -> bool:
    """Whether a side that looks empty may equal the other one: if not, the score is 0."""
    if text:
        return not _speaks(text)
    return any(not answer.text or not _speaks(answer.text) for answer in answers)


def _settle(
    block: Sequence[Hard],
    exact: list[Number],
    f1: list[Number],
    rule: Rule,
) -> None:
    """Write the scores of questions that need the normal form."""
    texts: list[str] = []
    sizes: list[int] = []
    for _, text, answers in block:
        golds = {answer.text for answer in answers}
        texts.append(text)
        texts += golds
        sizes.append(len(golds))
    bags = list(map(bytes.split, _normal_lines(texts)))
    end = 0
    for (place, _, _), size in zip(block, sizes, strict=True):
        start, end = end, end + 1 + size
        exact[place], f1[place] = rule(bags[start], bags[start + 1 : end])


def _normal_lines(texts: list[str]) -> list[bytes]:
    """The texts in normal form, but for runs of blanks."""
    joined = "\n".join(texts)
    if not joined.isascii():
        joined = "\n".join([t if t.isascii() else " ".join(official_words(t)) for t in texts])
    data = joined.encode("utf-8", "surrogatepass")
    # Control characters are edges of words in the official form, and a line end inside a text
    # would shift all that follow: such blocks go the long way.
    if not data.translate(None, _HARMLESS):
        data = data.translate(ASCII_LOWER, ASCII_DELETED)
        # Two blanks between words and one at each end, so that no two words share a blank.
        data = b" " + data.replace(b" ", b"  ").replace(b"\n", b" \n ") + b" "
        for article in _ARTICLES:
            data = data.replace(article, b" ")
        lines = data.split(b"\n")
        if len(lines) == len(texts):
            return lines
    return [" ".join(official_words(t)).encode("utf-8", "surrogatepass") for t in texts]


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
