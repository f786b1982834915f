from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.model.evidence import Columns, Counts, Layout, Table
from karat.model.state import Runs, Sums, Tally, from_bytes, merged

LAYOUT = Layout({"n": 1, "hit": 1, "length": 2})
rows = st.tuples(st.just(1), st.integers(0, 1), st.integers(-3, 9), st.integers(0, 3))


def counts(matrix, exact=True):
    matrix = np.array(matrix, dtype=np.float64).reshape(-1, 4)
    return Counts("x", Table.dense(LAYOUT, matrix), exact=exact)


def chunks(n, random):
    cuts = sorted(random.randrange(n + 1) for _ in range(random.randrange(4)))
    bounds = [0, *cuts, n]
    out = [slice(a, b) for a, b in pairwise(bounds)]
    random.shuffle(out)
    return out


def any_tree(states, random):
    states = list(states)
    while len(states) > 1:
        a = states.pop(random.randrange(len(states)))
        b = states.pop(random.randrange(len(states)))
        states.append(a.merge(b))
    return states[0]


@given(st.lists(rows, max_size=30), st.randoms())
def test_a_tally_does_not_show_how_it_was_made(items, random):
    whole = Tally.of(counts(items))
    cut = any_tree([Tally.of(counts(items[part])) for part in chunks(len(items), random)], random)
    assert cut.to_bytes() == whole.to_bytes()
    table, count = from_bytes(whole.to_bytes()).table()
    expected = np.array(items, dtype=np.float64).reshape(-1, 4).sum(axis=0)
    assert np.array_equal(count @ table.to_dense(), expected)
    assert whole.n == count.sum() == len(items)


@given(
    st.lists(st.tuples(rows, st.integers(0, 4), st.floats(-50, 50)), max_size=30),
    st.booleans(),
    st.randoms(),
)
def test_sums_do_not_show_how_they_were_made(items, exact, random):
    names = ["b", "a", "c", "ab", "z"]

    def sums(part):
        matrix = [(*row[:3], row[3] if exact else real) for row, _, real in part]
        keys = np.array([key for _, key, _ in part], dtype=np.int32)
        return Sums.of(counts(matrix, exact), keys, names)

    whole = sums(items)
    cut = any_tree([sums(items[part]) for part in chunks(len(items), random)], random)
    assert cut.to_bytes() == whole.to_bytes()
    back = from_bytes(whole.to_bytes())
    assert back.to_bytes() == whole.to_bytes()
    assert list(back.keys) == sorted({names[key] for _, key, _ in items})
    for key, found in zip(back.keys, back.table().to_dense(), strict=True):
        mine = [row for row, code, _ in items if names[code] == key]
        assert found[0] == len(mine)
        assert found[2] == sum(row[2] for row in mine)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from([0.0, -0.0, 0.5, 0.25, -1.0]),
            st.integers(0, 1),
            st.integers(0, 3),
        ),
        max_size=30,
    ),
    st.randoms(),
)
def test_runs_do_not_show_how_they_were_made(events, random):
    def run(part):
        columns = [np.array([event[j] for event in part]) for j in range(4)]
        return Runs.of(*columns)

    whole = run(events)
    cut = any_tree([run(events[part]) for part in chunks(len(events), random)], random)
    assert cut.to_bytes() == whole.to_bytes()
    assert from_bytes(whole.to_bytes()).to_bytes() == whole.to_bytes()
    expected = sorted(events, key=lambda e: (e[0], -e[1], -e[2], e[3]))
    found = zip(whole.group, whole.score, whole.hit, whole.bucket, strict=True)
    assert [tuple(event) for event in found] == expected


@settings(max_examples=30)
@given(st.lists(st.tuples(rows, st.integers(1, 500)), min_size=1, max_size=10))
def test_a_degraded_tally_keeps_its_totals(items):
    tally = merged([Tally.of(counts([row] * times)) for row, times in items])
    sums = tally.degraded(64)
    expected = sum(times * np.array(row, dtype=np.float64) for row, times in items)
    assert np.array_equal(sums.table().to_dense().sum(axis=0), expected)
    assert sums.n == tally.n
    assert len(sums.keys) <= 64


def test_a_common_row_is_spread_over_the_buckets():
    sizes = Tally.of(counts([(1, 1, 2, 3)] * 6400)).degraded(64).items
    assert len(sizes) == 64
    # 100 a bucket, as if each item were thrown at random: standard deviation 10
    assert 5 < sizes.std() < 20


def test_a_tally_takes_rows_from_any_table():
    one = Counts("x", Table.dense(LAYOUT, np.eye(4)), np.array([0, 0, 3], np.int32))
    two = Counts("x", Columns(LAYOUT, np.eye(4)[[3, 0, 0]]))
    assert Tally.of(one).to_bytes() == Tally.of(two).to_bytes()


def test_weights_make_sums_of_reals():
    evidence = Counts("x", Columns(LAYOUT, np.ones((2, 4))), weights=np.array([0.5, 0.25]))
    sums = Sums.of(evidence, np.zeros(2, np.int32), ["a"])
    assert sums.table().to_dense().tolist() == [[0.75] * 4]
    with pytest.raises(KaratError):
        Tally.of(evidence)


def test_numbers_out_of_range_are_refused():
    evidence = Counts("x", Columns(LAYOUT, np.full((1, 4), 1e300)), exact=False)
    with pytest.raises(KaratError, match="too large"):
        Sums.of(evidence, np.zeros(1, np.int32), ["a"])


def test_broken_bytes_are_refused():
    good = Tally.of(counts([(1, 0, 2, 3)])).to_bytes()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 0x55
        with pytest.raises(KaratError):
            from_bytes(bytes(bad))
    for end in range(len(good)):
        with pytest.raises(KaratError):
            from_bytes(good[:end])


def test_another_version_says_so():
    good = Tally.of(counts([(1, 0, 2, 3)])).to_bytes()
    assert good.count(b"\xa7version\x01") == 1
    with pytest.raises(KaratError, match="version 2"):
        from_bytes(good.replace(b"\xa7version\x01", b"\xa7version\x02"))


def test_different_cells_do_not_merge():
    other = Counts("x", Columns(Layout({"n": 4}), np.ones((1, 4))))
    with pytest.raises(KaratError, match="different cells"):
        Tally.of(counts([(1, 0, 2, 3)])).merge(Tally.of(other))
