"""What silently distorts scores, as warnings with places."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np

from karat.model.pairs import IntArray
from karat.model.problem import Problems
from karat.tasks.linking.annotations import Annotations
from karat.tasks.linking.fields import Fields
from karat.tasks.linking.measures import OVERLAPS, Measure

SPACES = " \t\u00a0\u3000"


def check(fields: Fields, measures: Iterable[Measure], problems: Problems) -> None:
    """Warn about both sides, each alone and against each other."""
    alone = fields.system is fields.gold
    for side in (fields.gold,) if alone else (fields.gold, fields.system):
        _blanks(side, problems)
        _reversed(side, problems)
        _repeats(side, problems)
        _bare(side, problems)
        if any(m.aggregate in OVERLAPS for m in measures):
            _overlaps(side, problems)
    _foreign(fields, problems)
    if not len(fields.gold):
        problems.add(
            "gold-empty", "gold holds no mention", file=fields.gold.name, severity="warning"
        )
    if not len(fields.system) and not alone:
        text = "the system gives no mention"
        problems.add("predictions-empty", text, file=fields.system.name, severity="warning")


def _warn(
    side: Annotations, rows: Iterable[int], code: str, text: str, problems: Problems, help: str = ""
) -> None:
    for row in rows:
        problems.add(
            code,
            text.format(
                doc=side.docs[side.doc[row]], start=int(side.start[row]), end=int(side.end[row])
            ),
            file=side.name,
            line=int(side.line[row]),
            help=help,
            severity="warning",
        )


def _blanks(side: Annotations, problems: Problems) -> None:
    """White space in names: they are compared as they are."""
    for codes, names, code, what in (
        (side.doc, side.docs, "docid-blank", "document id"),
        (side.top_eid, side.ids, "id-blank", "entity id"),
    ):
        odd = {i for i, name in enumerate(names) if any(c.isspace() for c in name)}
        for i in sorted(odd):
            rows = np.flatnonzero(codes == i)[:1].tolist()
            text = f"white space in {what} {names[i][:60]!r}".replace("{", "{{").replace("}", "}}")
            _warn(side, rows, code, text, problems, help="blanks count when names are compared")


def _reversed(side: Annotations, problems: Problems) -> None:
    rows = np.flatnonzero(side.end < side.start)
    _warn(
        side,
        rows.tolist(),
        "span-reversed",
        "{doc}: mention {start}-{end} ends before it starts",
        problems,
    )


def _repeats(side: Annotations, problems: Problems) -> None:
    """The same span twice: with another entity it is in two clusters at once."""
    if not len(side):
        return
    same = _same_place(side)
    first, previous = 0, -1
    for row in same.tolist():
        # Mentions of one place stand together, the earlier line first.
        if row - 1 != previous:
            first = row - 1
        previous = row
        a, b = int(side.top_eid[first]), int(side.top_eid[row])
        names = [side.ids[i] if i >= 0 else "no entity" for i in (a, b)]
        if a == b:
            code, text = (
                "span-repeated",
                "{doc}: mention {start}-{end} is given again; it counts once",
            )
        elif a >= 0 and b >= 0 and side.is_nil[first] and side.is_nil[row]:
            code = "nil-repeated"
            text = "{doc}: mention {start}-{end} is in two NIL clusters, " + " and ".join(names)
        else:
            code = "span-in-two-clusters"
            text = "{doc}: mention {start}-{end} is in two clusters, " + " and ".join(names)
        if problems_of(problems, code, side.name) > SHOWN:
            problems.add(code, "", file=side.name, severity="warning")
            continue
        text = text if code == "span-repeated" else _safe(text, names)
        advice = (
            ""
            if a == b
            else "measures of clusters count the last one; repeated rows can raise scores"
        )
        _warn(side, [row], code, text, problems, help=advice)


SHOWN = 20


def problems_of(problems: Problems, code: str, file: str) -> int:
    """How many kept problems there are of a code and file; past 20 only the count matters."""
    return sum(1 for p in problems if p.code == code and p.file == file)


def _safe(text: str, names: Iterable[str]) -> str:
    """The text with braces in names made harmless to format."""
    for name in names:
        if "{" in name or "}" in name:
            text = text.replace(name, name.replace("{", "{{").replace("}", "}}"))
    return text


def _same_place(side: Annotations) -> IntArray:
    """The mentions that stand where the one before them stands."""
    same = (
        (side.doc[1:] == side.doc[:-1])
        & (side.start[1:] == side.start[:-1])
        & (side.end[1:] == side.end[:-1])
    )
    return np.flatnonzero(same) + 1


def _bare(side: Annotations, problems: Problems) -> None:
    """Mentions without candidate are neither linked nor NIL, and all of them are one cluster."""
    rows = np.flatnonzero(side.candidates == 0)
    _warn(
        side,
        rows.tolist(),
        "no-candidate",
        "{doc}: mention {start}-{end} has no entity",
        problems,
        help="such mentions are neither linked nor NIL, and all of them are one cluster",
    )


def _overlaps(side: Annotations, problems: Problems) -> None:
    """Spans that share a position, where partial overlap is measured."""
    if len(side) < 2:
        return
    room = int(side.end.max()) - int(min(side.start.min(), 0)) + 2
    order = np.lexsort((side.start, side.doc))
    base = side.doc[order].astype(np.int64) * room
    reach = np.maximum.accumulate(base + side.end[order])
    hit = order[1:][base[1:] + side.start[order][1:] <= reach[:-1]]
    text = (
        "{doc}: mention {start}-{end} overlaps one before it, which overlap measures do not expect"
    )
    _warn(side, np.sort(hit).tolist(), "spans-overlap", text, problems)


def _foreign(fields: Fields, problems: Problems) -> None:
    """Documents that only the system has: everything in them is a false positive."""
    doc = fields.key(("docid",))
    known = np.zeros(doc.size, dtype=bool)
    known[doc.gold] = True
    names = fields.values("docid")
    rows = np.flatnonzero(~known[doc.system])
    codes, first = np.unique(doc.system[rows], return_index=True)
    for code, at in zip(codes.tolist(), rows[first].tolist(), strict=True):
        problems.add(
            "document-not-in-gold",
            f"document {names[code]} has no gold mention; all its mentions count as wrong",
            file=fields.system.name,
            line=int(fields.system.line[at]),
            severity="warning",
        )


def check_types(side: Annotations, problems: Problems) -> None:
    """Report types that begin as JSON and are none."""
    for code, kind in enumerate(side.kinds):
        if not kind.startswith("{"):
            continue
        try:
            sound = isinstance(json.loads(kind), dict)
        except ValueError:
            sound = False
        if not sound:
            rows = np.flatnonzero(np.diff(side.offsets[: len(side) + 1]) > 0)
            owner = np.repeat(np.arange(len(side)), side.candidates)
            row = int(owner[np.flatnonzero(side.kind == code)[0]]) if len(rows) else 0
            text = f"type {kind[:60]!r} begins with {{ but is no JSON object"
            problems.add("type-json", text, file=side.name, line=int(side.line[row]), key="type")
