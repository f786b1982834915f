"""Every row that a stress test warns of or fails on, as comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from karat.model.suite import FailingRow
from karat.present.csvfile import harmless

COLUMNS = ("file", "line", "index", "test", "subject", "status")


def render(rows: Sequence[FailingRow]) -> bytes:
    """A line a row and case, in the order of the tests; `line` counts from 1, `index` from 0."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for one in rows:
        place = one.row
        told = (place.file, place.line, place.index, one.test, one.subject, one.status)
        writer.writerow([harmless("" if value is None else value) for value in told])
    return text.getvalue().encode()
