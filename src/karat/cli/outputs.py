"""`--out FILE`: which extension is written by whom. A format joins by one line here."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path

from karat.errors import UsageError
from karat.model.report import Report
from karat.present.jsonfile import write_atomically

WRITERS = {
    ".json": "karat.present.jsonfile",
    ".csv": "karat.present.csvfile",
    ".md": "karat.present.markdown",
}
"""Extension -> module with `render(report) -> bytes`."""


def check_outputs(paths: Iterable[str]) -> None:
    """Return if every file can be written; said before the work starts, not after."""
    for path in paths:
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
        try:
            write_atomically(path, module.render(report))
        except OSError as error:
            raise UsageError(f"--out {path}: {error.strerror}") from error
        written.append(path)
    return written
