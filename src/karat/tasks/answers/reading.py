"""One of the three files while it is read: its content, and what is wrong with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from mmap import mmap
from typing import Any

import msgspec

from karat.errors import DataError
from karat.model.problem import SHOWN_PER_CODE, Problem, Problems, Severity
from karat.read.locate import lines_of
from karat.read.strictjson import Malformed, Path, StrictReader, defects, written

Content = bytes | mmap


class Reading:
    """A file: `fetch` gives its content, `name` is what messages call it.

    Problems are kept until `tell`, which finds their lines all at once. Where the reading is not
    strict, what the official scripts let pass (repeated keys, NaN) is a warning.
    """

    def __init__(
        self, fetch: Callable[[], Content], name: str, problems: Problems, strict: bool = True
    ) -> None:
        self.name, self.strict = name, strict
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
                self._content = b""
                self._found += [(problem, ()) for problem in error.problems]
        return self._content

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
        key = written(path) or None
        problem = Problem(code, severity, message, self.name, line, record, key, help)
        self._found.append((problem, path))

    def tell(self) -> bool:
        """Hand the problems over, each with its line; whether there was no error among them."""
        found, self._found = self._found, []
        met: Counter[str] = Counter()
        wanted: list[Path] = []
        for problem, path in found:
            met[problem.code] += 1
            if path and met[problem.code] <= SHOWN_PER_CODE:
                wanted.append(path)
        lines = lines_of(self.text, wanted) if wanted else {}
        for problem, path in found:
            line = _line(path, lines) if path else problem.line
            self._problems.take(msgspec.structs.replace(problem, line=line))
        return not any(problem.severity == "error" for problem, _ in found)

    @property
    def text(self) -> str:
        """The content as text; a byte that is not UTF-8 is reported and replaced."""
        if self._text is None:
            try:
                self._text = str(self.content, "utf-8-sig")
            except UnicodeDecodeError as error:
                line = error.object.count(b"\n", 0, error.start) + 1
                byte = f"0x{error.object[error.start]:02x}"
                self.add(
                    "encoding", f"byte {byte} is not UTF-8; re-save the file as UTF-8", line=line
                )
                self._text = str(self.content, "utf-8", "replace").removeprefix("\ufeff")
        return self._text

    def value(self) -> Any:
        """The whole file as plain values, its defects as JSON reported; UNSET if it is no JSON."""
        text = self.text
        if not text.strip():
            if not self._found:
                self.add("file-empty", "file holds no records")
            return msgspec.UNSET
        try:
            value, end = StrictReader().read(text, len(text) - len(text.lstrip()))
        except Malformed as error:
            self._broken(error.message, error.at)
            return msgspec.UNSET
        if text[end:].strip():
            end += len(text[end:]) - len(text[end:].lstrip())
            self._broken("not valid JSON: there is more after its end", end)
            return msgspec.UNSET
        for code, message, path, severity in defects(value):
            mild = not self.strict and severity == "error"
            self.add(code, message, path, severity="warning" if mild else severity)
        return value if self.strict else json.loads(text)

    def _broken(self, message: str, at: int) -> None:
        self.add("json-syntax", message, line=self.text.count("\n", 0, at) + 1)


def _line(path: Path, lines: Mapping[Path, int]) -> int | None:
    """The line of a part; of what should hold it where it is missing."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)
