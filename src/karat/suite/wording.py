"""Drift of texts: their length, words, pairs of words and characters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.model.pairs import IntArray
from karat.stats.weights import stream
from karat.suite import distance, pieces
from karat.suite.judge import ALPHA, Found, bars, judged, skipped
from karat.suite.limits import Limit
from karat.suite.movement import blind, enough, most_changed, number_case
from karat.suite.observed import Observed
from karat.suite.permute import Ragged, rows_test
from karat.suite.pieces import Keys, Words

TOP = 200
LEAST = 5
MOST_TEXTS = 20_000
FEW_ROWS = 200

Cut = Callable[[str, IntArray, IntArray], tuple[Keys, Keys]]
"""(text field, rows of reference, rows of evaluation) -> the pieces of both, numbered alike."""


def text_length_drift(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Words a text; of fewer than 200 reference texts five bins, since deciles would be noise."""
    bins = 5 if ref.n < FEW_ROWS else 10
    return [
        number_case(limit, key, ref.lengths[key], other.lengths[key], f"length of {key}", bins)
        for key in other.texts
    ]


def unigram_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The words of the texts."""
    return _word_drift(ref, other, limit, seed, pieces.single)


def bigram_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Pairs of words that follow each other."""
    return _word_drift(ref, other, limit, seed, pieces.pairs)


def _word_drift(
    ref: Observed, other: Observed, limit: Limit, seed: int, keys: Callable[[Words], Keys]
) -> list[Found]:
    """What `keys` makes of the words."""

    def cut(key: str, mine: IntArray, theirs: IntArray) -> tuple[Keys, Keys]:
        a, b = pieces.shared(ref.telling[key].take(mine), other.telling[key].take(theirs))
        return keys(a), keys(b)

    return _drift(ref, other, limit, seed, cut)


def character_drift(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The characters of the texts."""

    def cut(key: str, mine: IntArray, theirs: IntArray) -> tuple[Keys, Keys]:
        sides = (ref.texts[key], mine), (other.texts[key], theirs)
        a, b = (pieces.characters([texts[i] for i in rows.tolist()]) for texts, rows in sides)
        return a, b

    return _drift(ref, other, limit, seed, cut)


def _drift(ref: Observed, other: Observed, limit: Limit, seed: int, cut: Cut) -> list[Found]:
    """Divergence of the pieces of each text field, beyond what shuffled rows show.

    Of more than 20,000 rows a side that many are drawn: shares are then known well enough.
    """
    found = []
    for key in other.texts:
        short = enough(ref.n, other.n)
        if short:
            found.append(skipped(key, short))
            continue
        purpose = f"{limit.name}/{key}"
        a, b = cut(key, *(_some(side.n, f"{purpose}/texts", seed) for side in (ref, other)))
        if not len(a.row) or not len(b.row):
            found.append(skipped(key, "a side has no text"))
            continue
        sides, names = _frequent(a, b)
        counts = [side.counts() for side in sides]
        test = rows_test(*sides, distance.divergence, seed, purpose)
        raw = float(distance.divergence(counts[0], counts[1]))
        # Shuffles of fewer rows show more; chance falls with the number of rows.
        chance = test.mean * test.thinner
        text = f"divergence {raw:.3f}, of which {chance:.3f} would be chance"
        found.append(
            judged(
                limit,
                key,
                max(raw - chance, 0.0),
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


def _some(rows: int, purpose: str, seed: int) -> IntArray:
    """All rows, or a draw of them where they are very many."""
    if rows <= MOST_TEXTS:
        return np.arange(rows)
    return np.sort(stream(seed, purpose).choice(rows, MOST_TEXTS, replace=False))


def _frequent(a: Keys, b: Keys) -> tuple[tuple[Ragged, Ragged], list[str]]:
    """Only the most frequent pieces keep their name (of equals, the first by name)."""
    keys, place = np.unique(np.concatenate([a.key, b.key]), return_inverse=True)
    pooled = np.bincount(place)
    line = LEAST if len(pooled) <= TOP else max(LEAST, int(np.partition(pooled, -TOP)[-TOP]))
    named = [(-int(pooled[i]), a.name(int(keys[i])), i) for i in np.flatnonzero(pooled >= line)]
    top = sorted(named)[:TOP]
    code_of = np.full(len(keys), len(top), dtype=np.int64)
    code_of[[i for _, _, i in top]] = np.arange(len(top))
    code, edge = code_of[place], len(a.key)
    sides = (
        Ragged(a.rows, a.row, code[:edge], len(top) + 1),
        Ragged(b.rows, b.row, code[edge:], len(top) + 1),
    )
    return sides, [*(name for _, name, _ in top), "(all others)"]
