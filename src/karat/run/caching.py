"""Predictions of a model for the cache tasks: one line an item, aligned with the data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.read.place import kind
from karat.read.source import Source
from karat.run.predicting import Say, Write, need_models

if TYPE_CHECKING:
    from karat.models.loading import Settings
    from karat.models.running import Pace

FIELDS = {
    "text-classification": ("text",),
    "nli": ("text", "text_pair"),
    "ner": ("text",),
}


def read_texts(task: str, name: str) -> list[list[str]]:
    """The texts of the data, a list a field. A DataError lists every record that has none."""
    source, problems = Source.of(name), Problems()
    for fault in source.check():
        problems.take(fault)
    fields = FIELDS[task]
    columns: list[list[str]] = [[] for _ in fields]
    for record, row in enumerate(_rows(source, problems) if not problems.errors else ()):
        for field, column in zip(fields, columns, strict=True):
            value = row.get(field) if isinstance(row, dict) else None
            if isinstance(value, str):
                column.append(value)
            else:
                text = f"a {kind(value)} where a text is needed"
                problems.add("text-missing", text, file=name, record=record, key=field)
    if problems.errors:
        raise DataError(problems)
    return columns


def _rows(source: Source, problems: Problems) -> list[Any]:
    data = source.data()
    try:
        if data.lstrip()[:1] == b"[":
            rows: list[Any] = json.loads(data)
            return rows
        return [json.loads(line) for line in data.splitlines()]
    except (ValueError, RecursionError) as error:
        problems.add("json-syntax", f"not valid JSON: {error}", file=source.name)
        return []


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
    with Journal(out, pace.shard, resume=resume) as journal:
        rows, notes = rows_of(work, loaded.identity(), settings, pace, journal, task)
        if loaded.encoder.truncated:
            notes.append(
                f"{loaded.encoder.truncated} texts were cut to {loaded.encoder.limit} tokens"
            )
        for note in (*loaded.notes, *notes):
            say(f"note: {note}")
        if rows is None:
            say(f"part written: {journal.path}")
            say("when all parts lie beside it, run again with --resume and without --shard")
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
