"""What the shell may complete: task names, and the field names of the gold file at hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from karat.read.sniff import paths

ENOUGH = 1 << 16


def complete_task(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The tasks that begin like this."""
    from karat import tasks

    return [
        CompletionItem(card.name, help=card.summary)
        for card in tasks.cards()
        if card.name.startswith(incomplete)
    ]


def complete_field(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The fields of the first gold record and the computed ones that begin like this."""
    from karat import tasks

    # After an option that still waits for its value click leaves the arguments unparsed.
    words = [ctx.params.get("gold"), *(word for word in ctx.args if not word.startswith("-"))]
    gold = next((word for word in words if word), "")
    names = dict.fromkeys(paths(first_record(gold)))
    for card in tasks.cards():
        names.update(dict.fromkeys(card.computed))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def first_record(gold: str) -> Any:
    """The first JSON record of a file, None where there is none to be had."""
    try:
        with Path(gold.partition(",")[0]).open("rb") as file:
            head = file.read(2)
            file.seek(0)
            source = gzip.GzipFile(fileobj=file) if head == b"\x1f\x8b" else file
            text = source.read(ENOUGH).decode("utf-8-sig", "ignore")
        start = text.lstrip().removeprefix("[").lstrip()
        return json.JSONDecoder().raw_decode(start)[0]
    except (OSError, EOFError, ValueError):
        return None
