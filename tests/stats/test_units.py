import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.evidence import Columns, Counts, Layout
from karat.model.pairs import Facet
from karat.model.state import Sums, Tally, merged
from karat.stats.units import Sums as ReadySums
from karat.stats.units import effective, fold, sparse, unfold
from karat.stats.weights import resamples, stream, swaps

items = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-1, 3), st.integers(0, 3)),
    min_size=1,
    max_size=40,
)


def dense(gold, pred, k, weights=None):
    """The sums of a confusion matrix's evidence by a plain loop."""
    out = [0.0] * (2 + 3 * k)
    for i, (g, p) in enumerate(zip(gold, pred, strict=True)):
        w = 1 if weights is None else weights[i]
        out[0] += w
        out[1] += w * (g == p)
        out[2 + g] += w * (g == p)
        out[2 + k + p] += w
        out[2 + 2 * k + g] += w
    return out


@given(items)
def test_totals_are_plain_sums(make, rows):
    gold, pred, cluster, weights = (list(column) for column in zip(*rows, strict=True))
    for evidence in (make(gold, pred, 3), make(gold, pred, 3, np.array(cluster) + 1)):
        assert fold(evidence).totals().sums.tolist() == dense(gold, pred, 3)
    for clusters in (None, np.array(cluster) + 1):
        weighted = make(gold, pred, 3, clusters, np.array(weights, float))
        found = fold(weighted)
        assert found.totals().sums.tolist() == dense(gold, pred, 3, weights)
        assert found.n == np.count_nonzero(weights)


@given(items)
def test_weights_are_repetition(make, rows):
    gold, pred, _, weights = (np.array(column) for column in zip(*rows, strict=True))
    again = make(gold.repeat(weights), pred.repeat(weights), 3) if weights.any() else None
    weighted = fold(make(gold, pred, 3, None, weights.astype(float))).totals().sums
    assert weighted.tolist() == (
        [0.0] * 11 if again is None else fold(again).totals().sums.tolist()
    )


def test_rows_are_the_distinct_rows(make):
    units = fold(make([0, 0, 1, 0], [0, 0, 0, 1], 2))
    assert sorted(units.count.tolist()) == [1, 1, 2]
    assert (units.drawn, units.n, units.unit) == (4, 4, "item")


def test_rows_are_clusters_in_the_order_of_their_names(make):
    evidence = make([0, 0, 1, 1], [0, 1, 1, 1], 2)
    facet = Facet("article", np.array([1, 0, 1, -1], np.int32), ("zebra", "ant", "nobody"))
    units = fold(Counts("labels", evidence.table, evidence.codes, facet))
    # ant: items 0 and 2; zebra: item 1; the last item belongs to none and stands alone
    assert units.table.to_dense()[:, :2].tolist() == [[2, 2], [1, 0], [1, 1]]
    assert (units.drawn, units.unit) == (3, "article")


def test_reals_are_summed_exactly():
    x = np.random.default_rng(0).normal(size=(1000, 2))
    facet = Facet("c", np.arange(1000, dtype=np.int32) % 7, tuple("abcdefg"))
    for cluster in (None, facet):
        evidence = Counts("x", Columns(Layout({"a": 1, "b": 1}), x), None, cluster, exact=False)
        found = fold(evidence).totals().sums
        if cluster is None:
            assert found.tolist() == [math.fsum(x[:, 0]), math.fsum(x[:, 1])]
        assert found == pytest.approx(x.sum(axis=0), rel=1e-13)


def test_resampled_totals_are_weighted_sums(make, labels):
    gold, pred = labels(200)
    units = fold(make(gold, pred, 3))
    weights = np.random.default_rng(0).integers(0, 5, (50, len(units.count)))
    assert np.array_equal(units.totals(weights).sums, weights @ units.table.to_dense())


def test_long_and_short_work_give_the_same_bits(make, labels):
    gold, pred = labels(3000)
    rng = np.random.default_rng(0)
    layout = Layout({"a": 1, "b": 1})
    reals = Counts("x", Columns(layout, rng.normal(size=(3000, 2))), exact=False)
    for units in (fold(make(gold, pred, 3, np.arange(3000) // 3)), fold(reals)):
        drawn = next(resamples(units.count, 40, 1, "x"))
        sums, short = ReadySums.of(units), ReadySums.of(units).totals(drawn)
        assert sums._long(drawn, np.zeros_like(short)).tobytes() == short.tobytes()
        for row, mine in zip(drawn[:3], short[:3], strict=True):
            assert mine == pytest.approx(row @ sparse(units.table).to_dense(), rel=1e-12)


def test_states_fold_to_the_same_units(make, labels):
    gold, pred = labels(300)
    cluster = np.arange(300) % 11
    parts = [slice(0, 100), slice(100, 101), slice(101, 300)]
    tally = merged([Tally.of(make(gold[p], pred[p], 3)) for p in parts])
    names = [f"d{i:03d}" for i in range(11)]
    keyed = merged([Sums.of(make(gold[p], pred[p], 3), cluster[p], names) for p in parts])
    plain, clustered = fold(make(gold, pred, 3)), fold(make(gold, pred, 3, cluster))
    assert np.array_equal(unfold(tally).totals().sums, plain.totals().sums)
    assert sorted(unfold(tally).count) == sorted(plain.count)
    assert np.array_equal(unfold(keyed).table.to_dense(), clustered.table.to_dense())


def test_nothing_at_all(make):
    evidence = make([0], [0], 2).take(np.zeros(1, bool))
    for cluster in (None, Facet("c", np.zeros(0, np.int32), ("a",))):
        units = fold(Counts("labels", evidence.table, evidence.codes, cluster))
        assert (units.drawn, units.n) == (0, 0)
        assert not units.totals().sums.any()


def test_effective_number():
    assert effective(np.ones(7)) == 7
    assert effective(np.array([3.0, 1.0])) == pytest.approx(16 / 10)
    assert effective(np.array([1e300, 1e300])) == 2
    assert effective(np.zeros(3)) == effective(np.zeros(0)) == 0


def test_streams_are_named_and_repeatable():
    assert stream(1, "a").random() == stream(1, "a").random()
    assert len({stream(1, "a").random(), stream(2, "a").random(), stream(1, "b").random()}) == 3


@pytest.mark.parametrize("count", [[5, 1, 94], [1] * 100])
def test_resamples_are_multinomial(count):
    count = np.array(count)
    drawn = np.concatenate(list(resamples(count, 4000, 7, "test")))
    assert drawn.shape == (4000, len(count))
    assert (drawn.sum(axis=1) == 100).all()
    expected = count * (1 - count / 100)
    # 4,000 draws: six standard errors of a mean and of a variance
    assert np.abs(drawn.mean(axis=0) - count).max() < 6 * np.sqrt(expected.max() / 4000)
    assert drawn.var(axis=0)[0] == pytest.approx(expected[0], rel=6 * np.sqrt(2 / 4000) + 0.05)


@pytest.mark.parametrize("count", [[5, 1, 94], [1] * 13])
def test_swaps_are_fair_coins(count):
    count = np.array(count)
    drawn = np.concatenate(list(swaps(count, 4000, 7, "test")))
    assert drawn.shape == (4000, len(count))
    assert (drawn >= 0).all()
    assert (drawn <= count).all()
    assert np.abs(drawn.mean(axis=0) - count / 2).max() < 6 * np.sqrt(count.max() / 4 / 4000)


def test_fewer_draws_are_the_beginning_of_more():
    count = np.ones(3_000_000 // 2, dtype=np.int64)
    few = next(resamples(count, 1, 3, "x"))
    assert np.array_equal(few[0], next(resamples(count, 2, 3, "x"))[0])
    many = np.concatenate(list(swaps(np.arange(9), 300_000, 3, "x")))
    assert np.array_equal(many[:1000], np.concatenate(list(swaps(np.arange(9), 1000, 3, "x"))))
