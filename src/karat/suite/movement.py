"""How far something moved between the sides, as a case: codes, numbers, or pieces of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.model.suite import Plot
from karat.suite import distance
from karat.suite.judge import ALPHA, MIN_ROWS, Found, bars, judged, skipped
from karat.suite.limits import Limit
from karat.suite.permute import Ragged, rows_test

LEAST = 5


def enough(ref_n: int, eval_n: int) -> str:
    """Why there is too little to compare, empty where there is enough."""
    short = min(ref_n, eval_n)
    return f"only {short} rows on one side; {MIN_ROWS} are needed" if short < MIN_ROWS else ""


def blind(limit: Limit, critical: float) -> bool:
    """Whether an effect at the warning level could not be told from chance."""
    return limit.warn is not None and critical > limit.warn


def code_case(
    names: Sequence[str],
    ref: IntArray,
    other: IntArray,
    subject: str,
    limit: Limit,
    seed: int,
) -> Found:
    """PSI of one code a row; chi-square where every class is frequent enough, else shuffles."""
    ref, other = ref[ref >= 0], other[other >= 0]
    short = enough(len(ref), len(other))
    if short:
        return skipped(subject, short, n_ref=len(ref), n_eval=len(other))
    width = max(len(names), int(max(ref.max(), other.max())) + 1)
    labels = [names[i] if i < len(names) else str(i) for i in range(width)]
    counts = [np.bincount(side, minlength=width) for side in (ref, other)]
    value = float(distance.psi(counts[0], counts[1]))
    p, critical = _evidence(ref, other, counts, f"{limit.name}/{subject}", seed)
    moved = int(np.argmax(np.abs(counts[1] / len(other) - counts[0] / len(ref))))
    text = (
        f"{labels[moved]} goes from {counts[0][moved] / len(ref):.1%} "
        f"to {counts[1][moved] / len(other):.1%}, the largest change of {width}"
    )
    return judged(
        limit,
        subject,
        value,
        "PSI",
        text,
        believed=p < ALPHA,
        p=p,
        n_ref=len(ref),
        n_eval=len(other),
        underpowered=blind(limit, critical),
        plot=bars(labels, counts[0], counts[1]),
    )


def _evidence(
    ref: IntArray, other: IntArray, counts: Sequence[IntArray], purpose: str, seed: int
) -> tuple[float, float]:
    """(p, the PSI that chance alone reaches in one of a hundred cases)."""
    from scipy import stats

    used = (counts[0] + counts[1]) > 0
    table = np.array([side[used] for side in counts])
    if table.shape[1] < 2:
        return 1.0, 0.0
    _, p, df, usual = stats.chi2_contingency(table, correction=False)
    if usual.min() >= LEAST:
        # Under no drift PSI is close to chi-square times (1/n + 1/m).
        return float(p), float(stats.chi2.isf(0.01, df) * (1 / len(ref) + 1 / len(other)))
    width = len(counts[0])
    sides = [Ragged(len(s), np.arange(len(s)), s.astype(np.int64), width) for s in (ref, other)]
    test = rows_test(sides[0], sides[1], distance.psi, seed, purpose)
    return test.p, test.critical


def ks_case(
    limit: Limit,
    subject: str,
    ref: FloatArray,
    other: FloatArray,
    moved: distance.Shift,
    text: str,
) -> Found:
    """Kolmogorov-Smirnov distance of one number a row, from what was measured already."""
    critical = 1.628 * np.sqrt(1 / len(ref) + 1 / len(other))
    return judged(
        limit,
        subject,
        moved.ks,
        "KS",
        text,
        believed=moved.p < ALPHA,
        p=moved.p,
        n_ref=len(ref),
        n_eval=len(other),
        underpowered=blind(limit, float(critical)),
        table={"psi": moved.psi, "wasserstein / deviation": moved.wasserstein},
        plot=histogram(ref, other),
    )


def number_case(
    limit: Limit, subject: str, ref: FloatArray, other: FloatArray, what: str, bins: int = 10
) -> Found:
    """PSI on quantile bins of reference with the Kolmogorov-Smirnov p, for one number a row."""
    short = enough(len(ref), len(other))
    if short:
        return skipped(subject, short, n_ref=len(ref), n_eval=len(other))
    moved = distance.shift(ref, other, bins)
    text = f"mean {what} goes from {moved.ref_mean:.4g} to {moved.eval_mean:.4g}"
    return judged(
        limit,
        subject,
        moved.psi,
        "PSI of reference quantile bins",
        text,
        believed=moved.p < ALPHA,
        p=moved.p,
        n_ref=len(ref),
        n_eval=len(other),
        underpowered=blind(limit, _psi_by_chance(bins, len(ref), len(other))),
        table={
            "ks": moved.ks,
            "wasserstein / deviation": moved.wasserstein,
            "psi of deciles": moved.psi if bins == 10 else distance.shift(ref, other).psi,
        },
        plot=histogram(ref, other),
    )


def _psi_by_chance(bins: int, n: int, m: int) -> float:
    """The PSI that no drift reaches in one of a hundred cases."""
    from scipy import stats

    return float(stats.chi2.isf(0.01, bins - 1) * (1 / n + 1 / m))


def histogram(ref: FloatArray, other: FloatArray) -> Plot:
    """Both sides in ten equal bins between the middle 98 % of all values."""
    both = np.concatenate([ref, other])
    low, high = np.quantile(both, [0.01, 0.99])
    edges = np.linspace(low, high, 11) if high > low else np.array([low, low + 1.0])
    counts = [np.histogram(np.clip(s, edges[0], edges[-1]), edges)[0] for s in (ref, other)]
    names = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges)]
    return bars(names, counts[0], counts[1])


def ragged_case(
    sides: Sequence[Ragged], names: Sequence[str], subject: str, limit: Limit, seed: int
) -> Found:
    """PSI of the codes of several pieces a row; whole rows are shuffled."""
    short = enough(sides[0].rows, sides[1].rows)
    if short or not len(sides[0].row) or not len(sides[1].row):
        return skipped(subject, short or "a side has nothing to count")
    counts = [side.counts() for side in sides]
    value = float(distance.psi(counts[0], counts[1]))
    test = rows_test(sides[0], sides[1], distance.psi, seed, f"{limit.name}/{subject}")
    return judged(
        limit,
        subject,
        value,
        "PSI",
        f"PSI {value:.3f}, chance alone gives {test.mean:.3f} on average"
        + most_changed(names, counts),
        believed=test.p < ALPHA,
        p=test.p,
        n_ref=sides[0].rows,
        n_eval=sides[1].rows,
        underpowered=blind(limit, test.critical),
        table={"pieces in ref": int(counts[0].sum()), "pieces in eval": int(counts[1].sum())},
        plot=bars(names, counts[0], counts[1]),
    )


def binned_case(
    pieces: Sequence[tuple[int, IntArray, FloatArray]], subject: str, limit: Limit, seed: int
) -> Found:
    """PSI of a number a piece on reference deciles; whole rows are shuffled."""
    if not all(len(values) for _, _, values in pieces):
        return skipped(subject, "a side has nothing to measure")
    edges = distance.deciles(pieces[0][2])
    sides = [Ragged(n, row, distance.binned(values, edges), 10) for n, row, values in pieces]
    names = [f"decile {i + 1} of reference" for i in range(10)]
    found = ragged_case(sides, names, subject, limit, seed)
    if found.case.status != "skip":
        means = [float(values.mean()) for _, _, values in pieces]
        found.case.text = f"mean {subject} goes from {means[0]:.4g} to {means[1]:.4g}"
    return found


def most_changed(names: Sequence[str], counts: Sequence[IntArray]) -> str:
    """The pieces whose share changed most, in words."""
    shares = [side / max(int(side.sum()), 1) for side in counts]
    change = shares[1] - shares[0]
    most = np.argsort(-np.abs(change), kind="stable")[:3]
    said = [f"{names[i]!r} {change[i]:+.1%}" for i in most if change[i] != 0]
    return f"; most changed: {', '.join(said)}" if said else ""
