"""Conversion between file formats: a registry over the converters that the tasks' cards list."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat import tasks
from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.model.task import Card, Converter, Peek
from karat.read.source import Source

Convert = Callable[[Sequence[Path], Path, Mapping[str, Any], Problems], None]


def convert(
    inputs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    source: str | None = None,
    target: str | None = None,
    options: Mapping[str, Any] | None = None,
    task: str | None = None,
) -> tuple[Converter, Problems]:
    """The converter that was used and the warnings; the output is there when this returns.

    `source` is told from the data where it is not given. Raises DataError with all problems where
    the inputs have errors; then nothing is written.
    """
    paths, goal = [Path(one) for one in inputs], Path(output)
    if Path("-") in paths:
        raise UsageError("convert reads files, not standard input", help="name a file")
    peeks = [_peek(path) for path in paths]
    chosen = choose(peeks, source, target, task, goal.suffix)
    function: Convert = getattr(importlib.import_module(chosen.module), chosen.attribute)
    problems = Problems()
    beside = goal.with_name(f".part-{os.getpid()}-{goal.name}")
    _refuse(goal, paths)
    told = {**(options or {}), "from": chosen.source, "to": chosen.target}
    try:
        function(paths, beside, told, problems)
        if problems.errors:
            raise DataError(problems)
        if beside.is_dir() and goal.is_dir():
            goal.rmdir()
        beside.replace(goal)
    finally:
        _remove(beside)
    return chosen, problems


def converters(task: str | None = None) -> list[tuple[Card, Converter]]:
    """Every converter with the card that lists it, or those of one task."""
    cards = tasks.cards() if task is None else (tasks.card(task),)
    return [(card, one) for card in cards for one in card.converters]


def choose(
    peeks: Sequence[Peek],
    source: str | None,
    target: str | None,
    task: str | None = None,
    extension: str = "",
) -> Converter:
    """The one converter that fits the inputs and the wanted formats.

    Where no target is given, the output's extension may tell it.
    """
    known = converters(task)
    _check_names(known, source, target)
    found = [
        (card, one)
        for card, one in known
        if one.source == (source or one.source) and one.target == (target or one.target)
    ]
    if source is None or len({card.name for card, _ in found}) > 1:
        seen = [(card, one) for card, one in found if _recognises(one, peeks)]
        found = seen if seen or source is None else found
    if target is None:
        named = [(card, one) for card, one in found if extension and one.extension == extension]
        found = named or found
    if len({(one.source, one.target, one.module) for _, one in found}) == 1:
        return found[0][1]
    first = peeks[0].name if peeks else "the input"
    if not found:
        raise UsageError(
            f"nothing turns {source or first} into {target or 'anything'}",
            help=f"'karat convert --list' shows what there is; {_listed(known)}",
        )
    ways = ", ".join(f"{one.source} to {one.target} ({card.name})" for card, one in found)
    raise UsageError(f"{first} could go several ways: {ways}", help="say --from, --to or --task")


def _recognises(one: Converter, peeks: Sequence[Peek]) -> bool:
    return one.recognise is not None and bool(peeks) and all(map(one.recognise, peeks))


def _check_names(
    known: Iterable[tuple[Card, Converter]], source: str | None, target: str | None
) -> None:
    """Return if both formats exist; an unknown one comes with what there is."""
    sources = sorted({one.source for _, one in known})
    targets = sorted({one.target for _, one in known})
    for name, names, side in ((source, sources, "from"), (target, targets, "to")):
        if name is not None and name not in names:
            raise UsageError(
                f"there is no format {name!r} to convert {side}",
                help=f"there are {', '.join(names) or 'none'}",
            )


def _listed(known: Iterable[tuple[Card, Converter]]) -> str:
    return f"formats read are {', '.join(sorted({one.source for _, one in known}))}"


def _peek(path: Path) -> Peek:
    source = Source.of(path)
    if path.is_dir():
        return source.peek()
    faults = source.check()
    if any(fault.severity == "error" for fault in faults):
        raise DataError(faults)
    return source.peek()


def _refuse(goal: Path, inputs: Sequence[Path]) -> None:
    """Return if the output can be written without losing anything but an older file."""
    if not goal.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {goal.parent}", help="make it first")
    if goal.is_dir() and any(goal.iterdir()):
        raise UsageError(f"{goal} is a folder that is not empty", help="name a new one")
    if any(goal.exists() and goal.samefile(path) for path in inputs):
        raise UsageError(f"{goal} is an input as well", help="name another output")


def _remove(path: Path) -> None:
    """Leave nothing of an unfinished output."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
