"""Compressed bytes to plain ones: streamed, bounded, recognised by the first bytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from karat.errors import DataError
from karat.model.problem import Problem

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"

STEP = 1 << 22
"""How many decompressed bytes are made at once."""

BOMB_RATIO = 200
BOMB_BYTES = 1 << 30
"""A stream past both limits is refused: no prediction file shrinks that well."""


def inflate(name: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The plain content of `blocks`, which may be gzip, Zstandard or plain already."""
    first = next(blocks, b"")
    if first.startswith(GZIP):
        yield from _gunzip(name, first, blocks)
    elif first.startswith(ZSTD):
        yield from _unzstd(name, first, blocks)
    else:
        if first:
            yield first
        yield from blocks


def head(name: str, start: bytes, size: int) -> bytes:
    """The first plain bytes of a stream of which `start` is the beginning."""
    if start.startswith(GZIP):
        try:
            return zlib.decompressobj(31).decompress(start, size)
        except zlib.error as error:
            raise _damaged(name, str(error)) from error
    if start.startswith(ZSTD):
        return b""
    return start


def _gunzip(name: str, first: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The members of a gzip stream, one after the other."""
    member = zlib.decompressobj(31)
    taken, made = 0, 0
    waiting = first
    while True:
        while not waiting:
            block = next(blocks, None)
            if block is None:
                if not member.eof:
                    text = "Compressed file ended before the end-of-stream marker was reached"
                    raise _damaged(name, text)
                return
            waiting = block
        if member.eof:
            # Padding after the last member is legal; another member may follow.
            waiting = waiting.lstrip(b"\0")
            if not waiting:
                continue
            member = zlib.decompressobj(31)
        size = len(waiting)
        try:
            plain = member.decompress(waiting, STEP)
        except zlib.error as error:
            raise _damaged(name, str(error)) from error
        waiting = member.unused_data if member.eof else member.unconsumed_tail
        taken, made = taken + size - len(waiting), made + len(plain)
        if made > BOMB_BYTES and made > BOMB_RATIO * taken:
            text = f"gzip stream swells more than {BOMB_RATIO} times; it was not read further"
            raise DataError([Problem("gzip-bomb", "error", text, name)])
        if plain:
            yield plain


def _unzstd(name: str, first: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The frames of a Zstandard stream, where this Python knows the format."""
    try:
        from compression.zstd import ZstdDecompressor, ZstdError  # type: ignore[import-not-found]
    except ImportError:
        text = "content is Zstandard, which needs Python 3.14; use gzip or plain files"
        raise DataError([Problem("zstd-unsupported", "error", text, name)]) from None
    frame, begun = ZstdDecompressor(), False
    waiting = first
    try:
        while True:
            if frame.eof:
                waiting, frame, begun = frame.unused_data + waiting, ZstdDecompressor(), False
            if not waiting and frame.needs_input:
                block = next(blocks, None)
                if block is None:
                    if begun:
                        raise EOFError("ended before the end of the frame")
                    return
                waiting = block
            begun = True
            plain = frame.decompress(waiting, STEP)
            waiting = b""
            if plain:
                yield plain
    except (ZstdError, EOFError) as error:
        text = f"Zstandard stream is damaged or cut short ({error})"
        raise DataError([Problem("zstd-damaged", "error", text, name)]) from error


def _damaged(name: str, reason: str) -> DataError:
    text = f"gzip stream is damaged or cut short ({reason})"
    return DataError([Problem("gzip-damaged", "error", text, name)])
