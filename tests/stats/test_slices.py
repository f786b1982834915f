import math

import numpy as np
import pytest
import scipy.stats

from karat.model.evidence import Columns, Counts, Layout
from karat.model.metric import About, Events, Ratio, Scored
from karat.model.pairs import Facet
from karat.stats.intervals import Settings, estimates
from karat.stats.multiple import benjamini_hochberg
from karat.stats.slices import adjusted, slices

LETTERS = "abcdefghijklmnopqrst"
LAYOUT = Layout({"n": 1, "x": 1})
MEAN = Ratio("x", ("mean",), {"x": 1}, {"n": 1}, About(scale="unbounded", main=True))


def reals(x, cluster=None, weights=None):
    matrix = np.stack([np.ones(len(x)), x], axis=1)
    return Counts("x", Columns(LAYOUT, matrix), None, cluster, weights, exact=False)


def facet(codes, levels="abcdefgh", name="channel"):
    return Facet(name, np.asarray(codes, np.int32), tuple(levels))


def by_level(found):
    return {part.level: part for part in found}


@pytest.mark.parametrize("clustered", [False, True])
def test_a_slice_is_scored_as_if_alone(make, labels, accuracy, f1_macro, f1_family, clustered):
    gold, pred = labels(400)
    level, unit = np.arange(400) % 4 - 1, np.arange(400) % 50
    cluster = unit if clustered else None
    metrics = [accuracy, f1_macro, f1_family(3)]
    found = by_level(slices(metrics, [make(gold, pred, 3, cluster)], facet(level)))
    assert set(found) == {"a", "b", "c"}
    for code, name in enumerate("abc"):
        here = level == code
        inside = None if cluster is None else np.unique(cluster[here], return_inverse=True)[1]
        alone = estimates(metrics, [make(gold[here], pred[here], 3, inside)])
        assert [score.estimate for score in found[name].scores] == alone
        assert found[name].n == here.sum()
        assert found[name].clusters == (len(np.unique(unit[here])) if clustered else None)


def test_the_difference_of_means_is_welchs(make):
    rng = np.random.default_rng(1)
    x, level = rng.normal(size=90), np.arange(90) % 3 - 1
    x[level == 0] = x[level == 0] * 2 + 0.5
    (score,) = by_level(slices([MEAN], [reals(x)], facet(level)))["a"].scores
    # items without a level are among the others
    welch = scipy.stats.ttest_ind(x[level == 0], x[level != 0], equal_var=False)
    ends = welch.confidence_interval()
    assert score.difference == pytest.approx(x[level == 0].mean() - x[level != 0].mean())
    assert score.p == pytest.approx(welch.pvalue, rel=1e-9)
    assert (score.low, score.high) == pytest.approx((ends.low, ends.high), rel=1e-9)


def test_the_difference_of_proportions_is_agresti_and_caffos(make, accuracy):
    gold = np.zeros(60, int)
    level = (np.arange(60) >= 20).astype(int)
    pred = np.where(level == 0, 0, np.arange(60) % 4 == 0).astype(int)
    (score,) = by_level(slices([accuracy], [make(gold, pred, 2)], facet(level)))["a"].scores
    p, q = 21 / 22, (30 + 1) / 42
    se = math.sqrt(p * (1 - p) / 22 + q * (1 - q) / 42)
    assert score.difference == pytest.approx(1 - 30 / 40)
    assert score.low == pytest.approx(p - q - 1.959963985 * se, rel=1e-8)
    assert score.high == pytest.approx(p - q + 1.959963985 * se, rel=1e-8)
    assert score.p == pytest.approx(2 * scipy.stats.norm.sf((p - q) / se), rel=1e-9)


def test_clusters_across_the_cut_cancel_what_they_share():
    rng = np.random.default_rng(2)
    common = rng.normal(0, 3, 40).repeat(10)
    level = np.tile(np.arange(2), 200)
    x = common + rng.normal(size=400) * 0.5
    cluster = facet(np.arange(40).repeat(10), [f"{i:02d}" for i in range(40)], "doc")
    (joined,) = by_level(slices([MEAN], [reals(x, cluster)], facet(level)))["a"].scores
    (apart,) = by_level(slices([MEAN], [reals(x)], facet(level)))["a"].scores
    # within each cluster both halves have five items: the difference of halves is a paired one
    halves = x.reshape(40, 5, 2).mean(axis=1)
    se = scipy.stats.sem(halves[:, 0] - halves[:, 1])
    width = (joined.high - joined.low) / 2
    assert joined.difference == pytest.approx((halves[:, 0] - halves[:, 1]).mean(), abs=1e-12)
    assert width / se == pytest.approx(scipy.stats.t.ppf(0.975, 78), rel=0.01)
    assert apart.high - apart.low > 4 * (joined.high - joined.low)


def test_clusters_inside_a_slice_count_as_one():
    rng = np.random.default_rng(3)
    x = rng.normal(size=120).repeat(10) + rng.normal(size=1200) * 0.1
    doc = np.arange(120).repeat(10)
    cluster = facet(doc, [f"{i:03d}" for i in range(120)], "doc")
    part = by_level(slices([MEAN], [reals(x, cluster)], facet(doc % 2)))["a"]
    means = x.reshape(120, 10).mean(axis=1)
    welch = scipy.stats.ttest_ind(means[::2], means[1::2], equal_var=False)
    assert part.clusters == 60
    assert part.scores[0].p == pytest.approx(welch.pvalue, rel=1e-9)


def test_slices_of_noise_are_seldom_starred():
    """A handful of units that happen to agree is no proof: p < 0.05 in about one case of twenty."""
    rng = np.random.default_rng(7)
    docs = facet(np.arange(300) // 3, [f"{i:03d}" for i in range(100)], "doc")
    hits, tests = 0, 0
    for _ in range(60):
        level = rng.permutation(np.repeat(np.arange(20), [3] * 10 + [6] * 5 + [48] * 5))
        right = (rng.random(300) < 0.9).astype(float)
        for cluster in (None, docs):
            for part in slices([MEAN], [reals(right, cluster)], facet(level, LETTERS)):
                hits += (part.scores[0].p or 1.0) < 0.05
                tests += 1
    assert hits / tests < 0.06


def test_a_side_that_agrees_has_the_spread_of_the_whole():
    """By hand: 4 of 4 right against 72 of 96; the four vary as four of all 100 would."""
    right = np.r_[np.ones(4), np.ones(72), np.zeros(24)]
    (one,) = by_level(slices([MEAN], [reals(right)], facet((np.arange(100) >= 4) * 1)))["a"].scores
    whole = right.var(ddof=1) / 100
    inside, rest = whole * 25, right[4:].var(ddof=1) / 96
    df = (inside + rest) ** 2 / (inside**2 / 3 + rest**2 / 95)
    reach = scipy.stats.t.ppf(0.975, df) * math.sqrt(inside + rest)
    assert (one.low, one.high) == pytest.approx((0.25 - reach, 0.25 + reach), rel=1e-9)


def test_integer_rows_and_real_rows_agree(make, labels):
    gold, pred = labels(300)
    level = facet(np.arange(300) % 3)
    rate = Ratio("labels", ("rate",), {"hit": 1}, {"n": 1}, About())
    mean = Ratio("x", ("rate",), {"x": 1}, {"n": 1}, About())
    found = slices([rate], [make(gold, pred, 3)], level)
    again = by_level(slices([mean], [reals((gold == pred).astype(float))], level))
    for part in found:
        (one,), (two,) = part.scores, again[part.level].scores
        assert (one.low, one.high, one.p) == pytest.approx((two.low, two.high, two.p), rel=1e-9)


@pytest.mark.parametrize("clustered", [False, True])
def test_weight_zero_is_removal(make, labels, accuracy, f1_macro, clustered):
    gold, pred = labels(300)
    weights = np.where(np.arange(300) % 5 == 0, 0.0, 1.5)
    kept, level = weights > 0, np.arange(300) % 3
    unit = np.arange(300) % 30 if clustered else None
    inside = np.unique(unit[kept], return_inverse=True)[1] if clustered else None
    found = by_level(
        slices([accuracy, f1_macro], [make(gold, pred, 3, unit, weights)], facet(level))
    )
    removed = make(gold[kept], pred[kept], 3, inside, weights[kept])
    again = by_level(slices([accuracy, f1_macro], [removed], facet(level[kept])))
    assert {name: part.scores for name, part in found.items()} == {
        name: part.scores for name, part in again.items()
    }


def score(evidence, weights, influence):
    mean = evidence.x.mean()
    return Scored(np.array([mean]), [(evidence.x - mean) / evidence.n] if influence else None)


class Listed:
    name, weights = "events", None

    def __init__(self, x, cluster=None):
        self.x, self.n, self.cluster = x, len(x), cluster

    def take(self, which):
        return Listed(self.x[which], None if self.cluster is None else self.cluster.take(which))


@pytest.mark.parametrize("clustered", [False, True])
def test_event_metrics_agree_with_totals(clustered):
    rng = np.random.default_rng(5)
    x, level = rng.normal(size=120), facet(np.arange(120) % 2)
    doc = facet(np.arange(120) // 3, [f"{i:02d}" for i in range(40)], "doc")
    cluster = doc if clustered else None
    metric = Events("events", ("mean",), score, About(scale="unbounded"))
    events = by_level(slices([metric], [Listed(x, cluster)], level))
    totals = by_level(slices([MEAN], [reals(x, cluster)], level))
    for name in "ab":
        (one,), (two,) = events[name].scores, totals[name].scores
        assert (one.low, one.high, one.p) == pytest.approx((two.low, two.high, two.p), rel=1e-9)


@pytest.mark.parametrize(
    ("better", "order"), [("higher", "dabc"), ("lower", "cbad"), ("near", "dacb")]
)
def test_the_worst_comes_first(better, order):
    shift = {"a": 0.0, "b": 1.0, "c": 1.5, "d": -3.5}
    level = np.repeat(np.arange(4), 50)
    x = np.repeat(list(shift.values()), 50) + np.tile([-0.1, 0.1], 100)
    about = About(better=better, scale="unbounded", near=1.0)
    metric = Ratio("x", ("m",), {"x": 1}, {"n": 1}, about)
    found = slices([metric], [reals(x)], facet(level))
    assert "".join(part.level for part in found) == order


def test_of_slices_as_bad_the_larger_comes_first(make, accuracy):
    level = np.repeat([0, 1, 2, 3], [2, 9, 4, 20])
    gold = np.zeros(len(level), int)
    evidence = make(gold, (level < 3).astype(int), 2)
    order = [part.level for part in slices([accuracy], [evidence], facet(level))]
    assert order == ["b", "c", "a", "d"]


def test_undefined_slices_come_last(make, f1_family):
    gold, pred = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 2, 2])
    level = facet([0, 0, 1, 1, 2, 2])
    found = slices([f1_family(3)], [make(gold, pred, 3)], level)
    assert [part.scores[0].estimate.value is None for part in found] == [False, True, True]


def test_q_is_over_all_slices_of_all_fields_score_by_score(make, accuracy):
    rng = np.random.default_rng(7)
    right, x = (rng.random(300) < 0.7).astype(int), rng.normal(size=300)
    evidence = [make(np.ones(300, int), right, 2), reals(x)]
    metrics = [accuracy, MEAN]
    one = slices(metrics, evidence, facet(np.arange(300) % 5))
    two = slices(metrics, evidence, facet(np.arange(300) % 7, name="length"))
    found = adjusted([*one, *two])
    for place in range(2):
        family = [part.scores[place] for part in found]
        assert [s.q for s in family] == benjamini_hochberg([s.p for s in family])
        assert len(family) == 12


def test_small_and_whole_slices_say_why(make, accuracy, f1_macro):
    gold, pred = np.array([0, 1, 0, 1, 0]), np.array([0, 1, 1, 1, 0])
    evidence = make(gold, pred, 2)
    lonely = by_level(slices([f1_macro], [evidence], facet([0, 1, 1, 1, 1])))["a"].scores[0]
    assert lonely.estimate.value is not None
    assert lonely.estimate.low is None
    assert lonely.low is None
    assert lonely.reason
    (whole,) = slices([accuracy], [evidence], facet([0] * 5))
    assert whole.scores[0].difference is None
    assert whole.scores[0].reason
    assert [p.level for p in slices([accuracy], [evidence], facet([0, 1, 1, 1, 1]), None, 2)] == [
        "b"
    ]
    assert slices([accuracy], [evidence], facet([-1] * 5)) == []


def test_metrics_over_groups_are_not_sliced(make, accuracy):
    evidence = make([0, 1, 0, 1], [0, 1, 1, 1], 2)
    groups = reals(np.array([1.0, 2.0]))
    found = slices([accuracy, MEAN], [evidence, groups], facet([0, 0, 1, 1]))
    for part in found:
        plain, grouped = part.scores
        assert plain.estimate.value is not None
        assert grouped.estimate.value is None
        assert grouped.reason


def test_nothing_is_ever_nan(make, accuracy, f1_macro, f1_family):
    gold, pred = np.array([0, 1, 2, 2, 2, 1]), np.array([0, 1, 2, 2, 2, 1])
    level = facet([0, 0, 1, 1, 2, 2])
    for cluster in (None, np.array([0, 1, 1, 2, 2, 2]), np.zeros(6, int)):
        for part in slices(
            [accuracy, f1_macro, f1_family(3)], [make(gold, pred, 3, cluster)], level, Settings()
        ):
            for score in part.scores:
                numbers = [score.difference, score.low, score.high, score.p, score.estimate.value]
                assert all(x is None or math.isfinite(x) for x in numbers)
                assert score.p is not None or score.reason
