"""One side of a stress test as columns: what its rows say, and what the model said of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.model.seen import Boxes, Seen, Spans, Trials
from karat.model.suite import Row
from karat.suite.pieces import Words, without, words


@dataclass(frozen=True)
class Observed:
    """One side: what its task saw, beside texts, metadata and embeddings of every row."""

    seen: Seen
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    images: Sequence[str] | None = None
    numeric: Mapping[str, FloatArray] = field(default_factory=dict)
    categorical: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    embeddings: Mapping[str, FloatArray] = field(default_factory=dict)
    ignored: Collection[str] = ()
    """Words that n-grams leave out."""

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self.seen.n

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.seen.classes

    @property
    def labels(self) -> IntArray | None:
        """The label of each row, -1 where it has none."""
        return self.seen.labels

    @property
    def predicted(self) -> IntArray | None:
        """The predicted label of each row."""
        return self.seen.predicted

    @property
    def confidence(self) -> FloatArray | None:
        """The largest probability of each row."""
        return self.seen.confidence

    @property
    def spans(self) -> Spans | None:
        """The labelled mentions."""
        return self.seen.spans

    @property
    def predicted_spans(self) -> Spans | None:
        """The predicted mentions."""
        return self.seen.predicted_spans

    @property
    def boxes(self) -> Boxes | None:
        """The labelled boxes."""
        return self.seen.boxes

    @property
    def predicted_boxes(self) -> Boxes | None:
        """The predicted boxes."""
        return self.seen.predicted_boxes

    @property
    def trials(self) -> tuple[Trials, ...]:
        """What went right or wrong, by kind."""
        return self.seen.trials

    @cached_property
    def inputs(self) -> list[str]:
        """What the model gets to see of each row, as one string."""
        if self.images is not None:
            return list(self.images)
        if not self.texts:
            return []
        return ["\x1f".join(parts) for parts in zip(*self.texts.values(), strict=True)]

    @cached_property
    def words(self) -> dict[str, Words]:
        """The words of each text field, in lower case."""
        return {key: words(texts) for key, texts in self.texts.items()}

    @cached_property
    def telling(self) -> dict[str, Words]:
        """The words of each text field that n-grams are made of."""
        if not self.ignored:
            return self.words
        return {key: without(text, self.ignored) for key, text in self.words.items()}

    @cached_property
    def lengths(self) -> dict[str, FloatArray]:
        """How many words each text has, as white space cuts it."""
        return {
            key: np.fromiter((len(text.split()) for text in texts), np.float64, len(texts))
            for key, texts in self.texts.items()
        }

    @property
    def known(self) -> BoolArray | None:
        """Which rows have a label, None where none has."""
        if self.labels is None or not (self.labels >= 0).any():
            return None
        return np.asarray(self.labels >= 0)

    @property
    def correct(self) -> BoolArray | None:
        """Whether each row was labelled right; rows without a label count as wrong."""
        if self.labels is None or self.predicted is None:
            return None
        return np.asarray(self.labels == self.predicted)

    def rows(self, index: IntArray | Sequence[int]) -> list[Row]:
        """Places of rows in the file."""
        return [
            Row(file=self.seen.file, line=self.seen.line_of(int(i)), index=int(i)) for i in index
        ]
