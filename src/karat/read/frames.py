"""Pandas pickles as columns, without pandas: read off the tree of pieces that a pickle builds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from karat.errors import DataError
from karat.model.problem import Problem
from karat.read.bounded import bounded
from karat.read.collector import without_collector
from karat.read.pickles import Piece, Refused, load

HELP = (
    "if you trust the file, convert it where pandas is installed: "
    "pandas.read_pickle(FILE).to_json('data.jsonl', orient='records', lines=True)"
)
_ROOM, _GROWTH = 1 << 28, 128
"""Bytes of memory for any pickle, and for each byte of it: a byte can make a dict of 64."""

_MOST_COLUMNS = 1 << 20
_NUMBERS = re.compile(r"[biuf](?:1|2|4|8)")
_OFFSETS = {"string": np.int32, "large_string": np.int64, "utf8": np.int32, "large_utf8": np.int64}


class Odd(Exception):
    """The pickle holds no data frame that can be read here."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A data frame as plain lists by column name. Its index is left behind."""

    columns: dict[str, list[Any]]

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), []))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows as records."""
        names = list(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))


def read_frame(name: str, data: bytes) -> Frame:
    """The data frame that a pickle holds. A DataError says what is not welcome in it."""
    try:
        with without_collector(), bounded(_ROOM + _GROWTH * len(data)):
            return Frame(_columns(load(data)))
    except Refused as refused:
        message = f"this pickle asks to load {refused}, which is not read; nothing of it was run"
        raise _stopped("pickle-refused", message, name) from None
    except Odd as odd:
        raise _stopped("pickle-content", str(odd), name) from None
    except (MemoryError, RecursionError):
        raise _stopped("pickle-broken", "the pickle is nested or sized absurdly", name) from None
    except Exception as error:  # noqa: BLE001  a broken pickle can raise anything at all
        message = f"the pickle cannot be read ({type(error).__name__}: {error})"[:200]
        raise _stopped("pickle-broken", message, name) from None


def _stopped(code: str, message: str, name: str) -> DataError:
    return DataError([Problem(code, "error", message, name, help=HELP)])


def _piece(thing: Any, *what: str) -> Piece:
    """The thing, which must be one of these pieces."""
    if not isinstance(thing, Piece) or thing.what not in what:
        found = thing.what if isinstance(thing, Piece) else type(thing).__name__
        raise Odd(f"a pandas DataFrame is needed here; the pickle has a {found} for a {what[0]}")
    return thing


def _columns(tree: Any) -> dict[str, list[Any]]:
    """The columns of a frame, in their order."""
    state = _piece(tree, "frame").state
    manager = _piece(state.get("_mgr", state.get("_data")), "manager")
    axes, blocks = _blocks(manager)
    names = list(map(str, _index(axes[0])))
    found: dict[int, list[Any]] = {}
    for values, placement in blocks:
        places = _places(placement, len(names))
        found |= dict(zip(places, _lists(values, len(places)), strict=True))
    if sorted(found) != list(range(len(names))) or len({len(c) for c in found.values()}) > 1:
        raise Odd("the columns of the data frame do not fit together")
    if len(set(names)) < len(names):
        raise Odd("two columns of the data frame have the same name")
    return {name: found[i] for i, name in enumerate(names)}


def _blocks(manager: Piece) -> tuple[Sequence[Any], list[tuple[Any, Any]]]:
    """The axes, and the values of each block with the places of its columns."""
    if manager.args:
        blocks, axes = manager.args
        return axes, [_piece(block, "block").args[:2] for block in blocks]
    # Before 1.3 pandas kept four things in the state; the last one is the whole by itself.
    whole = manager.state[3]["0.14.1"]
    return whole["axes"], [(block["values"], block["mgr_locs"]) for block in whole["blocks"]]


def _index(thing: Any) -> list[Any]:
    """The labels of an axis."""
    told = _piece(thing, "index").args[1]
    if "data" in told:
        return _lists(told["data"], 1)[0]
    labels = range(told["start"], told["stop"], told["step"])
    if len(labels) > _MOST_COLUMNS:
        raise Odd(f"the data frame has {len(labels):,} columns")
    return list(labels)


def _places(thing: Any, most: int) -> list[int]:
    """Which columns a block holds."""
    piece = _piece(thing, "slice", "array", "buffer", "placement")
    if piece.what == "placement":
        return _places(piece.args[0], most)
    if piece.what == "slice":
        return list(range(most))[slice(*piece.args)]
    return [int(place) for place in _lists(piece, 1)[0]]


def _lists(thing: Any, columns: int) -> list[list[Any]]:
    """The values of a block, a list a column."""
    piece = _piece(thing, *_VALUES)
    if piece.what in _ONE_COLUMN:
        return [_ONE_COLUMN[piece.what](piece)]
    if piece.what == "array":
        _, shape, dtype, fortran, content = piece.state
    else:
        content, dtype, shape, order = piece.args
        fortran = order == "F"
    if isinstance(content, list):
        size = shape[-1]
        if prod(shape) != len(content) or columns * size != len(content):
            raise Odd("an array of the data frame is cut off")
        return [content[i * size : (i + 1) * size] for i in range(columns)]
    flat = np.frombuffer(_bytes(content), dtype=_number_type(dtype))
    matrix = flat.reshape(shape, order="F" if fortran else "C")
    return [list(row) for row in matrix.reshape(columns, -1).tolist()]


def _number_type(thing: Any) -> np.dtype[Any]:
    """The type of an array of numbers; nothing but plain numbers is taken from bytes."""
    piece = _piece(thing, "dtype")
    code = piece.args[0]
    if not isinstance(code, str) or not _NUMBERS.fullmatch(code):
        raise Odd(f"the data frame has a column of type {code!r}; text and numbers can be read")
    order = piece.state[1] if piece.state else "<"
    return np.dtype(f"{order if order in '<>' else '|'}{code}")


def _bytes(thing: Any) -> bytes:
    """Bytes, also where they come wrapped as old protocols do."""
    if isinstance(thing, (bytes, bytearray, memoryview)):
        return bytes(thing)
    content = _piece(thing, "bytes", "arrow buffer").args
    if content and isinstance(content[0], str):
        return content[0].encode("latin1")
    return _bytes(content[0]) if content else b""


def _part(piece: Piece, place: int, name: str) -> Any:
    """A part of the state of an array that wraps another: by its place, in old pandas by name."""
    return piece.state[name] if isinstance(piece.state, dict) else piece.state[place]


def _backed(piece: Piece) -> list[Any]:
    """The column of a wrapped array: texts, or categories."""
    return _ONE_COLUMN[piece.args[0].what](piece)


def _strings(piece: Piece) -> list[Any]:
    """The texts of a string array, None where missing."""
    texts = _lists(_part(piece, 1, "_ndarray"), 1)[0]
    return [text if isinstance(text, str) else None for text in texts]


def _categories(piece: Piece) -> list[Any]:
    """The category of each row, None where it has none."""
    names = _index(_piece(_part(piece, 0, "_dtype"), "categories").state["categories"])
    codes = _lists(_part(piece, 1, "_codes"), 1)[0]
    return [names[code] if code >= 0 else None for code in codes]


def _texts(piece: Piece) -> list[Any]:
    """The texts of an array that Arrow holds."""
    return _arrow(piece.state.get("_pa_array", piece.state.get("_data")))


def _arrow(thing: Any) -> list[Any]:
    """The texts of an Arrow array, None where missing."""
    piece = _piece(thing, "arrow", "chunks")
    if piece.what == "chunks":
        return [text for chunk in piece.args[0] for text in _arrow(chunk)]
    kind, length, _, offset, buffers = _restored(piece.args)
    name = _piece(kind, "arrow type").args[0]
    if name not in _OFFSETS:
        raise Odd(f"the data frame has a column of Arrow type {name!r}; text can be read")
    valid, starts, content = (None if b is None else _bytes(b) for b in buffers)
    edges = np.frombuffer(starts or b"", _OFFSETS[name])[offset : offset + length + 1]
    if length and (len(edges) != length + 1 or (np.diff(edges) < 0).any()):
        raise Odd("a column of text is cut off")
    texts: list[Any] = [(content or b"")[a:b].decode() for a, b in pairwise(edges.tolist())]
    if valid is not None:
        bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
        present = bits[offset : offset + length]
        texts = [text if there else None for text, there in zip(texts, present, strict=True)]
    return texts


def _restored(args: Sequence[Any]) -> tuple[Any, int, int, int, Sequence[Any]]:
    """(type, length, nulls, offset, buffers) of an Arrow array, flat or as one tuple."""
    told = args[0] if len(args) == 1 else args
    kind, length, nulls, offset, buffers = told[:5]
    return kind, length, nulls, offset, buffers


_ONE_COLUMN: Mapping[str, Callable[[Piece], list[Any]]] = {
    "backed": _backed,
    "strings": _strings,
    "categorical": _categories,
    "texts": _texts,
}
_VALUES = ("array", "buffer", *_ONE_COLUMN)
