"""The `karat` command: a group that imports a subcommand only when it is called.

`karat --help` reads the table below and nothing else, so that it answers at once.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import click

from karat import __version__
from karat.present.process import (
    never_fail_to_encode,
    open_closed_streams,
    pipe_closed,
    start_no_threads,
)

COMMANDS = {
    "score": "Weigh predictions against gold: scores, intervals, slices.",
    "compare": "Compare systems on the same items; the first one is the baseline.",
    "stress": "Test evaluation data against reference data: drift, subsets, calibration.",
    "report": "Show stored runs again: as a page, a table, annotations.",
    "check": "Find what is wrong with the files, without scoring anything.",
    "predict": "Run a model over data and write its predictions.",
    "train": "Fine-tune a model: next sentences.",
    "convert": "Turn files of one format into another.",
    "tasks": "List the tasks, or show one: its files and options.",
    "demo": "Score the built-in samples and write their reports to a folder.",
    "history": "List the runs that --log appended, or draw their scores over time.",
    "schema": "Print the JSON schema of what --json prints.",
    "completion": "Print the completion script of your shell.",
}

EPILOG = """\b
Examples:
  karat score gold.jsonl predictions.jsonl
  karat score gold.jsonl predictions.jsonl --by meta.channel
  karat score gold.jsonl predictions.jsonl --require 'accuracy>=0.8' --quiet
  karat check gold.jsonl predictions.jsonl
"""

COMPLETION = "_KARAT_COMPLETE"
FAILED, INTERRUPTED = 2, 130


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own name, imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module now imported; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"karat.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; an unknown one comes with what is close to it."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            error = click.UsageError(f"there is no command {name!r}", ctx)
            error.possibilities = difflib.get_close_matches(name, COMMANDS)  # type: ignore[attr-defined]
            raise error
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, out of the table: help must not import them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="karat %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback when karat fails.")
def root(debug: bool) -> None:
    """karat weighs model predictions against gold.

    Official scores to the last digit, with honest intervals, and where the model fails.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 good, 1 a gate failed, 2 usage or input, 130 interrupted."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    start_no_threads()
    open_closed_streams()
    never_fail_to_encode()
    try:
        status = _run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return pipe_closed()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        # The message could not be written either: a full disk, most likely.
        with contextlib.suppress(OSError):
            click.echo(f"error: cannot write: {error.strerror}", err=True)
        pipe_closed()
        return FAILED


def _run(args: list[str]) -> int:
    """Run one command line; whatever goes wrong becomes a message and a status."""
    if COMPLETION in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, "karat", COMPLETION, os.environ[COMPLETION])
    try:
        with root.make_context("karat", args.copy()) as context:
            return int(root.invoke(context) or 0)
    except click.exceptions.Exit as done:
        return done.exit_code
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - the last line: users never meet a traceback
        from karat.cli import failures

        return failures.show(error, as_json="--json" in args, debug="--debug" in args)


if __name__ == "__main__":
    sys.exit(main())
