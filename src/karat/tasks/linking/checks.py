"""What silently distorts scores, as warnings with places."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import numpy as np

from karat.model.pairs import CodeArray, IntArray
from karat.model.problem import SHOWN_PER_CODE, Problems, Severity
from karat.tasks.linking.annotations import Annotations
from karat.tasks.linking.fields import Fields
from karat.tasks.linking.measures import OVERLAPS, Measure


def check(fields: Fields, measures: Iterable[Measure], problems: Problems) -> None:
    """Warn about both sides, each alone and against each other."""
    alone = fields.system is fields.gold
    overlaps = any(m.aggregate in OVERLAPS for m in measures)
    for side in (fields.gold,) if alone else (fields.gold, fields.system):
        _blanks(side, side.doc, side.docs, "docid-blank", "document id", problems)
        _blanks(side, side.top_eid, side.ids, "id-blank", "entity id", problems)
        # No share of a mention that ends before it starts can be covered.
        _reversed(side, problems, "error" if overlaps else "warning")
        _repeats(side, problems)
        _bare(side, problems)
        if overlaps:
            _overlaps(side, problems)
    _foreign(fields, problems)
    if not len(fields.gold):
        problems.add(
            "gold-empty", "gold holds no mention", file=fields.gold.name, severity="warning"
        )
    if not len(fields.system) and not alone:
        text = "the system gives no mention"
        problems.add("predictions-empty", text, file=fields.system.name, severity="warning")


def _report(
    side: Annotations,
    rows: IntArray,
    code: str,
    message: Callable[[int], str],
    problems: Problems,
    help: str = "",
    severity: Severity = "warning",
) -> None:
    """A problem for each of some mentions; past those that are kept, only their number."""
    for row in rows[:SHOWN_PER_CODE].tolist():
        line = int(side.line[row])
        problems.add(code, message(row), file=side.name, line=line, help=help, severity=severity)
    problems.count_more(code, severity, side.name, len(rows) - SHOWN_PER_CODE)


def _place(side: Annotations, row: int) -> str:
    doc = side.docs[side.doc[row]]
    return f"{doc}: mention {int(side.start[row])}-{int(side.end[row])}"


def _blanks(
    side: Annotations,
    codes: CodeArray,
    names: tuple[str, ...],
    code: str,
    what: str,
    problems: Problems,
) -> None:
    """White space in names, which are compared as they are: the first mention of each."""
    odd = np.array([any(map(str.isspace, name)) for name in names] + [False])
    rows = np.flatnonzero(odd[codes])
    _, first = np.unique(codes[rows], return_index=True)
    _report(
        side,
        np.sort(rows[first]),
        code,
        lambda row: f"white space in {what} {names[codes[row]][:60]!r}",
        problems,
        help="blanks count when names are compared",
    )


def _reversed(side: Annotations, problems: Problems, severity: Severity) -> None:
    _report(
        side,
        np.flatnonzero(side.end < side.start),
        "span-reversed",
        lambda row: f"{_place(side, row)} ends before it starts",
        problems,
        severity=severity,
    )


def _repeats(side: Annotations, problems: Problems) -> None:
    """The same span twice: with another entity it is in two clusters at once."""
    n = len(side)
    new = np.ones(n, dtype=np.bool_)
    new[1:] = ~(
        (side.doc[1:] == side.doc[:-1])
        & (side.start[1:] == side.start[:-1])
        & (side.end[1:] == side.end[:-1])
    )
    # Mentions of one place stand together, the earlier line first.
    first = np.maximum.accumulate(np.where(new, np.arange(n), 0))
    same = side.top_eid == side.top_eid[first]
    nils = side.is_nil & side.is_nil[first]

    def clusters(row: int) -> str:
        names = [
            side.ids[i] if i >= 0 else "no entity"
            for i in (side.top_eid[first[row]], side.top_eid[row])
        ]
        return f"{_place(side, row)} is in two clusters, {' and '.join(names)}"

    def again(row: int) -> str:
        return f"{_place(side, row)} is given again; it counts once"

    advice = "measures of clusters count the last one; repeated rows can raise scores"
    _report(side, np.flatnonzero(~new & same), "span-repeated", again, problems)
    for which, code in ((nils, "nil-repeated"), (~nils, "span-in-two-clusters")):
        _report(side, np.flatnonzero(~new & ~same & which), code, clusters, problems, help=advice)


def _bare(side: Annotations, problems: Problems) -> None:
    """Mentions without candidate are neither linked nor NIL, and all of them are one cluster."""
    _report(
        side,
        np.flatnonzero(side.candidates == 0),
        "no-candidate",
        lambda row: f"{_place(side, row)} has no entity",
        problems,
        help="such mentions are neither linked nor NIL, and all of them are one cluster",
    )


def _overlaps(side: Annotations, problems: Problems) -> None:
    """Spans that share a position, where partial overlap is measured."""
    if len(side) < 2:
        return
    low = int(side.start.min())
    room = int(side.end.max()) - low + 2
    order = np.lexsort((side.start, side.doc))
    base = side.doc[order].astype(np.int64) * room - low
    reach = np.maximum.accumulate(base + side.end[order])
    hit = order[1:][base[1:] + side.start[order][1:] <= reach[:-1]]
    _report(
        side,
        np.sort(hit),
        "spans-overlap",
        lambda row: f"{_place(side, row)} overlaps one before it",
        problems,
        help="overlap measures do not expect that; positions count once in `sum`",
    )


def _foreign(fields: Fields, problems: Problems) -> None:
    """Documents that only the system has: everything in them is a false positive."""
    doc, side = fields.key(("docid",)), fields.system
    known = np.zeros(doc.size, dtype=bool)
    known[doc.gold] = True
    rows = np.flatnonzero(~known[doc.system])
    _, first = np.unique(doc.system[rows], return_index=True)
    _report(
        side,
        np.sort(rows[first]),
        "document-not-in-gold",
        lambda row: (
            f"document {side.docs[side.doc[row]]} has no gold mention; "
            "all its mentions count as wrong"
        ),
        problems,
    )


def check_types(side: Annotations, problems: Problems) -> None:
    """Report types that begin as JSON and are none."""
    for code, kind in enumerate(side.kinds):
        if not kind.startswith("{"):
            continue
        try:
            sound = isinstance(json.loads(kind), dict)
        except (ValueError, RecursionError):
            sound = False
        if not sound:
            owner = np.repeat(np.arange(len(side)), side.candidates)
            row = int(owner[np.flatnonzero(side.kind == code)[0]])
            text = f"type {kind[:60]!r} begins with {{ but is no JSON object"
            problems.add("type-json", text, file=side.name, line=int(side.line[row]), key="type")
