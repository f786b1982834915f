"""Best thresholds and curves under weights, against brute force and finite differences."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from reference import area, best

from karat.tasks.answers.measure import Silence, best_of, score_curves


def made(seed: int, n: int = 40) -> tuple[Silence, dict[str, dict[str, float]]]:
    """Evidence, and the same as the reference wants it."""
    rng = Random(seed)
    keys = [f"q{i}" for i in range(n)]
    chances = {k: rng.choice([0.1, 0.2, 0.5, rng.random()]) for k in rng.sample(keys, n)}
    has = {k: rng.random() < 0.6 for k in keys}
    f1 = {k: rng.choice([0, 1, rng.random()]) for k in keys}
    said = {k: rng.choice(["", "x"]) for k in keys}
    place = {k: i for i, k in enumerate(chances)}
    evidence = Silence(
        np.array([chances[k] for k in keys]),
        np.array([place[k] for k in keys]),
        np.array([has[k] for k in keys]),
        np.array([float(f1[k] == 1) for k in keys]),
        np.array([f1[k] for k in keys], dtype=float),
        np.array([said[k] != "" for k in keys]),
        None,
        None,
    )
    return evidence, {"chances": chances, "has": has, "f1": f1, "said": said}  # type: ignore[dict-item]


@pytest.mark.parametrize("seed", range(20))
def test_values_are_the_official_ones(seed: int) -> None:
    evidence, plain = made(seed)
    value, where = best(plain["f1"], plain["said"], plain["chances"], plain["has"])
    assert best_of("f1", 0)(evidence, None, False).values[0] == pytest.approx(value, rel=1e-12)
    assert best_of("f1", 1)(evidence, None, False).values[0] == where
    found = score_curves(evidence, None, False).values
    assert found[1] == pytest.approx(area(plain["f1"], plain["chances"], plain["has"]), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_influence_is_the_derivative(seed: int) -> None:
    evidence, _ = made(seed)
    w = np.random.default_rng(seed).uniform(0.5, 2, evidence.n)
    found = score_curves(evidence, w, True)
    assert found.influence is not None
    for i in range(evidence.n):
        step = np.zeros(evidence.n)
        step[i] = 1e-6
        up = score_curves(evidence, w + step, False).values
        down = score_curves(evidence, w - step, False).values
        slope = (up - down) / 2e-6 * w[i]
        for c, influence in enumerate(found.influence):
            assert influence is not None
            assert influence[i] == pytest.approx(slope[c], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_repetition(seed: int) -> None:
    evidence, _ = made(seed)
    times = np.random.default_rng(seed).integers(0, 4, evidence.n)
    repeated = evidence.take(np.repeat(np.arange(evidence.n), times))
    for score in (best_of("exact", 0), best_of("f1", 1), score_curves):
        weighted = score(evidence, times.astype(float), False).values
        assert weighted == pytest.approx(score(repeated, None, False).values, rel=1e-12)


def test_order_does_not_matter() -> None:
    evidence, _ = made(3)
    shuffled = evidence.take(np.random.default_rng(0).permutation(evidence.n))
    for score in (best_of("f1", 0), best_of("f1", 1), score_curves):
        assert score(shuffled, None, False).values == pytest.approx(
            score(evidence, None, False).values, rel=1e-12
        )


def test_no_answerable_question_has_no_curve() -> None:
    evidence, _ = made(1)
    silent = evidence.take(~evidence.answerable)
    assert np.isnan(score_curves(silent, None, True).values).all()
