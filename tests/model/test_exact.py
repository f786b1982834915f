import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.model.exact import (
    exact_group_sums,
    exact_sum,
    fits,
    group_limbs,
    limbs,
    parts,
    to_floats,
)

# Whole multiples of 2^-60 below 2^20: all of them are represented without rounding.
numbers = st.integers(-(2**52), 2**52).map(lambda i: i * 2.0**-60) | st.integers(
    -(2**20), 2**20
).map(float)


@given(st.lists(numbers, max_size=60))
def test_sum_is_fsum(values):
    assert exact_sum(np.array(values)) == math.fsum(values)


@given(st.lists(numbers, min_size=1, max_size=40), st.randoms())
def test_group_sums_do_not_depend_on_order_or_chunks(values, random):
    groups = [random.randrange(3) for _ in values]
    whole = group_limbs(np.array(values), np.array(groups), 3)
    pairs = list(zip(values, groups, strict=True))
    random.shuffle(pairs)
    again = group_limbs(np.array([v for v, _ in pairs]), np.array([g for _, g in pairs]), 3)
    assert whole.tobytes() == again.tobytes()
    for g in range(3):
        mine = [v for v, group in zip(values, groups, strict=True) if group == g]
        assert to_floats(whole)[g] == math.fsum(mine)


def test_times_are_repetition():
    x, codes = np.array([0.1, 0.2, 0.3]), np.array([0, 1, 0])
    times = np.array([3, 0, 2])
    found = exact_group_sums(x, codes, 2, times)
    assert found.tolist() == [math.fsum([0.1] * 3 + [0.3] * 2), 0.0]


def test_large_sums_are_rounded_once():
    x = np.full(1 << 12, 2.0**30) + np.arange(1 << 12) * 2.0**-20
    expected = sum((Fraction(v) for v in x.tolist()), Fraction(0))
    assert exact_sum(x) == float(expected)
    assert exact_group_sums(x, np.zeros(len(x), np.int64), 1)[0] == float(expected)


def test_long_sums_cross_blocks():
    x = np.random.default_rng(1).normal(size=(1 << 18) + 5)
    assert exact_sum(x) == math.fsum(x.tolist())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e300, 1.0, -1e300], 1.0),
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1.0], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan, math.inf], math.nan),
        ([], 0.0),
    ],
)
def test_numbers_that_do_not_fit(values, expected):
    x = np.array(values)
    found = [exact_sum(x), exact_group_sums(x, np.zeros(len(x), np.int64), 1)[0]]
    assert found == pytest.approx([expected] * 2, nan_ok=True)
    assert fits(x) == (not values)


def test_limbs_of_equal_numbers_are_equal_bytes():
    whole = limbs(np.array([-0.75, 0.25])).sum(axis=0)
    assert to_floats(limbs(np.array([-0.5])))[0] == -0.5
    assert limbs(np.array([0.0])).tobytes() == limbs(np.array([-0.0])).tobytes()
    assert whole.shape == (3,)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.randoms())
def test_parts_sum_exactly_in_any_order(values, random):
    columns = parts(np.array(values), len(values))
    assert sum(c.astype(object) for c in columns) == pytest.approx(values, rel=1e-15, abs=1e-9)
    for column in columns:
        shuffled = column.tolist()
        random.shuffle(shuffled)
        total = 0.0
        for value in shuffled:
            total += value
        assert total == math.fsum(column.tolist())


def test_whole_numbers_are_one_part():
    assert len(parts(np.array([1.0, 5.0, 0.0]), 1000)) == 1
