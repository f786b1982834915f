"""Annotations made from annotations: one gold answer of several, and one row a character."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from karat.tasks.linking.annotations import NIL, Annotations, Candidate, Mention

Answer = tuple[Any, ...]


def select(
    gold: Annotations, system: Annotations, fields: Sequence[str] | None
) -> Iterator[Mention]:
    """Gold with one candidate a mention, the one the system agrees with where there is such a one.

    Preferred is the candidate that equals the system's best at that span; else the first that is
    the best of any mention in the document, else anywhere; else the first. `fields` must be equal;
    None means all but the score.
    """
    at: dict[tuple[str, int, int], Answer] = {}
    of_doc: dict[str, set[Answer]] = {}
    for one in system.mentions():
        if one.candidates:
            answer = _answer(one.candidates[0], fields)
            at[one.docid, one.start, one.end] = answer
            of_doc.setdefault(one.docid, set()).add(answer)
    anywhere = set().union(*of_doc.values()) if of_doc else set()
    for one in gold.mentions():
        if len(one.candidates) < 2:
            yield one
            continue
        here = at.get((one.docid, one.start, one.end))
        pools = ({here} - {None}, of_doc.get(one.docid, set()), anywhere)
        chosen = next(
            (c for pool in pools for c in one.candidates if _answer(c, fields) in pool),
            one.candidates[0],
        )
        yield one._replace(candidates=(chosen,))


def _answer(candidate: Candidate, fields: Sequence[str] | None) -> Answer:
    """What is compared of a candidate; a field it lacks is None."""
    kind = candidate.type
    known: dict[str, Any] = {"type": kind}
    if kind is not None and kind.startswith("{"):
        known = json.loads(kind)
    known["eid"] = candidate.eid
    if fields is None:
        return tuple(sorted((name, repr(value)) for name, value in known.items()))
    nil = candidate.eid.startswith(NIL)
    known |= {
        "score": candidate.score,
        "kbid": None if nil else candidate.eid,
        "is_nil": nil,
        "is_linked": not nil,
    }
    return tuple(repr(known.get(name)) for name in fields)


def weakened(mentions: Iterable[Mention]) -> Iterator[Mention]:
    """Every mention as one mention a position, each of one position, with all its candidates."""
    for one in mentions:
        for at in range(one.start, one.end + 1):
            yield one._replace(start=at, end=at)
