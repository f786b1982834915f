"""The lines of precision over recall, point by point against counting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import karat
from karat.model.report import Curve


def rows(classes: int, n: int, decimals: int, seed: int) -> tuple[Any, Any]:
    """Labels, and probabilities in few decimals so that many are equal; classes of unequal size."""
    rng = np.random.default_rng(seed)
    parts = rng.dirichlet(np.linspace(0.3, 0.8, classes), n)
    whole = np.floor(parts * 10**decimals).astype(int)
    whole[:, -1] += 10**decimals - whole.sum(axis=1)
    labels = [rng.choice(classes, p=(part + 0.1) / (part + 0.1).sum()) for part in parts]
    return np.array(labels), whole / 10**decimals


def report_of(labels: Any, probabilities: Any, shares: Any = None) -> karat.Report:
    gold = [
        {
            "text": f"t{i}",
            "label": int(y),
            "meta": {"share": 1 if shares is None else int(shares[i])},
        }
        for i, y in enumerate(labels)
    ]
    predictions = [{"probabilities": [float(x) for x in p]} for p in probabilities]
    more: Mapping[str, Any] = {} if shares is None else {"weights": "meta.share"}
    return karat.score(gold, predictions, task="text-classification", **more)


def recall_of(report: karat.Report) -> Curve:
    return next(curve for curve in report.curves if curve.name == "precision_recall")


def counted(labels: Any, probabilities: Any, c: int, weights: Any) -> set[tuple[float, float]]:
    """(recall, precision) of one class at every score that occurs."""
    found = set()
    for cut in np.unique(probabilities[:, c]):
        said = probabilities[:, c] >= cut
        both = weights[said & (labels == c)].sum()
        found.add((both / weights[labels == c].sum(), both / weights[said].sum()))
    return found


@pytest.mark.parametrize(("classes", "n", "decimals"), [(2, 80, 2), (3, 300, 3), (5, 200, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_point_is_that_of_a_threshold(
    classes: int, n: int, decimals: int, weighted: bool
) -> None:
    labels, probabilities = rows(classes, n, decimals, seed=7)
    weights = np.random.default_rng(3).integers(1, 5, n) if weighted else np.ones(n)
    curve = recall_of(report_of(labels, probabilities, weights if weighted else None))
    drawn = [int(series.name) for series in curve.series]
    assert sorted(drawn) == ([1] if classes == 2 else list(range(classes)))
    for c, series in zip(drawn, curve.series, strict=True):
        true = counted(labels, probabilities, c, weights)
        points = np.array(list(zip(series.x, series.y, strict=True)))
        assert all(min(abs(points[i] - t).max() for t in true) < 1e-12 for i in range(len(points)))
        assert series.x == sorted(series.x)
        assert series.x[-1] == 1.0
        said = probabilities.argmax(axis=1) == c
        both = weights[said & (labels == c)].sum()
        if said.any():
            expected = [both / weights[labels == c].sum(), both / weights[said].sum()]
            assert series.mark == pytest.approx(expected, rel=1e-12)


def test_of_two_classes_the_mark_lies_on_the_line() -> None:
    labels, probabilities = rows(2, 400, 2, seed=1)
    # A tie is predicted as the first class, so it must not be on the line's side of the cut.
    kept = probabilities[:, 0] != probabilities[:, 1]
    series = recall_of(report_of(labels[kept], probabilities[kept])).series[0]
    said, hit = probabilities[kept][:, 1] > 0.5, labels[kept] == 1
    assert series.mark == pytest.approx([(said & hit).sum() / hit.sum(), hit[said].mean()])


def test_many_classes_show_the_most_frequent() -> None:
    labels, probabilities = rows(40, 900, 6, seed=5)
    curve = recall_of(report_of(labels, probabilities))
    sizes = np.bincount(labels, minlength=40)
    shown = [sizes[int(series.name)] for series in curve.series]
    assert shown == sorted(sizes, reverse=True)[:6]
    assert "6 most frequent" in curve.note
