"""Names of entities made one: redirects followed, addresses of encyclopedia pages cut to titles."""

from __future__ import annotations

import re
from collections.abc import Mapping

from karat.model.task import Source
from karat.read.table import table_rows

_ADDRESS = re.compile(r"https?://[a-z-]+\.wikipedia\.org/wiki/")


def read_titles(source: Source) -> dict[str, str]:
    """Every title and redirect of a table `title TAB redirect TAB ...`, to its title."""
    found: dict[str, str] = {}
    for _, cells in table_rows(source):
        title, *redirects = (cell.strip().replace(" ", "_") for cell in cells)
        for name in (title, *redirects):
            found[name] = title
    return found


def normal(eid: str, titles: Mapping[str, str] | None) -> str:
    """The id as the table of titles has it; untouched where there is no table."""
    if titles is None:
        return eid
    name = _ADDRESS.sub("", eid, count=1) if _ADDRESS.match(eid) else eid
    name = name.replace(" ", "_")
    return titles.get(name, name)
