import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from karat.errors import UsageError
from karat.model.evidence import Columns, Counts, Layout, Table
from karat.model.metric import About, Events, Ratio, Scored
from karat.model.pairs import Facet
from karat.stats.compare import paired, paired_all
from karat.stats.intervals import Settings
from karat.stats.pairing import MOST_PAIRS

QUICK = Settings(permutations=2000)


@pytest.fixture
def two(labels):
    """Gold and the predictions of two systems, B the worse."""
    gold, a = labels(300, right=0.7, seed=1)
    rng = np.random.default_rng(2)
    b = np.where(rng.random(300) < 0.15, rng.integers(0, 3, 300), a)
    return gold, a, b


def f1(gold, pred):
    parts = [
        2 * ((gold == c) & (pred == c)).sum() / ((gold == c).sum() + (pred == c).sum())
        for c in range(3)
    ]
    return sum(parts) / 3


def mcnemar_free(metric):
    """The same ratio, which no longer claims to be a proportion."""
    return Ratio(metric.reads, metric.names, metric.num, metric.den, metric.about)


def test_a_mean_difference_is_the_paired_t_test(make, two, accuracy):
    gold, a, b = two
    (found,) = paired(mcnemar_free(accuracy), make(gold, a, 3), make(gold, b, 3), QUICK)
    d = (gold == a).astype(float) - (gold == b)
    low, high = scipy.stats.t.interval(0.95, 299, d.mean(), scipy.stats.sem(d))
    assert found.difference == pytest.approx(d.mean(), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)
    # (1.959964 + 0.841621) standard errors: 80 % power at 5 %
    assert found.smallest_seen == pytest.approx(2.801585 * scipy.stats.sem(d), rel=1e-6)


def test_clusters_make_the_difference_less_certain(make, two, accuracy):
    gold, a, b = two
    cluster = np.arange(300) // 10
    (found,) = paired(accuracy, make(gold, a, 3, cluster), make(gold, b, 3, cluster), QUICK)
    d = (gold == a).astype(float) - (gold == b)
    sums = np.array([(d[cluster == c] - d.mean()).sum() for c in range(30)])
    assert found.se == pytest.approx(math.sqrt(30 / 29 * (sums**2).sum()) / 300, rel=1e-9)
    assert found.clusters == 30
    assert "randomisation" in found.test


@pytest.mark.parametrize("table", [Columns, Table])
def test_clusters_without_a_part_in_a_score_do_not_count(two, table):
    gold, a, b = two
    cluster = np.arange(300) // 10
    few, facet = cluster < 4, Facet("page", cluster.astype(np.int32), tuple(map(str, range(30))))
    make = Columns if table is Columns else Table.dense
    sides = [
        Counts("x", make(LAYOUT, np.stack([few, (gold == said) & few], axis=1) * 1.0), None, facet)
        for said in (a, b)
    ]
    (found,) = paired(MEAN, *sides, QUICK)
    d = ((gold == a).astype(float) - (gold == b))[few]
    sums = np.array([(d[cluster[few] == c] - d.mean()).sum() for c in range(4)])
    se = math.sqrt(4 / 3 * (sums**2).sum()) / few.sum()
    assert found.se == pytest.approx(se, rel=1e-9)
    assert found.high - found.difference == pytest.approx(scipy.stats.t.ppf(0.975, 3) * se)


def test_the_delta_method_of_a_difference_is_near_the_jackknife(make, two, f1_macro):
    gold, a, b = two
    (found,) = paired(f1_macro, make(gold, a, 3), make(gold, b, 3), QUICK)
    keep = ~np.eye(300, dtype=bool)
    left_out = np.array([f1(gold[k], a[k]) - f1(gold[k], b[k]) for k in keep])
    se = math.sqrt(299 / 300 * ((left_out - left_out.mean()) ** 2).sum())
    assert found.se == pytest.approx(se, rel=0.02)


@pytest.mark.parametrize("clusters", [None, 60])
def test_randomisation_is_the_explicit_one(make, two, f1_macro, clusters):
    gold, a, b = two
    unit = np.arange(300) if clusters is None else np.arange(300) % clusters
    given = None if clusters is None else unit
    (found,) = paired(f1_macro, make(gold, a, 3, given), make(gold, b, 3, given))
    rng, seen, extreme = np.random.default_rng(5), abs(f1(gold, a) - f1(gold, b)), 0
    for _ in range(2000):
        swap = rng.integers(0, 2, unit.max() + 1).astype(bool)[unit]
        here, there = np.where(swap, b, a), np.where(swap, a, b)
        extreme += abs(f1(gold, here) - f1(gold, there)) >= seen - 1e-12
    p = (extreme + 1) / 2001
    # two simulations, of 10,000 and of 2,000 trials: five standard errors apart at most
    assert abs(found.p - p) < 5 * math.sqrt(p * (1 - p) * (1 / 10_000 + 1 / 2000))
    assert 0.0005 < p < 0.5


def test_randomisation_of_a_mean_is_the_enumerated_one(make, accuracy):
    gold = np.zeros(8, int)
    a, b = np.array([0, 0, 0, 0, 0, 0, 1, 1]), np.array([1, 1, 1, 1, 0, 1, 0, 1])
    (found,) = paired(mcnemar_free(accuracy), make(gold, a, 2), make(gold, b, 2))
    # six items differ, five for A and one for B: |sum of six signs| >= 4 in 14 of 64 cases
    assert found.p == pytest.approx(14 / 64, abs=5 * math.sqrt(0.22 * 0.78 / 10_000))
    assert found.difference == pytest.approx(4 / 8)


def test_mcnemar_is_exact_and_only_where_items_stand_alone(make, two, accuracy):
    gold, a, b = two
    (found,) = paired(accuracy, make(gold, a, 3), make(gold, b, 3), QUICK)
    wins, losses = ((gold == a) & (gold != b)).sum(), ((gold != a) & (gold == b)).sum()
    assert found.test == "mcnemar"
    assert found.p == pytest.approx(scipy.stats.binomtest(int(wins), int(wins + losses)).pvalue)
    assert (found.wins, found.losses) == (wins, losses)
    assert found.ties == 300 - wins - losses
    cluster = np.arange(300) // 2
    (kept,) = paired(accuracy, make(gold, a, 3, cluster), make(gold, b, 3, cluster), QUICK)
    assert kept.test != "mcnemar"
    assert (kept.wins, kept.ties, kept.losses) == (found.wins, found.ties, found.losses)


def test_wins_of_a_ratio_are_items_whose_exchange_lowers_it():
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 4, 60)
    sides = []
    for _ in range(2):
        predicted = rng.integers(0, 4, 60)
        right = np.minimum(rng.integers(0, 4, 60), np.minimum(gold, predicted))
        sides.append(np.stack([gold + predicted, 2 * right], axis=1).astype(float))
    a, b = sides
    f1 = Ratio("x", ("f1",), {"x": 1}, {"n": 1}, About())
    (found,) = paired(f1, *(Counts("x", Columns(LAYOUT, side)) for side in sides), QUICK)
    middle = (a.sum(axis=0) + b.sum(axis=0)) / 2

    def value(totals):
        return totals[1] / totals[0]

    moved = [
        value(middle + (x - y) / 2) - value(middle - (x - y) / 2) for x, y in zip(a, b, strict=True)
    ]
    signs = np.sign(np.where(np.abs(moved) < 1e-12, 0, moved))
    counted = [int((signs == sign).sum()) for sign in (1, 0, -1)]
    assert [found.wins, found.ties, found.losses] == counted
    assert min(counted) > 0


def test_lower_is_better_turns_wins_around(make, two, accuracy):
    gold, a, b = two
    error = Ratio("labels", ("e",), {"hit": 1}, {"n": 1}, About(better="lower"), proportion=True)
    (up,), (down,) = (
        paired(metric, make(gold, a, 3), make(gold, b, 3), QUICK) for metric in (accuracy, error)
    )
    assert (up.wins, up.losses) == (down.losses, down.wins)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_system_does_not_differ_from_itself(make, two, accuracy, f1_macro, f1_family, clustered):
    gold, a, _ = two
    cluster = np.arange(300) % 30 if clustered else None
    evidence = make(gold, a, 3, cluster)
    metrics = [accuracy, mcnemar_free(accuracy), f1_macro, f1_family(3)]
    for found in paired_all(metrics, [evidence], [evidence], QUICK):
        assert (found.difference, found.p) == (0, 1)
        assert found.low is None
        assert found.no_interval


def test_swapping_the_systems_turns_the_sign(make, two, accuracy, f1_macro):
    gold, a, b = two
    one = paired_all([accuracy, f1_macro], [make(gold, a, 3)], [make(gold, b, 3)], QUICK)
    two_ = paired_all([accuracy, f1_macro], [make(gold, b, 3)], [make(gold, a, 3)], QUICK)
    for here, there in zip(one, two_, strict=True):
        assert here.difference == -there.difference
        assert here.low == pytest.approx(-there.high, rel=1e-9)
        assert here.wins == there.losses


def test_p_is_uniform_enough_when_nothing_differs(make, f1_macro):
    ps = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        gold = rng.integers(0, 3, 60)
        a, b = (np.where(rng.random(60) < 0.7, gold, rng.integers(0, 3, 60)) for _ in "ab")
        settings = Settings(permutations=199, seed=seed)
        ps.append(paired(f1_macro, make(gold, a, 3), make(gold, b, 3), settings)[0].p)
    # 200 tests at 10 %: 20 expected, standard deviation 4.2
    assert 6 <= sum(p <= 0.1 for p in ps) <= 34


LAYOUT = Layout({"n": 1, "x": 1})
MEAN = Ratio("x", ("mean",), {"x": 1}, {"n": 1}, About(scale="unbounded"))


def reals(x, weights=None):
    return Counts(
        "x", Columns(LAYOUT, np.stack([np.ones(len(x)), x], axis=1)), weights=weights, exact=False
    )


@pytest.mark.parametrize("n", [40, MOST_PAIRS + 2000])
def test_real_values_are_swapped_too(n):
    rng = np.random.default_rng(7)
    b = rng.normal(size=n)
    a = b + rng.normal(1.5 / math.sqrt(n), 1, size=n)
    (found,) = paired(MEAN, reals(a), reals(b))
    t = scipy.stats.ttest_rel(a, b)
    assert found.p == pytest.approx(t.pvalue, abs=0.03)
    assert 0.01 < t.pvalue < 0.5
    assert (found.wins, found.losses) == ((a > b).sum(), (a < b).sum())


def test_importance_weights_weigh_the_pairs():
    rng = np.random.default_rng(8)
    a, b, w = rng.normal(size=50), rng.normal(size=50), rng.integers(1, 4, 50).astype(float)
    (found,) = paired(MEAN, reals(a, w), reals(b, w), QUICK)
    d = a - b
    mean = np.average(d, weights=w)
    away = w * (d - mean) / w.sum()
    assert found.difference == pytest.approx(mean, rel=1e-9)
    assert found.se == pytest.approx(math.sqrt(50 / 49 * (away**2).sum()), rel=1e-9)


def test_weighted_accuracy_has_no_mcnemar(make, two, accuracy):
    gold, a, b = two
    w = np.where(np.arange(300) % 2, 2.0, 1.0)
    (found,) = paired(accuracy, make(gold, a, 3, None, w), make(gold, b, 3, None, w), QUICK)
    d = (gold == a).astype(float) - (gold == b)
    assert found.difference == pytest.approx(np.average(d, weights=w), rel=1e-12)
    assert found.test != "mcnemar"


def score(evidence, weights, influence):
    w = np.ones(evidence.n) if weights is None else weights
    mean = (w * evidence.x).sum() / w.sum()
    return Scored(np.array([mean]), [w * (evidence.x - mean) / w.sum()] if influence else None)


class Listed:
    name, weights = "events", None

    def __init__(self, x, cluster=None):
        self.x, self.n, self.cluster = x, len(x), cluster

    def take(self, which):
        return Listed(self.x[which], None if self.cluster is None else self.cluster.take(which))


EVENTS = Events("events", ("mean",), score, About(scale="unbounded"))


def test_event_metrics_have_a_t_test():
    rng = np.random.default_rng(9)
    b = rng.normal(size=80)
    a = b + rng.normal(0.2, 1, size=80)
    (found,) = paired(EVENTS, Listed(a), Listed(b))
    t = scipy.stats.ttest_rel(a, b)
    assert (found.p, found.test) == (pytest.approx(t.pvalue, rel=1e-9), "t test on influence")
    (same,) = paired(EVENTS, Listed(a), Listed(a))
    assert (same.difference, same.p) == (0, 1)
    facet = Facet("doc", (np.arange(80) % 16).astype(np.int32), tuple("abcdefghijklmnop"))
    (found,) = paired(EVENTS, Listed(a, facet), Listed(b, facet))
    sums = np.bincount(np.arange(80) % 16, (a - b) - (a - b).mean())
    assert found.se == pytest.approx(math.sqrt(16 / 15 * (sums**2).sum()) / 80, rel=1e-9)


def test_event_metrics_have_a_paired_bootstrap():
    rng = np.random.default_rng(9)
    b = rng.normal(size=80)
    a = b + rng.normal(0.2, 1, size=80)
    (found,) = paired(EVENTS, Listed(a), Listed(b), Settings(bootstrap=1000))
    assert "paired bootstrap" in found.test
    assert found.se == pytest.approx(scipy.stats.sem(a - b), rel=0.1)
    assert found.low < found.difference < found.high
    (same,) = paired(EVENTS, Listed(a), Listed(a), Settings(bootstrap=100))
    assert (same.difference, same.p) == (0, 1)


def test_a_metric_whose_closed_form_is_too_narrow_is_drawn_unasked():
    rng = np.random.default_rng(9)
    b = rng.normal(size=80)
    a = b + rng.normal(0.2, 1, size=80)
    narrow = replace(EVENTS, facts={"resamples": 1000})
    (found,) = paired(narrow, Listed(a), Listed(b))
    assert found.test == "paired bootstrap, 1000 resamples"
    assert found.smallest_seen == pytest.approx(2.801585 * found.se, rel=1e-6)
    few = Facet("doc", (np.arange(80) % 4).astype(np.int32), tuple("abcd"))
    (found,) = paired(narrow, Listed(a, few), Listed(b, few))
    assert found.test == "t test on influence"


def test_other_items_or_cells_are_refused(make):
    with pytest.raises(UsageError, match="2 and 3 items"):
        paired_all([], [make([0, 1], [0, 1], 2)], [make([0, 1, 1], [0, 1, 1], 2)])
    with pytest.raises(UsageError, match="different cells"):
        paired(MEAN, *(Counts("x", Columns(Layout({"n": k}), np.ones((2, k)))) for k in (1, 2)))


def test_undefined_and_lonely_differences_have_reasons(make, accuracy, f1_family):
    one = make([0], [0], 2)
    (found,) = paired(accuracy, one, make([0], [1], 2), QUICK)
    assert found.difference == 1
    assert found.no_interval
    first, second = paired(f1_family(2), one, one, QUICK)
    assert first.difference == 0
    assert (second.difference, second.p) == (None, None)
    assert second.reason
    nothing = one.take(np.zeros(1, bool))
    (found,) = paired(accuracy, nothing, nothing, QUICK)
    assert (found.difference, found.p) == (None, None)


def test_official_values_replace_ours(make, two, accuracy):
    gold, a, b = two
    sides = [make(gold, a, 3)], [make(gold, b, 3)]
    (found,) = paired_all([accuracy], *sides, QUICK, {"accuracy": 0.75}, {"accuracy": 0.5})
    assert found.difference == 0.25
    assert found.low < 0.25 < found.high
