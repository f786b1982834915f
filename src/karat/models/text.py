"""Texts as token ids, truncated to what the model can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Ids = tuple[int, ...]


class Encoded(NamedTuple):
    """A text or a pair of texts as ids, with token types."""

    ids: Ids
    types: Ids


class Encoder:
    """A tokenizer and a length limit. `truncated` counts the texts that did not fit."""

    def __init__(self, tokenizer: Any, limit: int | None) -> None:
        self.tokenizer = tokenizer
        self.limit = limit
        self.truncated = 0

    def ids(self, texts: Sequence[str], *, specials: bool = True) -> list[Ids]:
        """The ids of each text, with the tokenizer's own special tokens."""
        if not texts:
            return []
        rows = self.tokenizer(list(texts), add_special_tokens=specials, verbose=False)["input_ids"]
        if self.limit and any(len(row) > self.limit for row in rows):
            self.truncated += sum(len(row) > self.limit for row in rows)
            rows = self.tokenizer(
                list(texts), add_special_tokens=specials, truncation=True, max_length=self.limit
            )["input_ids"]
        return [tuple(row) for row in rows]

    def pairs(self, first: Sequence[str], second: Sequence[str]) -> list[Encoded]:
        """The ids of each pair; types are zeros where the tokenizer has none."""
        if not first:
            return []
        options: dict[str, Any] = {}
        if self.limit:
            options = {"truncation": "longest_first", "max_length": self.limit}
        told = self.tokenizer(
            list(first), list(second), return_token_type_ids=True, verbose=False, **options
        )
        ids = [tuple(row) for row in told["input_ids"]]
        types = told.get("token_type_ids") or [(0,) * len(row) for row in ids]
        self.truncated += sum(len(row) == self.limit for row in ids) if self.limit else 0
        return [Encoded(own, tuple(kinds)) for own, kinds in zip(ids, types, strict=True)]

    def text(self, ids: Sequence[int]) -> str:
        """The text of some ids."""
        found: str = self.tokenizer.decode(list(ids), clean_up_tokenization_spaces=True)
        return found

    def token(self, text: str) -> int:
        """The last id of a short text such as `0`, which may come with a word-start mark before."""
        return self.ids([text], specials=False)[0][-1]

    def marked(self, words: Sequence[str]) -> bool:
        """Whether a word is encoded otherwise after a space, as byte-level tokenizers do."""
        return self.ids(words, specials=False) != self.ids([" " + w for w in words], specials=False)
