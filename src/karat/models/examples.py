"""What a model is asked to score: examples with their candidates, whatever file they came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Candidate(NamedTuple):
    """One way to go on. `word` is what stands at BLANK, empty in the intersentence test."""

    id: str
    sentence: str
    word: str = ""


class Example(NamedTuple):
    """A context and its candidates."""

    context: str
    candidates: tuple[Candidate, ...]


def from_rows(rows: Iterable[Mapping[str, Any]]) -> list[Example]:
    """The examples of rows with the columns of the data frames."""
    return [
        Example(
            row["context"],
            tuple(
                Candidate(row[f"c{i}_id"], row[f"c{i}_sentence"], row.get(f"c{i}_word") or "")
                for i in (1, 2, 3)
            ),
        )
        for row in rows
    ]


def pairs(examples: Sequence[Example]) -> Iterator[tuple[str, Candidate]]:
    """(context, candidate) in the order of the predictions file."""
    for example in examples:
        for candidate in example.candidates:
            yield example.context, candidate


def closed(context: str) -> str:
    """The context, with a full stop if it ends in none of `.`, `!` and `?`."""
    return context if context[-1:] in (".", "!", "?") else context + "."


def spread(examples: Sequence[Example], most: int) -> list[Example]:
    """At most that many examples, evenly spaced over the file."""
    n = len(examples)
    return [examples[i * n // most] for i in range(most)] if n > most else list(examples)
