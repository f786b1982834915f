"""Texts and their spans into every format; what a format cannot say is an error or a warning."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from karat.model.problem import Problems
from karat.read.brat import write_document
from karat.read.conll import MARKS, write_sentences
from karat.read.place import Place, show
from karat.tasks.entities.bio import encoded
from karat.tasks.entities.incoming import Options, Text

WORD = re.compile(r"\w+|[^\w\s]")
BREAKS = re.compile(r"[\t\r\n]")
SURROGATE = re.compile("[\ud800-\udfff]")
HALF = "half of a surrogate pair"
Rows = list[dict[str, Any]]


def _to_cache(
    texts: list[Text],
    output: Path,
    options: Options,
    problems: Problems,  # noqa: ARG001 - one signature for all
) -> None:
    inclusive = options.get("write_end") == "inclusive"
    rows: Rows = []
    for one in texts:
        groups: dict[tuple[int, str], list[dict[str, int]]] = {}
        for start, end, kind, group in one.spans:
            mention = {"start_offset": start, "end_offset": end - inclusive}
            groups.setdefault((group, kind), []).append(mention)
        entities = [{"type": k, "mentions": mentions} for (_, k), mentions in groups.items()]
        if options.get("role") == "predictions":
            rows.append({"predicted_entities": entities})
        else:
            rows.append({"text": one.text, "entities": entities})
    _write_lines(rows, output)


def _to_spacy(
    texts: list[Text],
    output: Path,
    options: Options,  # noqa: ARG001 - one signature for all
    problems: Problems,
) -> None:
    rows = [
        {"text": one.text, "ents": [{"start": a, "end": b, "label": k} for a, b, k, _ in one.spans]}
        for one in texts
    ]
    for one in texts:
        _warn_of_groups(one, Place(problems, one.file, one.line))
    _write_lines(rows, output)


def _to_conll(texts: list[Text], output: Path, options: Options, problems: Problems) -> None:
    blocks = []
    for one in _tokenised(texts, options, problems):
        if not one.words:
            message = "a text without words; columns cannot say it, so it was left out"
            one.place.add("text-empty", message, severity="warning")
            continue
        rows = zip(one.words, one.edges, one.tags, strict=True)
        block = [[word, str(a), str(b), tag] for word, (a, b), tag in rows]
        for word, _, _, tag in block:
            if _half(word):
                _unsayable(one.place, HALF, "UTF-8")
            if BREAKS.search(word + tag) or not word or f"{word}\t".startswith(MARKS):
                _unsayable(one.place, f"the token {show(word)} with the tag {show(tag)}", "columns")
        blocks.append(block)
    output.write_bytes(write_sentences(blocks).encode("utf-8", "replace"))


def _to_tags(texts: list[Text], output: Path, options: Options, problems: Problems) -> None:
    key = "predicted_tags" if options.get("role") == "predictions" else "ner_tags"
    rows: Rows = [
        {"tokens": one.words, key: one.tags, "offsets": one.edges, "text": one.text.text}
        for one in _tokenised(texts, options, problems)
    ]
    _write_lines(rows, output)


def _to_brat(
    texts: list[Text],
    output: Path,
    options: Options,  # noqa: ARG001 - one signature for all
    problems: Problems,
) -> None:
    output.mkdir()
    names = Counter(one.name for one in texts)
    for one in texts:
        place = Place(problems, one.file, one.line)
        for kind in dict.fromkeys(kind for _, _, kind, _ in one.spans):
            if not kind or kind.split() != [kind]:
                _unsayable(place, f"the type {show(kind)}", "brat")
        if names[one.name] > 1:
            place.add("document-twice", f"there are {names[one.name]} documents of this name")
        if _half(one.text):
            _unsayable(place, HALF, "UTF-8")
        marks = [(kind, start, end, group) for start, end, kind, group in one.spans]
        write_document(output, one.name, one.text, marks)


def _write_lines(rows: Rows, output: Path) -> None:
    output.write_bytes("".join(_line(row) + "\n" for row in rows).encode("utf-8"))


def _line(row: Mapping[str, Any]) -> str:
    """A row as JSON; halves of surrogate pairs can only be written as escapes."""
    line = json.dumps(row, ensure_ascii=False)
    return json.dumps(row) if _half(line) else line


def _half(text: str) -> bool:
    """Whether a text holds half of a surrogate pair."""
    return not text.isascii() and SURROGATE.search(text) is not None


def _unsayable(place: Place, what: str, form: str) -> None:
    place.add("format-limit", f"{what} cannot be said in {form}")


def _warn_of_groups(one: Text, place: Place) -> None:
    """Warn that entities of several mentions fall apart."""
    several = sum(size > 1 for size in Counter(group for *_, group in one.spans).values())
    if several:
        message = (
            f"entities of several mentions ({several}x); the format cannot say that these belong "
            "together"
        )
        place.add("mentions-apart", message, severity="warning")


# --- tokens -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tokenised:
    """A text in tokens with their tags."""

    text: Text
    words: list[str]
    edges: list[tuple[int, int]]
    tags: list[str]
    place: Place


def _tokenised(texts: list[Text], options: Options, problems: Problems) -> Iterator[Tokenised]:
    """Every text in tokens and tags. Tags cannot say that spans overlap, nor name no type."""
    scheme = str(options.get("scheme") or "IOB2")
    for one in texts:
        place = Place(problems, one.file, one.line)
        _warn_of_groups(one, place)
        spans = sorted({(a, b, k) for a, b, k, _ in one.spans})
        for left, right in pairwise(spans):
            if right[0] < left[1]:
                message = f"spans {_shown(left)} and {_shown(right)} overlap, which tags cannot say"
                place.add("span-overlap", message)
        for a, b, kind in spans:
            if not kind:
                _unsayable(place, "a type without a name", "tags")
            covered = one.text[a:b]
            if covered.strip() != covered:
                lost = "taken at its words" if covered.strip() else "left out"
                message = f"span {show(covered)} starts or ends with white space; it is {lost}"
                place.add("offset-space", message, severity="warning")
        edges = _tokens(one, spans)
        words = [one.text[a:b] for a, b in edges]
        yield Tokenised(one, words, edges, encoded(scheme, edges, spans), place)


def _shown(span: tuple[int, int, str]) -> str:
    """A span as messages show it."""
    return f"{span[2]} {span[0]} to {span[1]}"


def _tokens(one: Text, spans: Sequence[tuple[int, int, str]]) -> list[tuple[int, int]]:
    """The tokens of a text, cut wherever a span starts or ends inside of one."""
    edges = one.tokens or [m.span() for m in WORD.finditer(one.text)]
    inside = sorted({place for start, end, _ in spans for place in (start, end)})
    out = []
    for start, end in edges:
        cuts = [start, *(e for e in inside if start < e < end), end]
        out += list(pairwise(cuts))
    return out


Write = Callable[[list[Text], Path, Options, Problems], None]

WRITERS: dict[str, Write] = {
    "cache": _to_cache,
    "spacy": _to_spacy,
    "conll": _to_conll,
    "tags": _to_tags,
    "brat": _to_brat,
}
