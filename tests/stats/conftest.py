"""Evidence made for these tests: a confusion matrix, and per-item scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from karat.model.evidence import Counts, Layout, Table, coded
from karat.model.metric import About, Ratio, Smooth, Totals
from karat.model.pairs import Facet


def confusion(gold, pred, k, cluster=None, weights=None):
    layout = Layout({"n": 1, "hit": 1, "tp": k, "pred": k, "gold": k})
    codes, (g, p) = coded([np.asarray(gold, np.int32), np.asarray(pred, np.int32)], [k, k])
    matrix = np.zeros((len(g), layout.width))
    rows = np.arange(len(g))
    matrix[:, 0] = 1
    matrix[rows, 1] = g == p
    matrix[rows, 2 + g] += g == p
    matrix[rows, 2 + k + p] += 1
    matrix[rows, 2 + 2 * k + g] += 1
    facet = None
    if cluster is not None:
        cluster = np.asarray(cluster, np.int32)
        facet = Facet("document", cluster, tuple(f"d{i:03d}" for i in range(cluster.max() + 1)))
    return Counts("labels", Table.dense(layout, matrix), codes, facet, weights)


def macro(totals: Totals) -> np.ndarray:
    below = totals["pred"] + totals["gold"]
    f = np.where(below > 0, 2 * totals["tp"] / np.where(below > 0, below, 1), 0.0)
    return f.sum(axis=-1) / (below > 0).sum(axis=-1)


ACCURACY = Ratio("labels", ("accuracy",), {"hit": 1}, {"n": 1}, About(main=True), proportion=True)
F1_MACRO = Smooth("labels", "f1_macro", macro, About())


def family(k: int) -> Ratio:
    names = tuple(f"f1_class_{i}" for i in range(k))
    return Ratio("labels", names, {"tp": 2}, {"pred": 1, "gold": 1}, About())


@pytest.fixture(scope="session")
def make() -> Callable[..., Counts]:
    return confusion


@pytest.fixture
def accuracy() -> Ratio:
    return ACCURACY


@pytest.fixture
def f1_macro() -> Smooth:
    return F1_MACRO


@pytest.fixture
def f1_family() -> Callable[[int], Ratio]:
    return family


@pytest.fixture
def labels() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    def draw(n, k=3, right=0.7, seed=0):
        rng = np.random.default_rng(seed)
        gold = rng.integers(0, k, n)
        return gold, np.where(rng.random(n) < right, gold, rng.integers(0, k, n))

    return draw
