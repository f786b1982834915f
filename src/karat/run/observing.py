"""Both sides of a stress run in columns: what the task saw, and texts, metadata and embeddings."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import FloatArray
from karat.model.problem import Problems
from karat.model.seen import Seen
from karat.model.task import Card, Declared, Request
from karat.read.images import key_of
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
_FLAT = re.compile(r'meta\.[^"\\\x00-\x1f]+')
"""A key that stands for one inside `meta`, of letters that typed decoding can look for."""

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
    source, declared = request.gold[0], request.declared
    first = source.peek().first
    texts = TEXTS.get(card.config_name or "", ()) or (key_of(first, NOT_IMAGES),)
    flat = _flat(declared, first)
    types: dict[str, Any] = {
        META: dict[str, Any] | None,
        **dict.fromkeys(flat, Any),
        **dict.fromkeys(texts, str | None),
        **dict.fromkeys(declared.embeddings, list[float] | None),
    }
    attributes = {name: f"f{i}" for i, name in enumerate(types)}
    schema = msgspec.defstruct(
        "Row",
        [(attributes[name], type_, None) for name, type_ in types.items()],
        rename={attribute: name for name, attribute in attributes.items()},
    )
    out = _Raw(rows, {key: [] for key in texts})
    vectors: dict[str, list[FloatArray]] = {name: [] for name in declared.embeddings}
    for batch in Records(source, schema, Problems(), pass_over):
        values = {n: [getattr(row, a) for row in batch.rows] for n, a in attributes.items()}
        for key in texts:
            out.texts[key] += [text or "" for text in values[key]]
        for name, blocks in vectors.items():
            blocks.append(np.array(values[name], dtype=np.float64))
        _take_meta(out.meta, _nested(values, flat), batch.first)
    for column in out.meta.values():
        column.extend([None] * (rows - len(column)))
    out.vectors = {name: np.concatenate(blocks) for name, blocks in vectors.items() if blocks}
    if card.config_name not in TEXTS:
        (out.images,) = out.texts.values()
        out.texts = {}
    return out


def _flat(declared: Declared, first: Any) -> tuple[str, ...]:
    """Keys such as `meta.channel`, which frames made of nested rows have in place of `meta`."""
    if not isinstance(first, dict) or isinstance(first.get(META), dict):
        return ()
    named = (f"{META}.{name}" for name in (*declared.numeric, *declared.categorical))
    return tuple(dict.fromkeys((*filter(_FLAT.fullmatch, first), *named)))


def _nested(values: Mapping[str, list[Any]], flat: Sequence[str]) -> list[dict[str, Any] | None]:
    """The metadata of each row; what stands flat is taken in."""
    if not flat:
        return values[META]
    names = [name.removeprefix(f"{META}.") for name in flat]
    extras = zip(*(values[name] for name in flat), strict=True)
    return [
        {**dict(zip(names, extra, strict=True)), **(own or {})}
        for own, extra in zip(values[META], extras, strict=True)
    ]


def _take_meta(found: dict[str, list[Any]], rows: Sequence[Any], first: int) -> None:
    """Add the metadata of the next rows to its columns."""
    keys = set(found).union(*(row for row in rows if row))
    for key in sorted(keys):
        column = found.setdefault(key, [])
        column += [None] * (first - len(column))
        column += [row.get(key) if row else None for row in rows]


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
