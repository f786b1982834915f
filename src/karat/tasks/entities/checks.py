"""What can be wrong with one record of entities, and how it is said.

`RecordChecks` names every defect of a record that typed decoding refused. Offsets that are sound
numbers are checked in columns, once it is known how ends were written (`offsets`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.model.pairs import CodeArray
from karat.model.task import Declared
from karat.read.checks import check_embedding, check_meta, check_text, check_timestamp, found
from karat.read.fields import check_paths
from karat.read.place import Place, Spoiled, kind, show
from karat.tasks.entities.records import FURTHEST, GOLD_KEY, KNOWN, SPACY_KEY, SPAN

BIO_TAG = re.compile(r"[BIOESLU]-(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RecordChecks:
    """What a record must hold: `data` says that it is a line of data, with a text."""

    key: str
    data: bool
    declared: Declared = field(default_factory=Declared)
    wanted: tuple[str, ...] = ()

    def diagnose(self, record: dict[str, Any], place: Place) -> None:
        """Report every defect of a record."""
        if not self.data:
            self._predictions(record, place)
            return
        check_text(record, "text", place, KNOWN)
        self.look(record, place)
        if record.get(self.key) is not None:
            check_entities(record[self.key], self.key, place)
        for name in self.declared.embeddings:
            check_embedding(record, name, place)

    def look(self, record: dict[str, Any], place: Place) -> None:
        """Report defects beside text and entities."""
        check_timestamp(record, place)
        check_meta(record, self.declared.numeric, place)
        check_paths(record, self.wanted, place)

    def _predictions(self, record: dict[str, Any], place: Place) -> None:
        if self.key not in record:
            known = [name for name in KNOWN if name != GOLD_KEY]
            message = f"required key '{self.key}' is missing{found(record, self.key, known)}"
            place.add("prediction-missing", message, self.key)
        elif record[self.key] is None:
            message = "value is null; write [] when nothing was predicted"
            place.add("prediction-null", message, self.key)
        else:
            check_entities(record[self.key], self.key, place)


def check_entities(value: Any, key: str, place: Place) -> None:
    """Report what is wrong with the entities under `key`."""
    if isinstance(value, Spoiled):
        return
    if not isinstance(value, list):
        message = f"value is a {kind(value)}; a list of entities is required"
        place.add("entities-type", message, key)
        return
    for i, entity in enumerate(value):
        path = f"{key}[{i}]"
        if not isinstance(entity, dict):
            message = f"value is a {kind(entity)}; an object with type and mentions is required"
            place.add("entity-type", message, path)
        elif key == SPACY_KEY:
            start, end, label = SPAN
            _check_type(entity, label, path, place)
            _check_span(entity, start, end, path, place)
        else:
            _check_type(entity, "type", path, place)
            _check_mentions(entity, path, place)


def _check_type(entity: Mapping[str, Any], name: str, path: str, place: Place) -> None:
    if name not in entity:
        place.add("entity-no-type", f"key '{name}' is missing{found(entity, name)}", path)
    elif not isinstance(entity[name], str):
        message = f"{show(entity[name])} is a {kind(entity[name])}; a string is required"
        place.add("entity-type", message, f"{path}.{name}")


def _check_mentions(entity: Mapping[str, Any], path: str, place: Place) -> None:
    path = f"{path}.mentions"
    mentions = entity.get("mentions")
    if not isinstance(mentions, list):
        hint = "" if "mentions" in entity else found(entity, "mentions", ("type",))
        place.add("mentions-missing", f"key 'mentions' must be a list of spans{hint}", path)
        return
    if not mentions:
        place.add("mentions-empty", "list is empty; an entity needs at least one mention", path)
    for i, mention in enumerate(mentions):
        here = f"{path}[{i}]"
        if isinstance(mention, dict):
            _check_span(mention, "start_offset", "end_offset", here, place)
        else:
            message = f"value is a {kind(mention)}; an object with two offsets is required"
            place.add("mention-type", message, here)


def _check_span(span: Mapping[str, Any], start: str, end: str, path: str, place: Place) -> None:
    sound = True
    for name in (start, end):
        value = span.get(name)
        if name not in span:
            message = f"key '{name}' is missing{found(span, name, (start, end))}"
            place.add("mention-no-offset", message, path)
            sound = False
        elif kind(value) != "integer":
            message = f"{show(value)} is a {kind(value)}; an integer is required"
            place.add("offset-type", message, f"{path}.{name}")
            sound = False
        elif abs(span[name]) > FURTHEST:
            place.add("offset-range", f"{show(value)} is too large for an offset", f"{path}.{name}")
            sound = False
    if sound and (wrong := misplaced(span[start], span[end], start, end)):
        place.add(*wrong, path)


def check_known(
    expected: Collection[str],
    types: Sequence[str],
    kind: CodeArray,
    place: Place,
    key: str | None = None,
) -> None:
    """Warn of predicted types that gold never has; `kind` are the types of all predicted spans."""
    if not expected:
        return
    counts = np.bincount(kind, minlength=len(types)).tolist()
    listed = ", ".join(sorted(expected)[:12])
    for name, count in zip(types, counts, strict=True):
        if count and name not in expected and not BIO_TAG.fullmatch(name):
            message = f"predicted type '{name}' ({count}x) never occurs in the labels ({listed})"
            place.add("entity-type-unknown", message, key, severity="warning")


def misplaced(
    first: int, last: int, start: str = "start_offset", end: str = "end_offset"
) -> tuple[str, str] | None:
    """(code, message) of a span that is wrong however ends are written, else None."""
    if first < 0:
        return "offset-range", f"{start} {first} is negative"
    if last < first:
        return "offset-order", f"{end} {last} lies before {start} {first}"
    return None
