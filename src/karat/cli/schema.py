"""`karat schema`: the shape of what --json prints."""

from __future__ import annotations

import inspect

import click
import msgspec

from karat.cli.command import Command


@click.command(cls=Command, name="schema")
@click.argument(
    "document",
    type=click.Choice(["report", "check", "error"]),
    default="report",
    metavar="DOCUMENT",
)
def command(document: str) -> int:
    """Print the JSON schema of a DOCUMENT: report (the default), check, or error.

    An error is what --json prints where a run cannot go on: exit status 2.
    """
    schema = msgspec.json.schema(_shape(document))
    for shape in schema["$defs"].values():
        # Docstrings come with the indentation of the source.
        shape["description"] = inspect.cleandoc(shape.get("description", ""))
    click.echo(msgspec.json.format(msgspec.json.encode(schema), indent=2).decode())
    return 0


def _shape(document: str) -> type[msgspec.Struct]:
    """The type whose JSON it is."""
    if document == "check":
        from karat.api import Check

        return Check
    if document == "error":
        from karat.cli.failures import Failure

        return Failure
    from karat.model.report import Report

    return Report
