"""Coreference columns of the CoNLL-2011 and 2012 shared tasks, both ways.

Offsets are token numbers, counted from 1 through the whole document; sentences do not restart them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.table import text_lines
from karat.tasks.linking.annotations import NIL, Candidate, Mention, by_document

# Not by way of read.conll: its documents begin with -DOCSTART- and its lines have one width, while
# these documents have a first line with a name and a last one, and each has a width of its own.

BEGIN, END = "#begin document", "#end document"


@dataclass
class _Document:
    name: str
    line: int
    token: int = 0
    open: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    mentions: list[tuple[int, int, int, str]] = field(default_factory=list)


def read_coref(
    source: Source, problems: Problems, with_kb: bool = False, cross_doc: bool = False
) -> Iterator[tuple[int, Mention]]:
    """(line, mention) by document, in the order of the tokens that close them.

    Ids are NIL<id>:<document>; `cross_doc` leaves the document out, `with_kb` keeps ids that do not
    begin with NIL as they are.
    """
    document: _Document | None = None
    count = 0
    for line, text in text_lines(source):
        if text.startswith("#"):
            if text.startswith(BEGIN):
                document = _Document(_name(text, count), line)
                count += 1
            elif text.startswith(END) and document is not None:
                yield from _closed(document, source.name, problems, with_kb, cross_doc)
                document = None
            continue
        cells = text.split()
        if document is None:
            if cells:
                problems.add(
                    "outside-document",
                    "a token stands outside a document",
                    file=source.name,
                    line=line,
                )
            continue
        if cells:
            _token(document, cells[-1], line, source.name, problems)
    if document is not None:
        problems.add(
            "document-unfinished",
            f"document {document.name} has no {END}",
            file=source.name,
            line=document.line,
            severity="warning",
        )
        yield from _closed(document, source.name, problems, with_kb, cross_doc)


def _name(text: str, count: int) -> str:
    """The document's name with blanks as underscores; docN where it has none."""
    return "_".join(text[len(BEGIN) :].split()) or f"doc{count}"


def _token(document: _Document, tag: str, line: int, file: str, problems: Problems) -> None:
    """One token: mentions that begin, end, or do both."""
    document.token += 1
    at = document.token
    if tag in ("-", "_"):
        return
    closed: list[tuple[int, int, int, str]] = []
    for item in tag.split("|"):
        key = item.strip("()")
        if item.startswith("(") and item.endswith(")") and key:
            closed.append((line, at, at, key))
        elif item.startswith("(") and key:
            document.open.setdefault(key, []).append((line, at))
        elif item.endswith(")") and key:
            starts = document.open.get(key)
            if not starts:
                text = f"{item} closes a mention that was not opened"
                problems.add("mention-unopened", text, file=file, line=line, key=key)
                continue
            begun, start = starts.pop()
            closed.append((begun, start, at, key))
        else:
            text = f"{item[:40]!r} is no part of a coreference tag"
            problems.add("tag-broken", text, file=file, line=line)
    # Of mentions that are adjacent in the tag and have the same span, the last one counts.
    for place, one in enumerate(closed):
        following = closed[place + 1] if place + 1 < len(closed) else None
        if following is None or following[1:3] != one[1:3]:
            document.mentions.append(one)


def _closed(
    document: _Document, file: str, problems: Problems, with_kb: bool, cross_doc: bool
) -> Iterator[tuple[int, Mention]]:
    """The mentions of a finished document."""
    for key, starts in document.open.items():
        for line, _ in starts:
            text = f"mention ({key} is never closed"
            problems.add("mention-unclosed", text, file=file, line=line, key=key)
    for line, start, end, key in document.mentions:
        if with_kb and not key.startswith(NIL):
            eid = key
        else:
            prefixed = key if with_kb else f"{NIL}{key}"
            eid = prefixed if cross_doc else f"{prefixed}:{document.name}"
        yield line, Mention(document.name, start, end, (Candidate(eid),))


def write_coref(mentions: Iterable[Mention]) -> Iterator[str]:
    """Lines of coreference columns: document, token number, a placeholder and the tag.

    Offsets must be token numbers from 1, as `read_coref` gives them.
    """
    for docid, some in by_document(mentions).items():
        yield f"{BEGIN} {docid}"
        numbers: dict[str, int] = {}
        opening: dict[int, list[str]] = {}
        closing: dict[int, list[str]] = {}
        for one in sorted(some, key=lambda m: (m.start, -m.end)):
            eid = one.candidates[0].eid if one.candidates else ""
            key = str(numbers.setdefault(eid, len(numbers)))
            if one.start == one.end:
                opening.setdefault(one.start, []).append(f"({key})")
            else:
                opening.setdefault(one.start, []).append(f"({key}")
                closing.setdefault(one.end, []).insert(0, f"{key})")
        for token in range(1, max((one.end for one in some), default=0) + 1):
            tag = "|".join(opening.get(token, []) + closing.get(token, [])) or "-"
            yield f"{docid} 0 {token} w {tag}"
        yield END
