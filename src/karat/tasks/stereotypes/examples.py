"""Examples beside their scores, as columns: what is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import CodeArray, FloatArray, Pairs, Which
from karat.tasks.stereotypes.records import Sheet

TIE_WORDS = {"strict": "lost", "half": "half won", "drop": "left out"}


@dataclass(frozen=True, slots=True)
class Terms:
    """A column of target terms, encoded in the order of their first appearance."""

    names: tuple[str, ...]
    codes: CodeArray


@dataclass(frozen=True, slots=True)
class Examples:
    """The gold side. `own` are the terms that a section's means run over, `whole` those overall.

    `sheet` and `row` say where an example stands in `sheets`. `kinds` is 3 for candidates
    (stereotype, anti-stereotype, unrelated), 2 for pairs of sentences.
    """

    sections: tuple[str, ...]
    section: CodeArray
    domains: tuple[str, ...]
    domain: CodeArray
    own: Terms | None
    whole: Terms | None
    sheets: tuple[Sheet, ...]
    sheet: CodeArray
    row: CodeArray
    kinds: int
    remarks: tuple[str, ...] = ()

    def take(self, which: Which) -> Examples:
        """The chosen examples."""
        return replace(
            self,
            section=self.section[which],
            domain=self.domain[which],
            own=_terms(self.own, which),
            whole=_terms(self.whole, which),
            sheet=self.sheet[which],
            row=self.row[which],
        )

    def record(self, i: int) -> dict[str, Any]:
        """The fields of example i."""
        found: dict[str, Any] = self.sheets[self.sheet[i]].record(int(self.row[i]))
        return found


@dataclass(frozen=True, slots=True)
class Preferences:
    """The prediction side: scores of stereotype, anti-stereotype and unrelated, (n, kinds).

    `known` keeps what was computed of them, since evidence, official numbers and tables all ask.
    """

    scores: FloatArray
    known: dict[Any, Any] = field(default_factory=dict, compare=False)

    def compared(self, a: int, b: int) -> npt.NDArray[np.int8]:
        """1 where a is preferred to b, 0 where they tie, -1 where b is preferred to a."""
        left, right = self.scores[:, a], self.scores[:, b]
        return (left > right).astype(np.int8) - (left < right).astype(np.int8)


StereoPairs = Pairs[Examples, Preferences]


def chosen(pairs: StereoPairs, which: Which) -> StereoPairs:
    """The pairs of the chosen examples."""
    index = np.arange(pairs.n)[which]
    return replace(
        pairs,
        n=len(index),
        gold=pairs.gold.take(index),
        pred=Preferences(pairs.pred.scores[index]),
        ids=[pairs.ids[i] for i in index.tolist()],
        facets={name: facet.take(index) for name, facet in pairs.facets.items()},
        cluster=None if pairs.cluster is None else pairs.cluster.take(index),
        weights=None if pairs.weights is None else pairs.weights[index],
    )


def encoded(values: Sequence[str], known: Sequence[str] = ()) -> tuple[tuple[str, ...], CodeArray]:
    """(names, codes): known names that occur first, the others in the order of appearance."""
    there = dict.fromkeys(values)
    names = [name for name in known if name in there]
    names += [name for name in there if name not in known]
    lookup: Mapping[str, int] = {name: i for i, name in enumerate(names)}
    return tuple(names), np.fromiter(map(lookup.__getitem__, values), np.int32, len(values))


def _terms(terms: Terms | None, which: Which) -> Terms | None:
    return None if terms is None else Terms(terms.names, terms.codes[which])
