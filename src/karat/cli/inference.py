"""What `score`, `compare` and `stress` share: flags, the printed page, gates."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from karat.cli.fields import complete_field, complete_task
from karat.cli.outputs import WRITERS
from karat.model.report import Report
from karat.present.style import Style
from karat.present.terminal import render

GATE_FAILED = 1
F = TypeVar("F", bound=Callable[..., Any])

_DATA = (
    click.option("--task", shell_complete=complete_task, help="The task; detected when left out."),
    click.option(
        "--by",
        multiple=True,
        metavar="FIELD",
        shell_complete=complete_field,
        help="Slice by a field, as in meta.channel or text_length; a*b crosses two. Repeatable.",
    ),
    click.option(
        "--cluster",
        metavar="FIELD",
        shell_complete=complete_field,
        help="Items that share this field belong together; intervals respect that.",
    ),
    click.option(
        "--weights", metavar="FIELD", shell_complete=complete_field, help="Importance weights."
    ),
    click.option(
        "--bootstrap",
        type=click.IntRange(min=0),
        default=0,
        metavar="B",
        help="Intervals from B resamples instead of closed forms.",
    ),
    click.option(
        "--confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Confidence level of the intervals.",
    ),
    click.option(
        "--seed", type=int, default=12345, show_default=True, help="Seed of all resampling."
    ),
)

_OUTPUT = (
    click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document."),
    click.option(
        "--out",
        multiple=True,
        type=click.Path(),
        metavar="FILE",
        help=f"Also write the report to a file; its extension decides: {', '.join(WRITERS)}.",
    ),
    click.option("--all", "everything", is_flag=True, help="Show every score and every slice."),
    click.option("--quiet", is_flag=True, help="No remarks and no progress on stderr."),
)


def data_flags(function: F) -> F:
    """The command with the flags of what to read and how to infer."""
    for option in reversed(_DATA):
        function = option(function)
    return function


def output_flags(function: F) -> F:
    """The command with the flags of what to show and where to write."""
    for option in reversed(_OUTPUT):
        function = option(function)
    return function


def say_written(paths: list[str], quiet: bool) -> None:
    """Name the files that were written, on stderr."""
    if paths and not quiet:
        click.echo(f"wrote {', '.join(paths)}", err=True)


def print_page(report: Report, *, everything: bool, seconds: float) -> None:
    """Print the report on stdout, as the place where it goes can show it."""
    style = Style.of(sys.stdout)
    page = render(report, style=style, everything=everything, seconds=seconds)
    click.echo(page, nl=False, color=style.colour)


def judge(report: Report) -> int:
    """The exit status; failed gates are named on stderr even when quiet."""
    failed = [gate for gate in report.gates if not gate.passed]
    for gate in failed:
        text = gate.text if gate.rule in gate.text else f"{gate.rule}: {gate.text}"
        click.echo(f"gate failed: {text}", err=True)
    return GATE_FAILED if failed else 0
