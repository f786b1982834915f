"""The rows of the data as columns, and every defect that a row can have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from karat.model.problem import Problems
from karat.read.checks import found
from karat.read.place import Place, kind, show

LABELS = ("stereotype", "anti-stereotype", "unrelated")
DOMAINS = ("gender", "profession", "race", "religion")
CANDIDATES = (1, 2, 3)

REQUIRED = (
    "id",
    "target",
    "bias_type",
    "context",
    *(f"c{i}_{part}" for i in CANDIDATES for part in ("id", "sentence", "gold_label")),
)
FILLED = ("id", "target", "bias_type")
"""The names and ids of a row, which no empty text can be."""

LABEL_LISTS = tuple(f"c{i}_labels" for i in CANDIDATES)
OPTIONAL = ("target_original", *(f"c{i}_word" for i in CANDIDATES), *LABEL_LISTS)
_EXTRA = re.compile(r"c(\d+)_id")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of one section of one file. `line_of` gives the physical line of a row, if any."""

    file: str
    section: str
    columns: Mapping[str, list[Any]]
    n: int
    line_of: Callable[[int], int | None] = field(default=lambda _: None)
    records: list[int] | None = None

    def place(self, row: int, problems: Problems) -> Place:
        """Where a row stands."""
        record = row if self.records is None else self.records[row]
        return Place(problems, self.file, self.line_of(record), record)

    def record(self, row: int) -> dict[str, Any]:
        """A row with its fields; a missing value is a missing field."""
        found = {name: column[row] for name, column in self.columns.items()}
        return {name: value for name, value in found.items() if value is not None}


def diagnose(record: Mapping[str, Any], place: Place) -> None:
    """Report every defect of a row."""
    for key in REQUIRED:
        value = record.get(key)
        if value is None:
            code = "candidates-count" if key in ("c2_id", "c3_id") else "field-missing"
            place.add(code, f"required field '{key}' is missing{found(record, key, REQUIRED)}", key)
        elif not isinstance(value, str):
            place.add("field-type", f"value is a {kind(value)}; a text is required", key)
    more = more_candidates(record)
    if more:
        text = f"an example has three candidates; this one also has {', '.join(more)}"
        place.add("candidates-count", text, more[0])
    labels = [record.get(f"c{i}_gold_label") for i in CANDIDATES]
    check_labels(labels, place, [f"c{i}_gold_label" for i in CANDIDATES])
    check_filled(record, place)


def more_candidates(keys: Iterable[str]) -> list[str]:
    """The keys that name a fourth candidate, or more."""
    return [key for key in keys if (m := _EXTRA.fullmatch(key)) and int(m[1]) > len(CANDIDATES)]


def check_labels(labels: list[Any], place: Place, keys: list[str]) -> None:
    """Report gold labels that are not one of each kind."""
    for key, label in zip(keys, labels, strict=True):
        if isinstance(label, str) and label not in LABELS:
            text = f"{show(label)} is not one of {', '.join(LABELS)}"
            place.add("label-unknown", text, key)
    for label, times in Counter(x for x in labels if isinstance(x, str) and x in LABELS).items():
        if times > 1:
            text = f"{times} candidates are labelled {label}; each label is needed once"
            place.add("label-repeated", text, keys[labels.index(label)])


def check_filled(record: Mapping[str, Any], place: Place) -> None:
    """Report texts that are empty where a name or an id is needed."""
    for key in FILLED:
        if record.get(key) == "":
            place.add("field-empty", f"'{key}' is empty", key)


def check_sheet(sheet: Sheet, problems: Problems) -> bool:
    """Whether all rows are sound; the defects of the others are reported."""
    before = problems.errors
    columns = sheet.columns
    lacking = [key for key in REQUIRED if key not in columns]
    if lacking:
        names = ", ".join(lacking)
        hint = f"it has {', '.join(list(columns)[:12])}"
        problems.add("column-missing", f"there is no column {names}", file=sheet.file, help=hint)
        return False
    texts = all(set(map(type, columns[key])) <= {str} for key in REQUIRED)
    named = all("" not in columns[key] for key in FILLED)
    triples = zip(*(columns[f"c{i}_gold_label"] for i in CANDIDATES), strict=True)
    three = not more_candidates(columns)
    if not (texts and named and three and all(sorted(t) == sorted(LABELS) for t in set(triples))):
        for row in range(sheet.n):
            diagnose(sheet.record(row), sheet.place(row, problems))
    if problems.errors == before:
        _check_ids(sheet, problems)
    return problems.errors == before


def _check_ids(sheet: Sheet, problems: Problems) -> None:
    """Report ids of examples or candidates that occur twice."""
    for keys in (("id",), tuple(f"c{i}_id" for i in CANDIDATES)):
        everything = [one for key in keys for one in sheet.columns[key]]
        if len(set(everything)) == len(everything):
            continue
        seen: dict[str, int] = {}
        for row in range(sheet.n):
            for key in keys:
                one = sheet.columns[key][row]
                if one in seen:
                    text = f"id {show(one)} was used before, in record {seen[one]}"
                    sheet.place(row, problems).add("id-repeated", text, key)
                seen[one] = row
