"""Write docs/reference from the program itself: the commands' help, the public names, the cards.

What is generated is never edited by hand, and a test holds it against the program.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import karat
from karat.model.task import Card, Option
from karat.tasks import cards

TARGET = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "<!-- Written by `make docs`; edits are lost. -->\n\n"
WIDTH = 80


def group() -> click.Group:
    """The root of the command line."""
    from karat.cli.main import root

    return root


def help_text(command: click.Command, name: str) -> str:
    """What `--help` prints, at 80 columns whatever the terminal."""
    context = click.Context(
        command,
        info_name=name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    lines = command.get_help(context).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def cli_page() -> str:
    """Every command and its options."""
    root = group()
    parts = ["# The command line\n", f"```text\n{help_text(root, 'karat')}\n```\n"]
    for name in root.list_commands(click.Context(root)):
        command = root.get_command(click.Context(root), name)
        assert command is not None
        parts.append(f"## karat {name}\n\n```text\n{help_text(command, f'karat {name}')}\n```\n")
    parts.append(
        "## Exit status\n\n"
        "| status | meaning |\n|---|---|\n"
        "| 0 | good; warnings may have been shown |\n"
        "| 1 | a gate failed |\n"
        "| 2 | the input, the configuration or the call has an error; nothing was scored |\n"
        "| 130 | interrupted |\n"
    )
    return NOTE + "\n".join(parts)


def api_page() -> str:
    """Every public name, with its signature and docstring."""
    parts = ["# The Python interface\n", "```python\nimport karat\n```\n"]
    parts += [described(name, getattr(karat, name)) for name in karat.__all__ if name[0] != "_"]
    return NOTE + "\n".join(parts)


def described(name: str, thing: Any) -> str:
    """One public name."""
    text = inspect.getdoc(thing) or ""
    if inspect.isfunction(thing):
        return f"## `{name}`\n\n```python\n{signature(name, thing)}\n```\n\n{text}\n"
    lines = [f"## `{name}`\n", text + "\n"]
    fields = getattr(thing, "__struct_fields__", ())
    notes = getattr(thing, "__annotations__", {})
    if fields:
        lines.append("Fields: " + ", ".join(f"`{f}: {notes.get(f, '')}`" for f in fields) + ".\n")
    for member in public_members(thing):
        first = (inspect.getdoc(getattr(thing, member)) or "").partition("\n")[0]
        lines.append(f"- `.{member}`: {first}")
    return "\n".join(lines).rstrip() + "\n"


def public_members(thing: type) -> Iterator[str]:
    """The methods and properties that the class itself defines."""
    for member, value in vars(thing).items():
        if not member.startswith("_") and isinstance(
            value, property | classmethod | staticmethod | type(described)
        ):
            yield member


def signature(name: str, function: Any) -> str:
    """The signature, one parameter a line."""
    whole = inspect.signature(function)
    lines, starred = [], False
    for parameter in whole.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            lines.append("    *,")
            starred = True
        lines.append(f"    {parameter},")
    return "\n".join([f"{name}(", *lines, f") -> {whole.return_annotation}"])


def tasks_page() -> str:
    """Every task: its files, fields and options."""
    parts = [
        "# The tasks\n",
        "| task | what it scores | one item is | same numbers as |\n|---|---|---|---|",
    ]
    for card in cards():
        official = f"{card.official.name} {card.official.version}" if card.official else "–"
        parts.append(
            f"| [`{card.name}`](#{card.name}) | {card.summary} | {card.item} | {official} |"
        )
    return NOTE + "\n".join(parts) + "\n\n" + "\n".join(task_part(card) for card in cards())


def task_part(card: Card) -> str:
    """One task."""
    folder = card.module.split(".")[2]
    parts = [
        f"## {card.name}\n",
        f"{card.title}: {card.summary}. More in [its page](../tasks/{folder}.md).\n",
        f"```text\n{card.layout}\n```\n",
    ]
    if card.computed:
        parts.append("Fields that can be sliced by without being in the file:\n")
        parts += [f"- `{name}`: {what}" for name, what in card.computed.items()]
        parts.append("")
    if card.options:
        parts.append("| option | default | what it does |\n|---|---|---|")
        parts += [option_row(option) for option in card.options]
        parts.append("")
    return "\n".join(parts)


def option_row(option: Option) -> str:
    """One option as a row."""
    many = isinstance(option.default, tuple | list)
    default = ", ".join(map(str, option.default)) if many else option.default
    choices = f" One of {', '.join(option.choices)}." if option.choices else ""
    repeat = " Repeatable." if option.many else ""
    flag = "--" + option.name.replace("_", "-")
    shown = "–" if default is None else default
    return f"| `{flag}` | {shown} | {option.help}.{choices}{repeat} |"


def pages() -> Iterator[tuple[str, str]]:
    """Name and content of every generated page."""
    yield "cli.md", cli_page()
    yield "api.md", api_page()
    yield "tasks.md", tasks_page()


def main() -> None:
    """Write all pages."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, content in pages():
        (TARGET / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
