"""`karat score`: predictions against gold."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from karat import tasks
from karat.cli.command import Command, speaker
from karat.cli.fields import complete_field, complete_task
from karat.cli.flags import given, refuse_foreign, task_flags
from karat.cli.outputs import WRITERS, check_outputs, write_outputs
from karat.errors import UsageError
from karat.model.report import Report
from karat.present.progress import meter
from karat.present.style import Style
from karat.present.terminal import headline, render

GATE_FAILED = 1


@click.command(cls=Command, name="score")
@click.argument("gold", type=click.Path())
@click.argument("predictions", type=click.Path(), required=False)
@click.option("--task", shell_complete=complete_task, help="The task; detected when left out.")
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    shell_complete=complete_field,
    help="Slice by a field, as in meta.channel or text_length; a*b crosses two. Repeatable.",
)
@click.option(
    "--cluster",
    metavar="FIELD",
    shell_complete=complete_field,
    help="Items that share this field belong together; intervals respect that.",
)
@click.option(
    "--weights", metavar="FIELD", shell_complete=complete_field, help="Importance weights."
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=0,
    metavar="B",
    help="Intervals from B resamples instead of closed forms.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level.",
)
@click.option("--seed", type=int, default=12345, show_default=True, help="Seed of all resampling.")
@click.option(
    "--require",
    multiple=True,
    metavar="RULE",
    help="A gate, as in 'accuracy>=0.8'; exit status 1 when it fails. Repeatable.",
)
@click.option(
    "--gate",
    type=click.Choice(["value", "bound"]),
    default="value",
    show_default=True,
    help="Judge gates by the value or by the interval's worse end.",
)
@click.option("--examples", type=click.IntRange(min=0), default=0, help="Show the N worst items.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
@click.option(
    "--out",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help=f"Also write the report to a file; its extension decides: {', '.join(WRITERS)}.",
)
@click.option("--score-only", is_flag=True, help="Print the main number and nothing else.")
@click.option("--all", "everything", is_flag=True, help="Show every score and every slice.")
@click.option("--quiet", is_flag=True, help="No remarks and no progress on stderr.")
def command(
    gold: str,
    predictions: str | None,
    out: tuple[str, ...],
    as_json: bool,
    score_only: bool,
    everything: bool,
    quiet: bool,
    task: str | None,
    **options: Any,
) -> int:
    """Weigh PREDICTIONS against GOLD.

    Each side is a file, - for standard input, or several files with commas between them.
    Where the gold records hold predictions, PREDICTIONS may be left out.
    """
    from karat import api

    if as_json and score_only:
        raise UsageError("--json and --score-only exclude each other")
    check_outputs(out)
    own = given({name: options.pop(name) for name in _task_options()})
    if task is not None:
        refuse_foreign(task, own)
    bar = meter(quiet)
    began = time.perf_counter()
    try:
        report = api.score(
            gold, predictions, task=task, options=own, say=speaker(quiet), progress=bar, **options
        )
    finally:
        if bar is not None:
            bar.clear()
    seconds = time.perf_counter() - began
    refuse_foreign(report.task, own)
    _say_written(write_outputs(report, out), quiet)
    if as_json:
        click.echo(report.to_json())
    elif score_only:
        _print_main(report)
    else:
        style = Style.of(sys.stdout)
        click.echo(
            render(report, style=style, everything=everything, seconds=seconds),
            nl=False,
            color=style.colour,
        )
    return _judge(report)


def _task_options() -> list[str]:
    return list(dict.fromkeys(o.name for card in tasks.cards() for o in card.options))


def _say_written(paths: list[str], quiet: bool) -> None:
    if paths and not quiet:
        click.echo(f"wrote {', '.join(paths)}", err=True)


def _print_main(report: Report) -> None:
    """The bare number in full precision; a dash, and why on stderr, where it is undefined."""
    score = headline(report)
    if score is None or score.value is None:
        click.echo("-")
        click.echo(f"undefined: {score.reason if score else 'no scores'}", err=True)
        return
    click.echo(repr(score.value))


def _judge(report: Report) -> int:
    """The exit status; failed gates are named on stderr even when quiet."""
    failed = [gate for gate in report.gates if not gate.passed]
    for gate in failed:
        text = gate.text if gate.rule in gate.text else f"{gate.rule}: {gate.text}"
        click.echo(f"gate failed: {text}", err=True)
    return GATE_FAILED if failed else 0


command.params += task_flags(tasks.cards())
