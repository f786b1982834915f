"""Predictions of a model for the cache tasks: one line an item, aligned with the data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.read.place import Place, kind
from karat.read.records import read_records
from karat.read.source import Source
from karat.run.predicting import Say, Write, need_models

if TYPE_CHECKING:
    from karat.models.loading import Settings
    from karat.models.running import Pace


class _Text(msgspec.Struct, gc=False):
    text: str


class _Pair(_Text, gc=False):
    text_pair: str


SCHEMAS: Mapping[str, type[_Text]] = {"text-classification": _Text, "nli": _Pair, "ner": _Text}


def read_texts(task: str, name: str) -> list[list[str]]:
    """The texts of the data, a list a field. A DataError lists every record that has none."""
    source, problems = Source.of(name), Problems()
    problems.take_all(source.check())
    fields = SCHEMAS[task].__struct_fields__

    def diagnose(record: Mapping[str, Any], place: Place) -> None:
        for field in fields:
            if not isinstance(record.get(field), str):
                said = f"a {kind(record.get(field))} where a text is needed"
                place.add("text-missing", said, field)

    batches = read_records(source, SCHEMAS[task], problems, diagnose) if not problems.errors else ()
    rows = [row for batch in batches for row in batch.rows]
    if problems.errors:
        raise DataError(problems)
    return [[getattr(row, field) for row in rows] for field in fields]


def predict_cache(
    settings: Settings,
    task: str,
    name: str,
    out: Path,
    pace: Pace,
    *,
    resume: bool,
    say: Say,
    write: Write,
) -> list[Path]:
    """The file that was written; none where a shard alone was run."""
    need_models()
    from karat.models.caches import Classes, Entities
    from karat.models.journal import Journal
    from karat.models.loading import load
    from karat.models.running import rows_of

    texts = read_texts(task, name)
    loaded = load(settings, "tokens" if task == "ner" else "classes")
    if task == "ner" and not loaded.encoder.tokenizer.is_fast:
        raise UsageError("entities need a fast tokenizer, which knows where its tokens stand")
    work: Classes | Entities
    if task == "ner":
        work = Entities(loaded, texts[0])
    else:
        work = Classes(loaded, texts[0], texts[1] if task == "nli" else None)
    say(f"{settings.name}: {loaded.model.config.model_type}, {_classes(loaded.model.config)}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with Journal(out, pace.shard, resume=resume, say=say) as journal:
        rows, notes = rows_of(work, loaded.identity(), settings, pace, journal, task)
        if loaded.encoder.truncated:
            notes.append(f"texts cut to {loaded.encoder.limit} tokens: {loaded.encoder.truncated}")
        for note in (*loaded.notes, *notes):
            say(f"note: {note}")
        if rows is None:
            journal.wait_for_others()
            return []
        write(out, _lines(work.records(rows)))
        journal.clear()
    return [out]


def _classes(config: Any) -> str:
    labels = [str(config.id2label[i]) for i in range(config.num_labels)]
    shown = ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
    return f"{len(labels)} classes: {shown}"


def _lines(records: Sequence[dict[str, Any]]) -> bytes:
    """The records as JSON lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
