"""select-alternatives and to-weak: annotation tables made from annotation tables."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from karat.compat.neleval.evaluate import add_gold, read

if TYPE_CHECKING:
    from karat.tasks.linking.annotations import Mention


def add_select(commands: Any) -> None:
    """The command `select-alternatives`."""
    one = commands.add_parser(
        "select-alternatives", help="Handle KB ambiguity in the gold standard"
    )
    one.add_argument("system", metavar="SYSTEM", help="system annotations")
    add_gold(one)
    one.add_argument(
        "-f", "--fields", default="eid", metavar="FIELDS", help="what must be equal; * for all"
    )
    one.set_defaults(run=_select)


def _select(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking.alternatives import select

    fields = None if chosen.fields == "*" else chosen.fields.split(",")
    return _written(select(read(chosen.gold), read(chosen.system), fields))


def _written(mentions: Iterable[Mention]) -> str:
    """The table of mentions that were read from one, with their types as neleval writes them."""
    from karat.tasks.linking.tsv import write_table

    return "\n".join(
        write_table(
            one._replace(candidates=tuple(c._replace(type=_spelt(c.type)) for c in one.candidates))
            for one in mentions
        )
    )


def _spelt(kind: str | None) -> str | None:
    """A type of JSON with the spaces of Python's own; one that holds a lone type is that type."""
    if kind is None or not kind.startswith("{"):
        return kind
    fields = json.loads(kind)
    if fields.keys() <= {"type"}:
        return fields.get("type") or ""
    return json.dumps(fields)


def add_to_weak(commands: Any) -> None:
    """The command `to-weak`."""
    one = commands.add_parser("to-weak", help="Convert annotations to one row a character")
    one.add_argument("system", metavar="FILE", help="annotations; - is stdin")
    one.set_defaults(run=_to_weak)


def _to_weak(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking.alternatives import weakened

    side = read(chosen.system)
    return _written(weakened(map(side.mention, side.line.argsort(kind="stable").tolist())))
