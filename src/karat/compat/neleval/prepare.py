"""prepare-tac, prepare-tac15, prepare-brat and prepare-conll-coref: other formats to the table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from karat.errors import DataError
from karat.model.problem import Problems
from karat.read.source import Source

if TYPE_CHECKING:
    from karat.tasks.linking import tac
    from karat.tasks.linking.annotations import Mention


def _add(commands: Any, name: str, help: str, run: Any) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = commands.add_parser(name, help=help)
    one.set_defaults(run=run)
    return one


def _add_mapping(one: argparse.ArgumentParser) -> None:
    one.add_argument("-m", "--mapping", metavar="FILE", help="title TAB redirect TAB redirect ...")


def _add_excluded(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "-x", "--excluded-spans", metavar="FILE", help="docid TAB start TAB end to leave out"
    )


def add_tac(commands: Any) -> None:
    """The command `prepare-tac`."""
    one = _add(commands, "prepare-tac", "Convert TAC output format for evaluation", _tac)
    one.add_argument("system", metavar="LINKS", help="link table")
    one.add_argument("-q", "--queries", required=True, metavar="XML", help="mention queries")
    one.add_argument(
        "--exclusive-ends", action="store_true", help="ends are one past the mention (2011)"
    )
    _add_excluded(one)
    _add_mapping(one)


def add_tac15(commands: Any) -> None:
    """The command `prepare-tac15`."""
    one = _add(commands, "prepare-tac15", "Convert TAC 2015 output format for evaluation", _tac15)
    one.add_argument("system", metavar="FILE", help="table of mentions; - is stdin")
    _add_excluded(one)
    _add_mapping(one)


def add_brat(commands: Any) -> None:
    """The command `prepare-brat`."""
    one = _add(commands, "prepare-brat", "Convert brat format for evaluation", _brat)
    one.add_argument("dir", metavar="DIR", help="folder of .ann files")
    _add_mapping(one)


def add_coref(commands: Any) -> None:
    """The command `prepare-conll-coref`."""
    one = _add(
        commands,
        "prepare-conll-coref",
        "Import format from CoNLL 2011-2 coreference shared task",
        _coref,
    )
    one.add_argument(
        "system", metavar="FILE", nargs="?", default="-", help="- is stdin, the default"
    )
    one.add_argument("--with-kb", action="store_true", help="keep ids that do not begin with NIL")
    one.add_argument("--cross-doc", action="store_true", help="ids mean the same in all documents")


def _kept(
    mentions: Iterable[Mention], problems: Problems, chosen: argparse.Namespace
) -> list[Mention]:
    """The mentions outside the excluded zones, once all problems are known."""
    from karat.tasks.linking.zones import excluded as inside
    from karat.tasks.linking.zones import read_zones

    found = list(mentions)
    path = getattr(chosen, "excluded_spans", None)
    zones = {} if path is None else read_zones(Source.of(path), problems)
    if problems.errors:
        raise DataError(problems)
    kept = [one for one in found if not inside(zones, one.docid, one.start, one.end)]
    if not chosen.quiet:
        print(f"{len(kept)} mentions written, {len(found) - len(kept)} left out", file=sys.stderr)
    return kept


def _written(mentions: Iterable[Mention], problems: Problems, chosen: argparse.Namespace) -> str:
    """The annotation table."""
    from karat.tasks.linking.tsv import write_table

    return "\n".join(write_table(_kept(mentions, problems, chosen)))


def _eid(path: str | None) -> Any:
    """What ids are mapped by."""
    from karat.tasks.linking.titles import normal, read_titles

    return partial(normal, titles=None if path is None else read_titles(Source.of(path)))


def _tac(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking import tac

    problems = Problems()
    xml, table = Source.of(chosen.queries), Source.of(chosen.system)
    queries = tac.read_queries(xml, problems)
    links = tac.read_links(table, problems, short="skip")
    written = tac.joined(queries, links, table.name, problems)
    settings = tac.Settings(exclusive=chosen.exclusive_ends, eid=_eid(chosen.mapping))
    rows = _as_spelt(written, settings)
    try:
        kept = _kept(rows, problems, chosen)
        tac.check_linked((rows[one][0] for one in kept), xml.name, problems)
        if problems.errors:
            raise DataError(problems)
    except DataError as error:
        # neleval notices these while it runs.
        from karat.compat.neleval.evaluate import Late

        codes = {p.code for p in error.problems if p.severity == "error"}
        if codes <= {"query-without-link", "link-without-query"}:
            raise Late("\n".join(p.text for p in error.problems)) from error
        raise
    return "\n".join(rows[one][1] for one in kept)


def _tac15(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking import tac

    problems = Problems()
    written = tac.read_edl(Source.of(chosen.system), problems)
    rows = _as_spelt(written, tac.Settings(eid=_eid(chosen.mapping)))
    return "\n".join(rows[one][1] for one in _kept(rows, problems, chosen))


def _as_spelt(
    written: list[tac.Written], settings: tac.Settings
) -> dict[Mention, tuple[tac.Written, str]]:
    """Each mention with its row, in which offsets and scores are spelt as in the file."""
    from karat.tasks.linking import tac

    rows = {}
    for one, (_, mention) in zip(written, tac.mentions(written, settings), strict=True):
        docid, start, end = one.place
        cells = [docid, start, str(mention.end) if settings.exclusive else end]
        for candidate, (_, score) in zip(mention.candidates, one.candidates, strict=True):
            cells += [candidate.eid, score, candidate.type or ""]
        rows[mention] = one, "\t".join(cells)
    return rows


def _brat(chosen: argparse.Namespace) -> str:
    from pathlib import Path

    from karat.tasks.linking.standoff import read_folder

    problems = Problems()
    folder = Path(chosen.dir)
    if not folder.is_dir():
        raise NotADirectoryError(0, "not a folder", chosen.dir)
    mentions = read_folder(folder, problems, _eid(chosen.mapping))
    return _written((m for _, m in mentions), problems, chosen)


def _coref(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking.coref import Ids, read_coref

    problems = Problems()
    ids = Ids(chosen.with_kb, chosen.cross_doc)
    found = read_coref(Source.of(chosen.system), problems, ids, official=True)
    # The official converter sorts through all documents at once.
    rows = sorted((one for _, one in found), key=lambda m: (m.start, -m.end))
    return _written(rows, problems, chosen)
