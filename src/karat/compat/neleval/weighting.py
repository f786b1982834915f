"""weights-for-hierarchy: type weights from a hierarchy of types."""

from __future__ import annotations

import argparse
import json
from typing import Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problem
from karat.read.source import Source


def add_hierarchy(commands: Any) -> None:
    """The command `weights-for-hierarchy`."""
    one = commands.add_parser(
        "weights-for-hierarchy", help="Make a file of --type-weights from a hierarchy"
    )
    one.add_argument(
        "hierarchy", metavar="FILE-or-JSON", help="an object of parent -> list of children"
    )
    one.add_argument(
        "-d", "--decay", type=float, default=0.5, help="weight of one step; default 0.5"
    )
    one.set_defaults(run=_hierarchy)


def _hierarchy(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking.typeweights import of_hierarchy

    text: str | bytes = chosen.hierarchy
    name = "<argument>"
    if not chosen.hierarchy.startswith("{"):
        name = chosen.hierarchy
        text = Source.of(name).data()
    try:
        tree = json.loads(text)
    except ValueError as error:
        raise DataError([Problem("json-broken", "error", str(error), name)]) from error
    if not isinstance(tree, dict) or not all(isinstance(v, list) for v in tree.values()):
        raise UsageError("a hierarchy is an object of parent -> list of children")
    return "\n".join(
        f"{gold}\t{system}\t{w:f}" for gold, system, w in of_hierarchy(tree, chosen.decay)
    )
