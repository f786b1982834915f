"""Single records read again, for the few items that a report shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from karat.model.task import Source

Picked = dict[int, tuple[int | None, Mapping[str, Any]]]


def pick(source: Source, records: Iterable[int]) -> Picked:
    """record number -> (physical line, fields). Files are streamed again up to the last one wanted.

    Records of a `.json` list and rows in memory have no line of their own here.
    """
    wanted = sorted(set(records))
    if not wanted:
        return {}
    if source.rows is not None:
        return {i: (None, source.rows[i]) for i in wanted if isinstance(source.rows[i], Mapping)}
    if source.peek().shape == "list":
        everything = json.loads(source.data())
        return {i: (None, everything[i]) for i in wanted}
    return _lines(source, wanted)


def _lines(source: Source, wanted: list[int]) -> Picked:
    """Line r + 1 holds record r: blank lines inside a file are errors, so the count is exact."""
    found: Picked = {}
    done, left = 0, b""
    pending = iter([*wanted, None])
    record = next(pending)
    for block in source.blocks():
        text = left + block
        cut = text.rfind(b"\n") + 1
        lines_here = text.count(b"\n", 0, cut)
        if record is not None and record < done + lines_here:
            lines = text[:cut].split(b"\n")
            while record is not None and record < done + lines_here:
                found[record] = (record + 1, _fields(lines[record - done]))
                record = next(pending)
        if record is None:
            return found
        done, left = done + lines_here, text[cut:]
    if record is not None and record == done and left.strip():
        found[record] = (record + 1, _fields(left))
    return found


def _fields(line: bytes) -> Mapping[str, Any]:
    fields = json.loads(line)
    return fields if isinstance(fields, dict) else {}
