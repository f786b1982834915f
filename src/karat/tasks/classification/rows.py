"""Data and predictions of the classification tasks, from batches of rows to columns, in one pass.

No batch outlives the next one. Sweeps over a batch pick the rows that may be wrong; only those get
the slow look that names every defect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, CodeArray, FloatArray
from karat.model.problem import Problems
from karat.model.task import Request, Source
from karat.read.checks import odd_timestamps, report_count, report_partial_labels
from karat.read.embeddings import EmbeddingCheck
from karat.read.fields import Fields, Selected
from karat.read.place import show
from karat.read.records import Batch, Records, pass_over, read_records
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.classification.checks import GoldChecks, Vectors, suspect_order
from karat.tasks.classification.columns import Builder, Predictions
from karat.tasks.classification.records import REQUIRED_TEXTS, Prediction, gold_schema, image_key

HashArray = npt.NDArray[np.uint64]


@dataclass(slots=True)
class Gold:
    """One file of data as columns. `labels` are -1 where there is none (or it is broken)."""

    reader: Records[Any]
    labels: CodeArray
    selected: Selected
    inline: bool
    embeddings: dict[str, int] = field(default_factory=dict)
    metadata: frozenset[str] = frozenset()

    @property
    def n(self) -> int | None:
        """How many records there are, None where reading could not go on."""
        return self.reader.count

    @property
    def labelled(self) -> int:
        """How many records have a label."""
        return int((self.labels >= 0).sum())


@dataclass(frozen=True, slots=True)
class Side:
    """Data and predictions of one side; `predictions` is None where there are none to score."""

    gold: Gold
    predictions: Predictions | None
    prediction_file: str | None


def read_side(task: str, request: Request, problems: Problems, keep_scores: bool = True) -> Side:
    """Everything a request names, read and checked. Whether it is sound, `problems` says."""
    gold = read_gold(task, request, problems)
    cached = request.predictions[0] if request.predictions else None
    if cached is None and not gold.inline:
        if request.purpose == "score" and gold.n:
            text = "no predictions: give a prediction file, or 'probabilities' in the data rows"
            gold.reader.place().add("prediction-missing", text, "probabilities")
        return Side(gold, None, None)
    if cached is None:
        predictions = _read_inline(gold, problems, keep_scores)
        return Side(gold, predictions, gold.reader.name)
    hashes = _inline_hashes(gold) if gold.inline and gold.n else None
    predictions = read_predictions(cached, gold, problems, keep_scores, hashes)
    return Side(gold, predictions, cached.name)


# --- data ------------------------------------------------------------------------------------


def read_gold(task: str, request: Request, problems: Problems) -> Gold:
    """The data file of a request as columns."""
    source, declared = request.gold[0], request.declared
    fields = Fields(
        request.by, request.cluster, request.weights, computed_fields(task), exact=("label",)
    )
    checks = GoldChecks(task, declared, fields.decoded)
    image = image_key(_first(source)) if not REQUIRED_TEXTS[task] else None
    schema = gold_schema(task, fields, declared, image or "")
    reader = read_records(source, schema, problems, checks.diagnose, CACHE_EXTENSIONS)
    columns = _GoldColumns(reader, fields, checks, image)
    for batch in reader:
        columns.add(batch)
    return columns.finish(request)


def computed_fields(task: str) -> dict[str, Callable[[list[Any]], FloatArray]]:
    """The computed fields of a task: characters and words of its texts."""
    found: dict[str, Callable[[list[Any]], FloatArray]] = {}
    for i, key in enumerate(REQUIRED_TEXTS[task]):
        # Base fields come first in a schema, so the attribute of a text is its position.
        found[f"{key}_length"] = _measured(f"field_{i}", len)
        found[f"{key}_words"] = _measured(f"field_{i}", lambda text: len(text.split()))
    return found


def _measured(attribute: str, size: Callable[[str], int]) -> Callable[[list[Any]], FloatArray]:
    text = attrgetter(attribute)

    def measure(rows: list[Any]) -> FloatArray:
        return np.fromiter(map(size, map(text, rows)), np.float64, len(rows))

    return measure


def _first(source: Source) -> Any:
    from karat.errors import DataError

    try:
        return source.peek().first
    except DataError:
        return None


class _GoldColumns:
    """The columns of a data file while it is read."""

    def __init__(
        self, reader: Records[Any], fields: Fields, checks: GoldChecks, image: str | None
    ) -> None:
        self.reader, self.fields, self.checks, self.image = reader, fields, checks, image
        self.labels: list[CodeArray] = []
        self.images: list[npt.NDArray[np.int64]] = []
        self.rows = 0
        self.first_unlabelled: int | None = None
        self.unlabelled = 0
        self.dated = True
        self.metadata: set[str] = set()
        self.embeddings = [EmbeddingCheck(name) for name in checks.declared.embeddings]

    def add(self, batch: Batch[Any]) -> None:
        """Take the next batch; rows that could not be read leave a gap."""
        if batch.first > self.rows:
            self._gap(batch.first - self.rows)
        rows = batch.rows
        self.rows = batch.first + len(rows)
        labels = list(map(self.fields.getter("label"), rows))
        self.labels.append(self._codes(labels, batch.first))
        self.fields.add(rows, batch.place)
        for i in sorted(self._odd(batch)):
            self.checks.look(batch.record(i), batch.place(i))
        for embedding in self.embeddings:
            embedding.add(list(map(self.fields.getter(embedding.name), rows)), batch.place)

    def finish(self, request: Request) -> Gold:
        """The columns, after the checks that need the whole file."""
        reader, problems = self.reader, self.reader.problems
        if reader.count is not None and reader.count > self.rows:
            self._gap(reader.count - self.rows)
        labels = _joined(self.labels, np.int32)
        if self.unlabelled and (labels >= 0).any() and reader.count:
            place = reader.place(self.first_unlabelled)
            report_partial_labels(place, self.unlabelled, reader.count)
        elif request.purpose == "score" and reader.count and self.unlabelled == self.rows:
            reader.place().add("label-missing", "no row has a label to score against", "label")
        for embedding in self.embeddings:
            embedding.finish(reader.place(), self.rows)
        self._report_twins()
        sizes = {e.name: e.size for e in self.embeddings if e.size is not None}
        read_any = bool(reader.count) and len(labels) > 0
        selected = (
            self.fields.finish(problems, reader.name, reader.audit.seen)
            if read_any
            else Selected({}, None, None)
        )
        inline = "probabilities" in reader.audit.seen
        return Gold(reader, labels, selected, inline, sizes, frozenset(self.metadata))

    def _gap(self, rows: int) -> None:
        self.labels.append(np.full(rows, -1, dtype=np.int32))
        self.fields.skip(rows)
        self.rows += rows

    def _codes(self, labels: list[Any], first: int) -> CodeArray:
        try:
            return np.fromiter(labels, np.int32, len(labels))
        except (TypeError, ValueError):
            known = [label.__class__ is int for label in labels]
            self.unlabelled += len(labels) - sum(known)
            if self.first_unlabelled is None:
                self.first_unlabelled = first + known.index(False)
            held = [label if good else -1 for label, good in zip(labels, known, strict=True)]
            return np.array(held, dtype=np.int32)

    def _odd(self, batch: Batch[Any]) -> set[int]:
        """Which rows of a batch may have a defect that typed decoding does not see."""
        rows, odd = batch.rows, set()
        stamps = list(map(self.fields.getter("timestamp"), rows))
        odd.update(odd_timestamps(stamps))
        for name in self.checks.declared.numeric:
            values = list(map(self.fields.getter(f"meta.{name}"), rows))
            if not set(map(type, values)) <= {int, float, type(None), msgspec.UnsetType}:
                odd.update(i for i, v in enumerate(values) if type(v) not in (int, float))
            self._note_metadata(name, values)
        for name in self.checks.declared.categorical:
            self._note_metadata(name, list(map(self.fields.getter(f"meta.{name}"), rows)))
        if self.image is not None:
            odd.update(self._images(rows))
        return odd

    def _note_metadata(self, name: str, values: list[Any]) -> None:
        if name not in self.metadata and any(value is not msgspec.UNSET for value in values):
            self.metadata.add(name)

    def _images(self, rows: Sequence[Any]) -> Iterable[int]:
        """Rows without the usual image key; the images of the others are remembered by hash."""
        images = list(map(self.fields.getter(self.image or ""), rows))
        texts = [image for image in images if image.__class__ is str]
        self.images.append(np.fromiter(map(hash, texts), np.int64, len(texts)))
        if len(texts) == len(images):
            return ()
        return [i for i, image in enumerate(images) if not isinstance(image, str)]

    def _report_twins(self) -> None:
        """Warn of images that appear more than once."""
        hashes = _joined(self.images, np.int64)
        if self.image is None or len(hashes) < 2:
            return
        ordered = np.sort(hashes)
        twins = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
        if not twins:
            return
        # The names are not kept: where there are twins, the file is read once more for them.
        counts: dict[str, int] = {}
        again = Records(self.reader.source, self.reader.schema, Problems(), pass_over)
        for batch in again:
            for image in map(self.fields.getter(self.image), batch.rows):
                if isinstance(image, str) and hash(image) in twins:
                    counts[image] = counts.get(image, 0) + 1
        for image, times in counts.items():
            if times > 1:
                text = f"{show(image)[1:-1]} appears {times} times"
                self.reader.place().add("image-duplicate", text, self.image, severity="warning")


# --- predictions -----------------------------------------------------------------------------


def read_predictions(
    source: Source,
    gold: Gold,
    problems: Problems,
    keep_scores: bool = True,
    inline: HashArray | None = None,
) -> Predictions | None:
    """A prediction file as columns, checked against its data; None where it is broken."""
    vectors = Vectors()
    reader = read_records(source, Prediction, problems, vectors.diagnose, CACHE_EXTENSIONS)
    columns = _Vectors(reader, vectors, Builder(gold.labels, keep_scores=keep_scores), inline, gold)
    for batch in reader:
        columns.add(batch)
    if reader.count and gold.n is not None and gold.n > 0:
        report_count(reader.place(), reader.count, gold.n, vectors.key)
    return _finish(columns, gold, reader)


def _read_inline(gold: Gold, problems: Problems, keep_scores: bool) -> Predictions | None:
    """The predictions that stand in the data rows. What is wrong with the rows is known by now."""
    found, vectors = Problems(), Vectors()
    reader = read_records(gold.reader.source, Prediction, found, vectors.diagnose)
    columns = _Vectors(reader, vectors, Builder(gold.labels, keep_scores=keep_scores), None, gold)
    for batch in reader:
        columns.add(batch)
    for problem in found:
        if problem.code.startswith(("prob", "prediction")):
            problems.take(problem)
    reader.problems = problems
    return _finish(columns, gold, reader)


def _finish(columns: _Vectors, gold: Gold, reader: Records[Any]) -> Predictions | None:
    if not reader.count or not reader.sound or columns.gaps:
        return None
    predictions = columns.builder.finish()
    if not gold.reader.sound or gold.n != reader.count:
        return predictions
    _report_labels(gold, predictions.classes)
    suspect_order(
        gold.labels, predictions.top, predictions.classes, predictions.constant, reader.place()
    )
    return predictions


def _report_labels(gold: Gold, classes: int) -> None:
    """Report labels that the vectors have no place for."""
    for record in np.flatnonzero(gold.labels >= classes):
        message = f"{gold.labels[record]} but predictions have {classes} classes (0..{classes - 1})"
        gold.reader.place(int(record)).add("label-range", message, "label")


class _Vectors:
    """The probabilities of a file while it is read."""

    def __init__(
        self,
        reader: Records[Any],
        vectors: Vectors,
        builder: Builder,
        inline: HashArray | None,
        gold: Gold,
    ) -> None:
        self.reader, self.vectors, self.builder = reader, vectors, builder
        self.inline, self.gold = inline, gold
        self.rows = 0
        self.gaps = False

    def add(self, batch: Batch[Prediction]) -> None:
        """Take the next batch: check it, hand it to the builder as one matrix."""
        before = self.reader.problems.errors
        lists = [row.probabilities for row in batch.rows]
        self.gaps |= batch.first != self.rows
        self.rows = batch.first + len(lists)
        self.vectors.learn(lists)
        usual = self.vectors.usual or 0
        kept = np.ones(len(lists), dtype=bool)
        if set(map(len, lists)) != {usual}:
            kept = np.fromiter(map(len, lists), np.int64, len(lists)) == usual
            for odd in np.flatnonzero(~kept).tolist():
                self.vectors.diagnose(batch.record(odd), batch.place(odd))
            lists = [row for row, good in zip(lists, kept, strict=True) if good]
        values = as_matrix(lists, usual)
        records = np.flatnonzero(kept)
        for i in self.vectors.odd(values):
            at = int(records[i])
            self.vectors.diagnose(batch.record(at), batch.place(at))
        if self.inline is not None:
            self._compare(batch.first + records, values)
        self.gaps |= self.reader.problems.errors > before
        if not self.gaps:
            self.builder.add(values)

    def _compare(self, records: npt.NDArray[np.int64], values: FloatArray) -> None:
        """Report data rows whose own probabilities are others."""
        inline = self.inline
        assert inline is not None
        inside = records < len(inline)
        records, hashes = records[inside], row_hashes(values[inside])
        differ: BoolArray = (inline[records] != 0) & (inline[records] != hashes)
        for record in records[differ].tolist():
            line = self.reader.line_of(record)
            where = f"line {line}" if line is not None else f"record {record}"
            message = f"row carries its own 'probabilities' that differs from {self.reader.name}"
            place = self.gold.reader.place(record)
            place.add("prediction-conflict", f"{message} {where}", "probabilities")


def _inline_hashes(gold: Gold) -> HashArray:
    """A hash of the probabilities in each data row, 0 where there are none."""
    hashes = np.zeros(gold.n or 0, dtype=np.uint64)
    reader = Records(gold.reader.source, _Inline, Problems(), pass_over)
    for batch in reader:
        for i, row in enumerate(batch.rows):
            if row.probabilities:
                hashes[batch.first + i] = row_hashes(np.array([row.probabilities]))[0]
    return hashes


class _Inline(msgspec.Struct, gc=False, frozen=True):
    """A data row of which only the predictions matter."""

    probabilities: list[float] | msgspec.UnsetType | None = msgspec.UNSET


def as_matrix(lists: Sequence[Sequence[float]], width: int) -> FloatArray:
    """Lists of one length as an array of that width."""
    flat = np.fromiter(chain.from_iterable(lists), np.float64, len(lists) * width)
    return flat.reshape(len(lists), width)


def row_hashes(values: FloatArray) -> HashArray:
    """A hash of each row, never 0; equal rows have equal hashes."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    hashes = np.full(len(bits), bits.shape[1] + 1, dtype=np.uint64)
    for column in bits.T:
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return np.maximum(hashes, np.uint64(1))


def _joined(parts: list[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
