"""Typed records of one input, in batches, with every defect of the bad ones.

The fast path decodes a piece of the input straight into the task's Struct. Only where that fails,
or where a cheap pass over the bytes finds something odd, is the piece gone through record by
record. One bad record never hides the next: all of them are reported, the good rows go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from karat.errors import DataError
from karat.model.problem import Problems
from karat.model.task import Source
from karat.read import sniff
from karat.read.keys import Inside, KeyAudit
from karat.read.memory import plain
from karat.read.place import Place, errors_in, kind
from karat.read.strictjson import Malformed, StrictReader, ordinary

S = TypeVar("S", bound=msgspec.Struct)

Diagnose = Callable[[dict[str, Any], Place], None]
"""A task's function: report every defect of a record, errors only."""

UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
ROWS_AT_ONCE = 1 << 13


@dataclass(slots=True)
class Batch(Generic[S]):
    """Rows that follow each other in the input; `first` is the record number of `rows[0]`.

    `line` is the physical line of `rows[0]` in a file of lines. `source` gives the texts of the
    rows, asked for only where a row needs a second look.
    """

    rows: list[S]
    first: int
    reader: Records[S]
    line: int | None
    source: Callable[[], Sequence[Any]]
    _texts: Sequence[Any] | None = None

    def place(self, i: int) -> Place:
        """Where row i of the batch stands."""
        record = self.first + i
        line = self.reader.line_of(record) if self.line is None else self.line + i
        return Place(self.reader.problems, self.reader.name, line, record)

    def source_of(self, i: int) -> Any:
        """What row i of the batch was read from: its text, or the row in memory."""
        if self._texts is None:
            self._texts = self.source()
        text = self._texts[i]
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else text

    def record(self, i: int) -> dict[str, Any]:
        """Row i of the batch with all its keys; numbers know how they were written."""
        text = self.source_of(i)
        value = self.reader.strict.read(text)[0] if isinstance(text, str) else plain(text)
        return value if isinstance(value, dict) else {}


class Records(Generic[S]):
    """The records of one input; iterate once for the batches.

    `count` is the number of records, the bad ones included; None where reading could not go on.
    `sound` says that the file has no error.
    """

    def __init__(
        self,
        source: Source,
        schema: type[S],
        problems: Problems,
        diagnose: Diagnose,
        extensions: Sequence[str] = (),
        inside: Inside | None = None,
    ) -> None:
        self.source = source
        self.schema = schema
        self.problems = problems
        self.diagnose = diagnose
        self.extensions = extensions
        self.name = source.name
        self.count: int | None = None
        self.audit = KeyAudit(schema, inside)
        self.strict = StrictReader()
        self.line_of: Callable[[int], int | None] = _nowhere

    @property
    def sound(self) -> bool:
        """Whether no error was found in this input."""
        return not errors_in(self.problems, self.name)

    def place(self, record: int | None = None, line: int | None = None) -> Place:
        """The place of one record, or of the whole file."""
        if record is not None and line is None:
            line = self.line_of(record)
        return Place(self.problems, self.name, line, record)

    def __iter__(self) -> Iterator[Batch[S]]:
        from karat.read.document import read_document
        from karat.read.lines import read_lines

        faults = self.source.check(self.extensions)
        self.problems.take_all(faults)
        if faults:
            return
        try:
            # A key may be missing in the first record alone.
            self.audit.see(self.source.peek().keys)
            if self.source.rows is not None:
                yield from self._in_memory(self.source.rows)
            elif self._is_document():
                yield from read_document(self)
            else:
                yield from read_lines(self)
        except DataError as error:
            self.count = None
            self.problems.join(error.problems)
            return
        self.source.records = self.count
        if self.count == 0:
            self.place().add("file-empty", "file holds no records")

    def look(self, text: str, place: Place, noun: str = "line") -> S | None:
        """The row of one record's text, None where it has errors; all of them are reported."""
        text = text.rstrip("\r\n")
        try:
            value, end = self.strict.read(text, len(text) - len(text.lstrip(" \t\r")))
            end = len(text) - len(text[end:].lstrip(" \t\r"))
            if end < len(text):
                raise Malformed(f"not valid JSON: Extra data at column {end + 1}", end)
        except Malformed as error:
            place.add("json-syntax", error.message)
            return None
        return self.judge(value, place, noun)

    def judge(self, value: Any, place: Place, noun: str) -> S | None:
        """The row of a value that the strict reader has just read; what is wrong is reported."""
        try:
            return self._judged(value, place, noun)
        except RecursionError:
            place.add("json-syntax", "not valid JSON: nested too deeply")
            return None

    def _judged(self, value: Any, place: Place, noun: str) -> S | None:
        before = self.problems.errors
        self.strict.report(value, place)
        if not isinstance(value, dict):
            name = kind(value)
            article = "" if name == "null" else "an " if name[0] in "aeiou" else "a "
            place.add("not-object", f"{noun} holds {article}{name}; each {noun} must be an object")
            return None
        self.diagnose(value, place)
        self.audit.report(value, place)
        if self.problems.errors > before:
            return None
        try:
            return msgspec.convert(ordinary(value), self.schema)
        except msgspec.ValidationError as error:
            # The task's own checks should have named it; nothing may pass in silence.
            place.add("record-type", str(error))
            return None
        except UnicodeEncodeError:
            place.add("record-type", "a key holds half of a surrogate pair and cannot be kept")
            return None

    def _is_document(self) -> bool:
        name = sniff.stem(self.name)
        if name.endswith(sniff.LINES):
            return False
        return name.endswith(".json") or self.source.peek().shape == "list"

    def _in_memory(self, rows: Sequence[Any]) -> Iterator[Batch[S]]:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            self.count = start + len(part)
            typed = self._converted(part)
            if typed is None:
                part = [plain(row) for row in part]
                typed = self._converted(part)
            if typed is not None and not self._odd(part):
                yield self._memory_batch(typed, start, part)
                continue
            for i, row in enumerate(part, start):
                self.strict.forget()
                good = self.judge(row, self.place(i), "row")
                if good is not None:
                    yield self._memory_batch([good], i, [row])

    def _memory_batch(self, typed: list[S], first: int, rows: Sequence[Any]) -> Batch[S]:
        return Batch(typed, first, self, None, lambda: rows)

    def _converted(self, rows: Sequence[Any]) -> list[S] | None:
        try:
            return [msgspec.convert(row, self.schema) for row in rows]
        except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):
            return None

    def _odd(self, rows: Sequence[Any]) -> bool:
        """Whether some key looks like a misspelt one."""
        names = set().union(*rows)
        self.audit.see(names)
        self.audit.see(sniff.paths(rows[0]))
        return any(self.audit.near(key) for key in names)


def _nowhere(record: int) -> None:
    """The line of a record in memory: there is none."""


def pass_over(record: dict[str, Any], place: Place) -> None:
    """A diagnosis that finds nothing, for a file that was checked before."""


def read_records(
    source: Source,
    schema: type[S],
    problems: Problems,
    diagnose: Diagnose,
    extensions: Sequence[str] = (),
    inside: Inside | None = None,
) -> Records[S]:
    """The records of `source`, to be iterated in batches; `inside` is for the key audit."""
    return Records(source, schema, problems, diagnose, extensions, inside)
