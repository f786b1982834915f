"""Drift: whether evaluation looks as if drawn from where reference was drawn.

The effect is a published distance; the evidence is a test in which whole rows change sides, or the
exact test of the statistic where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.model.seen import Boxes, Spans
from karat.model.suite import Plot
from karat.stats.weights import stream
from karat.suite import distance
from karat.suite.judge import ALPHA, MIN_ROWS, Found, bars, correct_family, judged, skipped
from karat.suite.limits import Limit
from karat.suite.observed import Observed, shared_codes
from karat.suite.permute import Ragged, energy_test, rows_test

TOP = 200
LEAST = 5
FEW_ROWS = 200
MOST_TEXTS = 50_000
FINE = 200


def _enough(ref_n: int, eval_n: int) -> str:
    """Why there is too little to compare, empty where there is enough."""
    short = min(ref_n, eval_n)
    return f"only {short} rows on one side; {MIN_ROWS} are needed" if short < MIN_ROWS else ""


# --- labels ------------------------------------------------------------------------------------


def label_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """PSI of the labels."""
    if ref.known is None or other.known is None or ref.labels is None or other.labels is None:
        return []
    return [_codes(ref.classes, ref.labels, other.labels, "labels", limit, seed)]


def predicted_label_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """PSI of the predicted labels."""
    if ref.predicted is None or other.predicted is None:
        return []
    return [_codes(ref.classes, ref.predicted, other.predicted, "predictions", limit, seed)]


def _codes(
    names: Sequence[str],
    ref: IntArray,
    other: IntArray,
    subject: str,
    limit: Limit,
    seed: int,
) -> Found:
    """PSI of one code a row; chi-square where every class is frequent enough, else shuffles."""
    ref, other = ref[ref >= 0], other[other >= 0]
    short = _enough(len(ref), len(other))
    if short:
        return skipped(subject, short, n_ref=len(ref), n_eval=len(other))
    width = max(len(names), int(max(ref.max(), other.max())) + 1)
    labels = [names[i] if i < len(names) else str(i) for i in range(width)]
    counts = [np.bincount(side, minlength=width) for side in (ref, other)]
    value = float(distance.psi(counts[0], counts[1]))
    p, critical = _evidence(ref, other, counts, f"{limit.name}/{subject}", seed)
    moved = int(np.argmax(np.abs(counts[1] / len(other) - counts[0] / len(ref))))
    text = (
        f"{subject}: {labels[moved]} goes from {counts[0][moved] / len(ref):.1%} "
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
        underpowered=_blind(limit, critical),
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


def _blind(limit: Limit, critical: float) -> bool:
    """Whether an effect at the warning level could not be told from chance."""
    return limit.warn is not None and critical > limit.warn


# --- numbers -----------------------------------------------------------------------------------


def confidence_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Kolmogorov-Smirnov distance of the confidences."""
    if ref.confidence is None or other.confidence is None:
        return _scores(ref, other, limit, seed)
    short = _enough(len(ref.confidence), len(other.confidence))
    if short:
        return [skipped("confidence", short)]
    moved = distance.shift(ref.confidence, other.confidence)
    text = f"mean confidence goes from {moved.ref_mean:.3f} to {moved.eval_mean:.3f}"
    return [_ks(limit, "confidence", ref.confidence, other.confidence, moved, text)]


def _scores(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The same for the scores of boxes; those of one image depend on each other."""
    a, b = ref.predicted_boxes, other.predicted_boxes
    if a is None or b is None or a.score is None or b.score is None:
        return []
    short = _enough(ref.n, other.n)
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
            underpowered=_blind(limit, test.critical),
            table={"psi": moved.psi, "wasserstein / deviation": moved.wasserstein},
            plot=_histogram(a.score, b.score),
        )
    ]


def _largest_gap(a: IntArray, b: IntArray) -> FloatArray:
    """The Kolmogorov-Smirnov distance of ordered counts (..., bins)."""
    p = np.cumsum(a, axis=-1) / np.maximum(a.sum(axis=-1, keepdims=True), 1)
    q = np.cumsum(b, axis=-1) / np.maximum(b.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.abs(p - q).max(axis=-1))


def _ks(
    limit: Limit,
    subject: str,
    ref: FloatArray,
    other: FloatArray,
    moved: distance.Shift,
    text: str,
) -> Found:
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
        underpowered=_blind(limit, float(critical)),
        table={"psi": moved.psi, "wasserstein / deviation": moved.wasserstein},
        plot=_histogram(ref, other),
    )


def _numbers(limit: Limit, subject: str, ref: FloatArray, other: FloatArray, what: str) -> Found:
    """Decile PSI with the Kolmogorov-Smirnov p, for one number a row."""
    short = _enough(len(ref), len(other))
    if short:
        return skipped(subject, short, n_ref=len(ref), n_eval=len(other))
    bins = 5 if len(ref) < FEW_ROWS else 10
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
        underpowered=_blind(limit, _psi_by_chance(bins, len(ref), len(other))),
        table={
            "ks": moved.ks,
            "wasserstein / deviation": moved.wasserstein,
            "psi of deciles": moved.psi if bins == 10 else distance.shift(ref, other).psi,
        },
        plot=_histogram(ref, other),
    )


def _psi_by_chance(bins: int, n: int, m: int) -> float:
    """The PSI that no drift reaches in one of a hundred cases."""
    from scipy import stats

    return float(stats.chi2.isf(0.01, bins - 1) * (1 / n + 1 / m))


def _histogram(ref: FloatArray, other: FloatArray) -> Plot:
    """Both sides in ten equal bins between the middle 98 % of all values."""
    both = np.concatenate([ref, other])
    low, high = np.quantile(both, [0.01, 0.99])
    edges = np.linspace(low, high, 11) if high > low else np.array([low, low + 1.0])
    counts = [np.histogram(np.clip(s, edges[0], edges[-1]), edges)[0] for s in (ref, other)]
    names = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges)]
    return bars(names, counts[0], counts[1])


def text_length_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Words a text."""
    found = []
    for key in other.texts:
        sides = [_lengths(side.texts.get(key, ())) for side in (ref, other)]
        found.append(_numbers(limit, key, sides[0], sides[1], f"length of {key}"))
    return found


def _lengths(texts: Sequence[str]) -> FloatArray:
    return np.fromiter((len(text.split()) for text in texts), np.float64, len(texts))


def metadata_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Every column of metadata, as one family."""
    found = []
    for name, values in other.numeric.items():
        sides = [ref.numeric.get(name, np.zeros(0)), values]
        a, b = (side[np.isfinite(side)] for side in sides)
        found.append(_numbers(limit, name, a, b, name))
    for name, texts in other.categorical.items():
        levels = sorted({str(v) for v in (*ref.categorical.get(name, ()), *texts) if v is not None})
        code_of = {level: i for i, level in enumerate(levels)}
        codes = [
            np.array([code_of[str(v)] for v in side if v is not None], dtype=np.int64)
            for side in (ref.categorical.get(name, ()), texts)
        ]
        short = _enough(len(codes[0]), len(codes[1]))
        if short:
            found.append(skipped(name, short))
        else:
            found.append(_codes(levels, codes[0], codes[1], name, limit, seed))
    correct_family(found, limit, alpha=ALPHA)
    return found


def embedding_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Distance of the unit-scaled centroids, believed by the energy distance of the clouds."""
    found = []
    for name, vectors in other.embeddings.items():
        known = ref.embeddings.get(name)
        short = _enough(0 if known is None else len(known), len(vectors))
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
                table={"energy distance": energy},
            )
        )
    return found


# --- pieces of texts ---------------------------------------------------------------------------


def unigram_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The words of the texts."""
    return _pieces(ref, other, limit, seed, lambda side, key: side.words.get(key, []))


def bigram_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Pairs of words that follow each other."""

    def pairs(words: list[str]) -> list[str]:
        return [" ".join(pair) for pair in pairwise(words)]

    return _pieces(ref, other, limit, seed, lambda side, key: side.words.get(key, []), pairs)


def character_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The characters of the texts."""
    return _pieces(ref, other, limit, seed, lambda side, key: side.texts.get(key, ()), list)


def _pieces(
    ref: Observed,
    other: Observed,
    limit: Limit,
    seed: int,
    rows_of: Callable[[Observed, str], Sequence[Any]],
    cut: Callable[[Any], Sequence[str]] = lambda row: row,
) -> list[Found]:
    """Divergence of the pieces of each text field, beyond what shuffled rows show.

    Of more than 50,000 rows a side that many are drawn: shares are then known to a thousandth.
    """
    found = []
    for key in other.texts:
        short = _enough(ref.n, other.n)
        if short:
            found.append(skipped(key, short))
            continue
        some = [_some(rows_of(side, key), f"{limit.name}/{key}", seed) for side in (ref, other)]
        (a, b), names = shared_codes([list(map(cut, rows)) for rows in some])
        if not names or not len(a.row) or not len(b.row):
            found.append(skipped(key, "a side has no text"))
            continue
        (a, b), names = _frequent(a, b, names)
        counts = [a.counts(), b.counts()]
        test = rows_test(a, b, distance.divergence, seed, f"{limit.name}/{key}")
        raw = float(distance.divergence(counts[0], counts[1]))
        value = max(raw - test.mean, 0.0)
        text = f"{key}: divergence {raw:.3f}, of which {test.mean:.3f} would be chance"
        found.append(
            judged(
                limit,
                key,
                value,
                "Jensen-Shannon divergence beyond chance, bits",
                text + _most_changed(names, counts),
                believed=test.p < ALPHA,
                p=test.p,
                n_ref=ref.n,
                n_eval=other.n,
                underpowered=_blind(limit, test.critical - test.mean),
                table={"divergence": raw, "psi": float(distance.psi(counts[0], counts[1]))},
                plot=bars(names, counts[0], counts[1], most=12),
            )
        )
    return found


def _some(rows: Sequence[Any], purpose: str, seed: int) -> Sequence[Any]:
    """The rows, or a draw of them where they are very many."""
    if len(rows) <= MOST_TEXTS:
        return rows
    chosen = stream(seed, f"{purpose}/texts").choice(len(rows), MOST_TEXTS, replace=False)
    return [rows[i] for i in np.sort(chosen).tolist()]


def _frequent(a: Ragged, b: Ragged, names: list[str]) -> tuple[tuple[Ragged, Ragged], list[str]]:
    """Only the most frequent pieces keep their name; all others are one."""
    pooled = a.counts() + b.counts()
    top = np.argsort(-pooled, kind="stable")[:TOP]
    top = top[pooled[top] >= LEAST]
    code = np.full(len(names), len(top), dtype=np.int64)
    code[top] = np.arange(len(top))
    sides = (
        Ragged(a.rows, a.row, code[a.code], len(top) + 1),
        Ragged(b.rows, b.row, code[b.code], len(top) + 1),
    )
    return sides, [*(names[i] for i in top), "(all others)"]


def _most_changed(names: Sequence[str], counts: Sequence[IntArray]) -> str:
    """The pieces whose share changed most, in words."""
    shares = [side / max(int(side.sum()), 1) for side in counts]
    change = shares[1] - shares[0]
    most = np.argsort(-np.abs(change), kind="stable")[:3]
    said = [f"{names[i]!r} {change[i]:+.1%}" for i in most if change[i] != 0]
    return f"; most changed: {', '.join(said)}" if said else ""


# --- mentions ----------------------------------------------------------------------------------


def entity_type_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The types of the labelled mentions."""
    return _types(ref, other, ref.spans, other.spans, "labels", limit, seed)


def predicted_entity_type_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int
) -> list[Found]:
    """The types of the predicted mentions."""
    spans = ref.predicted_spans, other.predicted_spans
    return _types(ref, other, *spans, "predictions", limit, seed)


def _types(
    ref: Observed,
    other: Observed,
    a: Spans | None,
    b: Spans | None,
    subject: str,
    limit: Limit,
    seed: int,
) -> list[Found]:
    if a is None or b is None:
        return []
    names = sorted({*a.type, *b.type})
    code_of = {name: i for i, name in enumerate(names)}
    sides = [
        Ragged(
            side.n,
            spans.row,
            np.array([code_of[t] for t in spans.type], dtype=np.int64),
            len(names),
        )
        for side, spans in ((ref, a), (other, b))
    ]
    return [_ragged(sides, names, subject, limit, seed)]


def _ragged(
    sides: Sequence[Ragged], names: Sequence[str], subject: str, limit: Limit, seed: int
) -> Found:
    """PSI of the codes of several pieces a row; whole rows are shuffled."""
    short = _enough(sides[0].rows, sides[1].rows)
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
        f"{subject}: PSI {value:.3f}, chance alone gives {test.mean:.3f} on average"
        + _most_changed(names, counts),
        believed=test.p < ALPHA,
        p=test.p,
        n_ref=sides[0].rows,
        n_eval=sides[1].rows,
        underpowered=_blind(limit, test.critical),
        table={"pieces in ref": int(counts[0].sum()), "pieces in eval": int(counts[1].sum())},
        plot=bars(names, counts[0], counts[1]),
    )


def _binned(
    pieces: Sequence[tuple[int, IntArray, FloatArray]], subject: str, limit: Limit, seed: int
) -> Found:
    """PSI of a number a piece on reference deciles; whole rows are shuffled."""
    if not all(len(values) for _, _, values in pieces):
        return skipped(subject, "a side has nothing to measure")
    edges = distance.deciles(pieces[0][2])
    sides = [Ragged(n, row, distance.binned(values, edges), 10) for n, row, values in pieces]
    names = [f"decile {i + 1} of reference" for i in range(10)]
    found = _ragged(sides, names, subject, limit, seed)
    if found.case.status != "skip":
        means = [float(values.mean()) for _, _, values in pieces]
        found.case.text = f"mean {subject} goes from {means[0]:.4g} to {means[1]:.4g}"
    return found


def entity_length_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Characters a labelled mention."""
    if ref.spans is None or other.spans is None:
        return []
    pieces = [
        (side.n, spans.row, (spans.end - spans.start).astype(np.float64))
        for side, spans in ((ref, ref.spans), (other, other.spans))
    ]
    return [_binned(pieces, "length of mentions", limit, seed)]


def entities_per_row_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Labelled mentions a row."""
    if ref.spans is None or other.spans is None:
        return []
    counts = [
        np.bincount(spans.row, minlength=side.n).astype(np.float64)
        for side, spans in ((ref, ref.spans), (other, other.spans))
    ]
    return [_numbers(limit, "mentions a row", counts[0], counts[1], "number of mentions")]


# --- boxes -------------------------------------------------------------------------------------


def class_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The classes of labelled boxes."""
    return _classes(ref, other, ref.boxes, other.boxes, "labels", limit, seed)


def predicted_class_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The classes of predicted boxes."""
    boxes = ref.predicted_boxes, other.predicted_boxes
    return _classes(ref, other, *boxes, "predictions", limit, seed)


def _classes(
    ref: Observed,
    other: Observed,
    a: Boxes | None,
    b: Boxes | None,
    subject: str,
    limit: Limit,
    seed: int,
) -> list[Found]:
    if a is None or b is None or not len(a.row) or not len(b.row):
        return []
    width = int(max(a.label.max(), b.label.max())) + 1
    names = [ref.classes[i] if i < len(ref.classes) else str(i) for i in range(width)]
    sides = [Ragged(s.n, boxes.row, boxes.label, width) for s, boxes in ((ref, a), (other, b))]
    return [_ragged(sides, names, subject, limit, seed)]


def box_area_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The area of labelled boxes."""
    return _areas(ref, other, ref.boxes, other.boxes, "area of labelled boxes", limit, seed)


def predicted_box_area_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int
) -> list[Found]:
    """The area of predicted boxes."""
    boxes = ref.predicted_boxes, other.predicted_boxes
    return _areas(ref, other, *boxes, "area of predicted boxes", limit, seed)


def _areas(
    ref: Observed,
    other: Observed,
    a: Boxes | None,
    b: Boxes | None,
    subject: str,
    limit: Limit,
    seed: int,
) -> list[Found]:
    if a is None or b is None:
        return []
    pieces = [(ref.n, a.row, a.area()), (other.n, b.row, b.area())]
    return [_binned(pieces, subject, limit, seed)]


def boxes_per_image_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Boxes an image, labelled and predicted."""
    found = []
    for name, a, b in (
        ("labelled", ref.boxes, other.boxes),
        ("predicted", ref.predicted_boxes, other.predicted_boxes),
    ):
        if a is None or b is None:
            continue
        counts = [
            np.bincount(boxes.row, minlength=side.n).astype(np.float64)
            for side, boxes in ((ref, a), (other, b))
        ]
        what = f"number of {name} boxes"
        found.append(_numbers(limit, f"{name} boxes an image", counts[0], counts[1], what))
    return found


def box_position_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Where the centres of labelled boxes lie."""
    if ref.boxes is None or other.boxes is None:
        return []
    found = []
    for axis, low, high in (("x", 0, 2), ("y", 1, 3)):
        pieces = [
            (side.n, boxes.row, (boxes.corners[:, low] + boxes.corners[:, high]) / 2)
            for side, boxes in ((ref, ref.boxes), (other, other.boxes))
        ]
        found.append(_binned(pieces, f"centre {axis}", limit, seed))
    return found
