"""Coreference columns of the CoNLL-2011 and 2012 shared tasks, both ways.

Offsets are token numbers, counted from 1 through the whole document; sentences do not restart them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.table import text_lines
from karat.tasks.linking.annotations import NIL, Candidate, Mention, by_document

# Not by way of read.conll: its documents begin with -DOCSTART- and its lines have one width, while
# these documents have a first line with a name and a last one, and each has a width of its own.

BEGIN, END = "#begin document", "#end document"
NOTHING = frozenset("-_*")
"""What stands where no mention begins or ends."""

_KEY = re.compile(r"[^()|\s]+")
_ITEM = re.compile(r"\(?[^()|]+\)?")


@dataclass
class _Document:
    name: str
    line: int
    token: int = 0
    open: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    mentions: list[tuple[int, int, int, str]] = field(default_factory=list)


@dataclass
class Ids:
    """What the ids of clusters mean: those of a knowledge base, and those of all documents."""

    with_kb: bool = False
    cross_doc: bool = False

    def named(self, key: str, document: str) -> str:
        """The entity of a cluster of a document: NIL<id>:<document> if nothing else is said."""
        if self.with_kb and not key.startswith(NIL):
            return key
        prefixed = key if self.with_kb else f"{NIL}{key}"
        return prefixed if self.cross_doc else f"{prefixed}:{document}"

    def key(self, eid: str, document: str) -> str | None:
        """The id that is read as this entity, None where there is none."""
        key = eid
        if not (self.with_kb and not eid.startswith(NIL)):
            key = eid if self.with_kb else eid.removeprefix(NIL)
            key = key if self.cross_doc else key.removesuffix(f":{document}")
        sound = _KEY.fullmatch(key) is not None and self.named(key, document) == eid
        return key if sound else None


def read_coref(
    source: Source, problems: Problems, ids: Ids | None = None, official: bool = False
) -> Iterator[tuple[int, Mention]]:
    """(line, mention) by document, in the order of the tokens that close them.

    `official` overlooks what the official script overlooks: a last document without an end, what
    stands behind the last document, and a last column that is no tag.
    """
    reader = _Reader(source.name, problems, ids or Ids(), official)
    for line, text in text_lines(source):
        yield from reader.take(line, text)
    yield from reader.finish()


class _Reader:
    """The walk through one file."""

    def __init__(self, file: str, problems: Problems, ids: Ids, official: bool) -> None:
        self.file, self.problems, self.ids, self.official = file, problems, ids, official
        self.document: _Document | None = None
        self.outside: int | None = None
        self.count = 0

    def error(self, code: str, text: str, line: int, key: str = "") -> None:
        """Report what cannot be read."""
        self.problems.add(code, text, file=self.file, line=line, key=key)

    def take(self, line: int, text: str) -> Iterator[tuple[int, Mention]]:
        """One line: it begins or ends a document, or is a token of one."""
        if text.startswith("#"):
            if text.startswith(f"{BEGIN} ") or (text.rstrip() == BEGIN and not self.official):
                self.begin(line, text)
            elif text.startswith(END):
                if self.document is None:
                    self.error("document-unbegun", f"{END} without {BEGIN}", line)
                yield from self.end()
            return
        cells = text.split()
        if self.document is None:
            if cells and self.outside is None:
                self.outside = line
        elif cells:
            self.token(self.document, cells[-1], line)
        else:
            self.sentence(self.document)

    def begin(self, line: int, text: str) -> None:
        """A document begins."""
        if self.document is not None:
            name = self.document.name
            self.error("document-unfinished", f"document {name} has no {END} before this", line)
        self.stray()
        # Blanks in a name are underscores; a document without name is docN.
        name = "_".join(text[len(BEGIN) :].split()) or f"doc{self.count}"
        self.document = _Document(name, line)
        self.count += 1

    def stray(self) -> None:
        """Report the first token that stood outside a document."""
        if self.outside is not None:
            self.error("outside-document", "a token stands outside a document", self.outside)
        self.outside = None

    def finish(self) -> Iterator[tuple[int, Mention]]:
        """The file ends."""
        if not self.official:
            self.stray()
        if self.document is None:
            return
        self.problems.add(
            "document-unfinished",
            f"document {self.document.name} has no {END}",
            file=self.file,
            line=self.document.line,
            severity="warning",
        )
        if not self.official:
            yield from self.end()

    def token(self, document: _Document, tag: str, line: int) -> None:
        """One token: mentions that begin, end, or do both."""
        document.token += 1
        at = document.token
        if tag in NOTHING:
            return
        items = _ITEM.findall(tag)
        sound = "".join(items) == tag.replace("|", "") and all(i.strip("()") != i for i in items)
        if not sound and not self.official:
            self.error("tag-broken", f"{tag[:40]!r} is no coreference tag", line)
        closed: list[tuple[int, int, int, str]] = []
        for item in items:
            key = item.strip("()")
            if item.startswith("("):
                document.open.setdefault(key, []).append((line, at))
            if not item.endswith(")"):
                continue
            if not document.open.get(key):
                text = f"{item} closes a mention that was not opened"
                self.error("mention-unopened", text, line, key)
                continue
            begun, start = document.open[key].pop()
            closed.append((begun, start, at, key))
        # Of mentions that are adjacent in the tag and have the same span, the last one counts.
        for _, same in groupby(closed, lambda mention: mention[1:3]):
            *_, last = same
            document.mentions.append(last)

    def sentence(self, document: _Document) -> None:
        """A sentence ends, and with it all its mentions."""
        for key, starts in document.open.items():
            for line, _ in starts:
                text = f"mention ({key} is not closed in its sentence"
                self.error("mention-unclosed", text, line, key)
        document.open.clear()

    def end(self) -> Iterator[tuple[int, Mention]]:
        """The mentions of a finished document; a cluster has a span once."""
        document, self.document = self.document, None
        if document is None:
            return
        self.sentence(document)
        seen = set()
        for line, start, end, key in document.mentions:
            if (start, end, key) not in seen:
                seen.add((start, end, key))
                eid = self.ids.named(key, document.name)
                yield line, Mention(document.name, start, end, (Candidate(eid),))


def write_coref(mentions: Iterable[Mention], ids: Ids | None = None) -> Iterator[str]:
    """Lines of coreference columns: document, token number, a placeholder and the tag.

    Offsets must be token numbers from 1, as `read_coref` gives them. Entities keep the ids that
    are read as them; others are numbered, in a document or, if ids go across, in all of them.
    """
    ids = ids or Ids()
    documents = by_document(mentions)
    every = _Keys(ids, documents) if ids.cross_doc else None
    for docid, some in documents.items():
        yield f"{BEGIN} {docid}"
        keys = every or _Keys(ids, {docid: some})
        opening: dict[int, list[str]] = {}
        closing: dict[int, list[str]] = {}
        for one in sorted(some, key=lambda m: (m.start, -m.end)):
            key = keys.of(one)
            if one.start == one.end:
                opening.setdefault(one.start, []).append(f"({key})")
            else:
                opening.setdefault(one.start, []).append(f"({key}")
                closing.setdefault(one.end, []).insert(0, f"{key})")
        for token in range(1, max((one.end for one in some), default=0) + 1):
            tag = "|".join(closing.get(token, []) + opening.get(token, [])) or "-"
            yield f"{docid} 0 {token} w {tag}"
        yield END


class _Keys:
    """The ids of the entities of some documents, and free numbers for those that have none."""

    def __init__(self, ids: Ids, documents: dict[str, list[Mention]]) -> None:
        self.ids = ids
        self.taken = {self._own(one) for some in documents.values() for one in some}
        self.numbers: dict[str, str] = {}
        self.next = 0

    def _own(self, one: Mention) -> str | None:
        return self.ids.key(one.candidates[0].eid, one.docid) if one.candidates else None

    def of(self, one: Mention) -> str:
        """The id of a mention's entity. Mentions without candidate are one cluster."""
        own = self._own(one)
        if own is not None:
            return own
        eid = one.candidates[0].eid if one.candidates else NIL
        if eid not in self.numbers:
            # Where ids are those of a knowledge base, a NIL has to say that it is none.
            prefix = NIL if self.ids.with_kb and eid.startswith(NIL) else ""
            while f"{prefix}{self.next}" in self.taken:
                self.next += 1
            self.numbers[eid] = f"{prefix}{self.next}"
            self.next += 1
        return self.numbers[eid]
