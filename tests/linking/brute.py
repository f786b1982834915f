"""The measures restated over Python sets, straight from the papers: slow, and independent."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import Any

Row = tuple[str, int, int, str]
Sets = list[set[Any]]


def clusters(rows: list[Row]) -> Sets:
    """The sets of spans that share an entity."""
    found: dict[str, set[Any]] = defaultdict(set)
    for doc, start, end, entity in rows:
        found[entity].add((doc, start, end))
    return list(found.values())


def muc(key: Sets, response: Sets) -> tuple[int, int]:
    got = 0
    for one in key:
        left = set().union(*response) if response else set()
        pieces = sum(1 for other in response if one & other)
        got += len(one & left) - pieces
    return got, sum(len(one) - 1 for one in key)


def b_cubed(key: Sets, response: Sets) -> tuple[Fraction, int]:
    got = Fraction(0)
    for one in key:
        for item in one:
            other = next((c for c in response if item in c), set())
            got += Fraction(len(one & other), len(one))
    return got, sum(map(len, key))


def ceaf(key: Sets, response: Sets, entities: bool) -> Fraction:
    """The best alignment, by trying every one."""

    def alike(a: set[Any], b: set[Any]) -> Fraction:
        return Fraction(2 * len(a & b), len(a) + len(b)) if entities else Fraction(len(a & b))

    few, many = sorted((key, response), key=len)
    return max(
        sum((alike(a, b) for a, b in zip(few, chosen, strict=True)), Fraction(0))
        for chosen in itertools.permutations(many, len(few))
    )


def pairs(sets: Sets) -> set[frozenset[Any]]:
    return {frozenset(p) for one in sets for p in itertools.combinations(one, 2)}


def apart(sets: Sets) -> set[frozenset[Any]]:
    items = set().union(*sets) if sets else set()
    return {frozenset(p) for p in itertools.combinations(items, 2)} - pairs(sets)


def lea(key: Sets, response: Sets) -> tuple[Fraction, int]:
    """Moosavi and Strube: a singleton is resolved where the response has the same singleton."""
    got = Fraction(0)
    for one in key:
        if len(one) == 1:
            got += int(one in response)
            continue
        kept = sum(len(one & c) * (len(one & c) - 1) // 2 for c in response)
        got += len(one) * Fraction(kept, len(one) * (len(one) - 1) // 2)
    return got, sum(map(len, key))
