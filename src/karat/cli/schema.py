"""`karat schema`: the shape of what --json prints."""

from __future__ import annotations

import click
import msgspec

from karat.cli.command import Command


@click.command(cls=Command, name="schema")
@click.argument("document", type=click.Choice(["report", "check"]), default="report")
def command(document: str) -> int:
    """Print the JSON schema of a DOCUMENT: report (the default) or check."""
    schema = msgspec.json.encode(msgspec.json.schema(_shape(document)))
    click.echo(msgspec.json.format(schema, indent=2).decode())
    return 0


def _shape(document: str) -> type[msgspec.Struct]:
    """The type whose JSON it is."""
    if document == "check":
        from karat.api import Check

        return Check
    from karat.model.report import Report

    return Report
