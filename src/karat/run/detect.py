"""Which task is this? Told from the files, never guessed in silence."""

from __future__ import annotations

from collections.abc import Callable

from karat import tasks
from karat.errors import DataError, UsageError
from karat.model.problem import Problem
from karat.model.task import Card, Peek
from karat.read import sniff
from karat.read.source import Source

EMPTY = "file-empty"

SHAPES = {"binary": "not a text file", "folder": "a folder", "list": "no list of objects"}
"""What there is to say of a file without keys."""


def choose(
    gold: tuple[Source, ...],
    predictions: tuple[Source, ...],
    wanted: str | None,
    say: Callable[[str], None],
) -> Card:
    """The card of the wanted task, or of the only task that recognises these files.

    Files that cannot be opened stop here; what a file holds is the task's to judge.
    """
    if wanted is not None:
        return tasks.card(wanted)
    broken = [problem for one in (*gold, *predictions) for problem in _faults(one)]
    errors = {problem.code for problem in broken if problem.severity == "error"}
    if errors - {EMPTY}:
        raise DataError(broken)
    first = gold[0].peek()
    second = predictions[0].peek() if predictions else None
    found = _recognised(first, second)
    # A system that finds nothing may write nothing: a task has to know such a file for its own.
    if errors and len(found) != 1:
        raise DataError(broken)
    if len(found) == 1:
        card, reason = found[0]
        say(f"detected {card.name} ({reason}); --task overrides")
        return card
    if found:
        listed = ", ".join(f"{card.name} ({reason})" for card, reason in found)
        raise UsageError(
            f"{first.name} could be any of {listed}", help="say which with --task NAME"
        )
    if second is None:
        raise UsageError(_unknown(first, None), help=_hint(first))
    swapped = [card.name for card, _ in _recognised(second, first)]
    if swapped:
        advice = f"gold comes first, predictions after: swapped, this is {' or '.join(swapped)}"
        raise UsageError(_unknown(first, second), help=advice)
    alone = _recognised(first, None)
    if len(alone) != 1:
        raise UsageError(_unknown(first, second), help=_hint(first))
    # The gold leaves no doubt, so the predictions are broken: the task can say where and how.
    card, reason = alone[0]
    say(f"detected {card.name} from the gold ({reason}); --task overrides")
    return card


def _recognised(gold: Peek, predictions: Peek | None) -> list[tuple[Card, str]]:
    """The tasks that know these files, each with what it saw in them."""
    seen = [(card, card.recognise(gold, predictions)) for card in tasks.cards()]
    return [(card, reason) for card, reason in seen if reason]


def _faults(source: Source) -> list[Problem]:
    """What stops an input from being looked at. A folder may be what a task reads."""
    if source.folder is not None:
        return []
    faults = source.check()
    if faults or source.rows is not None:
        return faults
    try:
        # A head is empty where it could not be unpacked: then the first block says why.
        head = source.peek().head or next(source.blocks(), b"")
    except DataError as error:
        return list(error.problems)
    if sniff.is_empty(head):
        return [Problem(EMPTY, "error", "file holds no records", source.name)]
    return []


def _unknown(gold: Peek, predictions: Peek | None) -> str:
    pair = gold.name if predictions is None else f"{gold.name} with {predictions.name}"
    keys = ", ".join(sorted(gold.keys)[:8])
    about = f"its first records have {keys}" if keys else SHAPES.get(gold.shape, "")
    return f"no task recognises {pair}" + (f" ({about})" if about else "")


def _hint(gold: Peek) -> str:
    if gold.keys >= {"data_info", "model_task"}:
        return "this is a run configuration: 'karat check' and 'karat stress' take it"
    return (
        "say which with --task NAME; 'karat tasks' lists them, 'karat tasks NAME' shows the files"
    )
