"""Pandas pickles as columns, without pandas and without running anything that a pickle asks for.

A pickle is a small program: whoever wrote it says which functions are called with what. Here no
function is called. The few names that a data frame needs are on a list, and each stands for an
inert `Piece` that only remembers what it was given; anything else is refused by name. The columns
are then read off the tree of pieces.
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, ClassVar, Never

import numpy as np

from karat.errors import DataError
from karat.model.problem import Problem
from karat.read.collector import without_collector

HELP = (
    "if you trust the file, convert it where pandas is installed: "
    "pandas.read_pickle(FILE).to_json('data.jsonl', orient='records', lines=True)"
)
_FROM_NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
_NUMERIC = ("numpy.core.numeric", "numpy._core.numeric")
_INDEX = ("Index", "Int64Index", "UInt64Index", "Float64Index", "RangeIndex", "NumericIndex")

ALLOWED: Mapping[tuple[str, str], str] = {
    **{(m, "DataFrame"): "frame" for m in ("pandas", "pandas.core.frame")},
    ("pandas.core.internals.managers", "BlockManager"): "manager",
    ("pandas._libs.internals", "_unpickle_block"): "block",
    ("pandas._libs.internals", "BlockPlacement"): "placement",
    ("pandas.core.indexes.base", "_new_Index"): "index",
    **{
        (m, name): "kind of index"
        for m in ("pandas", *(f"pandas.core.indexes.{x}" for x in ("base", "range", "numeric")))
        for name in _INDEX
    },
    **{(m, "_reconstruct"): "array" for m in _FROM_NUMPY},
    **{(m, "_frombuffer"): "buffer" for m in _NUMERIC},
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    **{(m, "slice"): "slice" for m in ("builtins", "__builtin__")},
    **{(m, "bytearray"): "bytes" for m in ("builtins", "__builtin__")},
    ("_codecs", "encode"): "bytes",
    ("pandas.arrays", "ArrowStringArray"): "texts",
    ("pandas.core.arrays.string_arrow", "ArrowStringArray"): "texts",
    ("pandas", "StringDtype"): "kind of text",
    ("pandas.core.arrays.string_", "StringDtype"): "kind of text",
    ("pyarrow.lib", "_restore_array"): "arrow",
    ("pyarrow.lib", "chunked_array"): "chunks",
    ("pyarrow.lib", "type_for_alias"): "arrow type",
    ("pyarrow.lib", "py_buffer"): "arrow buffer",
}
"""What a data frame's pickle may name, and the piece that stands for it."""

_NUMBERS = re.compile(r"[biuf](?:1|2|4|8)")
_OFFSETS = {"string": np.int32, "large_string": np.int64, "utf8": np.int32, "large_utf8": np.int64}


class Piece:
    """What a name of the list was called with, and what state it was given. It does nothing."""

    __slots__ = ("args", "state")
    what: ClassVar[str] = ""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


_PIECES = {
    what: type(f"Piece_{what.replace(' ', '_')}", (Piece,), {"__slots__": (), "what": what})
    for what in sorted(set(ALLOWED.values()))
}


class Refused(Exception):
    """The pickle asks for something that is not on the list."""


class Odd(Exception):
    """The pickle holds no data frame that can be read here."""


class _Unpickler(pickle.Unpickler):
    """Builds the tree of pieces; every name goes through the list."""

    def find_class(self, module: str, name: str) -> Any:
        """The piece that stands for a name."""
        what = ALLOWED.get((module, name))
        if what is None:
            raise Refused(f"{module}.{name}")
        return _PIECES[what]

    def persistent_load(self, pid: Any) -> Never:
        """Nothing: a pickle of a data frame refers to nothing outside itself."""
        raise Refused("a persistent id")


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
        with without_collector():
            tree = _Unpickler(io.BytesIO(data)).load()
            return Frame(_columns(tree))
    except Refused as refused:
        message = (
            f"this pickle asks to load {refused}, which no data frame needs; nothing of it was run"
        )
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
    frame = _piece(tree, "frame")
    if not isinstance(frame.state, dict):
        raise Odd("the data frame was written by a pandas before 1.3")
    manager = _piece(frame.state.get("_mgr", frame.state.get("_data")), "manager")
    if len(manager.args) != 2:
        raise Odd("the data frame was written by a pandas before 1.3")
    blocks, axes = manager.args
    names = _index(axes[0])
    found: dict[int, list[Any]] = {}
    for one in blocks:
        values, placement, _ = _piece(one, "block").args
        places = _places(placement, len(names))
        found |= dict(zip(places, _lists(values, len(places)), strict=True))
    if sorted(found) != list(range(len(names))) or len({len(c) for c in found.values()}) > 1:
        raise Odd("the columns of the data frame do not fit together")
    return {str(name): found[i] for i, name in enumerate(names)}


def _index(thing: Any) -> list[Any]:
    """The labels of an axis."""
    piece = _piece(thing, "index")
    told = piece.args[1]
    if "data" in told:
        return _lists(told["data"], 1)[0]
    return list(range(told["start"], min(told["stop"], 1 << 20), told["step"]))


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
    piece = _piece(thing, "array", "buffer", "texts")
    if piece.what == "texts":
        return [_texts(piece.state["_pa_array"])]
    if piece.what == "array":
        _, shape, dtype, fortran, content = piece.state
    else:
        content, dtype, shape, order = piece.args
        fortran = order == "F"
    if isinstance(content, list):
        if prod(shape) != len(content):
            raise Odd("an array of the data frame is cut off")
        size = shape[-1]
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
    if isinstance(thing, (bytes, bytearray, pickle.PickleBuffer)):
        return bytes(thing)
    content = _piece(thing, "bytes", "arrow buffer").args
    if content and isinstance(content[0], str):
        return content[0].encode("latin1")
    return _bytes(content[0]) if content else b""


def _texts(thing: Any) -> list[Any]:
    """The texts of an Arrow array, None where missing."""
    piece = _piece(thing, "arrow", "chunks")
    if piece.what == "chunks":
        return [text for chunk in piece.args[0] for text in _texts(chunk)]
    kind, length, _, offset, buffers = _restored(piece.args)
    name = _piece(kind, "arrow type").args[0]
    if name not in _OFFSETS:
        raise Odd(f"the data frame has a column of Arrow type {name!r}; text can be read")
    valid, starts, content = (None if b is None else _bytes(b) for b in buffers)
    edges = np.frombuffer(starts or b"", _OFFSETS[name])[offset : offset + length + 1].tolist()
    if len(edges) != length + 1 and length:
        raise Odd("a column of text is cut off")
    texts: list[Any] = [(content or b"")[a:b].decode() for a, b in pairwise(edges)]
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
