"""`karat completion`: the script that teaches a shell the words of karat."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from karat.cli.command import Command
from karat.cli.main import COMPLETION, root
from karat.errors import UsageError

INSTALL = {
    "bash": 'add to ~/.bashrc: eval "$(karat completion bash 2>/dev/null)"',
    "zsh": 'add to ~/.zshrc: eval "$(karat completion zsh 2>/dev/null)"',
    "fish": "karat completion fish > ~/.config/fish/completions/karat.fish",
    "powershell": "karat completion powershell 2>$null >> $PROFILE",
}


@click.command(cls=Command, name="completion")
@click.argument("shell", type=click.Choice(list(INSTALL)))
def command(shell: str) -> int:
    """Print the completion script of a SHELL; how to install it is said on stderr."""
    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"this version of click has no completion for {shell}")
    click.echo(kind(root, {}, "karat", COMPLETION).source())
    click.echo(f"# {INSTALL[shell]}", err=True)
    return 0
