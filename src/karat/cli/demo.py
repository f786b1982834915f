"""`karat demo`: every task at work on the samples that karat brings along."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from importlib import resources
from pathlib import Path

import click
import msgspec

from karat import tasks
from karat.cli.command import Command
from karat.cli.fields import complete_task
from karat.errors import UsageError
from karat.model.report import Report
from karat.model.task import Card
from karat.present import writing
from karat.present.html import page as html
from karat.present.html.embedded import reports_in
from karat.present.style import Style
from karat.present.widths import WIDTH, width

STRESS_FILES = ("config.json", "ref.jsonl", "ref_predictions.jsonl")


@click.command(cls=Command, name="demo")
@click.argument("task", required=False, shell_complete=complete_task)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("karat-demo"),
    show_default=True,
    metavar="DIR",
    help="Where to write.",
)
def command(task: str | None, folder: Path) -> int:
    """Score the built-in samples of TASK, or of every task, and write their reports to a folder.

    The sample files are copied there too, so that every command shown can be run again.
    """
    cards = tasks.cards() if task is None else (tasks.card(task),)
    cards = tuple(card for card in cards if card.sample)
    if not cards:
        raise UsageError("there are no samples" + (f" of {task}" if task else ""))
    index = folder / "index.html"
    _refuse_foreign(index)
    written = [path for card in cards for path in _show(card, folder)]
    stressed = next((card for card in reversed(cards) if card.config_name), None)
    written += _stress(stressed, folder) if stressed is not None else []
    written.append(_index(index, [path for path in written if path.suffix == ".html"]))
    click.echo(f"wrote to {folder.resolve()}:")
    for path in written:
        click.echo(f"  {path.relative_to(folder)}")
    click.echo(_on_models())
    click.echo(f"\nopen {index.resolve()} in a browser")
    return 0


def _on_models() -> str:
    """How to let a model predict: the small one that comes along, or a real one."""
    return (
        "\nto run a model instead of reading its predictions:\n"
        "  pip install 'karat[models]'    then 'karat predict stereoset DATA\n"
        "                                 --pretrained-class tiny' (comes with karat)\n"
        "  pip install 'karat[smollm2]'   a real one: --pretrained-class smollm2"
    )


def _show(card: Card, folder: Path) -> list[Path]:
    """The files written for one task, after `karat score` itself printed its page."""
    from karat.cli import score

    home, gold, predictions, *more = card.sample
    own = folder / card.name
    own.mkdir(parents=True, exist_ok=True)
    sample = resources.files("karat.samples").joinpath(home)
    files = [_put(own / name, sample.joinpath(name).read_bytes()) for name in (gold, predictions)]
    results = [own / "report.json", own / "report.html"]
    words = [*map(str, files), *more]
    for result in results:
        _refuse_foreign(result)
        words += ["--out", str(result)]
    style = Style.of(sys.stdout)
    click.echo(style.paint(_command_line(words), "strong"), color=style.colour)
    # Its remarks would repeat what the end of the demo says.
    with score.command.make_context("score", [*words, "--quiet"]) as context:
        score.command.invoke(context)
    click.echo("\n" + "-" * WIDTH + "\n")
    return [*files, *results]


def _stress(card: Card, folder: Path) -> list[Path]:
    """The files written for a stress run of the sample against its reference."""
    from karat.cli import stress

    own = folder / card.name
    sample = resources.files("karat.samples").joinpath(card.sample[0])
    files = [_put(own / name, sample.joinpath(name).read_bytes()) for name in STRESS_FILES]
    results = [own / "stress.json", own / "stress.html"]
    words = [str(files[0])]
    for result in results:
        _refuse_foreign(result)
        words += ["--out", str(result)]
    style = Style.of(sys.stdout)
    click.echo(style.paint(_command_line(words, "stress"), "strong"), color=style.colour)
    # A stress test that fails is what the sample is there to show: no reason for another status,
    # nor for a second word on it behind the page.
    with (
        stress.command.make_context("stress", [*words, "--quiet"]) as context,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        stress.command.invoke(context)
    click.echo("\n" + "-" * WIDTH + "\n")
    return [*files, *results]


def _index(path: Path, pages: list[Path]) -> Path:
    """The path, which now holds a page with a link to each of the others."""
    entries = [
        (page.relative_to(path.parent).as_posix(), reports_in(page.read_bytes())[0])
        for page in pages
    ]
    writing.write_atomically(path, html.render_index("karat demo", entries))
    return path


def _command_line(words: list[str], command: str = "score") -> str:
    """The command as one would type it, over several lines where it is long."""
    parts: list[str] = []
    for word in map(shlex.quote, words):
        if parts and parts[-1].startswith("--") and not word.startswith("--"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [f"$ karat {command}"]
    for part in parts:
        if width(f"{lines[-1]} {part} \\") <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)


def _put(path: Path, content: bytes) -> Path:
    """The path, which now holds the content; another file of that name is never overwritten."""
    if path.exists() and path.read_bytes() != content:
        raise UsageError(
            f"{path} exists and holds something else", help="choose another --out folder"
        )
    writing.write_atomically(path, content)
    return path


def _refuse_foreign(path: Path) -> None:
    """Return if nothing is there, or a report that an earlier demo wrote."""
    if not path.exists():
        return
    try:
        content = path.read_bytes()
        if path.suffix == ".html" and html.is_page(content):
            return
        Report.from_json(content)
    except (msgspec.DecodeError, OSError) as error:
        message = f"{path} exists and is no report of karat"
        raise UsageError(message, help="choose another --out folder") from error
