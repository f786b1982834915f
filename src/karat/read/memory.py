"""What is in memory already: rows (lists of dicts, pandas, polars, Arrow), and JSON objects."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from karat.errors import MissingExtra, UsageError


def rows_of(thing: Any) -> Sequence[Any]:
    """The rows of a list of dicts or of a data frame, as dicts.

    A missing cell of a data frame is a missing key: frames cannot tell the two apart.
    """
    if hasattr(thing, "to_dict") and hasattr(thing, "iloc"):
        # Whole numbers beside missing cells are floats in pandas until the types are refined.
        return [_without_gaps(row) for row in thing.convert_dtypes().to_dict("records")]
    if hasattr(thing, "collect_schema") and hasattr(thing, "collect"):
        thing = thing.collect()  # a lazy frame of polars
    if hasattr(thing, "to_dicts"):
        return [_without_gaps(row) for row in thing.to_dicts()]
    if hasattr(thing, "to_pylist"):
        return [_without_gaps(row) for row in thing.to_pylist()]
    if hasattr(thing, "__arrow_c_stream__"):
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra("reading an Arrow stream", "arrow") from None
        return [_without_gaps(row) for row in pa.table(thing).to_pylist()]
    if isinstance(thing, Sequence):
        return thing
    if not hasattr(thing, "__iter__"):
        raise UsageError(
            f"cannot read rows from a {type(thing).__name__}",
            help="give a path, bytes, a dict, a list of dicts or a data frame",
        )
    return list(thing)


def document_of(thing: Mapping[str, Any]) -> bytes:
    """The JSON text of an object in memory, which is read as a file of the same content is."""
    try:
        return json.dumps(thing, default=_plain_only).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"a {type(thing).__name__} that is no JSON document: {error}") from None


def _plain_only(value: Any) -> Any:
    """What JSON can hold instead of a value. Raises TypeError where there is nothing."""
    changed = plain(value)
    if changed is value:
        raise TypeError(f"it holds a {type(value).__name__}")
    return changed


def plain(value: Any) -> Any:
    """`value` with arrays as lists, times as text and foreign numbers as Python's."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    # numpy.float64 is a float and numpy.str_ a str, but typed decoding wants Python's own.
    for own in (float, int, str):
        if isinstance(value, own):
            return own(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dt.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if hasattr(value, "as_py"):
        return plain(value.as_py())
    return value


def digest_of_rows(rows: Sequence[Any]) -> str:
    """The sha256 of the JSON encoding of the rows, one line each."""
    encoder = msgspec.json.Encoder(enc_hook=_encodable)
    running = hashlib.sha256()
    for row in rows:
        try:
            running.update(encoder.encode(row))
        except (UnicodeEncodeError, TypeError, ValueError):
            running.update(repr(row).encode("utf-8", "surrogatepass"))
        running.update(b"\n")
    return running.hexdigest()


def _encodable(value: Any) -> Any:
    changed = plain(value)
    return repr(value) if changed is value else changed


def _without_gaps(row: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): plain(value) for key, value in row.items() if not _is_gap(value)}


def _is_gap(value: Any) -> bool:
    """Whether a cell is missing: None, NaN, NaT, NA."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")
