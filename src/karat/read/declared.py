"""What data rows of every cache may have beside their task's own keys: time, metadata, embeddings.

Typed decoding sees their types. What it cannot see is picked out by sweeps over a batch, and what
a run configuration declares is watched while the rows go by.
"""

from __future__ import annotations

from typing import Any

import msgspec

from karat.model.task import Declared
from karat.read.checks import odd_timestamps
from karat.read.embeddings import EmbeddingCheck
from karat.read.fields import Base, Fields
from karat.read.place import Place
from karat.read.records import Batch

Missing = msgspec.UnsetType


class Anything(msgspec.Struct, gc=False, frozen=True):
    """An object of which nothing is wanted."""


def data_schema(base: Base, fields: Fields, declared: Declared) -> type[msgspec.Struct]:
    """The Struct of a line of data: a task's own keys and the shared ones that are looked at."""
    shared: dict[str, tuple[Any, Any]] = {
        "timestamp": (str | None | Missing, msgspec.UNSET),
        "meta": (Anything | None | Missing, msgspec.UNSET),
    }
    for name in declared.embeddings:
        shared[name] = (list[float] | None | Missing, msgspec.UNSET)
    metadata = (("meta", name) for name in _metadata(declared))
    return fields.schema("Data", {**base, **shared}, metadata)


class DeclaredWatch:
    """The declared fields of one file while it is read. `metadata` holds the names that occur."""

    def __init__(self, declared: Declared, fields: Fields) -> None:
        self.metadata: set[str] = set()
        self._declared, self._fields = declared, fields
        self._embeddings = [EmbeddingCheck(name) for name in declared.embeddings]

    @property
    def sizes(self) -> dict[str, int]:
        """How long each embedding is, as far as any row has it."""
        return {one.name: one.size for one in self._embeddings if one.size is not None}

    def odd(self, batch: Batch[Any]) -> set[int]:
        """Which rows of the next batch may have a bad timestamp or number."""
        odd = set(odd_timestamps(self._values("timestamp", batch)))
        for name in _metadata(self._declared):
            values = self._values(_path(name), batch)
            if name not in self.metadata and any(v is not msgspec.UNSET for v in values):
                self.metadata.add(name)
            fine = {int, float, type(None), Missing}
            if name in self._declared.numeric and not set(map(type, values)) <= fine:
                odd.update(i for i, value in enumerate(values) if type(value) not in fine)
        return odd

    def add_embeddings(self, batch: Batch[Any]) -> None:
        """Take the embeddings of the next batch; what is wrong with them is reported."""
        for one in self._embeddings:
            one.add(self._values(one.name, batch), batch.place)

    def finish(self, whole: Place, rows: int) -> None:
        """Report what is missing throughout; `whole` is the place of the file."""
        for one in self._embeddings:
            one.finish(whole, rows)

    def _values(self, name: str, batch: Batch[Any]) -> list[Any]:
        return list(map(self._fields.getter(name), batch.rows))


def _metadata(declared: Declared) -> tuple[str, ...]:
    return (*declared.numeric, *declared.categorical)


def _path(name: str) -> str:
    return f"meta.{name}"
