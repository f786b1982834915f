"""Coreference measures against definitions written with sets, and against published examples."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from karat.tasks.linking.ceaf import best
from linking import brute


def rows(dice: Random, entities: int) -> list[brute.Row]:
    return [
        (doc, place, place + 4, f"E{dice.randrange(entities)}")
        for doc in ("a", "b")
        for place in range(0, 70, 10)
        if dice.random() < 0.8
    ]


def text(some: list[brute.Row]) -> str:
    return "\n".join(" ".join(map(str, row)) for row in some)


@pytest.mark.parametrize("seed", range(25))
def test_measures_are_their_definitions(score: Any, seed: int) -> None:
    dice = Random(seed)
    gold, system = rows(dice, dice.randint(1, 5)), rows(dice, dice.randint(1, 5))
    found = score(
        text(gold), text(system), "muc", "b_cubed", "mention_ceaf", "entity_ceaf", "pairwise",
        "pairwise_negative", "lea",
    )  # fmt: skip
    g, s = brute.clusters(gold), brute.clusters(system)
    for name, function in (("muc", brute.muc), ("b_cubed", brute.b_cubed), ("lea", brute.lea)):
        (rtp, total), (ptp, made) = function(g, s), function(s, g)
        one = found[name]
        assert one["rtp"] == pytest.approx(float(rtp), abs=1e-12), name
        assert one["ptp"] == pytest.approx(float(ptp), abs=1e-12), name
        assert one["rtp"] + one["fn"] == pytest.approx(total)
        assert one["ptp"] + one["fp"] == pytest.approx(made)
    assert found["mention_ceaf"]["ptp"] == brute.ceaf(g, s, entities=False)
    assert found["entity_ceaf"]["ptp"] == pytest.approx(float(brute.ceaf(g, s, entities=True)))
    assert found["pairwise"]["ptp"] == len(brute.pairs(g) & brute.pairs(s))
    assert found["pairwise_negative"]["ptp"] == len(brute.apart(g) & brute.apart(s))
    assert found["pairwise_negative"]["fn"] == len(brute.apart(g) - brute.apart(s))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limit", [0, 400], ids=["sparse", "dense"])
def test_the_alignment_is_the_best(monkeypatch: Any, seed: int, limit: int) -> None:
    """Against SciPy's dense assignment over the whole matrix, with either solver."""
    from scipy.optimize import linear_sum_assignment

    monkeypatch.setattr("karat.tasks.linking.ceaf.DENSE", limit)
    rng = np.random.default_rng(seed)
    row, column = np.divmod(np.unique(rng.integers(0, 60 * 50, size=40 * (seed + 1))), 50)
    weight = rng.integers(1, 6, size=len(row)) / rng.integers(1, 4, size=len(row))
    whole = np.zeros((60, 50))
    whole[row, column] = weight
    taken = best(row, column, weight)
    assert len(set(row[taken])) == len(set(column[taken])) == len(taken)
    a, b = linear_sum_assignment(whole, maximize=True)
    assert weight[taken].sum() == pytest.approx(whole[a, b].sum(), abs=1e-9)


def test_an_item_in_two_clusters_counts_in_each(score: Any) -> None:
    """CEAF compares each cluster with itself alone: two clusters of one span are two, not four."""
    found = score("d 1 5 E1", "d 1 5 E1\nd 1 5 E2", "mention_ceaf", "entity_ceaf")
    assert found["mention_ceaf"] | {"fscore": 0} == {
        "ptp": 1, "fp": 1, "rtp": 1, "fn": 0, "precision": 0.5, "recall": 1.0, "fscore": 0,
    }  # fmt: skip
    assert found["entity_ceaf"]["fp"] == 1


def test_repeated_gold_spans_are_symmetric(score: Any) -> None:
    gold, system = "d 1 5 E1\nd 1 5 E2\nd 7 9 E2", "d 1 5 A\nd 7 9 A"
    one, other = score(gold, system, "mention_ceaf"), score(system, gold, "mention_ceaf")
    assert one["mention_ceaf"]["precision"] == other["mention_ceaf"]["recall"] == 1
    assert one["mention_ceaf"]["fn"] == other["mention_ceaf"]["fp"] == 1


def test_a_missed_mention_earns_nothing_in_b_cubed(score: Any) -> None:
    """Not even where both sides have mentions without entity."""
    found = score("d 0 1\nd 2 3\nd 4 5 E1\nd 6 7 E1", "d 0 1\nd 8 9", "b_cubed")
    assert found["b_cubed"]["rtp"] == 0.5


def test_adjusted_measures_are_those_of_the_paper(score: Any) -> None:
    """Cai and Strube 2010, tables 4 and 5, system 1: B3 0.714 and CEAF 0.667."""
    gold = "d 10 14 E1\nd 20 24 E1\nd 30 34 E1"
    system = "d 10 14 X2\nd 20 24 X2\nd 30 34 X3\nd 90 94 X4\nd 100 104 X5"
    found = score(gold, system, "cs_b_cubed::span", "mention_cs_ceaf::span")
    assert round(found["cs_b_cubed::span"]["fscore"], 3) == 0.714
    assert round(found["mention_cs_ceaf::span"]["fscore"], 3) == 0.667


def test_adjusted_measures_give_each_item_to_its_last_cluster(score: Any) -> None:
    """By hand, and as neleval has it.

    The response becomes three singletons. For precision gold becomes {2}, {1, 3}; for recall it
    stays {1, 2}, {1, 3}, and each item finds half of its last cluster.
    """
    gold = "d 1 1 A\nd 2 2 A\nd 3 3 B\nd 1 1 B"
    system = "d 1 1 X\nd 2 2 X\nd 8 8 X\nd 8 8 Y\nd 2 2 Z"
    found = score(gold, system, "cs_b_cubed::span")["cs_b_cubed::span"]
    assert [found[n] for n in ("ptp", "fp", "rtp", "fn")] == [3, 0, 1.5, 1.5]
