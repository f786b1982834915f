"""`karat stress`: evaluation data against reference data, a test run."""

from __future__ import annotations

import time
from typing import Any

import click

from karat import tasks
from karat.cli.command import Command
from karat.cli.fields import complete_task
from karat.cli.flags import own_options, task_flags
from karat.cli.inference import judge, output_flags, print_page, say_written
from karat.cli.outputs import check_outputs, write_outputs
from karat.present.writing import spare_inputs

READ = (
    *("ref", "ref_predictions", "evaluation", "eval_predictions"),
    *("perturbed", "perturbed_predictions", "tests"),
)
"""The parameters that name files to read."""


@click.command(cls=Command, name="stress")
@click.argument("config", type=click.Path(), required=False)
@click.option("--task", shell_complete=complete_task, help="The task, where there is no CONFIG.")
@click.option("--ref", type=click.Path(), help="Reference data.")
@click.option("--ref-predictions", type=click.Path(), help="Its predictions.")
@click.option("--eval", "evaluation", type=click.Path(), help="Evaluation data.")
@click.option("--eval-predictions", type=click.Path(), help="Its predictions.")
@click.option("--perturbed", type=click.Path(), help="Evaluation data with changed inputs.")
@click.option(
    "--perturbed-predictions",
    type=click.Path(),
    help="Predictions of changed inputs, row by row beside those of evaluation.",
)
@click.option(
    "--numeric", metavar="A,B", help="Numeric metadata; told from the values if not given."
)
@click.option("--categorical", metavar="A,B", help="Categorical metadata, likewise.")
@click.option("--embeddings", metavar="A,B", help="Keys of the data that hold embeddings.")
@click.option(
    "--tests", type=click.Path(), metavar="FILE.json", help="Settings of tests, as in CONFIG."
)
@click.option("--name", default="", help="What to call the run.")
@click.option("--seed", type=int, help="Seed of all chance; else that of CONFIG, else 42.")
@click.option(
    "--fail-on",
    type=click.Choice(["fail", "warning"]),
    default="fail",
    show_default=True,
    help="Which tests make the exit status 1.",
)
@click.option(
    "--failing-rows",
    type=click.Path(),
    metavar="FILE.csv",
    help="Write every row that a warning or failure concerns.",
)
@click.option("--allow-code", is_flag=True, help="Run the Python file that CONFIG loads data with.")
@output_flags
def command(
    config: str | None,
    out: tuple[str, ...],
    as_json: bool,
    everything: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Test evaluation data against reference data, from files alone.

    CONFIG is a run configuration; the same run can be described by --task, --ref and --eval with
    their predictions. A test warns or fails only where the effect is large and the data is enough
    to believe it. The exit status is 1 when a test fails.
    """
    from karat import api

    read = (config, *(options[name] for name in READ))
    check_outputs(out, read)
    rows = options["failing_rows"]
    if rows:
        spare_inputs(rows, read, "--failing-rows")
    own = own_options(options, options["task"])
    class_names = own.pop("class_names", None)
    for name in ("numeric", "categorical", "embeddings"):
        options[name] = _split(options[name])
    began = time.perf_counter()
    report = api.stress(config, options=own, class_names=_split(class_names), **options)
    seconds = time.perf_counter() - began
    written = [rows] if rows else []
    say_written([*write_outputs(report, out), *written], quiet)
    if as_json:
        click.echo(report.to_json())
    else:
        print_page(report, everything=everything, seconds=seconds)
    return judge(report)


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",")) if names else ()


command.params += task_flags(tasks.cards())
