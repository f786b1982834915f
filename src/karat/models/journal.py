"""What a run has finished, beside its target: one JSON line a batch, so that it can go on later.

A line names its plan, so one file serves several plans, and parts that were made elsewhere merge by
lying in the same folder. A torn last line, of a run that was killed, is passed over.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from karat.models.batches import Row

Shard = tuple[int, int]


def parse_shard(text: str) -> Shard | None:
    """(i, n) of `i/n`, None where the text is no such thing."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        return None
    return int(found[1]), int(found[2])


class Journal:
    """The finished batches of a target file, read from its parts and added to its own part."""

    def __init__(
        self,
        target: Path,
        shard: Shard | None = None,
        *,
        resume: bool = False,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        name = f".{shard[0]}-of-{shard[1]}.part" if shard else ".part"
        self.target = target
        self.path = target.with_name(target.name + name)
        self._say = say
        self._done: dict[str, dict[int, list[Row]]] = {}
        self._file: IO[str] | None = None
        if resume:
            for part in _parts(target):
                self._read(part)
        elif self.path.exists():
            self._say(
                f"note: {self.path} of an earlier run is dropped; --resume would go on from it"
            )
            self.path.unlink()

    def _read(self, part: Path) -> None:
        for line in part.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                told = json.loads(line)
                self._done.setdefault(told["plan"], {})[int(told["batch"])] = told["rows"]

    def done(self, plan: str) -> dict[int, list[Row]]:
        """The finished batches of a plan."""
        return dict(self._done.get(plan, {}))

    def add(self, plan: str, batch: int, rows: list[Row]) -> None:
        """Remember a finished batch, on disk as well."""
        if self._file is None:
            fresh = not self.path.exists() or self.path.read_bytes()[-1:] in (b"", b"\n")
            self._file = self.path.open("a", encoding="utf-8")
            if not fresh:
                self._file.write("\n")
        self._file.write(json.dumps({"plan": plan, "batch": batch, "rows": rows}) + "\n")
        self._file.flush()
        self._done.setdefault(plan, {})[batch] = rows

    def clear(self) -> None:
        """Remove every part of the target, which is now written."""
        self.close()
        for part in _parts(self.target):
            part.unlink()

    def wait_for_others(self) -> None:
        """Say what is to be done with a part that is not all of it."""
        self._say(f"part written: {self.path}")
        self._say("when all parts lie beside it, run again with --resume and without --shard")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if kind is KeyboardInterrupt and self.path.exists():
            self._say(f"stopped; {self.path} keeps what is done, and --resume goes on from it")


def _parts(target: Path) -> list[Path]:
    """The parts of a target, its own and those of shards; not those of a longer name."""
    told = re.compile(re.escape(target.name) + r"(\.\d+-of-\d+)?\.part")
    return sorted(path for path in target.parent.iterdir() if told.fullmatch(path.name))
