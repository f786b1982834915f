"""Records of tokens and tags as conversion wants them: with the offsets and the text, if any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.checks import found
from karat.read.place import Place, kind, show
from karat.read.records import Records, read_records
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.entities import GOLD_TAGS, PREDICTED_TAGS
from karat.tasks.entities.tagfiles import IGNORED, check_tags, tag_key

Edges = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Tokens:
    """One sentence: words, their tags, and where they stand, as far as the file says.

    `keys` are the places of the tags inside a record; without them, each word has a line.
    """

    words: list[str]
    tags: list[str]
    offsets: Edges | None
    text: str | None
    place: Place
    keys: list[str] | None = None

    def at(self, i: int) -> tuple[Place, str | None]:
        """Where the tag of word i stands."""
        if self.keys is not None:
            return self.place, self.keys[i]
        line = self.place.line
        return replace(self.place, line=None if line is None else line + i), None

    def laid_out(self) -> tuple[str, Edges]:
        """The text and the edges of each token in it; without offsets, words stand in a row.

        Offsets that do not fit are reported.
        """
        edges = self.offsets
        if edges is None and self.text is not None:
            edges = self._searched(self.text)
        if edges is None:
            edges, at = [], 0
            for word in self.words:
                edges.append((at, at + len(word)))
                at += len(word) + 1
        elif self.text is not None:
            wrong = _misplaced(edges, len(self.text))
            if wrong is None:
                return self.text, edges
            return self._refused(wrong)
        text = ""
        for i, ((start, end), word) in enumerate(zip(edges, self.words, strict=True)):
            if start < len(text) or end - start != len(word):
                return self._refused(i)
            text = text.ljust(start) + word
        return text, edges

    def _searched(self, text: str) -> Edges | None:
        """Where the words stand in a text; None where one of them does not follow the others."""
        edges, at = [], 0
        for word in self.words:
            start = text.find(word, at)
            if start < 0:
                return None
            at = start + len(word)
            edges.append((start, at))
        return edges

    def _refused(self, i: int) -> tuple[str, Edges]:
        self.place.add("offset-order", f"token {i} does not fit its offsets", "offsets")
        return "", []


def _misplaced(edges: Edges, length: int) -> int | None:
    """The first token that lies outside of the text or before the one before it."""
    last = 0
    for i, (start, end) in enumerate(edges):
        if not last <= start <= end <= length:
            return i
        last = end
    return None


def read_rows(source: Source, names: str, predicted: bool, problems: Problems) -> list[Tokens]:
    """The sentences of a file, its predicted tags where those are wanted and there."""
    peek = source.peek()
    keys = (*PREDICTED_TAGS, *GOLD_TAGS) if predicted else (*GOLD_TAGS, *PREDICTED_TAGS)
    tags = tag_key(peek, keys) or keys[0]
    words = "words" if "words" in peek.keys and "tokens" not in peek.keys else "tokens"
    named = [name.strip() for name in names.split(",") if name.strip()]

    def diagnose(record: dict[str, Any], place: Place) -> None:
        _check_words(record, words, place)
        check_tags(record, tags, place)
        _check_offsets(record, place)

    schema = msgspec.defstruct(
        "TaggedText",
        [
            (words, list[str]),
            (tags, list[str | int]),
            ("offsets", list[tuple[int, int]] | None, None),
            ("text", str | None, None),
        ],
    )
    reader: Records[Any] = read_records(source, schema, problems, diagnose, CACHE_EXTENSIONS)
    out = []
    for batch in reader:
        for i, row in enumerate(batch.rows):
            place = batch.place(i)
            one = _tokens(row, words, tags, named, place)
            if one is not None:
                out.append(one)
    return out


def _tokens(
    row: Any, words_key: str, tags_key: str, names: list[str], place: Place
) -> Tokens | None:
    """The sentence of a record without ignored tokens; None where its lists differ in length."""
    words: list[str] = getattr(row, words_key)
    tags: list[str | int] = getattr(row, tags_key)
    sizes = {len(words), len(tags)} | ({len(row.offsets)} if row.offsets is not None else set())
    if len(sizes) > 1:
        message = f"{len(tags)} tags for {len(words)} tokens"
        if len(words) == len(tags):
            message = f"{len(row.offsets)} offsets for {len(words)} tokens"
        place.add("sentence-length", message)
        return None
    kept = [i for i, tag in enumerate(tags) if tag != IGNORED]
    offsets = row.offsets and [row.offsets[i] for i in kept]
    said = [_name(tags[i], names) for i in kept]
    keys = [f"{tags_key}[{i}]" for i in kept]
    return Tokens([words[i] for i in kept], said, offsets, row.text, place, keys)


def _name(tag: str | int, names: Sequence[str]) -> str:
    """The tag as text; a number stands for a name where there is one."""
    return names[tag] if isinstance(tag, int) and 0 <= tag < len(names) else str(tag)


def _check_words(record: dict[str, Any], key: str, place: Place) -> None:
    value = record.get(key)
    if key not in record:
        message = f"required key '{key}' is missing{found(record, key)}"
        place.add("tokens-missing", message, key)
    elif not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        place.add("tokens-type", "a list of texts is required", key)


def _check_offsets(record: dict[str, Any], place: Place) -> None:
    value = record.get("offsets")
    if value is None:
        return
    pairs = value if isinstance(value, list) else [value]
    for i, pair in enumerate(pairs):
        sound = isinstance(pair, list) and len(pair) == 2
        if not sound or any(kind(place) != "integer" for place in pair):
            message = f"{show(pair)} is no pair of numbers, which is where a token starts and ends"
            place.add("offset-type", message, f"offsets[{i}]")
    text = record.get("text")
    if text is not None and not isinstance(text, str):
        place.add("text-type", f"value is a {kind(text)}; a string is required", "text")
