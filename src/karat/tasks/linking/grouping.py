"""Named results: a row a measure, or a row a measure and group, with micro and macro averages."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from karat.model.pairs import FloatArray
from karat.tasks.linking.clusters import in_order
from karat.tasks.linking.counts import NUMBERS, Counting, Four, Groups, Weights
from karat.tasks.linking.fields import densely
from karat.tasks.linking.measures import Measure

SCORES = ("precision", "recall", "fscore")
ALL = (*NUMBERS, *SCORES)

Numbers = dict[str, int | float]


def results(
    counting: Counting,
    measures: Sequence[Measure],
    by: Sequence[str] = (),
    overall: bool = False,
    weights: Weights | None = None,
) -> dict[str, Numbers]:
    """name -> counts and scores. With `by`, one row a group, and averages over the groups.

    Groups are the values that gold or the system has; with several fields, every combination.
    """
    if not by:
        return {m.name: counting.four(m, weights).numbers() for m in measures}
    cut, values = cut_by(counting, by)
    found: dict[str, Numbers] = {}
    for measure in measures:
        found.update(_rows(measure.name, cut.four(measure, weights), by, values, overall))
    return found


def cut_by(counting: Counting, by: Sequence[str]) -> tuple[Counting, list[list[Any]]]:
    """The counting cut by fields, and the values of each field in their order."""
    gold = np.zeros(len(counting.gold), dtype=np.int64)
    system = np.zeros(len(counting.system), dtype=np.int64)
    values, size = [], 1
    for name in by:
        coded = counting.fields.key((name,))
        joint, many = densely(coded.joint())
        known = counting.fields.values(name)
        found = [known[code] for code in np.unique(coded.joint()).tolist()]
        order = sorted(range(many), key=lambda i: _sortable(found[i]))
        values.append([found[i] for i in order])
        rank = np.empty(many, dtype=np.int64)
        rank[order] = np.arange(many)
        joint = rank[joint]
        gold, system = gold * many + joint[: len(gold)], system * many + joint[len(gold) :]
        size *= many
    return counting.grouped(Groups(gold, system, size)), values


def _sortable(value: Any) -> tuple[str, Any]:
    """What values of a field are sorted by: missing ones first, then numbers, lists and text."""
    if value is None:
        return "", 0
    return ("number" if isinstance(value, (int, float)) else type(value).__name__), value


def _rows(
    name: str, four: Four, by: Sequence[str], values: list[list[Any]], overall: bool
) -> Iterator[tuple[str, Numbers]]:
    """The rows of one measure."""
    if not overall:
        for group, combination in enumerate(itertools.product(*values)):
            said = [json.dumps(value) for value in combination]
            yield _named(name, by, said), four.numbers(group)
    shape = [len(v) for v in values]
    for place in range(len(by)):
        said = ["<macro>" if i == place else "<micro>" for i in range(len(by))]
        yield _named(name, by, said), macro(_along(four, shape, place))
    last = _along(four, shape, len(by) - 1)
    micro = four.of((in_order(getattr(last, n)[None]) for n in NUMBERS), four.whole)
    yield _named(name, by, ["<micro>"] * len(by)), micro.numbers()


def _named(name: str, by: Sequence[str], said: Sequence[str]) -> str:
    return ";".join([name, *(f"{field}={value}" for field, value in zip(by, said, strict=True))])


def _along(four: Four, shape: list[int], place: int) -> Four:
    """The counts by one field, added over all others in their order."""
    others = math.prod(n for i, n in enumerate(shape) if i != place)
    cubes = (np.asarray(getattr(four, name)).reshape(shape) for name in NUMBERS)
    rows = (np.moveaxis(cube, place, 0).reshape(shape[place], others) for cube in cubes)
    return four.of((in_order(row) for row in rows), four.whole)


def macro(four: Four) -> Numbers:
    """The means of all seven numbers over the groups."""
    rows = [four.numbers(i) for i in range(len(four.ptp))]
    return {name: _mean([row[name] for row in rows]) for name in ALL}


def _mean(values: list[int | float]) -> float:
    return float(in_order(np.array([values]))[0]) / len(values) if values else 0.0


def macro_rows(fours: Mapping[str, Four], shape: list[int], place: int) -> dict[str, FloatArray]:
    """`MEASURE.precision` and so on -> the score of every value of one field."""
    out: dict[str, FloatArray] = {}
    for name, four in fours.items():
        along = _along(four, shape, place)
        rows = [along.numbers(i) for i in range(shape[place])]
        out.update({f"{name}.{s}": np.array([float(row[s]) for row in rows]) for s in SCORES})
    return out
