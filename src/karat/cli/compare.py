"""`karat compare`: several systems against one gold, the baseline first."""

from __future__ import annotations

import time
from typing import Any

import click

from karat import tasks
from karat.cli.command import Command, speaker
from karat.cli.flags import own_options, refuse_foreign, task_flags
from karat.cli.inference import data_flags, judge, output_flags, print_page, say_written
from karat.cli.outputs import check_outputs, write_outputs
from karat.present.progress import meter


@click.command(cls=Command, name="compare")
@click.argument("gold", type=click.Path())
@click.argument("systems", type=click.Path(), nargs=-1, required=False)
@click.option("--names", metavar="A,B", help="What to call the systems, with commas between.")
@click.option(
    "--baseline",
    type=click.Path(),
    metavar="RUN.json",
    help="Compare with a stored run, written with --keep-evidence, instead of the first system.",
)
@click.option(
    "--fail-if-worse",
    multiple=True,
    metavar="METRIC=MARGIN",
    help="A gate: by the interval's worse end no system may be worse than the baseline by more "
    "than the margin; exit status 1 when one is. Repeatable.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="How often the systems change sides in a randomisation test.",
)
@data_flags
@output_flags
def command(
    gold: str,
    systems: tuple[str, ...],
    names: str | None,
    out: tuple[str, ...],
    as_json: bool,
    everything: bool,
    quiet: bool,
    task: str | None,
    **options: Any,
) -> int:
    """Compare SYSTEMS on the same GOLD; the first one is the baseline.

    Each difference comes with an interval, a paired test and the smallest difference that this
    data could have shown. A system is whatever 'karat score' takes as predictions.
    """
    from karat import api

    check_outputs(out, (gold, *systems))
    own = own_options(options, task)
    bar = meter(quiet)
    began = time.perf_counter()
    try:
        report = api.compare(
            gold,
            *systems,
            names=names.split(",") if names else (),
            task=task,
            options=own,
            say=speaker(quiet),
            progress=bar,
            **options,
        )
    finally:
        if bar is not None:
            bar.clear()
    seconds = time.perf_counter() - began
    refuse_foreign(report.task, own)
    say_written(write_outputs(report, out), quiet)
    if as_json:
        click.echo(report.to_json())
    else:
        print_page(report, everything=everything, seconds=seconds)
    return judge(report)


command.params += task_flags(tasks.cards())
