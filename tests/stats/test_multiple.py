import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from karat.stats.multiple import benjamini_hochberg, holm, within

PS = [0.01, 0.04, 0.03, 0.005]


def test_holm_by_hand():
    # ascending .005 .01 .03 .04 times 4 3 2 1, then the running maximum
    assert holm(PS) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_by_hand():
    assert benjamini_hochberg(PS) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_step_up_is_scipys(ps):
    expected = scipy.stats.false_discovery_control(ps, method="bh")
    assert np.allclose(np.array(benjamini_hochberg(ps), float), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_has_no_p_stays_none_and_does_not_count(adjust):
    with_gaps = [0.01, None, 0.04, math.nan, 0.03, 0.005]
    plain = adjust(PS)
    assert adjust(with_gaps) == [plain[0], None, plain[1], None, plain[2], plain[3]]
    assert adjust([]) == []
    assert adjust([None]) == [None]


def test_families_are_adjusted_by_themselves():
    names = ["a", "b", "a", "a", "b", "a"]
    ps = [0.01, 0.5, 0.04, 0.03, None, 0.005]
    found = within(names, ps, holm)
    assert [found[i] for i in (0, 2, 3, 5)] == holm(PS)
    assert (found[1], found[4]) == (0.5, None)
