"""How far apart two samples are: functions from counts and values to one number each.

All are published statistics, with their free choices stated: PSI adds 1 to every bin and takes
natural logarithms, the Jensen-Shannon divergence is in bits, numeric PSI uses the deciles of the
reference side.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from karat.model.pairs import FloatArray, IntArray

Numbers = npt.NDArray[Any]


def psi(ref: Numbers, other: Numbers) -> FloatArray:
    """The population stability index, sum (p - q) ln(p / q), of counts (..., bins)."""
    p = (ref + 1) / (ref + 1).sum(axis=-1, keepdims=True)
    q = (other + 1) / (other + 1).sum(axis=-1, keepdims=True)
    return np.asarray(((p - q) * np.log(p / q)).sum(axis=-1))


def divergence(ref: Numbers, other: Numbers) -> FloatArray:
    """The Jensen-Shannon divergence in bits of counts (..., bins); 0 where a side is empty."""
    p = _shares(ref)
    q = _shares(other)
    middle = (p + q) / 2
    return np.asarray((_relative(p, middle) + _relative(q, middle)).sum(axis=-1) / 2)


def _shares(counts: Numbers) -> FloatArray:
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts / np.maximum(total, 1))


def _relative(p: FloatArray, middle: FloatArray) -> FloatArray:
    """p log2(p / middle), 0 where p is 0."""
    ratio = np.divide(p, middle, out=np.ones_like(p), where=p > 0)
    return np.asarray(p * np.log2(ratio))


def deciles(ref: FloatArray, bins: int = 10) -> FloatArray:
    """The inner edges of the reference's quantile bins; equal edges are kept, their bins empty."""
    return np.asarray(np.quantile(ref, np.linspace(0, 1, bins + 1)[1:-1]))


def binned(values: FloatArray, edges: FloatArray) -> IntArray:
    """The bin of each value: how many edges are not above it."""
    return np.searchsorted(edges, values, side="right")


class Shift(NamedTuple):
    """Two numeric samples side by side."""

    ks: float
    p: float
    psi: float
    wasserstein: float
    ref_mean: float
    eval_mean: float


def shift(ref: FloatArray, other: FloatArray, bins: int = 10) -> Shift:
    """Kolmogorov-Smirnov with its p, decile PSI, and Wasserstein over the reference's deviation."""
    from scipy import stats

    with warnings.catch_warnings():
        # Where the exact distribution overflows, SciPy says that it took the limit.
        warnings.simplefilter("ignore", RuntimeWarning)
        test = stats.ks_2samp(ref, other)
    edges = deciles(ref, bins)
    counts = [np.bincount(binned(side, edges), minlength=bins) for side in (ref, other)]
    spread = float(ref.std())
    moved = float(stats.wasserstein_distance(ref, other))
    return Shift(
        float(test.statistic),
        float(test.pvalue),
        float(psi(counts[0], counts[1])),
        moved / spread if spread > 0 else (0.0 if moved == 0 else float("inf")),
        float(ref.mean()),
        float(other.mean()),
    )


def centroid_distance(ref: FloatArray, other: FloatArray) -> float:
    """The distance of the two mean vectors, each scaled to unit length; NaN where one is 0."""
    middles = [side.mean(axis=0) for side in (ref, other)]
    norms = [float(np.linalg.norm(middle)) for middle in middles]
    if min(norms) == 0:
        return float("nan")
    return float(np.linalg.norm(middles[0] / norms[0] - middles[1] / norms[1]))


class Fence(NamedTuple):
    """Where usual values end: three interquartile ranges beyond the quartiles."""

    low: float
    high: float


def fence(ref: FloatArray) -> Fence:
    """The outer fence of the reference."""
    first, third = np.quantile(ref, [0.25, 0.75])
    reach = 3 * (third - first)
    return Fence(float(first - reach), float(third + reach))


class Cloud(NamedTuple):
    """Where the reference's vectors lie: their mean, inverse covariance, and outer limit."""

    middle: FloatArray
    inverse: FloatArray
    limit: float


def cloud(ref: FloatArray, shrink: bool | None = None, quantile: float = 0.995) -> Cloud:
    """The Mahalanobis limit that all but 0.5 % of the reference keep.

    Where there are fewer than five vectors a dimension (or `shrink` says so) the covariance is
    shrunk towards a ball, by Ledoit and Wolf's amount, since its inverse would be noise.
    """
    middle = ref.mean(axis=0)
    away = ref - middle
    if few(ref) if shrink is None else shrink:
        spread = _shrunk(away)
    else:
        spread = away.T @ away / max(len(ref) - 1, 1)
    inverse: FloatArray = np.asarray(np.linalg.pinv(spread), dtype=np.float64)
    return Cloud(middle, inverse, float(np.quantile(_mahalanobis(away, inverse), quantile)))


def few(ref: FloatArray) -> bool:
    """Whether there are fewer than five vectors a dimension."""
    n, width = ref.shape
    return bool(width > n / 5)


def beyond(vectors: FloatArray, reference: Cloud) -> IntArray:
    """The rows farther out than the limit."""
    distance = _mahalanobis(vectors - reference.middle, reference.inverse)
    return np.flatnonzero(distance > reference.limit)


def held_out(ref: FloatArray, parts: int = 5) -> float:
    """The share of reference vectors beyond the limit of the vectors that they are no part of.

    A limit is kept best by the vectors it was made from; new ones of the same kind pass it more
    often, the more so the more dimensions there are.
    """
    part, shrink = np.arange(len(ref)) % parts, few(ref)
    far = sum(len(beyond(ref[part == i], cloud(ref[part != i], shrink))) for i in range(parts))
    return far / len(ref)


def _mahalanobis(away: Numbers, inverse: FloatArray) -> FloatArray:
    squared = np.einsum("ij,jk,ik->i", away, inverse, away)
    return np.asarray(np.sqrt(np.maximum(squared, 0)))


def _shrunk(away: FloatArray) -> FloatArray:
    """Ledoit and Wolf's estimate: (1 - b) * covariance + b * mean variance * identity."""
    n, width = away.shape
    covariance = away.T @ away / n
    level = np.trace(covariance) / width
    ball = level * np.eye(width)
    apart = float(np.square(covariance - ball).sum()) / width
    squares = np.square(away)
    noise = float((squares.T @ squares).sum() / n - np.square(covariance).sum()) / (n * width)
    share = 1.0 if apart == 0 else min(max(noise, 0.0) / apart, 1.0)
    return np.asarray((1 - share) * covariance + share * ball)
