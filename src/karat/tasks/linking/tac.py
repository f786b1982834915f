"""TAC entity linking: mention XML with a link table (2009 to 2014), and the table of 2015 on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.markup import Element, elements
from karat.read.table import table_rows
from karat.tasks.linking.annotations import Candidate, Mention

EDL = "run, mention id, text, place, entity id, type, mention type, score"
FIELDS = ("docid", "beg", "end", "name")
_PLACE = re.compile(r"^(\S+):\s?(\d+)\s?[-–]\s?(\d+)$")

Place = tuple[str, str, str]
Numbered = Iterator[tuple[int, Mention]]


@dataclass(frozen=True, slots=True)
class Query:
    """One mention of the XML: where it is, as written."""

    place: Place
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Settings:
    """How to read. `exclusive` ends are one past the last character, as in 2011.

    `eid` maps ids; `textual` sorts offsets as text, as the official converter does.
    """

    exclusive: bool = False
    eid: Callable[[str], str] = str
    textual: bool = False


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
    files: tuple[str, str],
    problems: Problems,
    settings: Settings,
) -> Numbered:
    """(line, mention) for every place: queries of one place are one mention with all candidates."""
    places: dict[Place, list[tuple[int, Candidate]]] = defaultdict(list)
    line: dict[Place, int] = {}
    for key, query in queries.items():
        if key not in links:
            text = f"query {key} has no link"
            problems.add("query-without-link", text, file=files[0], line=query.line, key=key)
            continue
        places[query.place] += links[key]
        line.setdefault(query.place, query.line)
    for key in links.keys() - queries.keys():
        at = links[key][0][0]
        problems.add(
            "link-without-query", f"there is no query {key}", file=files[1], line=at, key=key
        )
    order = sorted(places) if settings.textual else sorted(places, key=_numeric)
    for place in order:
        mention = _mention(place, [c for _, c in places[place]], settings)
        yield line[place], mention


def read_edl(source: Source, problems: Problems, settings: Settings) -> Numbered:
    """(line, mention) of the table of 2015 on; rows of one place are one mention."""
    places: dict[tuple[str, int, int], list[Candidate]] = defaultdict(list)
    seen: dict[tuple[str, int, int], tuple[str, int]] = {}
    for line, cells in table_rows(source):
        row = _edl_row(cells, line, source.name, problems)
        if row is None:
            continue
        place, candidate = row
        places[place].append(candidate)
        seen.setdefault(place, (cells[3], line))
    order = sorted(places, key=lambda p: seen[p][0]) if settings.textual else sorted(places)
    for place in order:
        text = place[0], str(place[1]), str(place[2])
        yield seen[place][1], _mention(text, places[place], settings)


def _edl_row(
    cells: list[str], line: int, file: str, problems: Problems
) -> tuple[tuple[str, int, int], Candidate] | None:
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
    place = match[1], int(match[2]), int(match[3])
    return place, Candidate(cells[4], float(cells[7]), f"{cells[5]}/{cells[6]}")


def _mention(place: Place, candidates: list[Candidate], settings: Settings) -> Mention:
    """The mention at a place, its candidates best first."""
    best = sorted(candidates, key=lambda c: -(c.score or 0.0))
    named = tuple(c._replace(eid=settings.eid(c.eid)) for c in best)
    end = int(place[2]) - 1 if settings.exclusive else int(place[2])
    return Mention(place[0], int(place[1]), end, named)


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


def _numeric(place: Place) -> tuple[str, int, int]:
    return place[0], int(place[1]), int(place[2])


def _is(number: type[int | float], cell: str) -> bool:
    """Whether a cell can be read as such a number."""
    try:
        number(cell)
    except ValueError:
        return False
    return True
