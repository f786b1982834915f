"""What can be wrong with data and predictions of the classification tasks, and how it is said.

The `diagnose` of gold and of vectors names every defect of one record; the sweeps over whole
columns only pick the rows that need them. The suspicions are about a file as a whole.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.model.pairs import CodeArray, FloatArray
from karat.model.task import Declared
from karat.read.chance import beyond_chance
from karat.read.checks import check_embedding, check_meta, check_text, check_timestamp, found
from karat.read.fields import check_paths
from karat.read.images import check_image
from karat.read.place import Place, Spoiled, Written, kind, show
from karat.read.probabilities import ABOVE_ONE, UsualLength, report_outside, total_of
from karat.tasks.classification.records import KNOWN, LARGEST_LABEL, REQUIRED_TEXTS

EXPONENT = re.compile(r"\d[eE]")
FRACTION = re.compile(r"\.(\d+)")

SLACK = 1e-3
MOST_SLACK = 0.02
ADDING = 1e-12
"""Decimals are no doubles: a sum of them may be off by so much beside their rounding."""

GAIN = 0.25
"""So much accuracy must be won by moving rows or renaming classes before it is suspicious."""

FEWEST_ROWS = 20
MOST_MOVES = 12
"""So many renamed classes are listed."""


@dataclass(frozen=True, slots=True)
class GoldChecks:
    """What a line of data must hold by its task, the configuration and the wanted fields."""

    task: str
    declared: Declared = field(default_factory=Declared)
    wanted: tuple[str, ...] = ()

    def diagnose(self, record: dict[str, Any], place: Place) -> None:
        """Report every defect of a record that typed decoding refused."""
        self.look(record, place)
        for name in self.declared.embeddings:
            check_embedding(record, name, place)

    def look(self, record: dict[str, Any], place: Place) -> None:
        """Report every defect of a record, but leave embeddings to their own check."""
        known = (*KNOWN, *self.declared.embeddings)
        for key in REQUIRED_TEXTS[self.task]:
            check_text(record, key, place, known)
        if not REQUIRED_TEXTS[self.task]:
            check_image(record, place)
        check_label(record, place)
        check_timestamp(record, place)
        check_meta(record, self.declared.numeric, place)
        check_paths(record, self.wanted, place)


def check_label(record: Mapping[str, Any], place: Place) -> None:
    """Report a label that is no class index."""
    label = record.get("label")
    if label is None or isinstance(label, Spoiled):
        return
    if kind(label) != "integer":
        message = f"{show(label)} is a {kind(label)}; an integer class index is required"
        place.add("label-type", message, "label")
    elif label < 0:
        place.add("label-range", f"{label} is negative; labels run from 0", "label")
    elif label > LARGEST_LABEL:
        place.add("label-range", f"{show(label)} is too large for a class index", "label")


class Vectors:
    """Checks probability vectors; `lengths` counts how long those of the whole file are."""

    def __init__(self, lengths: Callable[[], Counter[int]], key: str = "probabilities") -> None:
        self.key = key
        self.usual = UsualLength(lengths, least=2)

    def diagnose(self, record: dict[str, Any], place: Place) -> None:
        """Report every defect of one prediction."""
        if self.key not in record:
            message = f"required key '{self.key}' is missing{found(record, self.key, KNOWN)}"
            place.add("prediction-missing", message, self.key)
            return
        self.check(record[self.key], place)

    def odd(self, values: FloatArray) -> list[int]:
        """Which rows of a matrix of probabilities need a look."""
        if values.shape[1] < 2:
            return list(range(len(values)))
        sums = values @ np.ones(values.shape[1])
        bad = ~(np.abs(sums - 1) <= SLACK)
        if not (values.min(initial=0.0) >= 0 and values.max(initial=0.0) <= 1):
            bad |= (values.min(axis=1) < 0) | (values.max(axis=1) > 1 + ABOVE_ONE)
        return [int(i) for i in np.flatnonzero(bad)]

    def check(self, value: Any, place: Place) -> None:
        """Report what is wrong with one vector: its type, else its length, else its values."""
        if isinstance(value, Spoiled):
            return
        if not isinstance(value, list):
            self._wrong_type(value, place)
        elif not value:
            place.add("probabilities-empty", "list is empty", self.key)
        elif self._elements_are_numbers(value, place):
            self._check_numbers(value, place)

    def _wrong_type(self, value: Any, place: Place) -> None:
        if value is None:
            message = "value is null; a list of class probabilities is required"
            place.add("probabilities-null", message, self.key)
            return
        if isinstance(value, dict):
            message = "value is an object; write a list ordered by class index"
        elif isinstance(value, str):
            text = value if len(value) <= 60 else value[:59] + "…"
            message = f'value is a string ("{text}"); write a JSON list of numbers'
        else:
            message = f"value is a {kind(value)} ({show(value)}); write a JSON list of numbers"
        place.add("probabilities-type", message, self.key)

    def _elements_are_numbers(self, value: list[Any], place: Place) -> bool:
        good = True
        for i, item in enumerate(value):
            if kind(item) not in ("integer", "float"):
                message = f"{show(item)} is a {kind(item)}; a number is required"
                place.add("probability-type", message, f"{self.key}[{i}]")
                good = False
            good = good and not isinstance(item, Spoiled)
        return good

    def _check_numbers(self, value: list[Any], place: Place) -> None:
        if len(value) == 1:
            message = "only one value; for a binary task write [1-p, p]"
            place.add("probabilities-one-class", message, self.key)
            return
        if self.usual.report(len(value), self.key, place):
            return
        total = total_of(value)
        if not report_outside(value, self.key, place) and abs(total - 1) > slack(value) + ADDING:
            message = f"sum is {total:g}; it must be 1 (allowed slack {slack(value):g})"
            place.add("probabilities-sum", message, self.key)


def slack(value: Sequence[Any]) -> float:
    """How far a sum may be from 1: the worst rounding error of the decimals written, capped."""
    return _slack(len(value), max(map(decimals, value)))


def _slack(classes: int, places: int) -> float:
    return max(SLACK, min(MOST_SLACK, classes / 2 * 10.0**-places))


def well_rounded(text: Any, value: Sequence[float]) -> bool:
    """Whether a sum is off by no more than the rounding that the text of a record shows.

    This only spares most records the slow look: one with exponents or other numbers may get it.
    """
    if not isinstance(text, str) or EXPONENT.search(text):
        return False
    places = max(map(len, FRACTION.findall(text)), default=0)
    inside = min(value) >= 0 and max(value) <= 1
    return inside and abs(total_of(value) - 1) <= _slack(len(value), places) + ADDING


def decimals(number: Any) -> int:
    """How many decimals a number was written with."""
    if not isinstance(number, float):
        return 0
    text = (number.text if isinstance(number, Written) else repr(float(number))).lower()
    mantissa, _, exponent = text.partition("e")
    return max(0, len(mantissa.partition(".")[2]) - int(exponent or 0))


def suspect_order(
    labels: CodeArray, top: CodeArray, classes: int, constant: bool, place: Place
) -> None:
    """Warn where predictions seem not to belong to the rows or classes they stand with."""
    if constant and len(top) > 1:
        message = "every row has the same probabilities; was the model run?"
        place.add("probabilities-constant", message, "probabilities", severity="warning")
        return
    known = (labels >= 0) & (labels < classes)
    n = int(known.sum())
    if n < FEWEST_ROWS or len(labels) != len(top):
        return
    accuracy = float((labels[known] == top[known]).mean())
    if accuracy > 1 - GAIN:
        return
    shifted, by = _best_shift(labels, top, classes)
    renamed, moves = _best_renaming(labels[known], top[known], classes, accuracy)
    if max(shifted, renamed) - accuracy <= GAIN:
        return
    if renamed > shifted:
        code, cure = "classes-permuted", f"class indices are renamed {moves}; check the class order"
        hint = ""
    else:
        code, cure = "rows-shifted", f"predictions move by {by:+d} row; check the row order"
        hint = f"row i would take the prediction that now stands in row i{by:+d}"
    message = f"accuracy is {accuracy:.2f}, but {max(shifted, renamed):.2f} if {cure}"
    place.add(code, message, "probabilities", severity="warning", help=hint)


def _best_shift(labels: CodeArray, top: CodeArray, classes: int) -> tuple[float, int]:
    """The better accuracy if row i took prediction i + 1 or i - 1, and which; 0 if by chance."""

    def accuracy(gold: CodeArray, moved: CodeArray) -> float:
        known = (gold >= 0) & (gold < classes)
        gold, moved = gold[known], moved[known]
        if not beyond_chance(gold, moved, classes, math.log(2)):
            return 0.0
        return float((gold == moved).mean())

    return max((accuracy(labels[:-1], top[1:]), 1), (accuracy(labels[1:], top[:-1]), -1))


def _best_renaming(
    labels: CodeArray, top: CodeArray, classes: int, accuracy: float
) -> tuple[float, str]:
    """The best accuracy under another order of the classes, and that order; 0 if by chance."""
    # With few rows a class, some renaming always fits better by chance.
    if len(labels) < 5 * classes:
        return 0.0, ""
    table = np.bincount(top.astype(np.int64) * classes + labels, minlength=classes * classes)
    table = table.reshape(classes, classes)
    # An upper bound spares the assignment (and SciPy) where no renaming can win enough.
    if table.max(axis=1).sum() / len(labels) - accuracy <= GAIN:
        return 0.0, ""
    from scipy.optimize import linear_sum_assignment

    rows, renamed = linear_sum_assignment(-table)
    if not beyond_chance(labels, renamed[top], classes, math.lgamma(classes + 1)):
        return 0.0, ""
    best = float(table[rows, renamed].sum() / len(labels))
    moved = {int(a): int(b) for a, b in zip(rows, renamed, strict=True) if a != b}
    first = dict(list(moved.items())[:MOST_MOVES])
    return best, str(moved) if len(moved) <= MOST_MOVES else f"{str(first)[:-1]}, …}}"
