"""`karat tasks`: what karat can score, and what the files look like."""

from __future__ import annotations

import json
import re
from typing import Any

import click

from karat import tasks
from karat.cli.command import Command
from karat.cli.fields import complete_task
from karat.model.task import Card, Option
from karat.present.widths import WIDTH, width, wrap


@click.command(cls=Command, name="tasks")
@click.argument("name", required=False, shell_complete=complete_task)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(name: str | None, as_json: bool) -> int:
    """List the tasks, or show the task NAME: its files, options and official script."""
    cards = tasks.cards() if name is None else (tasks.card(name),)
    if as_json:
        click.echo(json.dumps({"schema": 1, "tasks": [_document(c) for c in cards]}, indent=2))
    elif name is not None:
        click.echo("\n".join(_page(cards[0])))
    else:
        click.echo("\n".join(_list(cards)))
    return 0


def _list(cards: tuple[Card, ...]) -> list[str]:
    """A line a task."""
    most = max((len(card.name) for card in cards), default=0)
    return [line for c in cards for line in wrap(c.summary, c.name.ljust(most + 2))]


def _page(card: Card) -> list[str]:
    """Everything about one task."""
    lines = [f"{card.name}: {card.title}", *wrap(card.summary), ""]
    lines += ["Files", *map(_sample, card.layout.strip("\n").splitlines())]
    if card.options:
        lines += ["", "Options"]
        for option in card.options:
            lines += wrap(_option(option), f"  --{option.name.replace('_', '-')}  ", " " * 6)
    if card.computed:
        lines += ["", "Computed fields, for --by and --cluster"]
        for name, text in card.computed.items():
            lines += wrap(text, f"  {name}  ", " " * 6)
    if card.official:
        official = card.official
        lines += ["", "Official script", *wrap(f"{official.name} {official.version}", "  ")]
        lines += wrap(official.exact, "  ") if official.exact else []
    if card.sample:
        lines += ["", f"Try it: karat demo {card.name}"]
    return lines


def _option(option: Option) -> str:
    """Its help, with choices and default."""
    text = option.help.rstrip(".") + "."
    if option.choices:
        text += f" One of {', '.join(option.choices)}."
    if option.default not in (None, (), "", False):
        text += f" Default: {_listed(option.default)}."
    return text + (" Repeatable." if option.many else "")


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _sample(line: str) -> str:
    """A line of the layout; one that is too long loses the space before its remark."""
    return f"  {line}" if width(line) <= WIDTH - 2 else "  " + re.sub(r" {3,}", "   ", line)


def _document(card: Card) -> dict[str, object]:
    official = card.official
    return {
        "name": card.name,
        "title": card.title,
        "summary": card.summary,
        "item": card.item,
        "layout": card.layout,
        "options": [
            {
                "name": o.name,
                "help": o.help,
                "kind": o.kind,
                "default": o.default,
                "choices": list(o.choices),
                "many": o.many,
            }
            for o in card.options
        ],
        "computed": dict(card.computed),
        "official": official and {"name": official.name, "version": official.version},
    }
