"""Whatever goes wrong, as a message a person can act on, and as JSON where that was asked for."""

from __future__ import annotations

import json
import sys
import traceback

import click
import msgspec

from karat.errors import DataError
from karat.model.problem import Problem
from karat.present import failures
from karat.present.problems import counted
from karat.present.style import Style

STATUS = 2


class Failure(msgspec.Struct, kw_only=True):
    """What --json prints where a run cannot go on; its exit status is 2.

    `help` says what to do about a call that cannot work. Inputs with errors have `problems`
    instead, each with its own help; `hidden` counts, by code, those past the first 20 of a file.
    """

    schema: int = 1
    error: str
    help: str | msgspec.UnsetType = msgspec.UNSET
    problems: list[Problem] = []
    counts: dict[str, int] = {}
    hidden: dict[str, int] | msgspec.UnsetType = msgspec.UNSET


def show(error: Exception, *, as_json: bool, debug: bool) -> int:
    """The exit status, after the error was told on stderr (and as a document on stdout)."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return STATUS
    if isinstance(error, DataError):
        _show_data_error(error, as_json)
        return STATUS
    message, advice = describe(error)
    click.echo("\n".join(failures.message_lines(message, advice, Style.of(sys.stderr))), err=True)
    if as_json:
        _print_json(Failure(error=message, help=advice))
    return STATUS


def describe(error: Exception) -> tuple[str, str]:
    """What happened, and what to do about it."""
    if isinstance(error, click.ClickException):
        return _describe_usage(error)
    return failures.describe(error, "run again with --debug and report what it shows")


def _describe_usage(error: click.ClickException) -> tuple[str, str]:
    """click's message, and the close matches or the page that lists what there is."""
    close = getattr(error, "possibilities", None)
    message = getattr(error, "message", "") if close else error.format_message()
    message = message.rstrip(".")
    context = getattr(error, "ctx", None)
    if close:
        return _lower(message), f"did you mean {' or '.join(close)}?"
    page = f"{context.command_path} --help" if context else "karat --help"
    return _lower(message), f"{page} shows what there is"


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _show_data_error(error: DataError, as_json: bool) -> None:
    problems = error.problems
    verdict = f"{counted(problems.counts)}; {error.outcome}"
    for line in (*failures.failure_lines(error, Style.of(sys.stderr)), verdict):
        click.echo(line, err=True)
    if as_json:
        listed, counts, hidden = list(problems), problems.counts, problems.hidden
        _print_json(Failure(error=verdict, problems=listed, counts=counts, hidden=hidden))


def _print_json(document: Failure) -> None:
    click.echo(json.dumps(msgspec.to_builtins(document), indent=2))
