"""Pickles as trees of inert pieces: nothing that a pickle asks for is run.

A pickle is a small program: whoever wrote it says which functions are called with what. Here no
function is called. The few names that a data frame needs are on a list, and each stands for an
inert `Piece` that only remembers what it was given; anything else is refused by name.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any, ClassVar, Never, Self

_ARRAYS = ("numpy.core.multiarray", "numpy._core.multiarray")
_NUMERIC = ("numpy.core.numeric", "numpy._core.numeric")
_BUILTINS = ("builtins", "__builtin__")
_INDEXES = ("pandas", *(f"pandas.core.indexes.{x}" for x in ("base", "range", "numeric")))
_INDEX = ("Index", "Int64Index", "UInt64Index", "Float64Index", "RangeIndex", "NumericIndex")
_STRINGS = ("pandas", "pandas.arrays", "pandas.core.arrays.string_")
_ARROW = ("pandas.arrays", "pandas.core.arrays.string_arrow")
_CATEGORIES = ("pandas", "pandas.core.arrays.categorical", "pandas.core.dtypes.dtypes")

ALLOWED: Mapping[tuple[str, str], str] = {
    **{(m, "DataFrame"): "frame" for m in ("pandas", "pandas.core.frame")},
    ("pandas.core.internals.managers", "BlockManager"): "manager",
    ("pandas._libs.internals", "_unpickle_block"): "block",
    ("pandas.core.internals.blocks", "new_block"): "block",
    ("functools", "partial"): "partial",
    ("pandas._libs.internals", "BlockPlacement"): "placement",
    ("pandas.core.indexes.base", "_new_Index"): "index",
    **{(m, name): "kind of index" for m in _INDEXES for name in _INDEX},
    **{(m, "_reconstruct"): "array" for m in _ARRAYS},
    **{(m, "_frombuffer"): "buffer" for m in _NUMERIC},
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    **{(m, "slice"): "slice" for m in _BUILTINS},
    **{(m, "bytearray"): "bytes" for m in _BUILTINS},
    ("_codecs", "encode"): "bytes",
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"): "backed",
    **{(m, "StringArray"): "strings" for m in _STRINGS},
    **{(m, "StringDtype"): "kind of text" for m in _STRINGS},
    **{(m, "Categorical"): "categorical" for m in _CATEGORIES},
    **{(m, "CategoricalDtype"): "categories" for m in _CATEGORIES},
    **{(m, "ArrowStringArray"): "texts" for m in _ARROW},
    **{(m, "NA"): "missing" for m in ("pandas", "pandas._libs.missing")},
    ("pyarrow.lib", "_restore_array"): "arrow",
    ("pyarrow.lib", "chunked_array"): "chunks",
    ("pyarrow.lib", "type_for_alias"): "arrow type",
    ("pyarrow.lib", "py_buffer"): "arrow buffer",
}
"""What a data frame's pickle may name, and the piece that stands for it."""


class Refused(Exception):
    """The pickle asks for something that is not on the list."""


class Piece:
    """What a name of the list was called with, and what state it was given. It does nothing."""

    __slots__ = ("args", "state")
    what: ClassVar[str] = ""

    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> Self:
        """The piece that remembers its arguments, called or made by a pickle's NEWOBJ."""
        self = super().__new__(cls)
        self.args, self.state = args, None
        return self

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Partial(Piece):
    """What pandas 1.3 wraps the making of a block in: calling it gives the piece of a block."""

    __slots__ = ()
    what = "partial"

    def __call__(self, *args: Any) -> Piece:
        return _PIECES["block"](*args)


_PIECES: dict[str, type[Piece]] = {
    what: type(f"Piece_{what.replace(' ', '_')}", (Piece,), {"__slots__": (), "what": what})
    for what in sorted(set(ALLOWED.values()))
}
_PIECES["partial"] = _Partial


class _Unpickler(pickle.Unpickler):
    """Builds the tree of pieces; every name goes through the list."""

    def find_class(self, module: str, name: str) -> Any:
        """The piece that stands for a name."""
        what = ALLOWED.get((module, name))
        if what is None:
            raise Refused(f"{module}.{name}")
        return None if what == "missing" else _PIECES[what]

    def persistent_load(self, pid: Any) -> Never:
        """Nothing: a pickle of a data frame refers to nothing outside itself."""
        raise Refused("a persistent id")


def load(data: bytes) -> Any:
    """The tree that a pickle builds, of plain containers, texts, numbers and pieces.

    Raises Refused for a name that is not on the list, and whatever a broken pickle causes.
    """
    return _Unpickler(io.BytesIO(data)).load()
