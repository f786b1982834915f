"""Which format a side is in, and its mentions: told from the files, not from names alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problem, Problems
from karat.model.task import Peek, Source
from karat.read.source import Source as File
from karat.tasks.linking import aida, coref, standoff, tac
from karat.tasks.linking.annotations import Annotations, collect
from karat.tasks.linking.checks import check_types
from karat.tasks.linking.layouts import format_of
from karat.tasks.linking.titles import normal, read_titles
from karat.tasks.linking.tsv import read_table
from karat.tasks.linking.zones import excluded, read_zones

EXCLUSIVE_YEAR = 2011
"""The one year of TAC whose ends are one past the last character."""


@dataclass(frozen=True)
class Side:
    """The mentions of one side, and what was decided while reading them."""

    annotations: Annotations
    format: str
    notes: tuple[str, ...] = ()


def read_sides(
    gold: Sequence[Source], system: Sequence[Source], options: Mapping[str, Any], problems: Problems
) -> tuple[Side | None, Side | None]:
    """Both sides. A link table alone takes the mentions of the other side's XML."""
    renamed, cut = id_mapping(options), _cut(options, problems)
    found: list[Side | None] = []
    for side, other in ((gold, system), (system, gold)):
        files = list(side)
        if _is_link_table(side) and any(one.peek().shape == "xml" for one in other):
            files += [one for one in other if one.peek().shape == "xml"]
        found.append(_guarded(files, options, problems, renamed, cut) if files else None)
    return found[0], found[1]


def _guarded(
    files: Sequence[Source], options: Mapping[str, Any], problems: Problems, renamed: Any, cut: Any
) -> Side | None:
    """One side; what stops the reading becomes problems."""
    try:
        side = read_side(files, options, problems, renamed)
    except DataError as stopped:
        problems.join(stopped.problems)
        return None
    # Before the cut, as every other defect of a file is told wherever it stands.
    check_types(side.annotations, problems)
    return side if cut is None else replace(side, annotations=cut(side.annotations))


def read_side(
    files: Sequence[Source],
    options: Mapping[str, Any],
    problems: Problems,
    renamed: Callable[[str], str] | None = None,
) -> Side:
    """The mentions of one side, in any of the formats; `renamed` maps the ids of entities."""
    side = _read(files, options, problems)
    return side if renamed is None else replace(side, annotations=side.annotations.renamed(renamed))


def _read(files: Sequence[Source], options: Mapping[str, Any], problems: Problems) -> Side:
    """The mentions as the files have them."""
    peeks = [one.peek() for one in files]
    if any(peek.shape == "xml" for peek in peeks):
        return _tac(files, peeks, options, problems)
    if len(files) > 1:
        raise UsageError("several files on one side are TAC queries (XML) and their links")
    source, kind = files[0], format_of(peeks[0])
    # A table that is nothing else is read as ours, so that each bad line is named.
    if kind == "tsv" or (kind in ("", "links") and peeks[0].shape == "table"):
        return Side(read_table(source, problems), "tsv")
    if kind == "brat":
        return Side(collect(source.name, standoff.read_folder(Path(source.name), problems)), kind)
    if kind == "coref":
        ids = coref.Ids(bool(options.get("with_kb")), bool(options.get("cross_doc")))
        return Side(collect(source.name, coref.read_coref(source, problems, ids)), kind)
    if kind == "aida":
        return Side(collect(source.name, aida.read_aida(source, problems)), kind)
    if kind == "edl":
        rows = tac.mentions(tac.read_edl(source, problems), tac.Settings())
        return Side(collect(source.name, rows), kind)
    text = "this is no annotation table and none of the other formats of entity linking"
    raise DataError(
        [
            Problem(
                "format-unknown",
                "error",
                text,
                source.name,
                help="`karat tasks entity-linking` shows them",
            )
        ]
    )


def _tac(
    files: Sequence[Source],
    peeks: Sequence[Peek],
    options: Mapping[str, Any],
    problems: Problems,
) -> Side:
    """Queries and links of TAC 2009 to 2014."""
    xml = [one for one, peek in zip(files, peeks, strict=True) if peek.shape == "xml"]
    links = [one for one, peek in zip(files, peeks, strict=True) if peek.shape != "xml"]
    if len(xml) != 1 or len(links) != 1:
        raise UsageError(
            "TAC mentions are one XML file and one link table", help="as in queries.xml,links.tab"
        )
    queries = tac.read_queries(xml[0], problems)
    table = tac.read_links(links[0], problems)
    year, notes = options.get("tac_year"), []
    exclusive = year == EXCLUSIVE_YEAR
    if year is None and tac.ends_are_exclusive(queries):
        exclusive = True
        notes.append(
            f"{xml[0].name}: most ends are one past the name, as in TAC 2011, and were moved; "
            "--tac-year overrides"
        )
    settings = tac.Settings(exclusive=exclusive)
    written = tac.joined(queries, table, links[0].name, problems)
    tac.check_linked(written, xml[0].name, problems)
    rows = tac.mentions(written, settings)
    return Side(collect(links[0].name, rows), "tac", tuple(notes))


def _is_link_table(side: Sequence[Source]) -> bool:
    return (
        len(side) == 1
        and side[0].peek().shape in ("table", "text")
        and format_of(side[0].peek()) in ("", "links")
    )


def id_mapping(options: Mapping[str, Any]) -> Callable[[str], str] | None:
    """What ids are mapped by, None where they stay as they are."""
    path = options.get("titles")
    return None if path is None else partial(normal, titles=read_titles(File.of(path)))


def _cut(
    options: Mapping[str, Any], problems: Problems
) -> Callable[[Annotations], Annotations] | None:
    """What leaves out the mentions in excluded zones."""
    path = options.get("exclude_spans")
    if path is None:
        return None
    zones = read_zones(File.of(path), problems)

    def kept(side: Annotations) -> Annotations:
        import numpy as np

        rows = zip(side.doc.tolist(), side.start.tolist(), side.end.tolist(), strict=True)
        keep = [not excluded(zones, side.docs[doc], start, end) for doc, start, end in rows]
        return side.take(np.array(keep, dtype=np.bool_))

    return kept
