"""An input as bytes or rows: a file, standard input, bytes, or rows in memory.

Whatever the input is, a task sees the same few methods. Compressed content is recognised by its
first bytes and streamed; the digest of a file is computed beside the reading, in a thread, because
hashing releases the interpreter lock. What is wrong with an input is a `DataError` with problems
where reading cannot go on, and a list of problems from `check`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from karat.errors import DataError
from karat.model.problem import Problem
from karat.model.task import Peek
from karat.read import compressed, sniff
from karat.read.hashing import BackgroundHash, digest_of_folder
from karat.read.memory import digest_of_rows, document_of, rows_of
from karat.read.place import printable

BLOCK = 1 << 22
"""How many bytes are read at once."""

BOM = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")

CACHE_EXTENSIONS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
"""What a prediction cache and its data may be called."""


class Source:
    """One input. `name` is what messages call it; `rows` is None unless it is rows in memory.

    `records` is how many records it holds, once somebody has counted them.
    """

    __slots__ = (
        "_content",
        "_digest",
        "_hash",
        "_kept",
        "_path",
        "_peek",
        "_rows",
        "_stream",
        "name",
        "on_bytes",
        "records",
    )

    def __init__(
        self,
        name: str,
        *,
        path: Path | None = None,
        stream: bool = False,
        content: bytes | None = None,
        rows: Sequence[Any] | None = None,
        on_bytes: Callable[[int], None] | None = None,
    ) -> None:
        # A file name need not be UTF-8, but what is written about it must be.
        self.name = printable(name)
        self.on_bytes = on_bytes
        self.records: int | None = None
        self._path = path
        self._stream = stream
        self._content = content
        self._rows = rows
        self._digest: str | None = None
        self._peek: Peek | None = None
        self._hash: BackgroundHash | None = None
        self._kept: bytes | None = None

    @classmethod
    def of(
        cls, thing: Any, name: str | None = None, on_bytes: Callable[[int], None] | None = None
    ) -> Source:
        """The source of a path, "-" (standard input), an open file, bytes, a dict or rows."""
        if isinstance(thing, Source):
            return thing
        if isinstance(thing, io.IOBase):
            content = thing.read()
            thing = content.encode() if isinstance(content, str) else content
        if isinstance(thing, (bytes, bytearray, memoryview)):
            return cls(name or "<bytes>", content=bytes(thing), on_bytes=on_bytes)
        if isinstance(thing, (str, os.PathLike)):
            path = os.fspath(thing)
            if path == "-":
                return cls(name or "<stdin>", stream=True, on_bytes=on_bytes)
            return cls(name or path, path=Path(path), on_bytes=on_bytes)
        if isinstance(thing, Mapping):
            return cls(name or "<object>", content=document_of(thing), on_bytes=on_bytes)
        return cls(name or "<rows>", rows=rows_of(thing))

    @property
    def rows(self) -> Sequence[Any] | None:
        """The rows in memory, None for everything that is bytes."""
        return self._rows

    @property
    def folder(self) -> Path | None:
        """The path of a folder, None for everything else."""
        return self._path if self._path is not None and self._path.is_dir() else None

    def check(self, extensions: Sequence[str] = ()) -> list[Problem]:
        """What is wrong before the first record: absent, empty, misnamed. Empty when all is well.

        `extensions` lists the names a task allows; none means that any will do.
        """
        if self._rows is not None:
            return [] if len(self._rows) else [self._problem("file-empty", "there are no rows")]
        try:
            start = self._start()
        except DataError as error:
            return list(error.problems)
        if not start or start == BOM:
            return [self._problem("file-empty", "file holds no records")]
        if start.startswith(UTF_16):
            return [self._problem("encoding", "file is UTF-16; re-save it as UTF-8")]
        if self._path is None or not self._path.is_file():
            return []
        return self._misnamed(start, extensions)

    def blocks(self) -> Iterator[bytes]:
        """The content in blocks, decompressed, without a byte order mark."""
        blocks = compressed.inflate(self.name, self._raw())
        for block in blocks:
            # A mark could only be split over two blocks if the first had under 3 bytes.
            yield block.removeprefix(BOM)
            break
        yield from blocks

    def data(self) -> bytes:
        """The whole content, decompressed, without a byte order mark."""
        if self._kept is not None:
            kept, self._kept = self._kept, None
            return kept
        # Grows in place: a list of blocks, joined, would hold everything twice.
        whole = io.BytesIO()
        for block in self.blocks():
            whole.write(block)
        return whole.getvalue()

    def peek(self) -> Peek:
        """The first look: shape, head and first record. Taken once, however often it is asked."""
        if self._peek is None:
            self._peek = self._look()
        return self._peek

    def _look(self) -> Peek:
        if self._rows is not None:
            few = self._rows[: sniff.LOOKED_AT]
            return Peek(self.name, "list", b"", sniff.together(few) or next(iter(few), None))
        if self._path is not None and self._path.is_dir():
            return Peek(self.name, "folder", b"")
        head = compressed.head(self.name, self._start(sniff.HEAD), sniff.HEAD)
        return sniff.look(self.name, head.removeprefix(BOM), self._keep)

    def digest(self) -> str:
        """The sha256 of the raw bytes, of the JSON of rows in memory, of the files of a folder."""
        if self._digest is None:
            if self._rows is not None:
                self._digest = digest_of_rows(self._rows)
            elif self.folder is not None:
                self._digest = digest_of_folder(self.folder)
            else:
                if self._hash is None:
                    for _ in self._raw():
                        pass
                assert self._hash is not None
                self._digest, self._hash = self._hash.finish(), None
        return self._digest

    def _keep(self) -> bytes:
        """The whole content, kept for the next call of `data`."""
        self._kept = self.data()
        return self._kept

    def _raw(self) -> Iterator[bytes]:
        """The bytes as they are stored, hashed on the way where that was not done before."""
        known = self._digest is not None or self._hash is not None
        running = BackgroundHash()
        done = 0
        complete = False
        try:
            for block in self._stored():
                if not known:
                    running.feed(block)
                done += len(block)
                yield block
                if self.on_bytes is not None:
                    self.on_bytes(done)
            complete = True
        finally:
            if complete and self._hash is None and self._digest is None:
                self._hash = running
            else:
                running.finish()

    def _stored(self) -> Iterator[bytes]:
        content = self._held()
        if content is not None:
            # Slicing a short input whole gives the same object back: nothing is copied.
            yield from (content[i : i + BLOCK] for i in range(0, len(content), BLOCK))
            return
        try:
            with self._file().open("rb", buffering=0) as file:
                while block := file.read(BLOCK):
                    yield block
        except OSError as error:
            raise DataError([self._unreadable(error)]) from error

    def _held(self) -> bytes | None:
        """The content where it is already in memory; a stream is read once and kept."""
        if self._content is None:
            try:
                if self._stream:
                    self._content = sys.stdin.buffer.read()
                elif self._file().is_fifo():
                    self._content = self._file().read_bytes()
            except OSError as error:
                raise DataError([self._unreadable(error)]) from error
        return self._content

    def _file(self) -> Path:
        assert self._path is not None
        return self._path

    def _start(self, size: int = 64) -> bytes:
        """The first stored bytes."""
        content = self._held()
        if content is not None:
            return content[:size]
        try:
            with self._file().open("rb") as file:
                return file.read(size)
        except OSError as error:
            raise DataError([self._unreadable(error)]) from error

    def _misnamed(self, start: bytes, extensions: Sequence[str]) -> list[Problem]:
        name = self.name.lower()
        if extensions and not name.removesuffix(".zst").endswith(tuple(extensions)):
            text = f"unsupported file type; use one of {', '.join(extensions)}"
            return [self._problem("file-extension", text)]
        packed = start.startswith(compressed.GZIP)
        if name.endswith(".gz") and not packed:
            text = "name ends in .gz but the content is not gzip; rename it or compress it"
            return [self._problem("gzip-expected", text)]
        if packed and not name.endswith(".gz") and extensions:
            text = "content is gzip but the name does not end in .gz"
            return [self._problem("gzip-unexpected", text)]
        return []

    def _unreadable(self, error: OSError) -> Problem:
        return unreadable(self._file(), self.name, error)

    def _problem(self, code: str, message: str, help: str = "") -> Problem:
        return Problem(code, "error", message, self.name, help=help)


def unreadable(path: Path, name: str, error: OSError) -> Problem:
    """Why a file could not be read; one that is not there may have a neighbour of like name."""
    if isinstance(error, FileNotFoundError):
        return Problem("file-missing", "error", f"no such file: {name}", name, help=_alike(path))
    reason = f"cannot be read: {(error.strerror or type(error).__name__).lower()}"
    if isinstance(error, IsADirectoryError):
        reason = "this is a folder; a file is needed"
    return Problem("file-unreadable", "error", reason, name)


def _alike(path: Path) -> str:
    """A hint at files of nearly the same name in the same folder."""
    try:
        names = [one.name for one in path.parent.iterdir()]
        close = get_close_matches(path.name, names, n=3, cutoff=0.7)
    except OSError:
        return ""
    return f"did you mean {' or '.join(close)}?" if close else ""


def sources(things: Iterable[Any]) -> tuple[Source, ...]:
    """The sources of several inputs."""
    return tuple(Source.of(thing) for thing in things)
