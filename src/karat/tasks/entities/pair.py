"""What a task run works on: spans of both sides over the same documents, and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.model.pairs import CodeArray, IntArray, Pairs
from karat.tasks.entities.records import Spans


@dataclass(frozen=True, slots=True)
class Document:
    """A document as examples show it: `cut` gives the words of a span."""

    line: int | None
    fields: Mapping[str, Any]
    cut: Callable[[int, int], str]


Lookup = Callable[[Sequence[int]], Mapping[int, Document]]
"""Gives documents by their number in the pairs."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of each document, and how many of them have the same tag on both sides."""

    count: IntArray
    same: IntArray


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold spans and everything that is known of the documents.

    `records` are the record numbers of the documents in the file, `notes` what the reader should
    know: how ends were read, for one.
    """

    spans: Spans
    lookup: Lookup
    records: IntArray
    tokens: Tokens | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predicted spans; types have the same codes as in gold.

    `right` is given where a tool does not compare spans to find the right ones.
    """

    spans: Spans
    right: Right | None = None


@dataclass(frozen=True, slots=True)
class Right:
    """What a tool itself counts as right: the document and the type of each."""

    doc: IntArray
    kind: CodeArray
    types: tuple[str, ...]

    def among(self, types: Sequence[str]) -> tuple[IntArray, CodeArray]:
        """(documents, codes) of those whose type is one of `types`."""
        number = {name: i for i, name in enumerate(types)}
        lookup = np.array([number.get(name, -1) for name in self.types], dtype=np.int32)
        kind = lookup[self.kind]
        return self.doc[kind >= 0], kind[kind >= 0]


EntityPairs = Pairs[Gold, Predicted]
