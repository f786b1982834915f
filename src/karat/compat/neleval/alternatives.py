"""select-alternatives and to-weak: annotation tables made from annotation tables."""

from __future__ import annotations

import argparse
from typing import Any

from karat.compat.neleval.evaluate import add_gold, read


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
    from karat.tasks.linking.tsv import write_table

    fields = None if chosen.fields == "*" else chosen.fields.split(",")
    return "\n".join(write_table(select(read(chosen.gold), read(chosen.system), fields)))


def add_to_weak(commands: Any) -> None:
    """The command `to-weak`."""
    one = commands.add_parser("to-weak", help="Convert annotations to one row a character")
    one.add_argument("system", metavar="FILE", help="annotations; - is stdin")
    one.set_defaults(run=_to_weak)


def _to_weak(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking.alternatives import weakened
    from karat.tasks.linking.tsv import write_table

    return "\n".join(write_table(weakened(read(chosen.system).mentions())))
