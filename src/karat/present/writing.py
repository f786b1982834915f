"""How every file is written: beside, then renamed, and never over what is read."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from karat.errors import UsageError


def spare_inputs(
    path: str | Path, inputs: Iterable[str | Path | None], flag: str = "--out"
) -> None:
    """Return if the output is none of the inputs, each a file or several with commas between."""
    read = [part for one in inputs if one for part in (str(one), *str(one).split(","))]
    if any(_same(path, one) for one in read):
        raise UsageError(f"{flag} {path}: is one of the inputs", help="choose another name")


def _same(path: str | Path, other: str | Path) -> bool:
    """Whether both names mean one file that exists."""
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):
        return False


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Put the content at that path in one step: nobody ever sees half a file.

    A symbolic link is followed, the permissions of a file that was there are kept, and what is no
    regular file (`/dev/stdout`, a pipe) is written straight through.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=".part", dir=target.parent
        )
    except OSError as error:
        error.filename = os.fspath(path)  # the name that the user knows
        raise
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(_mode(target))
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
