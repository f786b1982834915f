"""Flags made from the tasks' own options: one flag a name, whichever tasks share it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from karat import tasks
from karat.errors import UsageError
from karat.model.task import Card, Option

_TYPES: dict[str, click.ParamType[Any]] = {
    "text": click.STRING,
    "int": click.INT,
    "float": click.FLOAT,
    "path": click.Path(),
}


def task_flags(cards: Iterable[Card]) -> list[click.Option]:
    """The flags, in the order of the cards."""
    owners: dict[str, list[tuple[Card, Option]]] = {}
    for card in cards:
        for option in card.options:
            owners.setdefault(option.name, []).append((card, option))
    return [_flag(name, pairs) for name, pairs in owners.items()]


MOST_CHOICES = 50
"""Longer lists of choices stand in the help text, not in the name of the value."""


def _flag(name: str, owners: list[tuple[Card, Option]]) -> click.Option:
    """One flag. Its default is always None: what was not given is not passed on."""
    options = [option for _, option in owners]
    word = name.replace("_", "-")
    names = ", ".join(card.name for card, _ in owners)
    text = f"{options[0].help.rstrip('.')}. [{names}]"
    if options[0].kind == "flag":
        return click.Option([f"--{word}/--no-{word}"], default=None, help=text)
    choices = list(dict.fromkeys(c for option in options for c in option.choices))
    closed = choices and all(option.choices for option in options)
    kind = click.Choice(choices) if closed else _TYPES[options[0].kind]
    many = any(option.many for option in options)
    # click turns a repeatable flag nobody gave into an empty tuple.
    letters = {f"-{option.short}" for option in options if option.short}
    # More than a few choices would make help lines longer than a terminal is wide.
    metavar = None
    if closed and len("|".join(choices)) > MOST_CHOICES:
        metavar, text = "NAME", f"{text} One of {', '.join(choices)}."
    return click.Option(
        [*letters, f"--{word}", name],
        type=kind,
        multiple=many,
        default=None,
        help=text,
        metavar=metavar,
    )


def own_options(options: dict[str, Any], task: str | None) -> dict[str, Any]:
    """The tasks' own options that the user gave, taken out of `options`.

    Where the task is named, an option that it does not have is refused before anything is read.
    """
    names = dict.fromkeys(o.name for card in tasks.cards() for o in card.options)
    values = {name: options.pop(name) for name in names}
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None and value != ()
    }
    if task is not None:
        refuse_foreign(task, given)
    return given


def refuse_foreign(task: str, options: Iterable[str]) -> None:
    """Return if the task has all of the options; else an error says which tasks have them."""
    own = {option.name for option in tasks.card(task).options}
    for name in options:
        if name in own:
            continue
        having = [c.name for c in tasks.cards() if any(o.name == name for o in c.options)]
        word = name.replace("_", "-")
        raise UsageError(
            f"--{word} is no option of {task}", help=f"--{word} belongs to {', '.join(having)}"
        )
