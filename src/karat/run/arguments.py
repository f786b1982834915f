"""What the arguments of a call mean: the task, and the request that is made to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat import tasks
from karat.errors import UsageError
from karat.model.task import Card, Request
from karat.read.source import Source
from karat.run import detect

Say = Callable[[str], None]
Progress = Callable[[str, int, "int | None"], None]


def of_systems(
    gold: Any,
    systems: Sequence[Any],
    task: str | None,
    options: Mapping[str, Any],
    say: Say,
    progress: Progress | None,
    **fields: Any,
) -> tuple[Card, list[Request]]:
    """The one task of several systems on the same gold, and the request of each."""
    if sum(_is_stdin(one) for one in (gold, *systems)) > 1:
        raise UsageError("standard input can be only one of the files")
    named = any(
        o.gold and options.get(o.name) is not None for c in tasks.cards() for o in c.options
    )
    if named:
        gold, systems = None, (gold, *systems)
    if gold is not None and (not isinstance(gold, str) or _is_stdin(gold)):
        # What can be read only once is read for all.
        gold = Source.of(gold)
    found = [
        prepared(
            one if named else gold,
            None if named else one,
            task,
            _of_system(options, at, len(systems)),
            say if at == 0 else _silent,
            progress,
            **fields,
        )
        for at, one in enumerate(systems)
    ]
    cards = {card.name: card for card, _ in found}
    if len(cards) != 1:
        what = f"the systems look like {', '.join(cards)}" if cards else "there are no systems"
        raise UsageError(what, help="say which with --task; GOLD BASELINE SYSTEM ...")
    (card,) = cards.values()
    return card, [request for _, request in found]


def _silent(text: str) -> None:
    """What is said once is not said of every system."""


def _of_system(options: Mapping[str, Any], at: int, systems: int) -> dict[str, Any]:
    """The options of one system: of a comma list of files, as long as the systems, its own file."""
    paths = {o.name for c in tasks.cards() for o in c.options if o.kind == "path" and not o.gold}
    own = dict(options)
    for name in paths & own.keys():
        value = own[name]
        if isinstance(value, str) and value.count(",") == systems - 1 and not Path(value).exists():
            own[name] = value.split(",")[at]
    return own


def prepared(
    gold: Any,
    predictions: Any,
    task: str | None,
    options: Mapping[str, Any],
    say: Say,
    progress: Progress | None,
    **fields: Any,
) -> tuple[Card, Request]:
    """The task and the request that the arguments mean."""
    for name, value in fields.items():
        for one in value if isinstance(value, tuple) else (value,):
            if one == "":
                raise UsageError(f"{name} is empty", help="name a field, or leave it out")
            if one is not None and not isinstance(one, str):
                raise UsageError(f"{name} takes names of fields, not {one!r}")
    if _is_stdin(gold) and _is_stdin(predictions):
        raise UsageError("standard input can be only one of the two sides")
    left, right = (
        _sources(thing, side, progress)
        for thing, side in ((gold, "<gold>"), (predictions, "<predictions>"))
    )
    named = _named_gold(options, progress)
    if named:
        if right:
            raise UsageError("GOLD is left out where an option names the gold files")
        left, right = named, left
    if not left:
        raise UsageError("there is no gold", help="gold comes first, predictions after")
    card = detect.choose(left, right, task, say)
    for side, files in (("gold", left), ("predictions", right)):
        if len(files) > 1 and side not in card.several:
            called = ", ".join(file.name or "''" for file in files)
            raise UsageError(f"{card.name} takes one file of {side}, not {len(files)}: {called}")
    return card, Request(left, right, options=known_options(card, options), **fields)


def _is_stdin(thing: Any) -> bool:
    # A data frame compared with text is a frame of answers, or an error.
    return isinstance(thing, str) and thing == "-"


def _sources(thing: Any, side: str, progress: Progress | None) -> tuple[Source, ...]:
    """The inputs of one side. A path may be a comma list; what has no name is called `side`."""
    if thing is None:
        return ()
    several = isinstance(thing, str) and "," in thing and not Path(thing).exists()
    parts = thing.split(",") if several else [thing]
    return tuple(_source(part, side, progress) for part in parts)


def _named_gold(options: Mapping[str, Any], progress: Progress | None) -> tuple[Source, ...]:
    """The gold files that options name, in the order of the tasks' options."""
    names = [o.name for card in tasks.cards() for o in card.options if o.gold]
    return tuple(
        _source(options[name], "<gold>", progress)
        for name in names
        if options.get(name) is not None
    )


def _source(thing: Any, side: str, progress: Progress | None) -> Source:
    """One input, which says how far it has been read."""
    made = Source.of(thing, None if isinstance(thing, (str, os.PathLike)) else side)
    if progress is not None and made.rows is None:
        name, total = made.name, None
        if isinstance(thing, (str, os.PathLike)) and Path(thing).is_file():
            total = Path(thing).stat().st_size
        made.on_bytes = lambda done: progress(name, done, total)
    return made


def known_options(card: Card, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, if the task has all of them and their values are among the choices."""
    known = {option.name: option for option in card.options}
    for name, value in options.items():
        if name not in known:
            having = [c.name for c in tasks.cards() if any(o.name == name for o in c.options)]
            whose = f"{name} belongs to {', '.join(having)}; " if having else ""
            raise UsageError(
                f"{card.name} has no option {name!r}",
                help=f"{whose}it has {', '.join(sorted(known)) or 'none'}",
            )
        choices = known[name].choices
        given = value if isinstance(value, (list, tuple)) else (value,)
        for one in given:
            if choices and one is not None and one not in choices:
                raise UsageError(
                    f"{name} cannot be {one!r}", help=f"choose from {', '.join(choices)}"
                )
    return {
        name: (tuple(value) if isinstance(value, (list, tuple)) else (value,))
        if known[name].many
        else value
        for name, value in options.items()
        if value is not None and not (isinstance(value, tuple) and not value)
    }
