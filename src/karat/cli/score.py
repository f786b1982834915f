"""`karat score`: predictions against gold."""

from __future__ import annotations

import time
from typing import Any

import click
import msgspec

from karat import tasks
from karat.cli.command import Command, speaker
from karat.cli.flags import own_options, refuse_foreign, task_flags
from karat.cli.history import record
from karat.cli.inference import data_flags, judge, output_flags, print_page, say_written
from karat.cli.outputs import PAGE_ITEMS, check_outputs, is_page, write_outputs
from karat.errors import UsageError
from karat.model.report import Report
from karat.present.progress import meter
from karat.present.terminal import headline


@click.command(cls=Command, name="score")
@click.argument("gold", type=click.Path())
@click.argument("predictions", type=click.Path(), required=False)
@data_flags
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
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    help=f"Show the N worst items. A page has {PAGE_ITEMS} where this is not given.",
)
@output_flags
@click.option("--score-only", is_flag=True, help="Print the main number and nothing else.")
@click.option(
    "--keep-evidence",
    is_flag=True,
    help="Put into the .json written by --out what 'karat compare --baseline' needs.",
)
@click.option(
    "--log",
    is_flag=False,
    flag_value="",
    type=click.Path(),
    metavar="[DB]",
    help="Append this run to a history; without DB to the one of this user.",
)
def command(
    gold: str,
    predictions: str | None,
    out: tuple[str, ...],
    as_json: bool,
    score_only: bool,
    log: str | None,
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
    check_outputs(out, (gold, predictions))
    if options["keep_evidence"] and not as_json and not any(p.endswith(".json") for p in out):
        raise UsageError("--keep-evidence needs a file to keep it in", help="add --out RUN.json")
    asked = options["examples"]
    if asked is None:
        options["examples"] = PAGE_ITEMS if any(map(is_page, out)) else 0
    own = own_options(options, task)
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
    say_written(write_outputs(report, out), quiet)
    if log is not None:
        say_written([record(report, log)], quiet)
    if as_json:
        click.echo(report.to_json())
    elif score_only:
        _print_main(report)
    else:
        shown = report if asked else msgspec.structs.replace(report, examples=[])
        print_page(shown, everything=everything, seconds=seconds)
    return judge(report)


def _print_main(report: Report) -> None:
    """The bare number in full precision; a dash, and why on stderr, where it is undefined."""
    score = headline(report)
    if score is None or score.value is None:
        click.echo("-")
        click.echo(f"undefined: {score.reason if score else 'no scores'}", err=True)
        return
    click.echo(repr(score.value))


command.params += task_flags(tasks.cards())
