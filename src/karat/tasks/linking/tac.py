"""TAC entity linking: mention XML with a link table (2009 to 2014), and the table of 2015 on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.markup import Element, elements
from karat.read.table import table_rows
from karat.tasks.linking.annotations import Candidate, Mention

EDL = "run, mention id, text, place, entity id, type, mention type, score"
FIELDS = ("docid", "beg", "end", "name")
_PLACE = re.compile(r"^(\S+):\s?(\d+)\s?[-–]\s?(\d+)$")

Place = tuple[str, str, str]
"""docid, start and end as text, as a file writes them."""
Key = tuple[str, int, int]
Numbered = Iterator[tuple[int, Mention]]


@dataclass(frozen=True, slots=True)
class Query:
    """One mention of the XML: where it is, as written."""

    place: Place
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Settings:
    """How to read. `exclusive` ends are one past the last character, as in 2011; `eid` maps ids."""

    exclusive: bool = False
    eid: Callable[[str], str] = str


class Written(NamedTuple):
    """One mention as its file writes it: candidates stand with the text of their scores."""

    line: int
    place: Place
    candidates: list[tuple[Candidate, str]]


def read_queries(source: Source, problems: Problems) -> dict[str, Query]:
    """Query id -> query."""
    found: dict[str, Query] = {}
    for one in elements(source.name, source.blocks(), "query"):
        _take_query(found, one, source.name, problems)
    return found


def _take_query(found: dict[str, Query], one: Element, file: str, problems: Problems) -> None:
    key = one.attributes.get("id")
    if key is None:
        problems.add("query-without-id", "a query has no id", file=file, line=one.line)
        return
    missing = [name for name in FIELDS if name not in one.children]
    if missing:
        text = f"query {key} has no {', '.join(missing)}"
        problems.add("query-incomplete", text, file=file, line=one.line, key=key)
        return
    if key in found:
        text = f"query {key} stands on line {found[key].line} already"
        problems.add("query-repeated", text, file=file, line=one.line, key=key)
        return
    for name in ("beg", "end"):
        if not _is(int, one.children[name]):
            text = f"{name} of query {key} is {one.children[name][:40]!r}, not an integer"
            problems.add("offset-not-integer", text, file=file, line=one.line, key=key)
            return
    place = one.children["docid"], one.children["beg"], one.children["end"]
    found[key] = Query(place, one.line, one.children["name"])


def read_links(
    source: Source, problems: Problems, short: str = "error"
) -> dict[str, list[tuple[int, Candidate]]]:
    """Query id -> its candidates with their lines.

    Lines are trimmed; a header is passed over. A third cell that is a number is the score, since
    before 2014 there was no type. Lines of under three cells are errors, unless `short` is "skip".
    """
    found: dict[str, list[tuple[int, Candidate]]] = defaultdict(list)
    for line, cells in table_rows(source, strip=True):
        if cells[0] == "query_id" or cells == [""]:
            continue
        if len(cells) < 3:
            if short != "skip":
                text = "a link is query id, entity id and type (2014) or score, between tabs"
                problems.add("link-short", text, file=source.name, line=line, key=cells[0][:60])
            continue
        kind: str | None = cells[2]
        score = 1.0
        if len(cells) == 3 and _is(float, cells[2]):
            kind, score = None, float(cells[2])
        elif len(cells) > 3 and cells[3]:
            if not _is(float, cells[3]):
                text = f"{cells[3][:40]!r} is not a number"
                problems.add("score-not-number", text, file=source.name, line=line, key="score")
                continue
            score = float(cells[3])
        found[cells[0]].append((line, Candidate(cells[1], score, kind)))
    return found


def joined(
    queries: dict[str, Query],
    links: dict[str, list[tuple[int, Candidate]]],
    file: str,
    problems: Problems,
) -> list[Written]:
    """The mentions, in the order of their places as text.

    Queries of one place are one mention with all their candidates, however the place is spelt.
    """
    places: dict[Key, list[tuple[Candidate, str]]] = defaultdict(list)
    first: dict[Key, tuple[Place, int]] = {}
    for name, query in queries.items():
        key = _key(query.place)
        places[key] += ((candidate, repr(candidate.score)) for _, candidate in links.get(name, ()))
        first.setdefault(key, (query.place, query.line))
    for name in sorted(links.keys() - queries.keys(), key=lambda name: links[name][0][0]):
        problems.add(
            "link-without-query",
            f"there is no query {name}",
            file=file,
            line=links[name][0][0],
            key=name,
        )
    return [
        Written(first[key][1], first[key][0], _best_first(places[key]))
        for key in sorted(places, key=first.__getitem__)
    ]


def check_linked(written: Iterable[Written], file: str, problems: Problems) -> None:
    """Report the mentions that no link belongs to."""
    for one in written:
        if not one.candidates:
            text = f"no link for the query at {' '.join(one.place)}"
            problems.add("query-without-link", text, file=file, line=one.line)


def read_edl(source: Source, problems: Problems) -> list[Written]:
    """The mentions of the table of 2015 on, in the order of their places as text.

    Rows of one place are one mention, however the place is spelt.
    """
    places: dict[Key, list[tuple[Candidate, str]]] = defaultdict(list)
    first: dict[Key, tuple[str, int, Place]] = {}
    for line, cells in table_rows(source):
        row = _edl_row(cells, line, source.name, problems)
        if row is None:
            continue
        place, candidate = row
        key = _key(place)
        places[key].append((candidate, cells[7]))
        first.setdefault(key, (cells[3], line, place))
    return [
        Written(first[key][1], first[key][2], _best_first(places[key]))
        for key in sorted(places, key=first.__getitem__)
    ]


def mentions(written: Iterable[Written], settings: Settings) -> Numbered:
    """(line, mention) of every place."""
    for one in written:
        docid, start, end = _key(one.place)
        found = tuple(c._replace(eid=settings.eid(c.eid)) for c, _ in one.candidates)
        yield one.line, Mention(docid, start, end - settings.exclusive, found)


def _edl_row(
    cells: list[str], line: int, file: str, problems: Problems
) -> tuple[Place, Candidate] | None:
    if len(cells) < 8:
        text = f"{len(cells)} cells; a row has 8: {EDL}"
        problems.add("cell-count", text, file=file, line=line)
        return None
    match = _PLACE.match(cells[3])
    if match is None:
        text = f"{cells[3][:60]!r} is no place; one looks like DOC:10-14"
        problems.add("place-broken", text, file=file, line=line, key="place")
        return None
    if not _is(float, cells[7]):
        text = f"{cells[7][:40]!r} is not a number"
        problems.add("score-not-number", text, file=file, line=line, key="score")
        return None
    place = match[1], match[2], match[3]
    return place, Candidate(cells[4], float(cells[7]), f"{cells[5]}/{cells[6]}")


def _key(place: Place) -> Key:
    return place[0], int(place[1]), int(place[2])


def _best_first(candidates: Iterable[tuple[Candidate, str]]) -> list[tuple[Candidate, str]]:
    return sorted(candidates, key=lambda pair: -(pair[0].score or 0.0))


def ends_are_exclusive(queries: dict[str, Query]) -> bool | None:
    """Whether ends are one past the mention, told from the names; None if unclear."""
    inclusive = exclusive = 0
    for query in queries.values():
        if not query.name:
            continue
        length = int(query.place[2]) - int(query.place[1])
        inclusive += length == len(query.name) - 1
        exclusive += length == len(query.name)
    if inclusive == exclusive:
        return None
    return exclusive > inclusive


def _is(number: type[int | float], cell: str) -> bool:
    """Whether a cell can be read as such a number."""
    try:
        number(cell)
    except ValueError:
        return False
    return True
