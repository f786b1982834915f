"""What a format can hold of mentions: the rest is left out or made up, and said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from karat.errors import DataError
from karat.model.problem import Problem, Problems
from karat.tasks.linking.annotations import NIL, Mention, by_document

FARTHEST = 10_000_000
"""The last position that may be a token: formats of tokens have a line for each up to it."""


@dataclass(frozen=True, slots=True)
class Holds:
    """What a format holds. `first` is its lowest position, None where any will do."""

    first: int | None = None
    several: bool = True
    scores: bool = True
    types: bool = True
    bare: bool = True
    blanks: bool = True
    tokens: bool = False


FORMATS = {
    "neleval": Holds(),
    "tac2014": Holds(bare=False),
    "tac2015": Holds(first=0, bare=False, blanks=False),
    "brat-links": Holds(first=0, several=False, scores=False),
    "conll-coref": Holds(1, several=False, scores=False, types=False, blanks=False, tokens=True),
    "aida": Holds(1, several=False, scores=False, types=False, blanks=False, tokens=True),
}

MADE: dict[str, tuple[Callable[[str | None], bool], str]] = {
    "tac2014": (lambda kind: kind is None, "the type UNKNOWN"),
    "tac2015": (lambda kind: "/" not in (kind or ""), "the mention type NAM"),
    "brat-links": (lambda kind: kind is None, "the type Mention"),
}
"""What is made up for a type that a format needs: for which types, and what."""

Told = tuple[str, int, str]
"""A code, how many there are, and what became of them."""

Dropped = Callable[[Sequence[Mention]], set[int]]
"""The places of the mentions that have to be left out."""


def carried(
    mentions: Sequence[Mention], target: str, file: str, problems: Problems
) -> list[Mention]:
    """The mentions that a format can hold. Raises DataError where it cannot hold the names."""
    holds = FORMATS[target]
    _check_names(mentions, holds, target, file)
    kept, said = list(mentions), []
    for why, find in _drops(holds, target):
        out = find(kept)
        kept = [one for i, one in enumerate(kept) if i not in out]
        said.append(("mention-dropped", len(out), f"mentions {why} and are left out"))
    if holds.tokens:
        _check_tokens(kept, target, file)
    for code, count, text in (*said, *_lost(kept, holds, target), *_made(kept, holds, target)):
        if count:
            problems.add(code, f"{count} {text}", file=file, severity="warning")
    return kept


def _lost(mentions: Sequence[Mention], holds: Holds, target: str) -> Iterator[Told]:
    """What is left out of mentions that stay."""
    best = [one.candidates[0] for one in mentions if one.candidates]
    if not holds.several:
        several = sum(len(one.candidates) > 1 for one in mentions)
        text = f"mentions have several candidates; {target} keeps the best one"
        yield "candidates-dropped", several, text
    if not holds.types:
        typed = sum(c.type is not None for c in best)
        yield "cells-dropped", typed, f"types are left out; {target} holds none"
    if not holds.scores:
        scored = sum(c.score not in (None, 1.0) for c in best)
        yield "cells-dropped", scored, f"scores are left out; {target} holds none"
    if target == "aida":
        names = Counter(c.eid for c in best if c.eid.startswith(NIL))
        together = sum(n for n in names.values() if n > 1)
        yield "clusters-dropped", together, "NIL mentions of clusters become NILs of their own"


def _made(mentions: Sequence[Mention], holds: Holds, target: str) -> Iterator[Told]:
    """What is changed or made up, since the format needs it."""
    if target == "brat-links":
        changed = {one.docid for one in mentions if file_name(one.docid) != one.docid}
        yield "name-changed", len(changed), "names of documents have _ for / in their files"
    if not holds.bare:
        bare = sum(not one.candidates for one in mentions)
        yield "nil-made", bare, "mentions without entity get a NIL of their own"
    if target in MADE:
        lacks, made = MADE[target]
        most = None if holds.several else 1
        kinds = (c.type for one in mentions for c in one.candidates[:most])
        yield "type-made", sum(map(lacks, kinds)), f"candidates get {made}"


def _check_names(mentions: Iterable[Mention], holds: Holds, target: str, file: str) -> None:
    """Return if every name can stand in a cell, and documents in a first line or a place."""
    documents = {one.docid for one in mentions}
    if target == "brat-links" and len({file_name(name) for name in documents}) < len(documents):
        text = "names of documents that differ in / and _ alone would be one file"
        raise DataError([Problem("name-unwritable", "error", text, file)])
    others = {text for one in mentions for c in one.candidates for text in (c.eid, c.type or "")}
    for name in sorted(documents | others):
        blank = not holds.blanks and name in documents and any(map(str.isspace, name))
        if blank or any(ord(letter) < ord(" ") for letter in name):
            text = f"{name[:60]!r} cannot be written as {target}: white space or control characters"
            raise DataError([Problem("name-unwritable", "error", text, file)])


def file_name(docid: str) -> str:
    """The name of a document's file, without its extension."""
    return docid.replace("/", "_")


def _check_tokens(mentions: Iterable[Mention], target: str, file: str) -> None:
    far = max((one.end for one in mentions), default=0)
    if far > FARTHEST:
        text = f"position {far} is no token; {target} has a line for every token up to it"
        raise DataError([Problem("offset-too-large", "error", text, file)])


def _drops(holds: Holds, target: str) -> Iterator[tuple[str, Dropped]]:
    """Why mentions may have to be left out, one reason after the other."""
    if holds.first is not None:
        first = holds.first
        yield (
            f"start before position {first} or end before they start",
            lambda some: {i for i, one in enumerate(some) if not first <= one.start <= one.end},
        )
    if target == "conll-coref":
        yield "repeat the span of another one", _repeating
        yield "cross another one of their cluster", _crossing
    if target == "aida":
        yield "overlap one before them", _overlapping


def _repeating(mentions: Sequence[Mention]) -> set[int]:
    seen: set[tuple[str, int, int]] = set()
    found = set()
    for i, one in enumerate(mentions):
        place = one.docid, one.start, one.end
        if place in seen:
            found.add(i)
        seen.add(place)
    return found


def _crossing(mentions: Sequence[Mention]) -> set[int]:
    """Brackets of one cluster close in turn, so its mentions must be nested or apart."""
    found = set()
    open_ends: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, one in sorted(enumerate(mentions), key=lambda pair: (pair[1].start, -pair[1].end)):
        ends = open_ends[one.docid, one.candidates[0].eid if one.candidates else ""]
        while ends and ends[-1] <= one.start:
            ends.pop()
        if ends and ends[-1] < one.end:
            found.add(i)
        else:
            ends.append(one.end)
    return found


def _overlapping(mentions: Sequence[Mention]) -> set[int]:
    found = set()
    numbered = by_document(mentions)
    place = {id(one): i for i, one in enumerate(mentions)}
    for some in numbered.values():
        reach = 0
        for one in sorted(some, key=lambda m: (m.start, -m.end)):
            if one.start <= reach:
                found.add(place[id(one)])
            else:
                reach = one.end
    return found
