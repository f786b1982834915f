"""Checks of metadata and embeddings: values that are new, rare, missing, or far outside."""

from __future__ import annotations

from collections import Counter

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.suite import distance
from karat.suite.datachecks import doubt, more_than, oftener
from karat.suite.judge import MIN_ROWS, Found, percent, share_case, skipped
from karat.suite.limits import Limit
from karat.suite.observed import Observed

OUTSIDE = 0.005
"""The share of vectors that the limit leaves outside."""

RARE = 0.005
"""A value is rare where its share is under 0.5 % of an even share."""


def metadata_unseen_value(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Values of categorical metadata that reference never had.

    The share of values seen once in reference is how often a new one is to be expected.
    """
    found = []
    for name, values in other.categorical.items():
        known = Counter(v for v in ref.categorical.get(name, ()) if v is not None)
        usual = sum(count == 1 for count in known.values()) / max(sum(known.values()), 1)
        rows = [i for i, v in enumerate(values) if v is not None and v not in known]
        new = ", ".join(sorted({str(values[i]) for i in rows})[:8])
        text = f"{len(rows)} of {other.n} rows have a {name} that reference lacks"
        text += f": {new}" if new else ""
        case = share_case(limit, name, rows, other, text, usual=usual)
        if usual:
            doubt(case, more_than(len(rows), other.n, usual))
        found.append(case)
    return found


def metadata_rare_value(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Values that reference has, but hardly ever, and evaluation more often."""
    found = []
    for name, values in other.categorical.items():
        counts = Counter(v for v in ref.categorical.get(name, ()) if v is not None)
        total = sum(counts.values())
        if not total:
            continue
        line = RARE * total / len(counts)
        rare = {value for value, count in counts.items() if count < line}
        rows = [i for i, v in enumerate(values) if v in rare]
        before = sum(counts[v] for v in rare)
        text = f"{len(rows)} of {other.n} rows have a {name} that is rare in reference"
        case = share_case(limit, name, rows, other, text, usual=before / total)
        doubt(case, oftener(len(rows), other.n, before, total))
        found.append(case)
    return found


def metadata_null(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Metadata that is missing more often than in reference."""
    found = []
    for name in (*other.numeric, *other.categorical):
        gaps = [_gaps(side, name) for side in (ref, other)]
        usual = len(gaps[0]) / max(ref.n, 1)
        text = f"{len(gaps[1])} of {other.n} rows lack {name}; in reference {percent(usual)} do"
        case = share_case(limit, name, gaps[1], other, text, usual=usual)
        # Where reference lacks none at all, a single gap is worth a look, but no failure.
        p = oftener(len(gaps[1]), other.n, len(gaps[0]), ref.n)
        doubt(case, p, leaving="pass" if usual else "warning")
        found.append(case)
    return found


def _gaps(side: Observed, name: str) -> IntArray:
    if name in side.numeric:
        return np.flatnonzero(np.isnan(side.numeric[name]))
    values = side.categorical.get(name, ())
    return np.array([i for i, value in enumerate(values) if value is None], dtype=np.int64)


def metadata_out_of_range(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Numbers below the smallest or above the largest of reference.

    The share of all values outside the range of n drawn ones has a Beta(2, n - 1) distribution,
    which gives how likely so many new ones are outside.
    """
    from scipy import stats

    found = []
    for name, values in other.numeric.items():
        known = _finite(ref.numeric.get(name))
        if len(known) < MIN_ROWS:
            found.append(skipped(name, f"reference has {len(known)} values of {name}"))
            continue
        low, high = float(known.min()), float(known.max())
        rows = np.flatnonzero((values < low) | (values > high))
        text = f"{len(rows)} of {other.n} rows have {name} outside {low:g} to {high:g}"
        if len(rows):
            text += f", farthest {farthest(values[rows], low, high):g}"
        case = share_case(limit, name, rows, other, text, usual=2 / (len(known) + 1))
        n = int(np.isfinite(values).sum())
        doubt(case, float(stats.betabinom.sf(len(rows) - 1, n, 2, len(known) - 1)))
        found.append(case)
    return found


def metadata_outlier(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Numbers more than three interquartile ranges beyond reference's quartiles."""
    found = []
    for name, values in other.numeric.items():
        known = _finite(ref.numeric.get(name))
        if len(known) < MIN_ROWS:
            found.append(skipped(name, f"reference has {len(known)} values of {name}"))
            continue
        low, high = distance.fence(known)
        rows = np.flatnonzero((values < low) | (values > high))
        usual = float(((known < low) | (known > high)).mean())
        text = f"{len(rows)} of {other.n} rows have {name} outside {low:g} to {high:g}"
        if len(rows):
            text += f", farthest {farthest(values[rows], low, high):g}"
        case = share_case(limit, name, rows, other, text, usual=usual)
        doubt(case, more_than(len(rows), other.n, max(usual, 1 / (len(known) + 1))))
        found.append(case)
    return found


def farthest(values: FloatArray, low: float, high: float) -> float:
    """The value that lies farthest outside."""
    return float(values[np.argmax(np.maximum(low - values, values - high))])


def _finite(values: FloatArray | None) -> FloatArray:
    return np.zeros(0) if values is None else values[np.isfinite(values)]


def embedding_outliers(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Vectors farther out than 99.5 % of reference, by Mahalanobis distance."""
    found = []
    for name, vectors in other.embeddings.items():
        known = ref.embeddings.get(name)
        if known is None or len(known) < MIN_ROWS:
            found.append(skipped(name, "reference has too few vectors"))
            continue
        rows = distance.beyond(vectors, distance.cloud(known))
        usual = max(distance.held_out(known), OUTSIDE)
        text = (
            f"{len(rows)} of {other.n} vectors of {name} lie beyond 99.5 % of reference, "
            f"where {percent(usual)} would be usual"
        )
        case = share_case(limit, name, rows, other, text, usual=usual)
        doubt(case, more_than(len(rows), other.n, usual))
        found.append(case)
    return found
