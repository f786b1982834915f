import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from karat.model.evidence import Columns, Counts, Layout, Table
from karat.model.metric import About, Events, Ratio, Scored, Smooth
from karat.model.pairs import Facet
from karat.stats.intervals import Settings, estimate, estimates, wilson
from karat.stats.resample import MOST_ROWS
from karat.stats.spread import Sample, spread

MEAN = Ratio("x", ("mean",), {"x": 1}, {"n": 1}, About(scale="unbounded"))


def scores(x, cluster=None, weights=None):
    """Evidence of real-valued scores, one an item."""
    x = np.asarray(x, dtype=np.float64)
    matrix = np.stack([np.ones(len(x)), x], axis=1)
    facet = None
    if cluster is not None:
        cluster = np.asarray(cluster, np.int32)
        facet = Facet("doc", cluster, tuple(f"{i:04d}" for i in range(cluster.max() + 1)))
    layout = Layout({"n": 1, "x": 1})
    return Counts("x", Columns(layout, matrix), None, facet, weights, exact=False)


def clustered_draws(seed, clusters=60, size=20, shared=0.7):
    """Items that agree within their cluster, with true mean 0."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=clusters)[:, None] * shared
    return (common + rng.normal(size=(clusters, size))).ravel(), np.arange(clusters).repeat(size)


def test_a_mean_has_the_textbook_interval():
    x = np.random.default_rng(3).normal(5, 2, 40)
    (found,) = estimate(MEAN, scores(x))
    low, high = scipy.stats.t.interval(0.95, 39, x.mean(), scipy.stats.sem(x))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)
    assert (found.n, found.clusters, found.unit) == (40, None, "item")


def test_a_clustered_mean_has_the_sandwich():
    x, cluster = clustered_draws(1)
    (found,) = estimate(MEAN, scores(x, cluster))
    away = [(x[cluster == c] - x.mean()).sum() for c in range(60)]
    se = math.sqrt(60 / 59 * sum(a * a for a in away)) / len(x)
    item = x.std(ddof=1) / math.sqrt(len(x))
    assert found.se == pytest.approx(se, rel=1e-12)
    assert found.low == pytest.approx(x.mean() - scipy.stats.t.ppf(0.975, 59) * se, rel=1e-9)
    assert found.design_effect == pytest.approx((se / item) ** 2, rel=1e-9)
    assert (found.clusters, found.unit) == (60, "doc")


def test_clustered_intervals_cover_and_item_intervals_do_not():
    covered = np.zeros(2)
    for seed in range(400):
        x, cluster = clustered_draws(seed)
        for kind, evidence in enumerate((scores(x, cluster), scores(x))):
            (found,) = estimate(MEAN, evidence)
            covered[kind] += found.low <= 0 <= found.high
    # 400 trials at 95 %: a standard error of 1.1 %
    assert 0.92 <= covered[0] / 400 <= 0.98
    assert covered[1] / 400 < 0.75


@pytest.mark.parametrize("clusters", [None, 40])
def test_the_delta_method_is_near_the_jackknife(make, labels, f1_macro, f1_family, clusters):
    gold, pred = labels(400, seed=5)
    unit = np.arange(400) if clusters is None else np.arange(400) % clusters
    evidence = make(gold, pred, 3, None if clusters is None else unit)
    found = [e.se for m in (f1_macro, f1_family(3)) for e in estimate(m, evidence)]

    def f1(keep):
        f = []
        for c in range(3):
            hits = ((gold == c) & (pred == c) & keep).sum()
            f.append(2 * hits / (((gold == c) & keep).sum() + ((pred == c) & keep).sum()))
        return [sum(f) / 3, *f]

    left_out = np.array([f1(unit != u) for u in np.unique(unit)])
    m = len(left_out)
    jackknife = np.sqrt((m - 1) / m * np.square(left_out - left_out.mean(axis=0)).sum(axis=0))
    assert found == pytest.approx(jackknife, rel=0.02 if clusters is None else 0.05)


def test_the_numeric_gradient_is_the_closed_form(make, labels):
    gold, pred = labels(500)
    evidence = make(gold, pred, 3, np.arange(500) % 31)
    closed = Ratio("labels", ("f",), {"hit": 2}, {"n": 3}, About())
    numeric = Smooth("labels", "f", lambda t: 2 * t["hit"] / (3 * t["n"]), About())
    (one,), (two,) = estimate(closed, evidence), estimate(numeric, evidence)
    assert one.se == pytest.approx(two.se, rel=1e-7)
    assert one.design_effect == pytest.approx(two.design_effect, rel=1e-7)


def test_a_group_of_one_cell_serves_a_whole_family(make, labels):
    gold, pred = labels(300)
    shared = Ratio("labels", ("a", "b", "c"), {"tp": 1}, {"n": 1}, About())
    found = estimate(shared, make(gold, pred, 3))
    for c, one in enumerate(found):
        hit = ((gold == c) & (pred == c)).astype(float)
        assert one.value == pytest.approx(hit.mean(), rel=1e-14)
        assert one.se == pytest.approx(scipy.stats.sem(hit), rel=1e-9)


# Wilson's score interval as in Newcombe 1998, table I
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_is_the_literatures(hits, n, low, high):
    assert wilson(hits / n, n) == pytest.approx((low, high), abs=5e-5)
    assert wilson(1 - hits / n, n) == pytest.approx((1 - high, 1 - low), abs=5e-5)


def test_wilson_is_the_references():
    folder = os.environ.get("KARAT_REFERENCE_DATA")
    if not folder:
        pytest.skip("KARAT_REFERENCE_DATA is not set: the reference intervals are there")
    found = json.loads((Path(folder) / "prediction-caches" / "expected.json").read_text())
    checked = 0

    def look(node):
        nonlocal checked
        if isinstance(node, dict):
            if "accuracy_wilson95" in node and "n" in node and "accuracy" in node:
                assert wilson(node["accuracy"], node["n"]) == pytest.approx(
                    node["accuracy_wilson95"], abs=2e-6
                )
                checked += 1
            for child in node.values():
                look(child)

    look(found)
    assert checked


@pytest.mark.parametrize(
    ("hits", "n", "method"),
    [
        (150, 299, "wilson"),
        (150, 300, "delta method, t"),
        (10_000, 10_000, "wilson"),
        (9_600, 10_000, "wilson"),
        (9_000, 10_000, "delta method, t"),
    ],
)
def test_wilson_serves_small_and_extreme_proportions(make, accuracy, hits, n, method):
    gold = np.zeros(n, int)
    pred = (np.arange(n) >= hits).astype(int)
    (found,) = estimate(accuracy, make(gold, pred, 2))
    assert found.method == method
    assert 0 <= found.low <= found.value <= found.high <= 1
    if method == "wilson":
        expected = scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def gathered(gold, pred, unit, draws, f):
    """The bootstrap as everybody writes it: draw units, gather their items."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(unit == u) for u in np.unique(unit)]
    out = []
    for _ in range(draws):
        chosen = rng.integers(0, len(members), len(members))
        index = np.concatenate([members[c] for c in chosen])
        out.append(f(gold[index], pred[index]))
    return np.array(out)


@pytest.mark.parametrize("clusters", [None, 25])
def test_the_bootstrap_has_the_distribution_of_gathering(make, labels, f1_macro, clusters):
    gold, pred = labels(150, seed=2)
    unit = np.arange(150) if clusters is None else np.arange(150) % clusters
    evidence = make(gold, pred, 3, None if clusters is None else unit)
    (found,) = estimate(f1_macro, evidence, Settings(bootstrap=4000))

    def f1(g, p):
        parts = [
            2 * ((g == c) & (p == c)).sum() / ((g == c).sum() + (p == c).sum()) for c in (0, 1, 2)
        ]
        return sum(parts) / 3

    brute = gathered(gold, pred, unit, 4000, f1)
    low, high = np.quantile(brute, [0.025, 0.975])
    # the ends of two independent bootstraps of 4,000 differ by about 0.05 standard errors
    assert abs(found.low - low) < 0.25 * brute.std()
    assert abs(found.high - high) < 0.25 * brute.std()
    assert found.se == pytest.approx(brute.std(), rel=0.06)


def test_the_bootstrap_of_a_mean_is_scipys():
    x = np.random.default_rng(0).exponential(size=80)
    (found,) = estimate(MEAN, scores(x), Settings(bootstrap=4000))
    theirs = scipy.stats.bootstrap(
        (x,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(1)
    )
    ends = theirs.confidence_interval
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), abs=0.03)


def test_the_seed_fixes_the_answer_and_the_order_does_not_matter(make, labels, accuracy, f1_macro):
    gold, pred = labels(500)
    cluster = np.arange(500) % 50
    order = np.random.default_rng(9).permutation(500)
    metrics, settings = [accuracy, f1_macro], Settings(bootstrap=200)
    for unit in (None, cluster):
        moved = None if unit is None else unit[order]
        here = estimates(metrics, [make(gold, pred, 3, unit)], settings)
        there = estimates(metrics, [make(gold[order], pred[order], 3, moved)], settings)
        assert here == there
        assert here != estimates(
            metrics, [make(gold, pred, 3, unit)], Settings(bootstrap=200, seed=1)
        )


def test_metrics_of_one_evidence_share_their_resamples(make, labels, accuracy, f1_macro):
    gold, pred = labels(300)
    evidence, settings = make(gold, pred, 3), Settings(bootstrap=100)
    both = estimates([accuracy, f1_macro], [evidence], settings)
    assert both == [
        *estimate(accuracy, evidence, settings),
        *estimate(f1_macro, evidence, settings),
    ]


def test_many_distinct_rows_are_drawn_in_buckets():
    x = np.random.default_rng(0).normal(size=MOST_ROWS + 10)
    (found,) = estimate(MEAN, scores(x), Settings(bootstrap=2000))
    assert found.se == pytest.approx(x.std() / math.sqrt(len(x)), rel=0.08)


def test_official_values_replace_ours(make, accuracy):
    (found,) = estimate(accuracy, make([0, 1] * 400, [0, 0] * 400, 2), None, {"accuracy": 0.5001})
    assert found.value == 0.5001
    assert found.low < 0.5001 < found.high


def test_intervals_stay_in_the_range_of_the_scale():
    x = np.array([0.0] * 30 + [1.0])
    for scale, floor in (("fraction", 0.0), ("unbounded", -1.0)):
        metric = Ratio("x", ("mean",), {"x": 1}, {"n": 1}, About(scale=scale))
        (found,) = estimate(metric, scores(x))
        assert (found.low == 0.0) == (scale == "fraction")
        assert found.low >= floor


def test_importance_weights_are_those_of_a_weighted_mean():
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=60), rng.integers(1, 5, 60) / 4
    (found,) = estimate(MEAN, scores(x, None, w))
    mean = np.average(x, weights=w)
    away = w * (x - mean) / w.sum()
    assert found.value == pytest.approx(mean, rel=1e-13)
    assert found.se == pytest.approx(math.sqrt(60 / 59 * (away**2).sum()), rel=1e-12)


@pytest.mark.parametrize("bootstrap", [0, 50])
def test_weight_zero_is_removal(make, labels, accuracy, f1_macro, bootstrap):
    gold, pred = labels(400)
    cluster = np.arange(400) % 40
    weights = np.where(np.arange(400) % 3 == 0, 0.0, 1.0)
    kept = weights > 0
    settings = Settings(bootstrap=bootstrap)
    for unit in (None, cluster):
        inside = None if unit is None else unit[kept]
        weighted = make(gold, pred, 3, unit, weights)
        removed = make(gold[kept], pred[kept], 3, inside, weights[kept])
        metrics = [accuracy, f1_macro]
        assert estimates(metrics, [weighted], settings) == estimates(metrics, [removed], settings)


def test_two_copies_of_every_cluster_halve_the_variance_of_a_mean():
    x, cluster = clustered_draws(8)
    (one,) = estimate(MEAN, scores(x, cluster))
    (two,) = estimate(MEAN, scores(np.tile(x, 2), np.concatenate([cluster, cluster + 60])))
    assert two.se**2 * 119 / 120 == pytest.approx(one.se**2 * 59 / 60 / 2, rel=1e-12)


def auc_like(evidence, weights, influence):
    """The mean of x as an event metric."""
    w = np.ones(evidence.n) if weights is None else weights
    x = evidence.x
    mean = (w * x).sum() / w.sum()
    columns = [w * (x - mean) / w.sum(), None] if influence else None
    return Scored(np.array([mean, mean]), columns)


class Listed:
    name, weights = "events", None

    def __init__(self, x, cluster=None):
        self.x, self.n, self.cluster = x, len(x), cluster

    def take(self, which):
        return Listed(self.x[which], None if self.cluster is None else self.cluster.take(which))


@pytest.mark.parametrize("clustered", [False, True])
def test_event_metrics_have_the_interval_of_their_influence(clustered):
    x, cluster = clustered_draws(6)
    facet = Facet("doc", cluster.astype(np.int32), tuple(f"{i:04d}" for i in range(60)))
    metric = Events("events", ("mean", "bare"), auc_like, About(scale="unbounded"))
    events = Listed(x, facet if clustered else None)
    found, bare = estimate(metric, events)
    (same,) = estimate(MEAN, scores(x, cluster if clustered else None))
    assert (found.low, found.high, found.se) == pytest.approx((same.low, same.high, same.se))
    assert found.design_effect == pytest.approx(same.design_effect)
    assert bare.low is None
    assert "bootstrap" in bare.no_interval
    drawn = estimate(metric, events, Settings(bootstrap=500))
    assert drawn[1].se == pytest.approx(same.se, rel=0.15)


def test_no_interval_where_the_metric_says_so(make, labels):
    gold, pred = labels(100)
    metric = Smooth(
        "labels",
        "extreme",
        lambda t: np.max(t["tp"], axis=-1),
        About(scale="count"),
        no_interval="a maximum",
        chance=lambda t: t["n"] / 4,
    )
    for bootstrap in (0, 20):
        (found,) = estimate(metric, make(gold, pred, 3), Settings(bootstrap=bootstrap))
        assert (found.low, found.high, found.no_interval) == (None, None, "a maximum")
        assert found.chance == 25


def test_no_interval_at_an_end_of_the_range(make, labels):
    """Half of the slope there is missing, so the delta method would make up an interval."""
    gold, pred = labels(500)
    evidence, share = make(gold, pred, 3), float(np.mean(gold == pred))
    above = Smooth("labels", "above", lambda t: np.maximum(t["hit"] / t["n"] - share, 0), About())
    (found,) = estimate(above, evidence)
    assert (found.value, found.low) == (0, None)
    assert "end of its range" in found.no_interval


@pytest.mark.parametrize("bootstrap", [0, 30])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(
    ("gold", "pred", "weights"),
    [
        ([], [], None),
        ([0], [0], None),
        ([0], [1], None),
        ([0, 0, 0], [0, 0, 0], None),
        ([0, 1, 0], [1, 0, 1], None),
        ([0, 1, 0], [0, 0, 1], [0.0, 0.0, 0.0]),
        ([0, 1, 0], [0, 0, 1], [0.0, 0.5, 0.0]),
    ],
)
def test_degenerate_inputs(
    make, accuracy, f1_macro, f1_family, gold, pred, weights, clustered, bootstrap
):
    n = len(gold)
    evidence = make(gold or [0], pred or [0], 4, None, None)
    cluster = Facet("doc", np.zeros(n, np.int32), ("a",)) if clustered else None
    w = None if weights is None else np.array(weights)
    codes = evidence.codes[:n]
    evidence = Counts("labels", evidence.table, codes, cluster, w)
    undefined = Smooth("labels", "never", lambda t: t["n"] * np.nan, About())
    metrics = [accuracy, f1_macro, f1_family(4), undefined]
    for found in estimates(metrics, [evidence], Settings(bootstrap=bootstrap)):
        numbers = [found.value, found.low, found.high, found.se, found.design_effect, found.chance]
        assert all(x is None or math.isfinite(x) for x in numbers)
        assert (found.value is None) == bool(found.reason)
        if found.value is not None:
            assert (found.low is None) == bool(found.no_interval)
        if found.name == "never":
            assert found.value is None


def test_undefined_resamples_are_dropped_but_not_many(make):
    # class 1 has one gold item in 40: a third of the resamples have none
    gold = np.array([1] + [0] * 39)
    recall = Ratio("labels", ("r0", "r1"), {"tp": 1}, {"gold": 1}, About())
    pred = np.array([1, 1] + [0] * 38)
    common, rare = estimate(recall, make(gold, pred, 2), Settings(bootstrap=300))
    assert common.low is not None
    assert rare.low is None
    assert "undefined in" in rare.no_interval


def test_one_sparse_family_costs_no_dense_matrix():
    k = 3000
    layout = Layout({"num": k, "den": k})
    row = np.arange(k).repeat(2)
    cell = np.stack([np.arange(k), k + np.arange(k)], axis=1).ravel()
    table = Table(k, layout, row, cell, np.tile([1.0, 2.0], k))
    metric = Ratio("wide", tuple(map(str, range(k))), {"num": 1}, {"den": 1}, About())
    evidence = Counts("wide", table, np.arange(k, dtype=np.int32).repeat(3))
    found = spread(metric, Sample(evidence))
    assert found.values.tolist() == [0.5] * k
    assert np.abs(found.variance).max() < 1e-30
