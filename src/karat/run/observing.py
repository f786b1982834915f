"""Both sides of a stress run in columns: what the task saw, and texts, metadata and embeddings."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import FloatArray
from karat.model.problem import Problems
from karat.model.seen import Seen
from karat.model.task import Card, Declared, Request
from karat.read.place import Place
from karat.read.records import Records, pass_over
from karat.suite.observed import Observed

TEXTS: Mapping[str, tuple[str, ...]] = {
    "Text Classification": ("text",),
    "Natural Language Inference": ("text", "text_pair"),
    "Named Entity Recognition": ("text",),
}
"""Task, as configurations call it, -> its text keys; the others have an image."""

MOST_LEVELS = 50
"""A column of texts with more different values is no category, unless it was declared."""

META = "meta"
NOT_IMAGES = ("timestamp", "label")


def observe(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Observed]:
    """Both sides by name, empty where they have errors."""
    home = importlib.import_module(f"{card.module.rpartition('.')[0]}.observe")
    seen: dict[str, Seen] = home.observe(card, requests, configuration, problems)
    if problems.errors or len(seen) < len(requests):
        return {}
    raw = {name: _read(card, request, seen[name].n) for name, request in requests.items()}
    declared = next(iter(requests.values())).declared
    kinds = _kinds(declared, list(raw.values()))
    return {
        name: Observed(
            seen[name],
            texts=one.texts,
            images=one.images,
            numeric={key: _numbers(one.meta.get(key), one.n) for key in kinds[0]},
            categorical={key: _levels(one.meta.get(key), one.n) for key in kinds[1]},
            embeddings=one.vectors,
        )
        for name, one in raw.items()
    }


@dataclass
class _Raw:
    """One data file as lists, one entry a row; `meta` has a list for each key that occurs."""

    n: int = 0
    texts: dict[str, list[str]] = field(default_factory=dict)
    images: list[str] | None = None
    meta: dict[str, list[Any]] = field(default_factory=dict)
    vectors: dict[str, FloatArray] = field(default_factory=dict)


def _read(card: Card, request: Request, rows: int) -> _Raw:
    """The data file of a side, which was checked before."""
    source = request.gold[0]
    texts = TEXTS.get(card.config_name or "", ())
    image = "" if texts else _image_key(source.peek().first)
    names = [*texts, *((image,) if image else ()), *request.declared.embeddings]
    kinds = [str | None] * (len(texts) + bool(image))
    vector = list[float] | None
    schema = msgspec.defstruct(
        "Row",
        [
            (META, dict[str, Any] | None, None),
            *((f"f{i}", kinds[i] if i < len(kinds) else vector, None) for i in range(len(names))),
        ],
        rename={f"f{i}": name for i, name in enumerate(names)},
    )
    out = _Raw(rows)
    columns: list[list[Any]] = [[] for _ in names]
    for batch in Records(source, schema, Problems(), pass_over):
        for i, column in enumerate(columns):
            values = [getattr(row, f"f{i}") for row in batch.rows]
            if i < len(kinds):
                column.extend(values)
            else:
                column.append(np.array(values, dtype=np.float64))
        _take_meta(out.meta, [getattr(row, META) for row in batch.rows], batch.first)
    for values in out.meta.values():
        values.extend([None] * (rows - len(values)))
    out.texts = {
        key: [t or "" for t in column] for key, column in zip(texts, columns, strict=False)
    }
    if image:
        out.images = [name or "" for name in columns[0]]
    start = len(kinds)
    out.vectors = {
        key: np.concatenate(blocks)
        for key, blocks in zip(names[start:], columns[start:], strict=True)
        if blocks
    }
    return out


def _take_meta(found: dict[str, list[Any]], rows: Sequence[Any], first: int) -> None:
    """Add the metadata of the next rows to its columns."""
    keys = set(found).union(*(row for row in rows if row))
    for key in sorted(keys):
        column = found.setdefault(key, [])
        column += [None] * (first - len(column))
        column += [row.get(key) if row else None for row in rows]


def _image_key(first: Any) -> str:
    """The key that locates the image: the first one with a text, `image_path` before all."""
    if not isinstance(first, dict) or isinstance(first.get("image_path"), str):
        return "image_path"
    keys = (k for k, v in first.items() if isinstance(v, str) and k not in NOT_IMAGES)
    return next(keys, "image_path")


def _kinds(declared: Declared, sides: Sequence[_Raw]) -> tuple[list[str], list[str]]:
    """(numeric, categorical) names: as declared, or where nothing is, told from the values."""
    if declared.numeric or declared.categorical:
        return list(declared.numeric), list(declared.categorical)
    numeric, categorical = [], []
    for key in sorted(set().union(*(side.meta for side in sides))):
        values = [v for side in sides for v in side.meta.get(key, ()) if v is not None]
        kinds = set(map(type, values))
        if kinds and kinds <= {int, float}:
            numeric.append(key)
        elif kinds and kinds <= {str, bool} and len(set(values)) <= MOST_LEVELS:
            categorical.append(key)
    return numeric, categorical


def _numbers(column: Sequence[Any] | None, n: int) -> FloatArray:
    held = column or [None] * n
    good = (v if type(v) in (int, float) else np.nan for v in held)
    return np.fromiter(good, np.float64, n)


def _levels(column: Sequence[Any] | None, n: int) -> list[str | None]:
    held = column or [None] * n
    return [v if v is None or isinstance(v, str) else _named(v) for v in held]


def _named(value: Any) -> str:
    return msgspec.json.encode(value).decode()
