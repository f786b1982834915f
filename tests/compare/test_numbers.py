"""Differences, intervals and tests against SciPy, scikit-learn and counting by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import karat
from karat.model.report import Difference, Report


def named(report: Report, name: str, at: int = 0) -> Difference:
    return next(one for one in report.comparisons[at].differences if one.name == name)


@pytest.fixture(scope="module")
def pair(data: Any) -> Report:
    return karat.compare(data.gold, data.systems["low"], data.systems["high"], by="meta.group")


def test_the_first_system_is_the_baseline(pair: Report) -> None:
    assert [one.name for one in pair.systems] == ["low", "high"]
    (comparison,) = pair.comparisons
    assert (comparison.system, comparison.baseline) == ("high", "low")


def test_the_difference_of_accuracy_is_a_paired_t_interval(data: Any, pair: Report) -> None:
    a, b = data.right["high"].astype(float), data.right["low"].astype(float)
    expected = stats.ttest_rel(a, b)
    low, high = expected.confidence_interval(0.95)
    found = named(pair, "accuracy")
    assert found.value == pytest.approx((a - b).mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_p_of_accuracy_is_mcnemars(data: Any, pair: Report) -> None:
    a, b = data.right["high"], data.right["low"]
    up, down = int((a & ~b).sum()), int((b & ~a).sum())
    found = named(pair, "accuracy")
    assert found.test == "mcnemar"
    assert found.p == pytest.approx(stats.binomtest(up, up + down, 0.5).pvalue, rel=1e-9)
    assert (found.wins, found.losses, found.ties) == (up, down, len(a) - up - down)


def test_the_smallest_difference_seen_is_at_four_fifths_power(data: Any, pair: Report) -> None:
    d = data.right["high"].astype(float) - data.right["low"]
    se = d.std(ddof=1) / np.sqrt(len(d))
    expected = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * se
    assert named(pair, "accuracy").smallest_seen == pytest.approx(expected, rel=1e-9)


def test_f1_is_scikit_learns(data: Any, pair: Report) -> None:
    both = [
        metrics.f1_score(data.labels, data.said(name), average="macro") for name in ("high", "low")
    ]
    found = named(pair, "f1_macro")
    assert (found.system_value, found.baseline_value) == pytest.approx(both, abs=1e-12)
    assert found.value == pytest.approx(both[0] - both[1], abs=1e-12)


def test_p_of_f1_is_that_of_all_swaps(tmp_path: Any) -> None:
    labels = np.array([0, 1, 0, 1, 1, 0, 1, 0, 1, 1])
    a = np.array([0, 1, 0, 1, 1, 0, 1, 0, 1, 0])
    b = np.array([1, 0, 0, 1, 0, 0, 1, 1, 1, 1])

    def f1(said: Any) -> float:
        return float(metrics.f1_score(labels, said, average="macro"))

    seen, differ = abs(f1(a) - f1(b)), np.flatnonzero(a != b)
    extreme = 0
    for sides in itertools.product((False, True), repeat=len(differ)):
        swap = np.zeros(len(labels), dtype=bool)
        swap[differ] = sides
        here = f1(np.where(swap, b, a)) - f1(np.where(swap, a, b))
        extreme += abs(here) >= seen - 1e-12
    exact = extreme / 2 ** len(differ)
    gold = [{"text": "t", "label": int(y)} for y in labels]
    systems = [[{"probabilities": [float(1 - s), float(s)]} for s in said] for said in (b, a)]
    report = karat.compare(
        gold, *systems, names=["b", "a"], task="text-classification", metrics=["labels"]
    )
    # 10,000 random swaps against all of them: four standard errors of a proportion.
    assert named(report, "f1_macro").p == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 10_000))


def test_clusters_change_sides_whole(data: Any) -> None:
    report = karat.compare(
        data.gold, data.systems["low"], data.systems["high"], cluster="meta.page"
    )
    d = (data.right["high"].astype(float) - data.right["low"]).reshape(-1, 4).sum(axis=1)
    sums = d - d.mean()
    c = len(d)
    se = np.sqrt(c / (c - 1) * (sums**2).sum()) / (4 * c)
    found = named(report, "accuracy")
    assert found.se == pytest.approx(se, rel=1e-9)
    assert "randomisation" in found.test
    assert report.clusters == c
    signs = np.random.default_rng(0).choice([-1, 1], size=(20_000, c))
    share = (np.abs(signs @ d) >= abs(d.sum()) - 1e-9).mean()
    assert found.p == pytest.approx(share, abs=0.02)


def test_holm_is_over_the_systems(data: Any) -> None:
    names = ("low", "high", "other")
    report = karat.compare(data.gold, *(data.systems[name] for name in names))
    for name in ("accuracy", "f1_macro"):
        p, q = (named(report, name, at).p for at in (0, 1))
        assert p is not None
        assert q is not None
        small, large = sorted((p, q))
        expected = {small: min(2 * small, 1), large: max(min(2 * small, 1), large)}
        for at in (0, 1):
            one = named(report, name, at)
            assert one.adjusted_p == pytest.approx(expected[one.p], rel=1e-12)  # type: ignore[index]


def test_slices_are_adjusted_together(data: Any, pair: Report) -> None:
    every = [one for part in pair.comparisons[0].slices for one in part.differences]
    for name in ("accuracy", "f1_macro"):
        known = [one for one in every if one.name == name and one.p is not None]
        expected = stats.false_discovery_control([one.p for one in known], method="bh")
        assert [one.q for one in known] == pytest.approx(list(expected), rel=1e-9)
        assert len(known) > 1
    for part in pair.comparisons[0].slices:
        group = np.arange(60) % 2 == "ab".index(part.level)
        found = next(one for one in part.differences if one.name == "accuracy")
        d = data.right["high"][group].astype(float) - data.right["low"][group]
        assert found.value == pytest.approx(d.mean(), abs=1e-12)
        assert part.n == 30


def test_auroc_differs_as_scikit_learn_says(data: Any, pair: Report) -> None:
    def second(name: str) -> list[float]:
        said = data.said(name)
        return [0.4 - 0.005 * i if s == 0 else 0.6 + 0.005 * i for i, s in enumerate(said)]

    values = [metrics.roc_auc_score(data.labels, second(name)) for name in ("high", "low")]
    found = named(pair, "auroc_ovr_macro")
    assert found.value == pytest.approx(values[0] - values[1], abs=1e-9)


def test_the_bootstrap_gives_about_the_same_interval(data: Any, pair: Report) -> None:
    drawn = karat.compare(data.gold, data.systems["low"], data.systems["high"], bootstrap=2000)
    name = "average_precision_macro"
    a, b = named(pair, name), named(drawn, name)
    assert b.test.startswith("paired bootstrap")
    assert b.se == pytest.approx(a.se, rel=0.25)


def test_weights_count(data: Any) -> None:
    rows = [
        {"text": "t", "label": int(y), "meta": {"w": float(1 + i % 3)}}
        for i, y in enumerate(data.labels)
    ]
    report = karat.compare(rows, data.systems["low"], data.systems["high"], weights="meta.w")
    w = 1 + np.arange(60) % 3
    a, b = (np.average(data.right[name], weights=w) for name in ("high", "low"))
    assert named(report, "accuracy").value == pytest.approx(a - b, abs=1e-12)
    assert "randomisation" in named(report, "accuracy").test


def test_a_system_against_itself_differs_in_nothing(sample: tuple[str, str, str]) -> None:
    gold, good, _ = sample
    report = karat.compare(gold, good, good, names=["once", "again"])
    assert {one.value for one in report.comparisons[0].differences} <= {0.0, None}
    assert not any(one.beats for one in report.systems)
    assert "the same on every item" in report.comparisons[0].sentence
