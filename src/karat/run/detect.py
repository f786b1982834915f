"""Which task is this? Told from the files, never guessed in silence."""

from __future__ import annotations

from collections.abc import Callable

from karat import tasks
from karat.errors import DataError, UsageError
from karat.model.problem import Problem
from karat.model.task import Card, Peek
from karat.read.source import Source


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
    if any(problem.severity == "error" for problem in broken):
        raise DataError(broken)
    first = gold[0].peek()
    second = predictions[0].peek() if predictions else None
    seen = [(card, card.recognise(first, second)) for card in tasks.cards()]
    found = [(card, reason) for card, reason in seen if reason]
    if len(found) == 1:
        card, reason = found[0]
        say(f"detected {card.name} ({reason}); --task overrides")
        return card
    if found:
        listed = ", ".join(f"{card.name} ({reason})" for card, reason in found)
        raise UsageError(
            f"{first.name} could be any of {listed}", help="say which with --task NAME"
        )
    raise UsageError(_unknown(first, second), help=_hint(first, second))


def _faults(source: Source) -> list[Problem]:
    """What stops an input from being opened. A folder may be what a task reads."""
    faults = source.check()
    return [] if faults and source.folder is not None else faults


def _unknown(gold: Peek, predictions: Peek | None) -> str:
    pair = gold.name if predictions is None else f"{gold.name} with {predictions.name}"
    keys = ", ".join(sorted(gold.keys)[:8])
    return f"no task recognises {pair}" + (f" (its first record has {keys})" if keys else "")


def _hint(gold: Peek, predictions: Peek | None) -> str:
    """Whether the gold alone would have been recognised: then the predictions are the trouble."""
    if predictions is not None:
        swapped = [card.name for card in tasks.cards() if card.recognise(predictions, gold)]
        if swapped:
            return f"gold comes first, predictions after: swapped, this is {' or '.join(swapped)}"
    alone = [card.name for card in tasks.cards() if card.recognise(gold, None)]
    if alone and predictions is not None:
        return (
            f"the gold looks like {' or '.join(alone)}, but {predictions.name} does not look like "
            f"its predictions; 'karat tasks {alone[0]}' shows them, --task {alone[0]} names every "
            "defect"
        )
    return (
        "say which with --task NAME; 'karat tasks' lists them, 'karat tasks NAME' shows the files"
    )
