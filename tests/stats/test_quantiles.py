import math

import pytest
import scipy.stats

from karat.stats.quantiles import (
    beta_cdf,
    binomial_half_p,
    normal_p,
    normal_quantile,
    t_p,
    t_quantile,
)

FREEDOM = [1, 1.5, 2, 3, 5, 12.3, 34, 79.9, 80, 81, 500, 1e4, 1e6]


@pytest.mark.parametrize("df", FREEDOM)
@pytest.mark.parametrize("p", [0.025, 0.4, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9999])
def test_t_quantile_is_scipys(df, p):
    assert t_quantile(p, df) == pytest.approx(scipy.stats.t.ppf(p, df), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("df", FREEDOM)
@pytest.mark.parametrize("t", [0.0, 1e-6, 0.1, -1.0, 1.96, 10.0, 40.0])
def test_t_p_is_scipys(df, t):
    assert t_p(t, df) == pytest.approx(2 * scipy.stats.t.sf(abs(t), df), rel=1e-9)


def test_t_of_an_infinite_statistic_and_of_endless_freedom():
    assert t_p(math.inf, 5) == 0
    assert t_p(2.0, 1e12) == pytest.approx(normal_p(2.0), rel=1e-9)
    assert t_quantile(0.975, 1e12) == pytest.approx(1.959963984540054, rel=1e-9)


@pytest.mark.parametrize("z", [0.0, 0.5, -1.96, 8.0])
def test_normal(z):
    assert normal_p(z) == pytest.approx(2 * scipy.stats.norm.sf(abs(z)), rel=1e-12)
    assert normal_quantile(0.8) == pytest.approx(0.8416212335729143, rel=1e-12)


@pytest.mark.parametrize(
    ("hits", "n"), [(0, 0), (0, 1), (0, 10), (3, 10), (5, 10), (5, 11), (9, 10), (949, 2244)]
)
def test_fair_coins_are_scipys_binomial_test(hits, n):
    expected = scipy.stats.binomtest(hits, n).pvalue if n else 1.0
    assert binomial_half_p(hits, n) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("x", "a", "b"), [(0.2, 0.5, 3), (0.9, 45, 60), (0.5, 1e5, 1e5 + 7)])
def test_incomplete_beta_is_scipys(x, a, b):
    assert beta_cdf(x, a, b) == pytest.approx(scipy.special.betainc(a, b, x), rel=1e-9)
    assert (beta_cdf(0, a, b), beta_cdf(1, a, b)) == (0, 1)
