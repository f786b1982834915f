"""TAC files written: queries with links (2014), and the one table of 2015 on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from karat.tasks.linking.annotations import NIL, Candidate, Mention


def _candidates(one: Mention, number: int) -> tuple[Candidate, ...]:
    """The candidates, or a NIL of the mention's own."""
    return one.candidates or (Candidate(f"{NIL}_NONE_{number}", 1.0, None),)


def write_tac(mentions: Iterable[Mention], folder: Path) -> None:
    """Write queries.xml and links.tab into a folder. Names are not known and left empty."""
    folder.mkdir(parents=True, exist_ok=True)
    xml, links = ['<?xml version="1.0" encoding="UTF-8"?>', "<kbpentlink>"], []
    for number, one in enumerate(mentions, 1):
        key = f"Q{number:06d}"
        fields = ("name", ""), ("docid", one.docid), ("beg", str(one.start)), ("end", str(one.end))
        inside = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields)
        xml.append(f"  <query id={quoteattr(key)}>{inside}</query>")
        for c in _candidates(one, number):
            score = 1.0 if c.score is None else c.score
            links.append("\t".join([key, c.eid, c.type or "UNKNOWN", repr(float(score))]))
    xml.append("</kbpentlink>")
    (folder / "queries.xml").write_text("".join(f"{line}\n" for line in xml), encoding="utf-8")
    (folder / "links.tab").write_text("".join(f"{line}\n" for line in links), encoding="utf-8")


def write_edl(mentions: Iterable[Mention]) -> Iterator[str]:
    """Rows of the table of 2015 on; texts are not known, so they are a dash."""
    for number, one in enumerate(mentions, 1):
        for c in _candidates(one, number):
            kind, _, level = (c.type or "UNKNOWN/NAM").partition("/")
            score = 1.0 if c.score is None else c.score
            place = f"{one.docid}:{one.start}-{one.end}"
            yield "\t".join(
                [
                    "karat",
                    f"M{number:06d}",
                    "-",
                    place,
                    c.eid,
                    kind,
                    level or "NAM",
                    repr(float(score)),
                ]
            )
