"""Set and overlap measures, groups and weights. Expected numbers are counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from karat.errors import UsageError
from karat.tasks.linking.measures import GROUPS, resolve

GOLD = """
d1 0 4 E1 1.0 PER
d1 10 14 E2 1.0 ORG
d1 20 24 NIL1 1.0 PER
d2 0 4 E2 1.0 ORG
"""
SYSTEM = """
d1 0 4 E1 0.9 PER
d1 10 14 E4 0.8 ORG
d1 20 25 NIL7 0.7 PER
d2 0 4 E2 0.9 GPE
d3 0 4 E2 0.9 GPE
"""


def four(found: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(found[n] for n in ("ptp", "fp", "rtp", "fn"))


def test_sets(score: Any) -> None:
    found = score(GOLD, SYSTEM, "all-tagging")
    assert four(found["strong_mention_match"]) == (3, 2, 3, 1)
    assert four(found["strong_typed_mention_match"]) == (2, 3, 2, 2)
    assert four(found["strong_link_match"]) == (2, 2, 2, 1)
    assert four(found["strong_nil_match"]) == (0, 1, 0, 1)
    assert four(found["entity_match"]) == (2, 2, 2, 1)


def test_groups_that_only_the_system_has_count(score: Any) -> None:
    found = score(GOLD, SYSTEM, "strong_mention_match", by=["docid"])
    assert four(found['strong_mention_match;docid="d3"']) == (0, 1, 0, 0)
    assert four(found["strong_mention_match;docid=<micro>"]) == (3, 2, 3, 1)
    assert found["strong_mention_match;docid=<macro>"]["recall"] == pytest.approx(
        (2 / 3 + 1 + 0) / 3
    )


def test_missing_types_are_a_group(score: Any) -> None:
    found = score(
        "d 0 1 E1 1.0 PER\nd 2 3 E1", "d 0 1 E1 1.0 PER", "strong_mention_match", by=["type"]
    )
    assert four(found["strong_mention_match;type=null"]) == (0, 0, 0, 1)


def test_a_filter_holds_in_the_denominators_of_overlaps(score: Any) -> None:
    same = "d 1 10 E1\nd 20 29 NIL1"
    found = score(same, same, "overlap-maxmax:is_linked:span")
    assert four(found["overlap-maxmax:is_linked:span"]) == (1, 0, 1, 0)


def test_overlaps_stay_in_their_document(score: Any) -> None:
    found = score("a 1 10 E 1 P\nb 5 9 E 1 P", "a 1 5 E 1 P\nc 1 2 E 1 P", "overlap-sumsum::type")
    assert four(found["overlap-sumsum::type"]) == pytest.approx((1, 1, 0.5, 1.5))


def test_nested_spans_lose_no_overlap(score: Any) -> None:
    """Ten positions, of which 1-3 and 8-10 are covered; the longest single overlap is three."""
    found = score("d 1 10", "d 1 3\nd 2 2\nd 8 10", "overlap-sumsum::span", "overlap-maxmax::span")
    assert found["overlap-sumsum::span"]["recall"] == pytest.approx(0.6)
    assert found["overlap-maxmax::span"]["recall"] == pytest.approx(0.3)
    assert found["overlap-maxmax::span"]["precision"] == 1


def test_overlaps_add_up_as_a_loop_does(score: Any) -> None:
    """The official script adds one by one, counts what is wrong and takes the rest for right."""
    gold = [(3, 8), (9, 18), (19, 28), (31, 35), (39, 44), (47, 49), (50, 52), (55, 60)]
    system = [(3, 5), (9, 11), (14, 16), (18, 22), (26, 31)]
    total = 0.0
    for a, b in gold:
        total += sum(max(0, min(b, d) - max(a, c) + 1) for c, d in system) / (b - a + 1)
    wrong = len(gold) - total
    sides = ("\n".join(f"d {a} {b}" for a, b in side) for side in (gold, system))
    found = score(*sides, "overlap-sumsum::span")["overlap-sumsum::span"]
    assert (found["rtp"], found["fn"]) == (len(gold) - wrong, wrong)


def test_type_weights_add_up_as_a_loop_does(score: Any) -> None:
    weights = {("A", "X"): 0.1, ("B", "X"): 0.2, ("C", "X"): 0.3}
    gold = "\n".join(f"d {i} {i} E 1 {kind}" for i, kind in enumerate("ABC"))
    system = "\n".join(f"d {i} {i} E 1 X" for i in range(3))
    found = score(gold, system, "strong_typed_mention_match", weights=weights)
    assert found["strong_typed_mention_match"]["ptp"] == 0.1 + 0.2 + 0.3 != 0.6


def test_type_weights_change_the_denominators(score: Any) -> None:
    weights = {("PER", "ORG"): 0.25, ("PER", "PER"): 0.9}
    found = score(
        "d 0 1 E 1 PER\nd 2 3 E 1 PER", "d 0 1 E 1 ORG\nd 2 3 E 1 PER",
        "strong_typed_mention_match", weights=weights,
    )  # fmt: skip
    # Gold is worth 0.9 + 0.9, the system 1 + 0.9, and they share 0.25 + 0.9.
    assert four(found["strong_typed_mention_match"]) == pytest.approx((1.15, 0.75, 1.15, 0.65))


def test_fields_of_types_written_as_json(score: Any) -> None:
    found = score(
        'd 0 1 E 1 {"a":1}\nd 2 3 E 1 {"a":2}',
        'd 0 1 E 1 {"a":1}\nd 2 3 E 1 {"a":1}',
        "sets::span+a",
    )
    assert four(found["sets::span+a"]) == (1, 1, 1, 1)


def test_unknown_names_come_with_a_hint() -> None:
    with pytest.raises(UsageError, match="strong_mention_mach") as caught:
        resolve(["strong_mention_mach"])
    assert "strong_mention_match" in caught.value.help
    with pytest.raises(UsageError, match="aggregate"):
        resolve(["set::span"])


def test_groups_keep_the_first_place() -> None:
    names = [one.name for one in resolve(["muc", "luo", "tac09"])]
    assert names == ["muc", "b_cubed", "mention_ceaf", "entity_ceaf", *GROUPS["tac09"]]
