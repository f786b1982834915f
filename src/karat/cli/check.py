"""`karat check`: what is wrong with the files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from karat import tasks
from karat.cli.command import Command, speaker
from karat.cli.fields import complete_task
from karat.cli.flags import own_options, refuse_foreign, task_flags
from karat.errors import UsageError
from karat.present import github
from karat.present.problems import counted, problem_lines
from karat.present.progress import meter
from karat.present.style import Style
from karat.present.widths import wrap

if TYPE_CHECKING:
    from karat.api import Check


@click.command(cls=Command, name="check")
@click.argument("gold", type=click.Path())
@click.argument("predictions", type=click.Path(), required=False)
@click.option("--task", shell_complete=complete_task, help="The task; detected when left out.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON document.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["github"]),
    help="Print annotations of a pull request instead.",
)
@click.option("--quiet", is_flag=True, help="Print the problems and nothing else.")
def command(
    gold: str,
    predictions: str | None,
    task: str | None,
    as_json: bool,
    form: str | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Find what is wrong with GOLD and PREDICTIONS, or with a run configuration given as GOLD.

    Nothing is scored. The exit status is 2 if there are errors; warnings do not change it.
    """
    from karat import api

    own = own_options(options, task)
    if as_json and form:
        raise UsageError("--json and --format exclude each other")
    bar = meter(quiet)
    try:
        found = api.check(
            gold, predictions, task=task, options=own, say=speaker(quiet), progress=bar
        )
    finally:
        if bar is not None:
            bar.clear()
    if found.task:
        refuse_foreign(found.task, own)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return 0 if found.ok else 2
    if form:
        click.echo(github.of_problems(found.problems), nl=False)
        return 0 if found.ok else 2
    style = Style.of(sys.stdout)
    lines = problem_lines(found.problems, found.hidden, style)
    if not quiet:
        lines += [line for note in found.notes for line in wrap(note, "note: ", " " * 6)]
        lines.append(_verdict(found, style))
    if lines:
        click.echo("\n".join(lines), color=style.colour)
    return 0 if found.ok else 2


def _verdict(found: Check, style: Style) -> str:
    """One line: what was checked and how it stands."""
    records = [i.records for i in found.inputs if i.records is not None]
    sizes = f"{' and '.join(f'{n:,}' for n in records)} records" if records else ""
    if len(records) > 2:
        sizes = f"{sum(records):,} records in {len(records)} files"
    checked = "".join(f"{part}, " for part in (found.task, sizes) if part)
    if not any(found.counts.values()):
        return f"{style.paint('ok', 'good')}: {checked}no problems"
    word = style.paint("ok", "good") if found.ok else style.paint("not ok", "bad")
    return f"{word}: {checked}{counted(found.counts)}"


command.params += task_flags(tasks.cards())
