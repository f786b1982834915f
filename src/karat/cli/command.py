"""What all commands share: --debug after the command, and words on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from karat.present.widths import clean

Say = Callable[[str], None]


class Command(click.Command):
    """A command that also takes --debug after its name; `main` looks for it by itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        debug = click.Option(
            ["--debug"], is_flag=True, expose_value=False, help="Show the traceback on failure."
        )
        self.params.append(debug)


def speaker(quiet: bool) -> Say | None:
    """What takes remarks to stderr; None when asked to be quiet."""
    return None if quiet else lambda text: click.echo(clean(text), err=True)
