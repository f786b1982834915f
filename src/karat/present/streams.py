"""The standard streams at their limits: closed by the shell, or with nobody left to read them."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

PIPE_CLOSED = 141


def open_closed_streams() -> None:
    """Let nothing be read from, and written to, streams that the shell has closed (`>&-`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Standard streams stay open as long as the process.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def never_fail_to_encode() -> None:
    """Names may hold what the terminal's encoding cannot: write those as escapes, do not die."""
    for stream in (sys.stdout, sys.stderr):
        # Streams that tests or notebooks put in place may not have this.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def pipe_closed() -> int:
    """The status of a writer whose reader went away, with nothing left to flush into the pipe."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return PIPE_CLOSED
