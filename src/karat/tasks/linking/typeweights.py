"""Partial credit for pairs of types: a table `gold TAB system TAB weight`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from karat.errors import UsageError
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.table import table_rows


def read_weights(source: Source, problems: Problems) -> dict[tuple[str | None, str | None], float]:
    """(gold type, system type) -> weight; of repeats the largest counts."""
    found: dict[tuple[str | None, str | None], float] = {}
    for line, cells in table_rows(source):
        try:
            gold, system, weight = cells[0], cells[1], float(cells[2])
            if len(cells) != 3:
                raise ValueError
        except (IndexError, ValueError):
            text = "a weight is gold type, system type and a number between tabs"
            problems.add("weight-broken", text, file=source.name, line=line)
            continue
        found[gold, system] = max(weight, found.get((gold, system), weight))
    return found


def of_hierarchy(
    children: Mapping[str, Sequence[str]], decay: float
) -> Iterator[tuple[str, str, float]]:
    """(descendant, ancestor, decay ** edges) for every pair, in the order of the mapping.

    The descendant is the gold type: a system that answers a parent of the right type gets the
    credit. Raises UsageError where the hierarchy has a cycle.
    """
    if not 0 <= decay <= 1:
        raise UsageError("the decay must be between 0 and 1")

    def below(name: str, depth: int, path: tuple[str, ...]) -> Iterator[tuple[str, int]]:
        for child in children.get(name, ()):
            if child in path:
                raise UsageError(f"the hierarchy has a cycle through {child!r}")
            yield child, depth
            yield from below(child, depth + 1, (*path, child))

    for ancestor in children:
        for descendant, edges in below(ancestor, 1, (ancestor,)):
            yield descendant, ancestor, decay**edges
