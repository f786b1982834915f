"""Predictions for the cache tasks: classes of texts and of pairs, entities in texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, cast

import torch

from karat.models.batches import Fetch, Row, distinct
from karat.models.loading import Loaded, precision
from karat.models.masked import padded
from karat.models.text import Encoded, Ids

TASKS = ("text-classification", "nli", "ner")


class Classes:
    """Class probabilities of texts or pairs; equal inputs are computed once."""

    def __init__(self, loaded: Loaded, texts: Sequence[str], second: Sequence[str] | None) -> None:
        self._loaded = loaded
        encoder = loaded.encoder
        if second is None:
            found = [Encoded(ids, (0,) * len(ids)) for ids in encoder.ids(texts)]
        else:
            found = encoder.pairs(texts, second)
        self.units: Sequence[Hashable]
        self.units, self._own = distinct(found)
        # Padding stands on the right and is masked, so any id will do; a causal classifier, which
        # looks for its last real token, must know which id that is.
        self._pad = encoder.tokenizer.pad_token_id
        if self._pad is None:
            self._pad = encoder.tokenizer.eos_token_id or 0
        loaded.model.config.pad_token_id = self._pad
        self._typed = getattr(loaded.model.config, "type_vocab_size", 0) > 1

    def cost(self, unit: Hashable) -> int:
        """Tokens of the input."""
        return len(cast("Encoded", unit).ids)

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """The probabilities of each input."""
        chosen = cast("Sequence[Encoded]", units)
        with precision(self._loaded.settings):
            inputs = padded([one.ids for one in chosen], self._loaded.device, self._pad)
            if self._typed:
                types = padded([one.types for one in chosen], self._loaded.device)
                inputs["token_type_ids"] = types["input_ids"]
            logits = self._loaded.model(**inputs).logits
            found = torch.softmax(logits.double(), -1)

        def fetch() -> list[Row]:
            rows: list[Row] = found.cpu().tolist()
            return rows

        return fetch

    def records(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """One record an input, in the order of the data."""
        return [{"probabilities": rows[i]} for i in self._own]


class Tagged(NamedTuple):
    """A text as ids, with the characters of each token; (0, 0) for those that are not text."""

    ids: Ids
    spans: tuple[tuple[int, int], ...]


class Entities:
    """Entities of texts, from the most likely tag of each word's first token.

    Needs a fast tokenizer, which knows where in the text a token stands. Tags may carry B- and I-
    (or nothing). The end of a mention is its last character, as in the cache format.
    """

    def __init__(self, loaded: Loaded, texts: Sequence[str]) -> None:
        self._loaded = loaded
        told = loaded.encoder.tokenizer(
            list(texts),
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            truncation=loaded.encoder.limit is not None,
            max_length=loaded.encoder.limit,
        )
        self._own: list[Tagged] = []
        self._words: list[list[int | None]] = []
        for i, (ids, spans) in enumerate(
            zip(told["input_ids"], told["offset_mapping"], strict=True)
        ):
            self._own.append(Tagged(tuple(ids), tuple(map(tuple, spans))))
            self._words.append(told.word_ids(i))
        self.units: Sequence[Hashable]
        self.units, self._places = distinct(one.ids for one in self._own)
        self._texts = texts
        self._labels: dict[int, str] = loaded.model.config.id2label

    def cost(self, unit: Hashable) -> int:
        """Tokens of the text."""
        return len(cast("Ids", unit))

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """The most likely tag of each token, as numbers."""
        chosen = cast("Sequence[Ids]", units)
        with precision(self._loaded.settings):
            tags = self._loaded.model(**padded(chosen, self._loaded.device)).logits.argmax(-1)
        return lambda: [
            [float(t) for t in row[: len(ids)]]
            for row, ids in zip(tags.cpu().tolist(), chosen, strict=True)
        ]

    def records(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """One record a text, in the order of the data."""
        return [
            {"predicted_entities": self._entities(i, rows[place])}
            for i, place in enumerate(self._places)
        ]

    def _entities(self, i: int, tags: Row) -> list[dict[str, Any]]:
        """The entities of a text: runs of words of one type."""
        found: list[tuple[str, int, int]] = []
        before: int | None = None
        running = ""
        for (start, end), word, tag in zip(self._own[i].spans, self._words[i], tags, strict=True):
            if word is None or start == end:
                continue
            # Some tokenizers count the space before a word to its first token.
            shown = self._texts[i][start:end]
            begin = start + len(shown) - len(shown.lstrip())
            if word == before:
                if running:
                    found[-1] = (found[-1][0], found[-1][1], end)
                continue
            begins, kind = _tag(self._labels[int(tag)])
            if kind and kind == running and not begins:
                found[-1] = (kind, found[-1][1], end)
            elif kind:
                found.append((kind, begin, end))
            running, before = kind, word
        return [
            {"type": kind, "mentions": [{"start_offset": start, "end_offset": end - 1}]}
            for kind, start, end in found
        ]


def _tag(label: str) -> tuple[bool, str]:
    """(whether an entity begins here, its type or '')."""
    if label == "O":
        return False, ""
    mark, dash, kind = label.partition("-")
    if dash and mark in ("B", "I", "E", "S", "L", "U"):
        return mark in ("B", "S", "U"), kind
    return False, label
