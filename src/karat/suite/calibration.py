"""Calibration: whether stated confidence can be taken at its word, now and in reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from karat.model.metric import Events
from karat.model.pairs import BoolArray, FloatArray
from karat.model.suite import Plot
from karat.stats.intervals import wilson
from karat.stats.weights import stream
from karat.suite.judge import ALPHA, MIN_ROWS, Found, judged, share_case, skipped
from karat.suite.limits import Limit
from karat.suite.movement import blind
from karat.suite.observed import Observed
from karat.suite.performance import Scored
from karat.suite.permute import permuted, trials

BINS = 10
SURE = 0.9
COMPARE_ROWS = 200


class Reliability(NamedTuple):
    """Accuracy and weight of each bin of confidence, and the mean confidence there."""

    weight: FloatArray
    accuracy: FloatArray
    confidence: FloatArray


def reliability(confidence: FloatArray, correct: BoolArray) -> Reliability:
    """The curve over ten equal bins; an empty bin has no accuracy."""
    bin_of = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    weight = np.bincount(bin_of, minlength=BINS).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return Reliability(
            weight,
            np.bincount(bin_of, weights=correct, minlength=BINS) / weight,
            np.bincount(bin_of, weights=confidence, minlength=BINS) / weight,
        )


def _labelled(side: Observed) -> tuple[FloatArray, BoolArray] | None:
    if side.confidence is None or side.correct is None or side.known is None:
        return None
    return side.confidence[side.known], side.correct[side.known]


def calibration_error(other: Observed, scored: Scored, limit: Limit, seed: int) -> list[Found]:
    """ECE of the evaluation side, against outcomes redrawn from the stated confidences.

    A perfectly calibrated model of the same size has an ECE too; only what exceeds it counts.
    """
    metric = next((m for m in scored.metrics if "ece" in m.names), None)
    side = _labelled(other)
    if metric is None or side is None or not isinstance(metric, Events):
        return []
    confidence, _ = side
    n = len(confidence)
    if n < MIN_ROWS:
        return [skipped("ece", f"only {n} labelled rows; {MIN_ROWS} are needed")]
    evidence: Any = next(e for e in scored.evidence if e.name == metric.reads)
    place = metric.names.index("ece")
    value = float(metric.score(evidence, None, False).values[place])
    rng = stream(seed, limit.name)
    found = np.empty(trials(n))
    for i in range(len(found)):
        outcome = rng.random(evidence.n) < evidence.confidence
        null = replace(evidence, correct=outcome)
        found[i] = metric.score(null, None, False).values[place]
    test = permuted(value, found)
    text = f"ECE {value:.3f}; a perfectly calibrated model of this size gets {test.mean:.3f}"
    return [
        judged(
            limit,
            "ece",
            value,
            "ECE",
            text,
            believed=test.p < ALPHA,
            p=test.p,
            n_eval=n,
            underpowered=blind(limit, test.critical),
            plot=_curve(reliability(*side)),
            table={"by chance": test.mean},
        )
    ]


def _curve(curve: Reliability) -> Plot:
    filled = np.flatnonzero(curve.weight > 0)
    return Plot(
        kind="curve",
        labels=[f"{curve.confidence[b]:.3f}" for b in filled],
        ref=[float(curve.confidence[b]) for b in filled],
        eval=[float(curve.accuracy[b]) for b in filled],
    )


def calibration_comparison(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Mean squared gap of the two reliability curves, each bin weighted by its smaller side."""
    sides = [_labelled(side) for side in (ref, other)]
    if sides[0] is None or sides[1] is None:
        return []
    short = min(len(sides[0][0]), len(sides[1][0]))
    curves = reliability(*sides[0]), reliability(*sides[1])
    value = _gap(*curves)
    text = f"the reliability curves differ by {value:.4f} (mean squared gap)"
    if short < COMPARE_ROWS:
        case = skipped(
            "curves", f"only {short} labelled rows on one side; {COMPARE_ROWS} are needed"
        )
        case.case.value = value
        return [case]
    confidence = np.concatenate([sides[0][0], sides[1][0]])
    correct = np.concatenate([sides[0][1], sides[1][1]])
    n = len(sides[0][0])
    rng = stream(seed, limit.name)
    found = np.empty(trials(len(confidence)))
    for i in range(len(found)):
        order = rng.permutation(len(confidence))
        a, b = order[:n], order[n:]
        parts = (reliability(confidence[part], correct[part]) for part in (a, b))
        found[i] = _gap(*parts)
    test = permuted(value, found)
    return [
        judged(
            limit,
            "curves",
            value,
            "weighted mean squared gap",
            text,
            believed=test.p < ALPHA,
            p=test.p,
            n_ref=n,
            n_eval=len(sides[1][0]),
            underpowered=blind(limit, test.critical),
            plot=_both(*curves),
        )
    ]


def _both(ref: Reliability, other: Reliability) -> Plot:
    """The accuracy of both sides in each bin of confidence that has rows."""
    filled = np.flatnonzero((ref.weight > 0) | (other.weight > 0)).tolist()
    return Plot(
        kind="bars",
        labels=[f"confidence {b / BINS:g} to {(b + 1) / BINS:g}" for b in filled],
        ref=[float(ref.accuracy[b]) if ref.weight[b] else None for b in filled],
        eval=[float(other.accuracy[b]) if other.weight[b] else None for b in filled],
    )


def _gap(a: Reliability, b: Reliability) -> float:
    weight = np.minimum(a.weight, b.weight)
    shared = weight > 0
    if not shared.any():
        return float("nan")
    squares = np.square(a.accuracy - b.accuracy)[shared]
    return float((squares * weight[shared]).sum() / weight[shared].sum())


def overconfident_errors(other: Observed, limit: Limit) -> list[Found]:
    """Rows that are wrong with a confidence of 0.9 or more, as a share of all rows."""
    side = _labelled(other)
    if side is None or other.known is None:
        return []
    confidence, correct = side
    n = len(confidence)
    if n < MIN_ROWS:
        return [skipped("errors", f"only {n} labelled rows; {MIN_ROWS} are needed")]
    bad = ~correct & (confidence >= SURE)
    rows = np.flatnonzero(other.known)[bad]
    rows = rows[np.argsort(-confidence[bad], kind="stable")]
    low, _ = wilson(float(bad.mean()), n)
    text = f"{len(rows)} of {n} rows are wrong with a confidence of {SURE} or more"
    believed = limit.warn is None or low >= limit.warn
    return [share_case(limit, "errors", rows, other, text, of=n, n_eval=n, believed=believed)]
