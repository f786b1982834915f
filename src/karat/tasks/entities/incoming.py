"""Texts and their spans out of every format, on their way into another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from karat.errors import UsageError
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.brat import read_folder
from karat.read.conll import read_columns, sentences
from karat.read.pick import pick
from karat.read.place import Place
from karat.read.source import Source
from karat.tasks.entities.caches import read_side
from karat.tasks.entities.chunks import bad_tag, chunks, places
from karat.tasks.entities.offsets import spans as span_columns
from karat.tasks.entities.records import Spans
from karat.tasks.entities.tagrows import Tokens, read_rows

Span = tuple[int, int, str, int]
"""Start, exclusive end, type, number of the entity."""


@dataclass(frozen=True, slots=True)
class Text:
    """One document on its way, and where it came from.

    Tokens are (start, end) in the text, None where there are none.
    """

    name: str
    file: str
    text: str
    spans: list[Span]
    tokens: list[tuple[int, int]] | None = None
    line: int | None = None


Options = Mapping[str, Any]


def _single(inputs: Sequence[Path]) -> Source:
    if len(inputs) != 1:
        raise UsageError("one input at a time")
    return Source.of(inputs[0])


def _named(number: int) -> str:
    """The name of a document that has none."""
    return f"{number + 1:06d}"


# --- spans of characters ----------------------------------------------------------------------


def _from_records(inputs: Sequence[Path], options: Options, problems: Problems) -> list[Text]:
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
    chosen, ending = side.gold.written, side.first
    if side.pred is not None and (len(inputs) == 2 or options.get("role") == "predictions"):
        chosen, ending = side.pred, side.second
    if not ending.forced:
        chosen.told(ending.text)
    rows = _by_document(span_columns(chosen, ending))
    records = pick(sources[0], range(len(rows)))
    return [
        Text(_named(i), sources[0].name, record["text"], rows[i], line=line)
        for i, (line, record) in records.items()
    ]


def _by_document(spans: Spans) -> list[list[Span]]:
    rows: list[list[Span]] = [[] for _ in range(spans.n)]
    columns = (spans.doc, spans.start, spans.end, spans.kind, spans.group)
    for doc, start, end, kind, group in zip(*(c.tolist() for c in columns), strict=True):
        rows[doc].append((start, end, spans.types[kind], group))
    return rows


def _from_brat(
    inputs: Sequence[Path],
    options: Options,  # noqa: ARG001 - one signature for all
    problems: Problems,
) -> list[Text]:
    found = []
    for folder in inputs:
        for one in read_folder(folder, problems):
            if one.text is None:
                Place(problems, one.file).add("text-missing", f"there is no {one.name}.txt")
                continue
            spans = [(m.start, m.end, m.type, m.group) for m in one.marks or ()]
            found.append(Text(one.name, one.file, one.text, spans))
    return found


# --- tags of tokens ---------------------------------------------------------------------------


def _from_conll(inputs: Sequence[Path], options: Options, problems: Problems) -> list[Text]:
    source, column = _single(inputs), int(options.get("column", -1))
    columns = read_columns(source, 1, problems)
    if columns is None:
        return []
    if not -columns.width <= column < columns.width:
        message = f"there is no column {column}, as there are {columns.width}"
        Place(problems, source.name).add("columns-missing", message)
        return []
    rows = []
    for line, cells in sentences(source):
        words, tags = [row[0] for row in cells], [row[column] for row in cells]
        place = Place(problems, source.name, line)
        rows.append(Tokens(words, tags, _offsets(cells), None, place))
    return _tagged(rows)


def _offsets(cells: Sequence[Sequence[str]]) -> list[tuple[int, int]] | None:
    """The offsets in the second and third column of four, where numbers stand there."""
    if all(len(row) > 3 and row[1].isdecimal() and row[2].isdecimal() for row in cells):
        return [(int(row[1]), int(row[2])) for row in cells]
    return None


def _from_tags(inputs: Sequence[Path], options: Options, problems: Problems) -> list[Text]:
    predicted = options.get("role") == "predictions"
    names = str(options.get("tag_names") or "")
    return _tagged(read_rows(_single(inputs), names, predicted, problems))


def _tagged(rows: Sequence[Tokens]) -> list[Text]:
    """Texts put together from tokens, at their offsets where those are known."""
    number: dict[str, int] = {}
    codes = [number.setdefault(tag, len(number)) for row in rows for tag in row.tags]
    wrong = {name: why for name in number if (why := bad_tag(name, ""))}
    lengths = np.array([len(row.words) for row in rows], dtype=np.int64)
    if wrong:
        _report(rows, wrong)
        return []
    laid = [row.laid_out() for row in rows]
    found = chunks(tuple(number), np.array(codes, dtype=np.int32), lengths, "")
    spans: list[list[Span]] = [[] for _ in rows]
    starts = places(lengths).tolist()
    columns = (found.doc, found.start, found.end, found.kind, found.group)
    for doc, a, b, kind, group in zip(*(c.tolist() for c in columns), strict=True):
        tokens, first = laid[doc][1], starts[doc]
        if tokens:
            span = (tokens[a - first][0], tokens[b - first - 1][1])
            spans[doc].append((*span, found.types[kind], group))
    return [
        Text(_named(i), rows[i].place.file, text, spans[i], tokens, rows[i].place.line)
        for i, (text, tokens) in enumerate(laid)
    ]


def _report(rows: Sequence[Tokens], wrong: Mapping[str, str]) -> None:
    """Report each tag that cannot be read where it stands first."""
    left = dict(wrong)
    for row in rows:
        for i, tag in enumerate(row.tags):
            if tag in left:
                advice = "numbers need names: --option tag_names=O,B-PER,I-PER,..."
                place, key = row.at(i)
                place.add("tag-unreadable", left.pop(tag), key, help=advice * tag.isdecimal())


Read = Callable[[Sequence[Path], Options, Problems], list[Text]]

READERS: dict[str, Read] = {
    "cache": _from_records,
    "spacy": _from_records,
    "conll": _from_conll,
    "tags": _from_tags,
    "brat": _from_brat,
}
