"""Gold and predictions side by side, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]

Which = BoolArray | IntArray
"""A choice of items: a mask over them, or their indices (in any order, with repeats)."""

G = TypeVar("G")
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Facet:
    """A column to slice, cluster or group by, dictionary-encoded. Code -1 is a missing value."""

    name: str
    codes: CodeArray
    levels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, which: Which) -> Facet:
        """The same facet over the chosen items."""
        return Facet(self.name, self.codes[which], self.levels)


@dataclass(frozen=True, slots=True)
class Pairs(Generic[G, P]):
    """Everything paired: `gold` and `pred` are bundles of columns that the task owns.

    `item` names what one row is (text, question, image); `cluster` says which items belong
    together and are resampled together, None where every item stands alone.
    """

    n: int
    gold: G
    pred: P
    ids: Sequence[str]
    item: str = "item"
    facets: Mapping[str, Facet] = field(default_factory=dict)
    cluster: Facet | None = None
    weights: FloatArray | None = None


class LineIds(Sequence[str]):
    """Names for rows that have none: their numbers from 0, or those that `index` gives."""

    def __init__(self, n: int, index: IntArray | None = None) -> None:
        self._n, self._index = n, index

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(self._n))]
        if not -self._n <= i < self._n:
            raise IndexError(i)
        i %= self._n
        return str(i if self._index is None else int(self._index[i]))
