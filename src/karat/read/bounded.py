"""Reading with a bound on memory: a few bytes of a hostile file can ask for gigabytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ALONE = threading.Lock()


@contextmanager
def bounded(room: int) -> Iterator[None]:
    """No more than `room` bytes beyond what the process has; past that, a MemoryError.

    Only where the system can be asked for it, which is Linux. One at a time, since a process has
    one limit.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (ImportError, OSError):
        yield
        return
    wanted = pages * resource.getpagesize() + room
    with _ALONE:
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        try:
            if all(wanted < limit or limit == resource.RLIM_INFINITY for limit in (soft, hard)):
                resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
