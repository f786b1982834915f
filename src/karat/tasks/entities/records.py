"""What one record of entities holds, and the columns that a whole side becomes.

Offsets count Unicode code points, as Python does. In columns an end is always exclusive; how it
was written, `ends` finds out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from karat.model.pairs import CodeArray, IntArray
from karat.model.task import Declared
from karat.read.declared import Missing, data_schema
from karat.read.fields import Fields

FURTHEST = 2**31 - 2
"""Offsets lie between minus this and this; others are refused by the schema."""

Offset = Annotated[int, msgspec.Meta(ge=-FURTHEST, le=FURTHEST)]
GOLD_KEY, PREDICTED_KEY, SPACY_KEY = "entities", "predicted_entities", "ents"
MENTION, SPAN = ("start_offset", "end_offset", "type"), ("start", "end", "label")
"""Names of start, end and type: in caches, and in spaCy's spans."""

KNOWN = ("text", GOLD_KEY, PREDICTED_KEY, SPACY_KEY, "timestamp", "meta")


class Mention(msgspec.Struct, gc=False, frozen=True):
    """One place in the text."""

    start_offset: Offset
    end_offset: Offset


class Entity(msgspec.Struct, gc=False, frozen=True):
    """A typed group of mentions of the same thing."""

    type: str
    mentions: list[Mention]


class Ent(msgspec.Struct, gc=False, frozen=True):
    """One span as spaCy writes it; `end` is exclusive."""

    start: Offset
    end: Offset
    label: str


def gold_schema(fields: Fields, key: str, declared: Declared) -> type[msgspec.Struct]:
    """The Struct of a line of data whose entities stand under `key`."""
    item = Ent if key == SPACY_KEY else Entity
    base: dict[str, tuple[Any, Any]] = {
        "text": (str, msgspec.NODEFAULT),
        key: (list[item] | None | Missing, msgspec.UNSET),  # type: ignore[valid-type]
    }
    return data_schema(base, fields, declared)


def prediction_schema(key: str) -> type[msgspec.Struct]:
    """The Struct of a line of predictions, which stand under `key`."""
    item = Ent if key == SPACY_KEY else Entity
    return msgspec.defstruct("Prediction", [(key, list[item])], gc=False, frozen=True)  # type: ignore[valid-type]


@dataclass(frozen=True, slots=True)
class Spans:
    """Mentions of one side in file order: document, start, exclusive end, type, entity.

    `group` numbers the entities of the side from 0; mentions of one entity follow each other.
    `n` is the number of documents, `types` what the codes of `kind` stand for.
    """

    n: int
    doc: IntArray
    start: IntArray
    end: IntArray
    kind: CodeArray
    group: IntArray
    types: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.doc)

    @classmethod
    def empty(cls, n: int = 0) -> Spans:
        """No mentions at all."""
        none = np.zeros(0, dtype=np.int64)
        return cls(n, none, none, none, none.astype(np.int32), none, ())

    @property
    def occurring(self) -> list[str]:
        """The types that some mention has."""
        seen = np.flatnonzero(np.bincount(self.kind, minlength=len(self.types)))
        return [self.types[i] for i in seen]

    def take(self, which: npt.NDArray[Any]) -> Spans:
        """The chosen mentions."""
        return replace(
            self,
            doc=self.doc[which],
            start=self.start[which],
            end=self.end[which],
            kind=self.kind[which],
            group=self.group[which],
        )

    def of_documents(self, which: IntArray) -> Spans:
        """The mentions of the chosen documents, which are then counted from 0."""
        place = np.full(self.n, -1, dtype=np.int64)
        place[which] = np.arange(len(which))
        chosen = self.take(place[self.doc] >= 0)
        return replace(chosen, n=len(which), doc=place[chosen.doc])

    def renamed(self, types: tuple[str, ...]) -> Spans:
        """The same mentions with codes for another list of types that has all of theirs."""
        code = {name: i for i, name in enumerate(types)}
        lookup = np.array([code[name] for name in self.types], dtype=np.int32)
        return replace(self, kind=lookup[self.kind] if len(lookup) else self.kind, types=types)


def same_types(gold: Spans, pred: Spans) -> tuple[Spans, Spans]:
    """Both sides with one list of types, sorted by name, of those that occur."""
    types = tuple(sorted({*gold.occurring, *pred.occurring}))
    return _trimmed(gold).renamed(types), _trimmed(pred).renamed(types)


def _trimmed(spans: Spans) -> Spans:
    """The same without types that do not occur."""
    names = spans.occurring
    lookup = np.zeros(max(len(spans.types), 1), dtype=np.int32)
    for i, name in enumerate(names):
        lookup[spans.types.index(name)] = i
    return replace(spans, kind=lookup[spans.kind], types=tuple(names))
