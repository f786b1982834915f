"""`karat history`: the runs that `--log` appended, listed or drawn."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from karat.cli.command import Command
from karat.cli.fields import complete_task
from karat.cli.outputs import is_page
from karat.errors import UsageError
from karat.model.report import Report
from karat.present.style import Style

HOME = "~/.local/share/karat/runs.db"


@click.command(cls=Command, name="history")
@click.option("--db", type=click.Path(), metavar="DB", help=f"The history; {HOME} when left out.")
@click.option("--task", shell_complete=complete_task, help="Only runs of this task.")
@click.option("--data", metavar="HASH", help="Only runs on gold whose digest begins like this.")
@click.option("--metric", multiple=True, help="Show this score; the first main one when left out.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--html",
    is_flag=False,
    flag_value="history.html",
    type=click.Path(dir_okay=False),
    metavar="[FILE]",
    help="Draw the scores over time into a page; history.html when no FILE is given.",
)
def command(
    db: str | None,
    task: str | None,
    data: str | None,
    metric: tuple[str, ...],
    limit: int,
    as_json: bool,
    html: str | None,
) -> int:
    """List the runs of a history, oldest first; a mark says where a score really changed."""
    from karat.run import history

    found = history.runs(place(db), task, data)
    if html is not None:
        if not is_page(html):
            raise UsageError(f"--html {html}: a page ends in .html or .htm")
        from karat.present.html.history import page
        from karat.present.writing import write_atomically

        write_atomically(html, page(found, metric))
        click.echo(f"wrote {html}", err=True)
        return 0
    from karat.present import timeline

    if as_json:
        click.echo(timeline.document(found))
    else:
        style = Style.of(sys.stdout)
        lines = timeline.lines(found[-limit:], metric, style)
        if len(found) > limit:
            lines.append(f"  and {len(found) - limit} before these: --limit shows more")
        click.echo("\n".join(lines), color=style.colour)
    return 0


def place(db: str | None) -> Path:
    """The file of the history; this user's own where none is named."""
    return Path(db) if db else Path(HOME).expanduser()


def record(report: Report, db: str) -> str:
    """The history to which the run was appended."""
    from karat.run import history

    path = place(db)
    if not db:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.parent.is_dir():
        raise UsageError(f"--log {db}: there is no folder {path.parent}", help="make it first")
    history.append(report, path)
    return str(path)
