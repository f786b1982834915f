"""A long JSON list of flat objects, decoded piece by piece: a piece stays in the cache.

The list is cut where one object seems to end and the next to begin. If a cut fell into a string,
the piece cannot be decoded, and the whole list is decoded at once instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

PIECE = 1 << 17
BETWEEN = re.compile(rb"\}\s*,\s*\{")


def decoded(data: bytes, schema: type[Any], size: int = PIECE) -> Iterator[list[Any]]:
    """The rows of a list. Raises what msgspec raises where the list or a row is bad."""
    decoder = msgspec.json.Decoder(list[schema])  # type: ignore[valid-type]
    start = data.find(b"[") + 1
    if len(data) <= 2 * size or data[:start].strip() != b"[":
        yield decoder.decode(data)
        return
    given = 0
    while start >= 0:
        cut = BETWEEN.search(data, start + size)
        end = data.rindex(b"]") if cut is None else cut.start() + 1
        try:
            rows = decoder.decode(b"[%b]" % data[start:end])
            if cut is None and data[end + 1 :].strip():
                decoder.decode(data)
        except msgspec.DecodeError:
            yield decoder.decode(data)[given:]
            return
        given += len(rows)
        yield rows
        start = -1 if cut is None else cut.end() - 1
