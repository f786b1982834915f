"""Checks of record fields that several tasks share, with their messages."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from karat.model.pairs import CodeArray, IntArray
from karat.read.fields import inside
from karat.read.place import Place, Spoiled, kind, printable, show

FEWEST_ROWS = 20
"""With fewer rows a model may well find nothing."""

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?", re.ASCII)
_DIGITS = (0, 1, 2, 3, 5, 6, 8, 9)
_TIME_DIGITS = (11, 12, 14, 15, 17, 18)
_SEPARATORS = ((4, "-"), (7, "-"))
_TIME_SEPARATORS = ((10, " "), (13, ":"), (16, ":"))


def found(record: Mapping[str, Any], key: str, known: Collection[str] = ()) -> str:
    """The end of a "key is missing" message: a key of the record that may be meant, or nothing."""
    others = [name for name in record if name not in known]
    close = get_close_matches(key, others, n=1, cutoff=0.5)
    return f"; found '{printable(close[0])}'" if close else ""


def check_text(
    record: Mapping[str, Any], key: str, place: Place, known: Collection[str] = ()
) -> None:
    """Report a required text that is missing, null or no text."""
    if key not in record:
        message = f"required key '{key}' is missing{found(record, key, known)}"
        place.add("text-missing", message, key)
    elif record[key] is None:
        place.add("text-null", "value is null; write an empty string if the text is empty", key)
    elif not isinstance(record[key], (str, Spoiled)):
        message = f"value is a {kind(record[key])}; a string is required"
        place.add("text-type", message, key)


def check_timestamp(record: Mapping[str, Any], place: Place) -> None:
    """Report a timestamp of another format, or one that is not on the calendar."""
    value = record.get("timestamp")
    if value is None or isinstance(value, Spoiled):
        return
    if not isinstance(value, str) or not TIMESTAMP.fullmatch(value):
        message = f"{show(value)} is not YYYY-MM-DD or YYYY-MM-DD HH:MM:SS"
        place.add("timestamp-format", message, "timestamp")
        return
    try:
        dt.datetime.fromisoformat(value)
    except ValueError:
        place.add("timestamp-value", f"{show(value)} is not a real date or time", "timestamp")


def check_meta(record: Mapping[str, Any], numeric: Iterable[str], place: Place) -> None:
    """Report metadata that are no object, and declared numbers that are none."""
    meta = record.get("meta")
    if meta is None or isinstance(meta, Spoiled):
        return
    if not isinstance(meta, dict):
        place.add("meta-type", f"value is a {kind(meta)}; an object is required", "meta")
        return
    for name in numeric:
        value = meta.get(name)
        if not is_number_or_missing(value):
            message = f"{show(value)} is a {kind(value)} but '{name}' is declared numeric"
            place.add("meta-numeric", message, f"meta.{name}")


def is_number_or_missing(value: Any) -> bool:
    """Whether a declared number may have this value."""
    return kind(value) in ("integer", "float", "null", "UnsetType")


def check_embedding(record: Mapping[str, Any], name: str, place: Place) -> bool:
    """Whether a declared embedding is a list of numbers; what is wrong is reported."""
    value = inside(record, name)
    if kind(value) in ("null", "UnsetType"):
        place.add("embedding-missing", f"embedding '{name}' is configured but missing here", name)
        return False
    if not isinstance(value, list) or not value:
        what = "an empty list" if value == [] else f"a {kind(value)}"
        place.add("embedding-type", f"value is {what}; a list of numbers is required", name)
        return False
    for i, number in enumerate(value):
        if kind(number) not in ("integer", "float"):
            message = f"{show(number)} is a {kind(number)}; a number is required"
            place.add("embedding-type", message, f"{name}[{i}]")
            return False
    return True


def report_count(place: Place, predictions: int, rows: int, key: str) -> None:
    """Report that data and predictions differ in length; `place` is the prediction file."""
    if predictions != rows:
        message = (
            f"{predictions} predictions for {rows} data rows; "
            "row i of this file must belong to row i of the data"
        )
        place.add("count-mismatch", message, key)


def report_silence(place: Place, key: str, rows: int, labels: int) -> None:
    """Warn that nothing is predicted in any row; `labels` are what there is to be found."""
    if rows >= FEWEST_ROWS and labels:
        message = f"no row has a prediction, but the data has {labels} labels; was the model run?"
        place.add("predictions-empty", message, key, severity="warning")


def one_based(labels: IntArray | CodeArray, classes: int) -> str:
    """A hint at labels that all lie between 1 and the number of classes; else nothing."""
    known = labels[labels >= 0]
    if not len(known) or known.min() != 1 or known.max() != classes:
        return ""
    return f"all labels lie in 1..{classes}: if they count from 1, subtract 1"


def report_partial_labels(place: Place, missing: int, rows: int) -> None:
    """Warn that some rows have no label; `place` is the first of them."""
    message = f"{missing} of {rows} rows have no label; label tests use the others only"
    place.add("label-partial", message, "label", severity="warning")


def odd_timestamps(values: Sequence[Any]) -> list[int]:
    """Which of the texts may be no timestamp: shape and calendar are checked in one sweep."""
    where = [i for i, value in enumerate(values) if value.__class__ is str]
    texts = [values[i] for i in where]
    if not texts:
        return []
    try:
        packed = np.array(texts, dtype="S20")
    except UnicodeEncodeError:
        return [i for i in where if not TIMESTAMP.fullmatch(values[i])]
    cells = packed.view(np.uint8).reshape(len(texts), 20).astype(np.int16)
    size = (cells != 0).sum(axis=1)
    timed = size == 19
    good = timed | (size == 10)
    numbers = cells - ord("0")
    for at in _DIGITS:
        good &= (numbers[:, at] >= 0) & (numbers[:, at] <= 9)
    for at in _TIME_DIGITS:
        good &= ~timed | ((numbers[:, at] >= 0) & (numbers[:, at] <= 9))
    for at, mark in _SEPARATORS:
        good &= cells[:, at] == ord(mark)
    for at, mark in _TIME_SEPARATORS:
        good &= ~timed | (cells[:, at] == ord(mark))
    good &= _on_the_calendar(numbers, timed)
    return [where[i] for i in np.flatnonzero(~good)]


def _on_the_calendar(numbers: Any, timed: Any) -> Any:
    """Whether year, month, day and time exist; only sensible where all of them are digits."""

    def two(at: int) -> Any:
        return 10 * numbers[:, at] + numbers[:, at + 1]

    year, month, day = 100 * two(0) + two(2), two(5), two(8)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    days = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    last = days[np.clip(month, 0, 12)] + ((month == 2) & leap)
    date = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= last)
    time = (two(11) <= 23) & (two(14) <= 59) & (two(17) <= 59)
    return date & (~timed | time)
