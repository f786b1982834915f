"""The kernels where data is large: keys past 62 bits, counting without a full matrix."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from entities.fuzz import scored_spans, spans

from karat.tasks.entities.match import match
from karat.tasks.entities.overlap import overlaps
from karat.tasks.entities.records import Spans

Row = tuple[int, int, int, int]


def columns(rows: list[Row], n: int) -> Spans:
    doc, start, end, kind = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    types = tuple(map(str, range(int(kind.max()) + 1)))
    return Spans(n, doc, start, end, kind.astype(np.int32), np.arange(len(rows)), types)


@pytest.mark.parametrize("scale", [1, 2**29])
def test_matches_are_those_of_sets(scale: int) -> None:
    rng = np.random.default_rng(3)
    sides = []
    for _ in range(2):
        draws = rng.integers(0, (40, 3, 3, 2), (300, 4)).tolist()
        sides.append([(d, a * scale, (a + 1 + b) * scale, k) for d, a, b, k in sorted(draws)])
    gold, pred = (columns(side, 1 << 20) for side in sides)
    found = match(gold, pred)
    assert found.pred_hit.tolist() == [row in set(sides[0]) for row in sides[1]]
    assert found.gold_hit.tolist() == [row in set(sides[1]) for row in sides[0]]
    assert int(found.gold_first.sum()) == len(set(sides[0]))


def test_overlaps_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        sides = []
        for _ in range(2):
            draws = rng.integers(0, (3, 12, 6), (8, 3)).tolist()
            sides.append([(d, a, a + 1 + b, 0) for d, a, b in draws])
        gold, pred = (columns(side, 3) for side in sides)
        expected = [
            (i, j)
            for j, (e, c, d, _) in enumerate(sides[1])
            for i, (f, a, b, _) in enumerate(sides[0])
            if e == f and a < d and c < b
        ]
        assert list(zip(*(x.tolist() for x in overlaps(gold, pred)), strict=True)) == expected


@pytest.mark.parametrize("like", [None, "nervaluate"])
def test_counting_by_sorting_gives_the_same(
    like: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, pred = spans(Random("dense"))
    full = scored_spans(gold, pred, like=like)
    monkeypatch.setattr("karat.tasks.entities.measure._DENSE", -1)
    assert scored_spans(gold, pred, like=like) == full
