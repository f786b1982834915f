"""Entities from one format into another, with the offsets they had.

Everything passes through `Text`: a text, its tokens where the source has any, and spans with
exclusive ends. Columns and tag records carry the offsets of their tokens, so that they lead back
to the same places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from karat.errors import UsageError
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.brat import read_folder, write_document
from karat.read.conll import sentences, write_sentences
from karat.read.place import Place
from karat.read.source import Source
from karat.tasks.entities import GOLD_TAGS, PREDICTED_TAGS
from karat.tasks.entities.bio import encoded
from karat.tasks.entities.caches import read_side
from karat.tasks.entities.chunks import SCHEMES, bad_tag, chunks, places
from karat.tasks.entities.offsets import spans as span_columns
from karat.tasks.entities.records import Spans

WORD = re.compile(r"\w+|[^\w\s]")
Span = tuple[int, int, str, int]
"""Start, exclusive end, type, number of the entity."""


@dataclass(frozen=True, slots=True)
class Text:
    """One document on its way: tokens are (start, end) in the text, None where there are none."""

    name: str
    text: str
    spans: list[Span]
    tokens: list[tuple[int, int]] | None = None
    line: int | None = None


def convert(
    inputs: Sequence[Path], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    """Write the inputs in another format; options: end, write_end, role, scheme, column."""
    _check_options(options)
    texts = _READ[str(options["from"])](inputs, options, problems)
    if not problems.errors:
        _WRITE[str(options["to"])](texts, output, options, problems)


def _check_options(options: Mapping[str, Any]) -> None:
    allowed = {
        "end": ("auto", "exclusive", "inclusive"),
        "write_end": ("exclusive", "inclusive"),
        "role": ("gold", "predictions"),
        "scheme": tuple(SCHEMES),
    }
    for name, value in options.items():
        if name in ("from", "to", "column", "tag_names"):
            continue
        if name not in allowed:
            known = f"there are {', '.join(allowed)}, column, tag_names"
            raise UsageError(f"entities have no option {name!r} for converting", help=known)
        if value not in allowed[name]:
            raise UsageError(
                f"{name} cannot be {value!r}", help=f"choose from {', '.join(allowed[name])}"
            )


# --- reading ----------------------------------------------------------------------------------


def _from_records(
    inputs: Sequence[Path], options: Mapping[str, Any], problems: Problems
) -> list[Text]:
    """Caches and spaCy's JSON. A second input holds the predictions for the texts of the first."""
    if len(inputs) > 2:
        raise UsageError("give the data file, and the predictions where those are meant")
    sources = [Source.of(path) for path in inputs]
    request = Request(
        (sources[0],), tuple(sources[1:]), options={"end": options.get("end")}, purpose="check"
    )
    side = read_side(request, problems)
    if problems.errors:
        return []
    if len(inputs) == 2:
        assert side.pred is not None
        spans = span_columns(side.pred, side.second)
    else:
        spans = span_columns(side.gold.written, side.first)
    rows = _by_document(spans)
    shape = sources[0].peek().shape
    found = json.loads(sources[0].data()) if shape == "list" else _json_lines(sources[0])
    return [Text(f"{i + 1:06d}", row["text"], rows[i]) for i, row in enumerate(found)]


def _json_lines(source: Source) -> list[Any]:
    lines = source.data().decode("utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def _by_document(spans: Spans) -> list[list[Span]]:
    rows: list[list[Span]] = [[] for _ in range(spans.n)]
    columns = (spans.doc, spans.start, spans.end, spans.kind, spans.group)
    for doc, start, end, kind, group in zip(*(c.tolist() for c in columns), strict=True):
        rows[doc].append((start, end, spans.types[kind], group))
    return rows


def _from_conll(
    inputs: Sequence[Path], options: Mapping[str, Any], problems: Problems
) -> list[Text]:
    source, column = _single(inputs), int(options.get("column") or -1)
    found: list[Text | None] = []
    for line, rows in sentences(source):
        place = Place(problems, source.name, line)
        if any(not -len(cells) <= column < len(cells) for cells in rows):
            place.add("columns-missing", f"there is no column {column}")
            continue
        offsets = [(cells[1], cells[2]) for cells in rows if len(cells) > 3]
        given = _numbers(offsets) if len(offsets) == len(rows) else None
        words = [cells[0] for cells in rows]
        found.append(_tagged(len(found), words, [c[column] for c in rows], given, line, place))
    return [one for one in found if one is not None]


def _from_tags(
    inputs: Sequence[Path], options: Mapping[str, Any], problems: Problems
) -> list[Text]:
    source = _single(inputs)
    names = str(options.get("tag_names") or "").split(",")
    keys = (*GOLD_TAGS, *PREDICTED_TAGS)
    found: list[Text | None] = []
    rows = json.loads(source.data()) if source.peek().shape == "list" else _json_lines(source)
    for i, row in enumerate(rows):
        place = Place(problems, source.name, i + 1, i)
        words = row.get("tokens", row.get("words"))
        tags = next((row[key] for key in keys if key in row), None)
        if not isinstance(words, list) or not isinstance(tags, list) or len(words) != len(tags):
            place.add("tags-missing", "tokens and as many tags are needed")
            continue
        named = [names[t] if isinstance(t, int) and 0 <= t < len(names) else str(t) for t in tags]
        given = row.get("offsets")
        found.append(
            _tagged(len(found), words, named, given and [tuple(o) for o in given], i + 1, place)
        )
    return [one for one in found if one is not None]


def _single(inputs: Sequence[Path]) -> Source:
    if len(inputs) != 1:
        raise UsageError("one input at a time")
    return Source.of(inputs[0])


def _numbers(cells: Sequence[tuple[str, str]]) -> list[tuple[int, int]] | None:
    if all(a.isdecimal() and b.isdecimal() for a, b in cells):
        return [(int(a), int(b)) for a, b in cells]
    return None


def _tagged(
    number: int,
    words: list[str],
    tags: list[str],
    given: list[tuple[int, int]] | None,
    line: int,
    place: Place,
) -> Text | None:
    """A text put together from tokens, at their offsets where those are known."""
    import numpy as np

    wrong = [why for tag in dict.fromkeys(tags) if (why := bad_tag(tag, ""))]
    for why in wrong:
        place.add("tag-unreadable", why)
    if wrong:
        return None
    text, tokens = "", []
    for i, word in enumerate(words):
        start = given[i][0] if given else len(text) + (i > 0)
        if start < len(text) or (given and given[i][1] - start != len(word)):
            place.add("offset-order", f"token {i} does not fit its offsets")
            return None
        text = text.ljust(start) + word
        tokens.append((start, start + len(word)))
    names = tuple(dict.fromkeys(tags))
    codes = np.array([names.index(tag) for tag in tags], dtype=np.int32)
    lengths = np.array([len(words)], dtype=np.int64)
    found = chunks(names, codes, lengths, "")
    first = int(places(lengths)[0])
    spans = [
        (tokens[a - first][0], tokens[b - first - 1][1], found.types[k], i)
        for i, (a, b, k) in enumerate(
            zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True)
        )
    ]
    return Text(f"{number + 1:06d}", text, spans, tokens, line)


def _from_brat(
    inputs: Sequence[Path],
    options: Mapping[str, Any],  # noqa: ARG001 - one signature for all
    problems: Problems,
) -> list[Text]:
    found = []
    for one in read_folder(inputs[0], problems):
        if one.text is None:
            Place(problems, one.file).add("text-missing", f"there is no {one.name}.txt")
            continue
        spans = [(m.start, m.end, m.type, m.group) for m in one.marks or ()]
        found.append(Text(one.name, one.text, spans))
    return found


# --- writing ----------------------------------------------------------------------------------


def _to_cache(
    texts: list[Text],
    output: Path,
    options: Mapping[str, Any],
    problems: Problems,  # noqa: ARG001 - one signature for all
) -> None:
    inclusive = options.get("write_end") == "inclusive"
    rows: list[dict[str, Any]] = []
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
    options: Mapping[str, Any],  # noqa: ARG001 - one signature for all
    problems: Problems,  # noqa: ARG001 - one signature for all
) -> None:
    rows = [
        {"text": one.text, "ents": [{"start": a, "end": b, "label": k} for a, b, k, _ in one.spans]}
        for one in texts
    ]
    _write_lines(rows, output)


def _to_conll(
    texts: list[Text], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    blocks = []
    for words, offsets, tags, one in _tokenised(texts, options, problems):
        if not words:
            message = f"{one.name} has no tokens, which columns cannot say; it was left out"
            Place(problems, str(output.name), one.line).add(
                "text-empty", message, severity="warning"
            )
            continue
        rows = zip(words, offsets, tags, strict=True)
        blocks.append([[word, str(a), str(b), tag] for word, (a, b), tag in rows])
    output.write_bytes(write_sentences(blocks).encode("utf-8", "surrogatepass"))


def _to_tags(
    texts: list[Text], output: Path, options: Mapping[str, Any], problems: Problems
) -> None:
    key = "predicted_tags" if options.get("role") == "predictions" else "ner_tags"
    rows: list[dict[str, Any]] = [
        {"tokens": words, key: tags, "offsets": offsets}
        for words, offsets, tags, _ in _tokenised(texts, options, problems)
    ]
    _write_lines(rows, output)


def _to_brat(
    texts: list[Text],
    output: Path,
    options: Mapping[str, Any],  # noqa: ARG001 - one signature for all
    problems: Problems,  # noqa: ARG001 - one signature for all
) -> None:
    output.mkdir()
    for one in texts:
        marks = [(kind, start, end, group) for start, end, kind, group in one.spans]
        write_document(output, one.name, one.text, marks)


def _write_lines(rows: Sequence[Any], output: Path) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    output.write_bytes(lines.encode("utf-8", "surrogatepass"))


Tokenised = list[tuple[list[str], list[tuple[int, int]], list[str], Text]]


def _tokenised(texts: list[Text], options: Mapping[str, Any], problems: Problems) -> Tokenised:
    """Words, offsets and tags of each text. Tags cannot say that spans overlap: an error."""
    out: Tokenised = []
    for one in texts:
        spans = sorted({(a, b, k) for a, b, k, _ in one.spans})
        for left, right in pairwise(spans):
            if right[0] < left[1]:
                message = f"{one.name}: spans {left} and {right} overlap, which tags cannot say"
                Place(problems, one.name, one.line).add("span-overlap", message)
        offsets = _tokens(one, spans)
        tags = encoded(str(options.get("scheme") or "IOB2"), offsets, spans)
        out.append(([one.text[a:b] for a, b in offsets], offsets, tags, one))
    return out


def _tokens(one: Text, spans: Sequence[tuple[int, int, str]]) -> list[tuple[int, int]]:
    """The tokens of a text, cut wherever a span starts or ends inside of one."""
    offsets = one.tokens or [m.span() for m in WORD.finditer(one.text)]
    edges = sorted({place for start, end, _ in spans for place in (start, end)})
    out = []
    for start, end in offsets:
        cuts = [start, *(e for e in edges if start < e < end), end]
        out += list(pairwise(cuts))
    return out


Read = Callable[[Sequence[Path], Mapping[str, Any], Problems], list[Text]]
Write = Callable[[list[Text], Path, Mapping[str, Any], Problems], None]

_READ: dict[str, Read] = {
    "cache": _from_records,
    "spacy": _from_records,
    "conll": _from_conll,
    "tags": _from_tags,
    "brat": _from_brat,
}
_WRITE: dict[str, Write] = {
    "cache": _to_cache,
    "spacy": _to_spacy,
    "conll": _to_conll,
    "tags": _to_tags,
    "brat": _to_brat,
}
