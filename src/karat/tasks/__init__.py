"""The tasks: one folder each. Listing them imports nothing heavy."""

from __future__ import annotations

import importlib
import os
from functools import cache

from karat.model.task import Card


@cache
def cards() -> tuple[Card, ...]:
    """The cards of every task there is, in the order of the folders' names."""
    here = __path__[0]
    folders = sorted(e.name for e in os.scandir(here) if e.is_dir() and not e.name.startswith("_"))
    found: list[Card] = []
    for folder in folders:
        module = importlib.import_module(f"{__name__}.{folder}")
        found.extend(getattr(module, "CARDS", ()))
    return tuple(found)


def card(name: str) -> Card:
    """The card of that name, also by the name it has in run configurations."""
    for one in cards():
        if name in (one.name, one.config_name):
            return one
    from difflib import get_close_matches

    from karat.errors import UsageError

    known = [one.name for one in cards()]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    raise UsageError(f"there is no task named {name!r}", help=hint)
