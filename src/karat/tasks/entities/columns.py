"""One file of entities as columns, in one pass over its batches; ends stay as they were written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, CodeArray, IntArray
from karat.model.problem import Problems
from karat.model.task import Request, Source
from karat.read.declared import DeclaredWatch
from karat.read.fields import Fields, Selected
from karat.read.numbering import Numbering
from karat.read.records import Batch, Records, read_records
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.entities.checks import RecordChecks
from karat.tasks.entities.ends import TextReader, Texts
from karat.tasks.entities.flat import Flattener
from karat.tasks.entities.records import (
    MENTION,
    SPACY_KEY,
    SPAN,
    gold_schema,
    prediction_schema,
)


@dataclass(frozen=True, slots=True)
class Written:
    """Mentions of one file as they were written, in file order.

    `entity` counts the entities of a file from 0, `first_entity[d]` is the first one of document
    d, `first_mention[e]` the first mention of entity e. `labelled[d]` says that document d has a
    list of entities at all.
    """

    reader: Records[Any]
    key: str
    doc: IntArray
    start: IntArray
    end: IntArray
    kind: CodeArray
    entity: IntArray
    first_entity: IntArray
    first_mention: IntArray
    types: tuple[str, ...]
    labelled: BoolArray

    @property
    def n(self) -> int:
        """How many documents there are."""
        return len(self.labelled)

    def told(self, ends: str) -> None:
        """Note how the ends of the file were read."""
        place = self.reader.place()
        place.add("end-convention", f"ends are {ends}", self.key, severity="note")

    def path(self, i: int) -> str:
        """The place of mention i inside its record."""
        entity = int(self.entity[i])
        number = entity - int(self.first_entity[self.doc[i]])
        if self.key == SPACY_KEY:
            return f"{self.key}[{number}]"
        return f"{self.key}[{number}].mentions[{i - int(self.first_mention[entity])}]"


class Collector:
    """The mentions of a file while it is read."""

    def __init__(
        self, reader: Records[Any], key: str, checks: RecordChecks, flat: Flattener
    ) -> None:
        self.reader, self.key, self.checks, self.flat = reader, key, checks, flat
        self.rows = 0
        self.number: Numbering[str] = Numbering()
        self.parts: dict[str, list[npt.NDArray[Any]]] = {}
        self.missing: list[int] = []
        self._start, self._end, self._type = map(attrgetter, SPAN if key == SPACY_KEY else MENTION)

    def add(self, batch: Batch[Any]) -> None:
        """Take the entities of the next batch; rows that could not be read leave a gap."""
        if batch.first > self.rows:
            self.skip(batch.first - self.rows)
        self.rows = batch.first + len(batch.rows)
        flat = self.flat.of(batch.rows)
        self.missing += [batch.first + i for i in flat.missing]
        if not flat.lengths.all():
            owner = np.repeat(np.arange(len(flat.sizes)), flat.sizes)
            for i in np.unique(owner[flat.lengths == 0]).tolist():
                self.checks.diagnose(batch.record(i), batch.place(i))
        count = len(flat.mentions)
        starts = np.fromiter(map(self._start, flat.mentions), np.int64, count)
        ends = np.fromiter(map(self._end, flat.mentions), np.int64, count)
        kinds = self.number.codes(list(map(self._type, flat.entities)))
        self._put(flat.sizes, flat.lengths, starts, ends, kinds)

    def _put(
        self, sizes: IntArray, lengths: IntArray, starts: IntArray, ends: IntArray, kinds: CodeArray
    ) -> None:
        for name, part in (
            ("sizes", sizes),
            ("lengths", lengths),
            ("start", starts),
            ("end", ends),
            ("kind", kinds),
        ):
            self.parts.setdefault(name, []).append(part)

    def skip(self, rows: int) -> None:
        """Take rows that could not be read."""
        none = np.zeros(0, dtype=np.int64)
        self._put(np.zeros(rows, dtype=np.int64), none, none, none, none.astype(np.int32))
        self.missing += range(self.rows, self.rows + rows)
        self.rows += rows

    def finish(self) -> Written:
        """The columns of the whole file."""
        if self.reader.count is not None and self.reader.count > self.rows:
            self.skip(self.reader.count - self.rows)
        sizes, lengths = self._joined("sizes"), self._joined("lengths")
        labelled = np.ones(len(sizes), dtype=bool)
        labelled[self.missing] = False
        kind = self._joined("kind").astype(np.int32)
        return Written(
            reader=self.reader,
            key=self.key,
            doc=np.repeat(np.repeat(np.arange(len(sizes)), sizes), lengths),
            start=self._joined("start"),
            end=self._joined("end"),
            kind=np.repeat(kind, lengths),
            entity=np.repeat(np.arange(len(lengths)), lengths),
            first_entity=np.cumsum(sizes) - sizes,
            first_mention=np.cumsum(lengths) - lengths,
            types=tuple(self.number),
            labelled=labelled,
        )

    def _joined(self, name: str) -> npt.NDArray[Any]:
        parts = self.parts.get(name)
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A file of data: its mentions, its texts by class of character, and what was asked for.

    `inline` says that rows hold predictions.
    """

    written: Written
    texts: Texts
    selected: Selected
    inline: bool
    watch: DeclaredWatch


def read_gold(source: Source, key: str, request: Request, problems: Problems) -> GoldFile:
    """A file of data whose entities stand under `key`."""
    declared = request.declared
    fields = Fields(request.by, request.cluster, request.weights, computed_fields())
    checks = RecordChecks(key, True, declared, fields.decoded)
    schema = gold_schema(fields, key, declared)
    flat = Flattener(key, fields.getter(key))
    reader = read_records(source, schema, problems, checks.diagnose, CACHE_EXTENSIONS, flat.keys)
    collector, texts = Collector(reader, key, checks, flat), TextReader()
    watch, rows = DeclaredWatch(declared, fields), 0
    for batch in reader:
        if batch.first > rows:
            texts.skip(batch.first - rows)
            fields.skip(batch.first - rows)
        rows = batch.first + len(batch.rows)
        collector.add(batch)
        texts.add(list(map(fields.getter("text"), batch.rows)))
        fields.add(batch.rows, batch.place)
        for i in sorted(watch.odd(batch)):
            checks.look(batch.record(i), batch.place(i))
        watch.add_embeddings(batch)
    if reader.count is not None and reader.count > rows:
        texts.skip(reader.count - rows)
        fields.skip(reader.count - rows)
    watch.finish(reader.place(), rows)
    chosen = Selected({}, None, None)
    if reader.count and rows:
        chosen = fields.finish(problems, reader.name, reader.audit.seen)
    inline = bool({"predicted_entities"} & reader.audit.seen)
    return GoldFile(collector.finish(), texts.finish(), chosen, inline, watch)


def computed_fields() -> dict[str, Callable[[list[Any]], npt.NDArray[np.float64]]]:
    """The computed fields: base fields come first in a schema, text and then entities."""

    def measured(size: Callable[[Any], int]) -> Callable[[list[Any]], npt.NDArray[np.float64]]:
        return lambda rows: np.fromiter(map(size, rows), np.float64, len(rows))

    return {
        "text_length": measured(lambda row: len(row.field_0)),
        "text_words": measured(lambda row: len(row.field_0.split())),
        "gold_entities": measured(lambda row: len(row.field_1 or ())),
    }


def read_predictions(source: Source, key: str, problems: Problems) -> Written:
    """A file of predictions."""
    schema = prediction_schema(key)
    checks = RecordChecks(key, False)
    flat = Flattener(key, attrgetter(key))
    reader = read_records(source, schema, problems, checks.diagnose, CACHE_EXTENSIONS, flat.keys)
    collector = Collector(reader, key, checks, flat)
    for batch in reader:
        collector.add(batch)
    return collector.finish()
