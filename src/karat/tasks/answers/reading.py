"""One of the three files while it is read: its content, and what is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from mmap import mmap
from typing import TYPE_CHECKING

import msgspec

from karat.errors import DataError
from karat.model.problem import SHOWN_PER_CODE, Problem, Problems, Severity

if TYPE_CHECKING:
    from karat.read.strictjson import Path

Content = bytes | mmap
BLOCK = 1 << 16


class Reading:
    """A file: `fetch` gives its content, `name` is what messages call it.

    Problems are kept until `tell`, which finds their lines all at once. Where the reading is not
    strict, what the official scripts let pass (repeated keys, NaN) is a warning. `damaged` says
    that the bytes could not be fetched, or are no text.
    """

    def __init__(
        self, fetch: Callable[[], Content], name: str, problems: Problems, strict: bool = True
    ) -> None:
        self.name, self.strict = name, strict
        self.damaged = False
        self._fetch, self._problems = fetch, problems
        self._content: Content | None = None
        self._text: str | None = None
        self._found: list[tuple[Problem, Path]] = []

    @property
    def content(self) -> Content:
        """The content, fetched when it is asked for; empty where that fails, which is reported."""
        if self._content is None:
            try:
                self._content = self._fetch()
            except DataError as error:
                self._content, self.damaged = b"", True
                self._found += [(problem, ()) for problem in error.problems]
        return self._content

    def blocks(self) -> Iterator[bytes]:
        """The content in pieces, which are copied one at a time where it is mapped."""
        content = self.content
        return (content[at : at + BLOCK] for at in range(0, len(content), BLOCK))

    def release(self) -> None:
        """Let the content go, which is most of the memory."""
        self._content = self._text = None

    def add(
        self,
        code: str,
        message: str,
        path: Path = (),
        *,
        line: int | None = None,
        record: int | None = None,
        severity: Severity = "error",
        help: str = "",
    ) -> None:
        """Keep one problem; `path` is where in the document it is."""
        problem = Problem(code, severity, message, self.name, line, record, help=help)
        self._found.append((problem, path))

    def tell(self) -> bool:
        """Hand the problems over, each with its line; whether there was no error among them."""
        found, self._found = self._found, []
        if not found:
            return True
        from karat.read.locate import lines_of
        from karat.read.strictjson import written

        met: Counter[str] = Counter()
        wanted: list[Path] = []
        for problem, path in found:
            met[problem.code] += 1
            if path and met[problem.code] <= SHOWN_PER_CODE:
                wanted.append(path)
        lines: Mapping[Path, int] = {(): 1}
        if wanted and "\n" in self.text.rstrip():  # most files are one line
            lines = lines_of(self.text, wanted)
        for problem, path in found:
            place = {"line": _line(path, lines), "key": written(path)} if path else {}
            self._problems.take(msgspec.structs.replace(problem, **place))
        return not any(problem.severity == "error" for problem, _ in found)

    @property
    def text(self) -> str:
        """The content as text; a byte that is not UTF-8 is reported and replaced."""
        if self._text is None:
            try:
                self._text = str(self.content, "utf-8-sig")
            except UnicodeDecodeError as error:
                self.damaged = True
                line = error.object.count(b"\n", 0, error.start) + 1
                byte = f"0x{error.object[error.start]:02x}"
                self.add(
                    "encoding", f"byte {byte} is not UTF-8; re-save the file as UTF-8", line=line
                )
                self._text = str(self.content, "utf-8", "replace").removeprefix("\ufeff")
        return self._text


def _line(path: Path, lines: Mapping[Path, int]) -> int | None:
    """The line of a part; of what should hold it where it is missing."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)
