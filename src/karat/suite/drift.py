"""Drift: whether evaluation looks as if drawn from where reference was drawn.

The effect is a published distance; the evidence is a test in which whole rows change sides, or the
exact test of the statistic where there is one.
"""

from __future__ import annotations

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.suite import distance
from karat.suite.judge import ALPHA, Found, correct_family, judged, points, skipped
from karat.suite.limits import Limit
from karat.suite.movement import (
    blind,
    code_case,
    enough,
    histogram,
    ks_case,
    number_case,
)
from karat.suite.observed import Observed
from karat.suite.permute import Ragged, energy_test, rows_test

FINE = 200


def label_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """PSI of the labels."""
    if ref.known is None or other.known is None or ref.labels is None or other.labels is None:
        return []
    return [code_case(ref.classes, ref.labels, other.labels, "labels", limit, seed)]


def predicted_label_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """PSI of the predicted labels."""
    if ref.predicted is None or other.predicted is None:
        return []
    return [code_case(ref.classes, ref.predicted, other.predicted, "predictions", limit, seed)]


def confidence_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Kolmogorov-Smirnov distance of the confidences."""
    if ref.confidence is None or other.confidence is None:
        return _scores(ref, other, limit, seed)
    short = enough(len(ref.confidence), len(other.confidence))
    if short:
        return [skipped("confidence", short)]
    moved = distance.shift(ref.confidence, other.confidence)
    text = f"mean confidence goes from {moved.ref_mean:.3f} to {moved.eval_mean:.3f}"
    return [ks_case(limit, "confidence", ref.confidence, other.confidence, moved, text)]


def _scores(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The same for the scores of boxes; those of one image depend on each other."""
    a, b = ref.predicted_boxes, other.predicted_boxes
    if a is None or b is None or a.score is None or b.score is None:
        return []
    short = enough(ref.n, other.n)
    if short or not len(a.score) or not len(b.score):
        return [skipped("scores of boxes", short or "a side has no boxes")]
    moved = distance.shift(a.score, b.score)
    edges = np.unique(np.concatenate([a.score, b.score]))[:-1]
    if len(edges) > FINE:
        edges = np.unique(np.quantile(np.concatenate([a.score, b.score]), np.linspace(0, 1, FINE)))
    sides = [
        Ragged(side.n, boxes.row, distance.binned(score, edges), len(edges) + 1)
        for side, boxes, score in ((ref, a, a.score), (other, b, b.score))
    ]
    test = rows_test(sides[0], sides[1], _largest_gap, seed, limit.name)
    text = f"mean score of boxes goes from {moved.ref_mean:.3f} to {moved.eval_mean:.3f}"
    return [
        judged(
            limit,
            "scores of boxes",
            moved.ks,
            "KS",
            text,
            believed=test.p < ALPHA,
            p=test.p,
            n_ref=len(a.score),
            n_eval=len(b.score),
            underpowered=blind(limit, test.critical),
            table={"psi": moved.psi, "wasserstein / deviation": moved.wasserstein},
            plot=histogram(a.score, b.score),
        )
    ]


def _largest_gap(a: IntArray, b: IntArray) -> FloatArray:
    """The Kolmogorov-Smirnov distance of ordered counts (..., bins)."""
    p = np.cumsum(a, axis=-1) / np.maximum(a.sum(axis=-1, keepdims=True), 1)
    q = np.cumsum(b, axis=-1) / np.maximum(b.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.abs(p - q).max(axis=-1))


def metadata_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Every column of metadata, as one family."""
    found = []
    for name, values in other.numeric.items():
        sides = [ref.numeric.get(name, np.zeros(0)), values]
        a, b = (side[np.isfinite(side)] for side in sides)
        found.append(number_case(limit, name, a, b, name))
    for name, texts in other.categorical.items():
        levels = sorted({str(v) for v in (*ref.categorical.get(name, ()), *texts) if v is not None})
        code_of = {level: i for i, level in enumerate(levels)}
        codes = [
            np.array([code_of[str(v)] for v in side if v is not None], dtype=np.int64)
            for side in (ref.categorical.get(name, ()), texts)
        ]
        short = enough(len(codes[0]), len(codes[1]))
        if short:
            found.append(skipped(name, short))
        else:
            found.append(code_case(levels, codes[0], codes[1], name, limit, seed))
    correct_family(found, limit, alpha=ALPHA)
    return found


def embedding_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Distance of the unit-scaled centroids, believed by the energy distance of the clouds."""
    found = []
    for name, vectors in other.embeddings.items():
        known = ref.embeddings.get(name)
        short = enough(0 if known is None else len(known), len(vectors))
        if known is None or short:
            found.append(skipped(name, short or "reference has no such embedding"))
            continue
        value = distance.centroid_distance(known, vectors)
        energy, test = energy_test(known, vectors, seed, f"{limit.name}/{name}")
        text = f"the centres of {name} are {value:.3f} apart, energy distance {energy:.3f}"
        found.append(
            judged(
                limit,
                name,
                value,
                "distance of unit centroids",
                text,
                believed=test.p < ALPHA,
                p=test.p,
                n_ref=len(known),
                n_eval=len(vectors),
                underpowered=blind(limit, test.critical),
                table={"energy distance": energy},
                plot=points(
                    [("by chance", test.critical, None, None), ("found", value, None, None)]
                ),
            )
        )
    return found
