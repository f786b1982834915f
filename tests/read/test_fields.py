"""Wanted fields become facets, clusters and weights, checked against plain counting."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import UsageError
from karat.model.problem import Problems
from karat.read.fields import Base, Fields, Selected, inside
from karat.read.place import Place

BASE = {"text": (str, msgspec.NODEFAULT), "label": (int | msgspec.UnsetType, msgspec.UNSET)}


def select(
    rows: list[dict[str, Any]], batch: int = 3, base: Base = BASE, **wanted: Any
) -> tuple[Selected, list[tuple[str, str | None]]]:
    fields = Fields(**wanted)
    schema = fields.schema("Row", base)
    problems = Problems()
    typed = [msgspec.convert({"text": "t", **row}, schema) for row in rows]
    for start in range(0, len(typed), batch):
        part = typed[start : start + batch]
        fields.add(part, lambda i, start=start: Place(problems, "f", None, start + i))  # type: ignore[misc]
    selected = fields.finish(problems, "f", {"text", "label", "meta"})
    return selected, [(p.code, p.key) for p in problems]


def named(facet: Any) -> list[str | None]:
    return [None if code < 0 else facet.levels[code] for code in facet.codes]


@given(st.lists(st.sampled_from(["a", "b", "c", None, "absent"]), min_size=1), st.integers(1, 9))
def test_text_levels(values: list[str | None], batch: int) -> None:
    rows = [{} if v == "absent" else {"meta": {"x y": v}} for v in values]
    selected, problems = select(rows, batch, by=("meta.x y",))
    expected = [v if v in ("a", "b", "c") else None for v in values]
    assert named(selected.facets["meta.x y"]) == expected
    assert bool(problems) == (not any(expected))


@pytest.mark.parametrize("meta", [{}, {"meta": (dict[str, Any] | None, None)}])
def test_a_nested_field_may_stand_flat(meta: Base) -> None:
    rows = [
        {"meta.x": "a"},
        {"meta": {"x": "b"}},
        {"meta": {"x": "c"}, "meta.x": "d"},
        {"meta": None},
    ]
    selected, _ = select(rows, base={**BASE, **meta}, by=("meta.x",))
    assert named(selected.facets["meta.x"]) == ["a", "b", "c", None]
    assert [inside(row, "meta.x") for row in rows] == ["a", "b", "c", msgspec.UNSET]


@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-50, 50), min_size=30, max_size=200))
def test_many_numbers_become_quantile_bins(values: list[float]) -> None:
    selected, _ = select([{"meta": {"x": v}} for v in values], 7, by=("meta.x",))
    facet = selected.facets["meta.x"]
    distinct = len(set(values))
    assert (facet.codes >= 0).all()
    if distinct <= 20:
        assert len(facet.levels) == distinct
        return
    assert 2 <= len(facet.levels) <= 4
    # Bins follow the order of the numbers: none reaches into the next.
    numbers = np.array(values) + 0.0  # karat writes -0 as 0
    spans = [
        (numbers[facet.codes == c].min(), numbers[facet.codes == c].max())
        for c in range(4)
        if (facet.codes == c).any()
    ]
    assert all(a[1] < b[0] for a, b in pairwise(spans))
    told = [tuple(map(float, level.split(" to "))) for level in facet.levels]
    for (low, high), ends in zip(spans, told, strict=True):
        assert ends == pytest.approx((low, high)[: len(ends)], rel=1e-5)
        assert len(ends) == 1 + (low < high)
    assert len(set(facet.levels)) == len(facet.levels)


def test_quartiles_of_an_even_spread() -> None:
    selected, _ = select([{"meta": {"x": i}} for i in range(100)], by=("meta.x",))
    facet = selected.facets["meta.x"]
    assert facet.levels == ("0 to 24", "25 to 49", "50 to 74", "75 to 99")
    assert np.bincount(facet.codes).tolist() == [25, 25, 25, 25]


def test_bins_of_close_numbers_have_names_of_their_own() -> None:
    stamps = [{"meta": {"x": 1_600_000_000 + i}} for i in range(100)]
    selected, _ = select(stamps, by=("meta.x",))
    assert selected.facets["meta.x"].levels[0] == "1600000000 to 1600000024"
    shares = [{"meta": {"x": 0.5 + i * 1e-9}} for i in range(100)]
    selected, _ = select(shares, by=("meta.x",))
    assert selected.facets["meta.x"].levels[:2] == (
        "0.5 to 0.500000024",
        "0.500000025 to 0.500000049",
    )


def test_few_numbers_are_levels_in_their_order() -> None:
    selected, _ = select([{"label": i % 12} for i in range(40)], by=("label",))
    assert selected.facets["label"].levels == tuple(str(i) for i in range(12))


@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
def test_minus_zero_is_zero(zeros: tuple[float, float]) -> None:
    selected, _ = select([{"meta": {"x": v}} for v in (*zeros, 1.5)], by=("meta.x",))
    assert named(selected.facets["meta.x"]) == ["0", "0", "1.5"]


def test_close_numbers_keep_their_own_names() -> None:
    values = [1.23456789, 1.2345678]
    selected, _ = select([{"meta": {"x": v}} for v in values], by=("meta.x",))
    assert selected.facets["meta.x"].levels == ("1.2345678", "1.23456789")


def test_clusters_are_never_binned() -> None:
    rows = [{"meta": {"doc": i // 2}} for i in range(100)]
    selected, _ = select(rows, cluster="meta.doc")
    assert selected.cluster is not None
    assert len(selected.cluster.levels) == 50
    assert named(selected.cluster) == [str(i // 2) for i in range(100)]


def test_a_cross_has_the_combinations_that_occur() -> None:
    rows = [{"label": 0, "meta": {"x": "a"}}, {"label": 1, "meta": {"x": "b"}}, {"label": 1}]
    selected, _ = select([*rows, rows[0]], by=("meta.x*label",))
    facet = selected.facets["meta.x*label"]
    assert facet.levels == ("a * 0", "b * 1")
    assert named(facet) == ["a * 0", "b * 1", None, "a * 0"]


def test_booleans_and_mixtures_are_levels() -> None:
    selected, _ = select([{"meta": {"x": v}} for v in (True, "z", 2.5, None, True)], by=("meta.x",))
    assert named(selected.facets["meta.x"]) == ["true", "z", "2.5", None, "true"]


def test_true_is_not_one_but_the_text_1_is() -> None:
    values = [True, 1, "1", False, 0, "true"]
    selected, _ = select([{"meta": {"x": v}} for v in values], 6, by=("meta.x",))
    assert named(selected.facets["meta.x"]) == ["true", "1", "1", "false", "0", "true"]


def test_foreign_numbers_are_numbers() -> None:
    values = [np.float64(0.5), np.int32(2), np.float32(1.5)]
    fields = Fields(by=("x",), weights="w")
    problems = Problems()
    for name in ("x", "w"):
        fields.take(name, list(values), lambda i: Place(problems, "f", None, i))
    selected = fields.finish(problems, "f")
    assert selected.weights is not None
    assert selected.weights.tolist() == [0.5, 2, 1.5]
    assert selected.facets["x"].levels == ("0.5", "1.5", "2")
    assert not len(problems)


@pytest.mark.parametrize("at", [3, 40])
def test_a_number_beyond_all_floats_is_a_level(at: int) -> None:
    values = [10**400 if i == at else i for i in range(50)]
    selected, problems = select([{"meta": {"x": v}} for v in values], by=("meta.x",))
    assert named(selected.facets["meta.x"]) == [str(v) for v in values]
    assert problems == []


@pytest.mark.parametrize("batch", [2, 60])
def test_numbers_and_late_text_are_levels(batch: int) -> None:
    rows = [{"meta": {"x": v}} for v in [*range(50), "late"]]
    selected, _ = select(rows, batch, by=("meta.x",))
    assert named(selected.facets["meta.x"]) == [str(v) for v in [*range(50), "late"]]


def test_weights_are_numbers() -> None:
    selected, problems = select([{"meta": {"w": v}} for v in (1, 0.5, 0)], weights="meta.w")
    assert selected.weights is not None
    assert selected.weights.tolist() == [1, 0.5, 0]
    assert problems == []


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ((1, -1), "weight-value"),
        ((1, None), "weight-value"),
        ((1, 10**400), "weight-value"),
        ((1, True), "weight-type"),
        ((0, 0), "weight-value"),
        ((1, "a"), "weight-type"),
    ],
)
def test_bad_weights_are_problems(values: tuple[Any, ...], code: str) -> None:
    _, problems = select([{"meta": {"w": v}} for v in values], weights="meta.w")
    assert problems == [(code, "meta.w")]


@pytest.mark.parametrize(
    ("wanted", "bad", "code"),
    [
        ({"weights": "meta.x"}, -1, "weight-value"),
        ({"weights": "meta.x"}, "a", "weight-type"),
        ({"weights": "meta.x"}, None, "weight-value"),
        ({"cluster": "meta.x"}, None, "cluster-missing"),
    ],
)
def test_what_every_row_needs_is_told_by_its_row(
    wanted: dict[str, Any], bad: Any, code: str
) -> None:
    fields = Fields(**wanted)
    row = fields.schema("Row", BASE)
    problems = Problems()
    values = [bad if i % 2 else 1 for i in range(60)]
    typed = [msgspec.convert({"text": "t", "meta": {"x": v}}, row) for v in values]
    fields.add(typed, lambda i: Place(problems, "f", i + 1, i))
    fields.finish(problems, "f")
    assert [(p.code, p.line, p.record) for p in problems][:2] == [(code, 2, 1), (code, 4, 3)]
    assert problems.errors == 30


def test_an_object_is_refused_once() -> None:
    _, problems = select([{"meta": {"x": {"y": 1}}}], by=("meta.x",))
    assert problems == [("field-type", "meta.x")]


def test_lists_are_no_levels() -> None:
    _, problems = select([{"meta": {"x": "a"}}, {"meta": {"x": ["a"]}}], by=("meta.x",))
    assert problems == [("field-type", "meta.x")]


def test_an_unknown_field_is_an_error() -> None:
    _, problems = select([{"label": 1}], by=("lable",))
    assert problems == [("field-missing", "lable")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("meta.chanel", "did you mean meta.channel?"),
        ("channel", "did you mean meta.channel?"),
        ("qqq", "there are label, meta.channel"),
    ],
)
def test_fields_inside_objects_are_meant_too(name: str, hint: str) -> None:
    fields = Fields(by=(name,))
    schema = fields.schema("Row", BASE)
    problems = Problems()
    fields.add([msgspec.convert({"text": "a"}, schema)], lambda i: Place(problems, "f"))
    fields.finish(problems, "f", ("label", "meta", "meta.channel"))
    assert [p.help for p in problems] == [hint]


@pytest.mark.parametrize("name", ["", "meta.channel*", "*"])
def test_a_field_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="has no name"):
        Fields(by=(name,))


def test_computed_fields_are_numbers() -> None:
    fields = Fields(
        by=("size",),
        computed={"size": lambda rows: np.array([len(r.field_0) for r in rows], float)},
    )
    schema = fields.schema("Row", BASE)
    rows = [msgspec.convert({"text": "x" * n}, schema) for n in (1, 2, 2)]
    problems = Problems()
    fields.add(rows, lambda i: Place(problems, "f"))
    assert named(fields.finish(problems, "f").facets["size"]) == ["1", "2", "2"]
