"""What a process of karat's own settles for itself: its threads, and streams at their limits.

A library must not: nothing here is called when karat is imported.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

PIPE_CLOSED = 141


def start_no_threads() -> None:
    """Have NumPy, which is not imported yet, start no threads for products of matrices.

    karat has next to no such products, and starting the threads costs more than all else that
    happens before the first file is read.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


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
