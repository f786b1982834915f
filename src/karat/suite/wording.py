"""Drift of texts: their length, words, pairs of words and characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from karat.model.pairs import FloatArray
from karat.stats.weights import stream
from karat.suite import distance
from karat.suite.judge import ALPHA, Found, bars, judged, skipped
from karat.suite.limits import Limit
from karat.suite.movement import (
    blind,
    enough,
    most_changed,
    number_case,
)
from karat.suite.observed import Observed, shared_codes
from karat.suite.permute import Ragged, rows_test

TOP = 200
LEAST = 5
MOST_TEXTS = 50_000


def text_length_drift(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Words a text."""
    found = []
    for key in other.texts:
        sides = [_lengths(side.texts.get(key, ())) for side in (ref, other)]
        found.append(number_case(limit, key, sides[0], sides[1], f"length of {key}"))
    return found


def _lengths(texts: Sequence[str]) -> FloatArray:
    return np.fromiter((len(text.split()) for text in texts), np.float64, len(texts))


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
        short = enough(ref.n, other.n)
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
        text = f"divergence {raw:.3f}, of which {test.mean:.3f} would be chance"
        found.append(
            judged(
                limit,
                key,
                value,
                "Jensen-Shannon divergence beyond chance, bits",
                text + most_changed(names, counts),
                believed=test.p < ALPHA,
                p=test.p,
                n_ref=ref.n,
                n_eval=other.n,
                underpowered=blind(limit, test.critical - test.mean),
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
