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


def _written(
    mentions: Iterable[Mention], problems: Problems, excluded: str | None, quiet: bool
) -> str:
    """The annotation table, once all problems are known."""
    from karat.tasks.linking.tsv import write_table
    from karat.tasks.linking.zones import excluded as inside
    from karat.tasks.linking.zones import read_zones

    found = list(mentions)
    zones = {} if excluded is None else read_zones(Source.of(excluded), problems)
    if problems.errors:
        raise DataError(problems)
    kept = [one for one in found if not inside(zones, one.docid, one.start, one.end)]
    if not quiet:
        print(f"{len(kept)} mentions written, {len(found) - len(kept)} left out", file=sys.stderr)
    return "\n".join(write_table(kept))


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
    settings = tac.Settings(exclusive=chosen.exclusive_ends, eid=_eid(chosen.mapping), textual=True)
    mentions = tac.joined(queries, links, (xml.name, table.name), problems, settings)
    try:
        return _written((m for _, m in mentions), problems, chosen.excluded_spans, chosen.quiet)
    except DataError as error:
        # neleval notices these while it runs.
        from karat.compat.neleval.evaluate import Late

        codes = {p.code for p in error.problems if p.severity == "error"}
        if codes <= {"query-without-link", "link-without-query"}:
            raise Late("; ".join(p.text for p in error.problems)) from error
        raise


def _tac15(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking import tac

    problems = Problems()
    settings = tac.Settings(eid=_eid(chosen.mapping), textual=True)
    mentions = tac.read_edl(Source.of(chosen.system), problems, settings)
    return _written((m for _, m in mentions), problems, chosen.excluded_spans, chosen.quiet)


def _brat(chosen: argparse.Namespace) -> str:
    from pathlib import Path

    from karat.tasks.linking.standoff import read_folder

    problems = Problems()
    folder = Path(chosen.dir)
    if not folder.is_dir():
        raise NotADirectoryError(0, "not a folder", chosen.dir)
    mentions = read_folder(folder, problems, _eid(chosen.mapping))
    return _written((m for _, m in mentions), problems, None, chosen.quiet)


def _coref(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking.coref import read_coref

    problems = Problems()
    found = read_coref(Source.of(chosen.system), problems, chosen.with_kb, chosen.cross_doc)
    # The official converter sorts through all documents at once.
    rows = sorted((one for _, one in found), key=lambda m: (m.start, -m.end))
    return _written(rows, problems, None, chosen.quiet)
