"""Ways to cut the rows into subsets: metadata, length, overlap; the same on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from karat.model.pairs import CodeArray, Facet, FloatArray
from karat.suite.observed import Observed
from karat.suite.pieces import shared


@dataclass(frozen=True)
class Cut:
    """A facet over all rows of both sides, with the same levels."""

    name: str
    ref: Facet
    other: Facet


def cuts(ref: Observed, other: Observed) -> list[Cut]:
    """Every way that the data allows, in the order of the report."""
    found = [_categorical(name, ref, other) for name in other.categorical]
    found += [
        _numeric(f"meta.{name}", ref.numeric[name], other.numeric[name])
        for name in other.numeric
        if name in ref.numeric
    ]
    for key in other.texts:
        if key in ref.texts:
            found.append(_numeric(f"words in {key}", ref.lengths[key], other.lengths[key]))
    if {"text", "text_pair"} <= set(ref.texts) & set(other.texts):
        sides = [_overlap(side) for side in (ref, other)]
        found.append(_numeric("word overlap", sides[0], sides[1]))
    if ref.spans is not None and other.spans is not None:
        counts = [np.bincount(s.row, minlength=n).astype(np.float64) for s, n in
                  ((ref.spans, ref.n), (other.spans, other.n))]  # fmt: skip
        found.append(_numeric("entities a row", counts[0], counts[1]))
    return [cut for cut in found if len(cut.other.levels) > 1]


def quantile_codes(
    ref: FloatArray, sides: Sequence[FloatArray], bins: int
) -> tuple[list[CodeArray], tuple[str, ...]]:
    """(codes of each side, names): bins between the quantiles of the reference, equal ones joined.

    What is missing has code -1.
    """
    known = ref[np.isfinite(ref)]
    if not len(known):
        return [np.full(len(side), -1, dtype=np.int32) for side in sides], ()
    edges = np.unique(np.quantile(known, np.arange(1, bins) / bins))
    # An edge at the largest value would leave nothing above it.
    edges = edges[edges < known.max()]
    codes = [
        np.where(np.isfinite(side), np.searchsorted(edges, side, side="left"), -1).astype(np.int32)
        for side in sides
    ]
    if not len(edges):
        return codes, ("all",)
    inner = [f"over {a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
    return codes, (f"up to {edges[0]:.4g}", *inner, f"over {edges[-1]:.4g}")


def _numeric(name: str, ref: FloatArray, other: FloatArray) -> Cut:
    codes, levels = quantile_codes(ref, [ref, other], 4)
    return Cut(name, Facet(name, codes[0], levels), Facet(name, codes[1], levels))


def _categorical(name: str, ref: Observed, other: Observed) -> Cut:
    sides = [side.categorical.get(name, [None] * side.n) for side in (ref, other)]
    levels = sorted({v for side in sides for v in side if v is not None})
    code_of: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
    code_of[None] = -1
    label, names = f"meta.{name}", tuple(levels)
    codes = [np.fromiter(map(code_of.__getitem__, s), np.int32, len(s)) for s in sides]
    return Cut(label, Facet(label, codes[0], names), Facet(label, codes[1], names))


def _overlap(side: Observed) -> FloatArray:
    """The share of the words of text_pair that text has too; missing where there are none."""
    text, pair = shared(side.words["text"], side.words["text_pair"])
    width = max(len(pair.names), 1)
    there, mine = (np.unique(one.row.astype(np.int64) * width + one.code) for one in (text, pair))
    row = mine // width
    both = np.bincount(row[np.isin(mine, there, assume_unique=True)], minlength=side.n)
    with np.errstate(invalid="ignore"):
        return np.asarray(both / np.bincount(row, minlength=side.n))
