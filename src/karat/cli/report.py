"""`karat report`: what a run found, shown again in another form."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click
import msgspec

from karat.cli.command import Command
from karat.cli.outputs import WRITERS, check_outputs, is_page, put, write_outputs
from karat.errors import UsageError
from karat.model.report import SCHEMA, Report
from karat.present.html import page
from karat.present.html.embedded import reports_in
from karat.present.style import Style
from karat.present.terminal import render

FORMATS = {
    "json": "karat.present.jsonfile",
    "csv": "karat.present.csvfile",
    "markdown": "karat.present.markdown",
    "latex": "karat.present.latex",
    "html": "karat.present.html.page",
    "junit": "karat.present.junit",
    "github": "karat.present.github",
}
"""What --format prints -> the module with `render(report) -> bytes`."""


@click.command(cls=Command, name="report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(), metavar="RUN...")
@click.option(
    "-o",
    "--out",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help=f"Write the report to a file; its extension decides: {', '.join(WRITERS)}.",
)
@click.option(
    "--images",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Draw boxes over the images in this folder; they become part of the page.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Print in this form; github is annotations of a pull request.",
)
@click.option("--all", "everything", is_flag=True, help="Show every score and every slice.")
@click.option("--quiet", is_flag=True, help="No remarks on stderr.")
def command(
    runs: tuple[str, ...],
    out: tuple[str, ...],
    images: Path | None,
    as_json: bool,
    form: str | None,
    everything: bool,
    quiet: bool,
) -> int:
    """Show stored runs again: RUN is what --out wrote as .json, or an .html page, which holds it.

    Several runs become one page, with a part each and the scores that they share. Without
    --out, --json or --format the report is printed as `karat score` prints it.
    """
    if as_json and form:
        raise UsageError("--json and --format exclude each other")
    check_outputs(out)
    reports = [report for run in runs for report in load(run)]
    if out:
        written = _write(reports, out, images)
        if not quiet:
            click.echo(f"wrote {', '.join(written)}", err=True)
    if as_json or form:
        _print(reports, "json" if as_json else str(form))
    elif not out:
        style = Style.of(sys.stdout)
        pages = [render(report, style=style, everything=everything) for report in reports]
        click.echo("\n".join(pages), nl=False, color=style.colour)
    return 0


def load(path: str) -> list[Report]:
    """The reports in a file: one in a JSON document, one or more in a page."""
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    try:
        if content.lstrip()[:1] == b"<":
            found = reports_in(content)
        else:
            found = [Report.from_json(content)]
            if not found[0].task or found[0].schema != SCHEMA:
                raise _foreign(path, "")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _foreign(path, f": {error}") from error
    if not found:
        raise _foreign(path, ", it holds no run")
    return found


def _foreign(path: str, why: str) -> UsageError:
    return UsageError(
        f"{path} is no report of karat{why}",
        help="karat score GOLD PREDICTIONS --out run.json writes one",
    )


def _write(reports: list[Report], paths: tuple[str, ...], images: Path | None) -> list[str]:
    """The paths that were written; only a page can hold several runs, or images."""
    others = [path for path in paths if not is_page(path)]
    if others and len(reports) > 1:
        raise UsageError(f"--out {others[0]} can hold one run", help="several runs need .html")
    written = write_outputs(reports[0], others)
    pages = [path for path in paths if is_page(path)]
    return written + [put(path, page.render_all(reports, images)) for path in pages]


def _print(reports: list[Report], form: str) -> None:
    """One document on stdout; several runs are one page, one list, or follow each other."""
    if form == "html":
        content = page.render_all(reports)
    elif form == "json" and len(reports) > 1:
        content = msgspec.json.format(msgspec.json.encode(reports), indent=2) + b"\n"
    else:
        module = importlib.import_module(FORMATS[form])
        content = b"".join(module.render(report) for report in reports)
    click.echo(content, nl=False)
