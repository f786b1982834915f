"""Parts of documents that do not count: mentions that start or end in one are left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from karat.model.problem import Problems
from karat.model.task import Source
from karat.read.table import table_rows

Zones = Mapping[str, list[tuple[int, int]]]


def read_zones(source: Source, problems: Problems) -> Zones:
    """docid -> inclusive ranges, from a table `docid TAB start TAB end`."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for line, cells in table_rows(source):
        try:
            found[cells[0]].append((int(cells[1]), int(cells[2])))
        except (IndexError, ValueError):
            text = "an excluded zone is docid, start and end between tabs"
            problems.add("zone-broken", text, file=source.name, line=line)
    return found


def excluded(zones: Zones, docid: str, start: int, end: int) -> bool:
    """Whether the first or the last position lies in a zone. One that holds a zone stays."""
    return any(low <= start <= high or low <= end <= high for low, high in zones.get(docid, ()))
