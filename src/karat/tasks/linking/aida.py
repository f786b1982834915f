"""AIDA-CoNLL: the CoNLL-2003 tokens with the entity of each mention beside them, both ways.

Offsets are token numbers, counted from 1 through the whole document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.conll import BOUNDARY
from karat.read.table import text_lines
from karat.tasks.linking.annotations import NIL, Candidate, Mention, by_document

# Only the mark of a document is read.conll's: its lines have one width and become codes of their
# last cells, while these have one to seven cells, the first four count, and documents have names.

NOT_IN_KB = "--NME--"


def read_aida(source: Source, problems: Problems) -> Iterator[tuple[int, Mention]]:
    """(line, mention): the entity is the fourth cell; --NME-- is a NIL of its own each time."""
    docid, token, count, unknown = "", 0, 0, 0
    begun: tuple[int, int, str] | None = None
    report = partial(problems.add, file=source.name)

    def finished() -> Iterator[tuple[int, Mention]]:
        nonlocal begun
        if begun is not None:
            line, start, eid = begun
            yield line, Mention(docid, start, token, (Candidate(eid),))
        begun = None

    for line, text in text_lines(source):
        cells = text.split("\t")
        inside = len(cells) > 3 and cells[1] == "I"
        if text.startswith(BOUNDARY):
            yield from finished()
            name = text[len(BOUNDARY) :].strip().removeprefix("(").removesuffix(")")
            docid = name.replace(" ", "_") or f"doc{count}"
            token, count = 0, count + 1
            continue
        if not text.strip():
            yield from finished()
            continue
        if not docid:
            report("outside-document", f"a token stands before any {BOUNDARY}", line=line)
            return
        if inside and begun is None:
            taken = "I without a B before it; taken as B"
            report("mention-unopened", taken, line=line, severity="warning")
        if not inside or begun is None:
            yield from finished()
        token += 1
        if len(cells) > 3 and begun is None:
            eid = cells[3]
            if eid == NOT_IN_KB:
                unknown += 1
                eid = f"{NIL}_NME_{unknown}"
            begun = line, token, eid
        elif len(cells) > 1 and len(cells) < 4:
            wanted = "a token in a mention has token, B or I, mention and entity"
            report("cell-count", f"{len(cells)} cells; {wanted}", line=line)
    yield from finished()


def write_aida(mentions: Iterable[Mention]) -> Iterator[str]:
    """Lines of AIDA-CoNLL with placeholders for tokens. Mentions must not overlap."""
    for docid, some in by_document(mentions).items():
        yield f"{BOUNDARY} ({docid})"
        token = 1
        for one in sorted(some, key=lambda m: (m.start, -m.end)):
            yield from (f"w{i}" for i in range(token, one.start))
            words = [f"w{i}" for i in range(one.start, one.end + 1)]
            eid = one.candidates[0].eid if one.candidates else NIL
            entity = NOT_IN_KB if eid.startswith(NIL) else eid
            for i, word in enumerate(words):
                yield "\t".join([word, "I" if i else "B", " ".join(words), entity])
            token = one.end + 1
        yield ""
