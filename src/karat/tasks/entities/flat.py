"""The entities of typed rows laid end to end.

Two look at them, the key audit and who keeps them; they are taken apart once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import IntArray
from karat.tasks.entities.records import SPACY_KEY

_mentions = attrgetter("mentions")


@dataclass(frozen=True, slots=True)
class Flat:
    """Entities and mentions of some rows: `sizes` are entities a row, `lengths` mentions an entity.

    `missing` are rows without a list of entities. spaCy's spans are entities and mentions at once.
    """

    sizes: IntArray
    entities: list[Any]
    lengths: IntArray
    mentions: list[Any]
    missing: list[int]


class Flattener:
    """Takes rows apart whose entities `getter` gets; the rows of the last look are remembered."""

    def __init__(self, key: str, getter: Callable[[Any], Any]) -> None:
        self._spacy, self._getter = key == SPACY_KEY, getter
        self._rows: Sequence[Any] | None = None
        self._flat: Flat | None = None

    def of(self, rows: Sequence[Any]) -> Flat:
        """The entities of the rows."""
        if self._flat is None or rows is not self._rows:
            self._rows, self._flat = rows, self._taken_apart(rows)
        return self._flat

    def keys(self, rows: Sequence[Any]) -> int:
        """How many keys there are inside the entities of the rows."""
        flat = self.of(rows)
        inner = 1 if self._spacy else 2
        return inner * len(flat.entities) + 2 * len(flat.mentions)

    def _taken_apart(self, rows: Sequence[Any]) -> Flat:
        lists = list(map(self._getter, rows))
        missing: list[int] = []
        try:
            sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        except TypeError:
            missing = [i for i, one in enumerate(lists) if one is None or one is msgspec.UNSET]
            lists = [one or [] for one in lists]
            sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        entities = list(chain.from_iterable(lists))
        if self._spacy:
            ones = np.ones(len(entities), dtype=np.int64)
            return Flat(sizes, entities, ones, entities, missing)
        groups = list(map(_mentions, entities))
        lengths = np.fromiter(map(len, groups), np.int64, len(groups))
        return Flat(sizes, entities, lengths, list(chain.from_iterable(groups)), missing)
