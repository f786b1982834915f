"""`karat convert`: files of one format into another."""

from __future__ import annotations

import sys
from typing import Any

import click

from karat.cli.command import Command, speaker
from karat.cli.fields import complete_task
from karat.errors import DataError, UsageError
from karat.present.problems import problem_lines
from karat.present.style import Style
from karat.present.widths import wrap


@click.command(cls=Command, name="convert")
@click.argument("inputs", nargs=-1, type=click.Path())
@click.option("--from", "source", metavar="FORMAT", help="The format of the inputs.")
@click.option("--to", "target", metavar="FORMAT", help="The format of the output.")
@click.option("-o", "--output", type=click.Path(), metavar="PATH", help="Where to write.")
@click.option("--task", shell_complete=complete_task, help="The task whose formats are meant.")
@click.option(
    "--option",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the converter. Repeatable.",
)
@click.option("--list", "listed", is_flag=True, help="List the formats and leave.")
@click.option("--quiet", is_flag=True, help="Say nothing when all is well.")
def command(
    inputs: tuple[str, ...],
    source: str | None,
    target: str | None,
    output: str | None,
    task: str | None,
    settings: tuple[str, ...],
    listed: bool,
    quiet: bool,
) -> int:
    """Turn INPUTS of one format into another; --list shows which there are.

    The format of the inputs is told from the data where it can be. Nothing is written when an
    input has errors.
    """
    from karat.run import convert

    if listed:
        click.echo("\n".join(_list(convert.converters(task))))
        return 0
    if not inputs or output is None:
        raise UsageError("convert needs inputs and --output PATH", help="karat convert --help")
    try:
        used, problems = convert.convert(inputs, output, source, target, _parsed(settings), task)
    except DataError as error:
        error.outcome = "nothing was written"
        raise
    told = [one for one in problems if not (quiet and one.severity == "note")]
    lines = problem_lines(told, problems.hidden, Style.of(sys.stderr))
    if lines:
        click.echo("\n".join(lines), err=True)
    say = speaker(quiet)
    if say is not None:
        say(f"wrote {output} ({used.source} to {used.target})")
    return 0


def _parsed(settings: tuple[str, ...]) -> dict[str, Any]:
    """The settings by name."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, mark, value = setting.partition("=")
        if not mark:
            raise UsageError(f"--option {setting}: write NAME=VALUE")
        found[name.strip().replace("-", "_")] = value
    return found


def _list(known: list[Any]) -> list[str]:
    """A line for each direction, by task."""
    lines: list[str] = []
    for name in dict.fromkeys(card.name for card, _ in known):
        lines.append(name)
        for card, one in known:
            if card.name == name:
                lines += wrap(one.help, f"  {one.source} to {one.target}  ", " " * 6)
    return lines
