"""A sha256 that is computed beside the reading, on another core where there is one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from queue import Queue
from threading import Thread

AHEAD = 16
"""How many blocks may wait; more than that and the reader waits, so that memory stays bounded."""

SMALL = 1 << 18
"""A first block below this size is hashed at once: a thread would cost more than it saves."""


class BackgroundHash:
    """A running sha256: `feed` takes blocks and returns at once, `finish` gives the digest."""

    __slots__ = ("_hash", "_queue", "_thread")

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._queue: Queue[bytes | None] = Queue(AHEAD)
        self._thread: Thread | None = None

    def feed(self, block: bytes) -> None:
        """Take the next block."""
        if self._thread is None:
            if len(block) < SMALL:
                self._hash.update(block)
                return
            self._thread = Thread(target=self._work, name="karat-hash", daemon=True)
            self._thread.start()
        self._queue.put(block)

    def finish(self) -> str:
        """The digest in hexadecimal. Ends the thread."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        return self._hash.hexdigest()

    def _work(self) -> None:
        while (block := self._queue.get()) is not None:
            self._hash.update(block)
            del block  # while the next one is waited for, this one can go


def digest_of_folder(folder: Path) -> str:
    """The sha256 of the names and contents of all files of a folder, in the order of the names."""
    running = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            name = path.relative_to(folder).as_posix()
            running.update(f"{len(content)} {name}\0".encode("utf-8", "surrogateescape"))
            running.update(content)
    return running.hexdigest()
