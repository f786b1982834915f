"""Checks of declared embeddings: present in every row, of one length, not all zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from karat.model.problem import SHOWN_PER_CODE
from karat.read.place import Place


class EmbeddingCheck:
    """Watches one embedding while a file is read. `size` is its length in the first row."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.size: int | None = None
        self._first: Place | None = None
        self._absent: list[Place] = []
        self._missing = 0

    def add(self, values: list[Any], place: Callable[[int], Place]) -> None:
        """Take the values of the next rows; typed decoding saw that they are lists of numbers."""
        for i, value in enumerate(values):
            if value.__class__ is not list or not value:
                self._missing += 1
                if self.size is not None:
                    self._report_missing(place(i))
                elif len(self._absent) < SHOWN_PER_CODE:
                    self._absent.append(place(i))
                continue
            if self.size is None:
                self.size, self._first = len(value), place(i)
            if len(value) != self.size:
                self._report_length(len(value), place(i))
            elif not any(value):
                text = "all values are 0; cosine distance is undefined for this row"
                place(i).add("embedding-zero", text, self.name, severity="warning")

    def finish(self, whole: Place, rows: int) -> None:
        """Report the rows without the embedding, or the whole file where none has it."""
        if self.size is None and self._missing and self._missing == rows:
            text = f"embedding '{self.name}' is configured but no row has it"
            whole.add("embedding-missing", text, self.name)
            return
        for place in self._absent:
            self._report_missing(place)

    def _report_missing(self, place: Place) -> None:
        text = f"embedding '{self.name}' is configured but missing here"
        place.add("embedding-missing", text, self.name)

    def _report_length(self, length: int, place: Place) -> None:
        assert self._first is not None
        first = self._first
        where = f"line {first.line}" if first.line is not None else f"record {first.record}"
        place.add("embedding-length", f"length {length}, but {where} has {self.size}", self.name)
