"""How well the probabilities of a box tell its class: over boxes that lie on a true box.

A box is judged by its whole vector against the class of the truth it lies on (overlap of 0.5,
best score first, whatever the class).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.model.evidence import Columns, Counts, Layout
from karat.model.metric import About, Metric, Ratio, Smooth, Totals
from karat.model.pairs import FloatArray
from karat.tasks.detection.scene import DetectionPairs
from karat.tasks.detection.together import across_classes

BINS = 10
LAYOUT = Layout(
    {"n": 1, "log_loss": 1, "brier": 1, "count": BINS, "confidence": BINS, "right": BINS}
)
TINY = 2.0**-52


def calibrates(pairs: DetectionPairs, boxes: str) -> bool:
    """Whether there are probability vectors that sum to one, one detection a box."""
    found = pairs.pred
    return found.vectors is not None and found.exclusive and boxes == "argmax"


def calibration(pairs: DetectionPairs) -> Counts:
    """The losses of the matched boxes of each image, and their bins of confidence."""
    scene, found = pairs.gold, pairs.pred
    vectors, which = found.vectors, found.vector_of
    assert vectors is not None
    assert which is not None
    truth, _ = across_classes(scene.truths, found.detections, scene.n)
    on = np.flatnonzero(truth >= 0)
    box, image = which[on], found.detections.image[on]
    label = scene.truths.category[truth[on]]
    row = scene.records[image]
    p = vectors.known[vectors.start[box] + vectors.present.place(row, label)]
    confidence = vectors.confidence[box]
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    matrix = np.zeros((scene.n, LAYOUT.width))
    columns: list[tuple[Any, FloatArray]] = [
        (0, np.ones(len(on))),
        (1, -np.log(np.clip(p, TINY, 1 - TINY))),
        (2, vectors.squares[box] - 2 * p + 1),
        (3 + bins, np.ones(len(on))),
        (3 + BINS + bins, confidence),
        (3 + 2 * BINS + bins, (vectors.top[box] == label).astype(np.float64)),
    ]
    for column, value in columns:
        cell = image.astype(np.int64) * LAYOUT.width + column
        matrix += np.bincount(cell, value, matrix.size).reshape(matrix.shape)
    return Counts(
        "calibration", Columns(LAYOUT, matrix), None, pairs.cluster, pairs.weights, exact=False
    )


def expected_error(totals: Totals) -> FloatArray:
    """The expected calibration error: gaps of the bins, weighted by their boxes."""
    gap = np.abs(totals["right"] - totals["confidence"]).sum(axis=-1)
    n = totals["n"]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(n > 0, gap / n, np.nan))


def calibration_metrics() -> list[Metric]:
    """Log loss, Brier score and calibration error of the matched boxes."""
    none = "no box lies on a true box"

    def about(formula: str, scale: str = "unbounded") -> About:
        return About(
            better="lower",
            scale="fraction" if scale == "fraction" else "unbounded",
            formula=formula,
            undefined=none,
            group="calibration of matched boxes",
        )

    return [
        Ratio(
            "calibration",
            ("log_loss",),
            {"log_loss": 1.0},
            {"n": 1.0},
            about("mean of -ln p(true class)"),
        ),
        Ratio(
            "calibration",
            ("brier",),
            {"brier": 1.0},
            {"n": 1.0},
            about("mean of the sum over classes of (p - [true])^2"),
        ),
        Smooth(
            "calibration",
            "ece",
            expected_error,
            about(f"sum over {BINS} bins of |right - confidence| / boxes", "fraction"),
            no_interval="a sum of absolute gaps is biased upwards; read it beside its bins",
        ),
    ]
