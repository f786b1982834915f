"""The parser of all commands, and what becomes of their results and failures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from karat.compat.ending import ended
from karat.compat.neleval import (
    alternatives,
    evaluate,
    inference,
    plots,
    prepare,
    relations,
    spans,
    systems,
    weighting,
)
from karat.errors import DataError, UsageError

FAILED, MISUSED = 1, 2
UNREAD = ("file-missing", "file-unreadable")

FILES = (
    "gold",
    "system",
    "systems",
    "queries",
    "paths",
    "mapping",
    "excluded_spans",
    "type_weights",
)
"""The arguments that name files."""

Parsers = Callable[[Any], None]

# In the order in which neleval lists its commands.
COMMANDS: tuple[Parsers, ...] = (
    evaluate.add_evaluate,
    spans.add_validate,
    evaluate.add_list_measures,
    spans.add_analyze,
    inference.add_significance,
    inference.add_confidence,
    prepare.add_tac,
    prepare.add_tac15,
    prepare.add_brat,
    prepare.add_coref,
    relations.add_compare,
    systems.add_rank,
    plots.add_plot,
    systems.add_compose,
    alternatives.add_to_weak,
    alternatives.add_select,
    weighting.add_hierarchy,
)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser("neleval", description="Evaluate entity linking and coreference")
    top.add_argument("--verbose", action="store_true", help="say more on stderr")
    top.add_argument("--quiet", action="store_true", help="say nothing but errors on stderr")
    commands = top.add_subparsers(dest="command")
    for add in COMMANDS:
        add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status of one command line."""
    top = parser()
    chosen = top.parse_args(arguments)
    if chosen.command is None:
        top.print_help()
        return 0
    return ended(lambda: _run(chosen), _status)


def _run(chosen: argparse.Namespace) -> int:
    """The exit status of a command that was understood."""
    given = [vars(chosen).get(name) or [] for name in FILES]
    paths = [path for one in given for path in ([one] if isinstance(one, str) else one)]
    if paths.count("-") > 1:
        raise UsageError("standard input can be only one of the files")
    return _written(chosen.run(chosen))


def _written(out: str | None) -> int:
    """Write the result as UTF-8, whatever the terminal says it is."""
    if out is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{out}\n".encode("utf-8", "surrogateescape"))
    return 0


def _status(error: Exception) -> int:
    """Wrong data and wrong calls are misuse; what neleval meets only while it runs is a failure."""
    if isinstance(error, DataError):
        return FAILED if any(p.code in UNREAD for p in error.problems) else MISUSED
    return (
        MISUSED
        if isinstance(error, UsageError) and not isinstance(error, evaluate.Late)
        else FAILED
    )
