"""`--out FILE`: which extension is written by whom. A format joins by one line here."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path

from karat.errors import UsageError
from karat.model.report import Report
from karat.present.writing import spare_inputs, write_atomically

WRITERS = {
    ".json": "karat.present.jsonfile",
    ".csv": "karat.present.csvfile",
    ".md": "karat.present.markdown",
    ".html": "karat.present.html.page",
    ".htm": "karat.present.html.page",
    ".tex": "karat.present.latex",
    ".xlsx": "karat.present.workbook",
    ".xml": "karat.present.junit",
}
"""Extension -> module with `render(report) -> bytes`."""

PAGE_ITEMS = 50
"""How many of the worst items a page has unless told otherwise: there they can be searched."""


def is_page(path: str) -> bool:
    """Whether the file will be a page, which can hold several runs."""
    return Path(path).suffix.lower() in (".html", ".htm")


def check_outputs(paths: Iterable[str], inputs: Iterable[str | None] = ()) -> None:
    """Return if every file can be written; said before the work starts, not after.

    What is read is never written over: `inputs` are the files of all sides, with commas between.
    """
    for path in paths:
        spare_inputs(path, inputs)
        if Path(path).suffix.lower() not in WRITERS:
            known = ", ".join(WRITERS)
            raise UsageError(
                f"--out {path}: no such format", help=f"the extension decides: {known}"
            )
        folder = Path(path).parent
        if not folder.is_dir():
            raise UsageError(f"--out {path}: there is no folder {folder}", help="make it first")
        if Path(path).is_dir():
            raise UsageError(f"--out {path}: is a folder")


def write_outputs(report: Report, paths: Iterable[str]) -> list[str]:
    """The paths that were written."""
    written = []
    for path in paths:
        module = importlib.import_module(WRITERS[Path(path).suffix.lower()])
        written.append(put(path, module.render(report)))
    return written


def put(path: str, content: bytes) -> str:
    """The path, at which the content now stands."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise UsageError(f"--out {path}: {error.strerror}") from error
    return path
