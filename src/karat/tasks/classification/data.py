"""Data of the classification tasks, from batches of rows to columns, in one pass.

No batch outlives the next one. Sweeps over a batch pick the rows that may be wrong; only those get
the slow look that names every defect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from karat.model.pairs import CodeArray, FloatArray
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.checks import report_partial_labels
from karat.read.declared import DeclaredWatch
from karat.read.fields import Fields, Selected
from karat.read.images import image_key, report_twins
from karat.read.records import Batch, Records, pass_over, read_records
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.classification.checks import GoldChecks
from karat.tasks.classification.records import KNOWN, REQUIRED_TEXTS, gold_schema


@dataclass(slots=True)
class Gold:
    """One file of data as columns. `labels` are -1 where there is none (or it is broken)."""

    reader: Records[Any]
    labels: CodeArray
    selected: Selected
    inline: bool
    watch: DeclaredWatch

    @property
    def n(self) -> int | None:
        """How many records there are, None where reading could not go on."""
        return self.reader.count

    @property
    def labelled(self) -> int:
        """How many records have a label."""
        return int((self.labels >= 0).sum())


def read_gold(task: str, request: Request, problems: Problems) -> Gold:
    """The data file of a request as columns."""
    source, declared = request.gold[0], request.declared
    fields = Fields(
        request.by, request.cluster, request.weights, computed_fields(task), exact=("label",)
    )
    checks = GoldChecks(task, declared, fields.decoded)
    image = image_key(source, KNOWN) if not REQUIRED_TEXTS[task] else None
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
        self.watch = DeclaredWatch(checks.declared, fields)

    def add(self, batch: Batch[Any]) -> None:
        """Take the next batch; rows that could not be read leave a gap."""
        if batch.first > self.rows:
            self._gap(batch.first - self.rows)
        rows = batch.rows
        self.rows = batch.first + len(rows)
        labels = list(map(self.fields.getter("label"), rows))
        self.labels.append(self._codes(labels, batch.first))
        self.fields.add(rows, batch.place)
        odd = self.watch.odd(batch)
        if self.image is not None:
            odd.update(self._images(rows))
        for i in sorted(odd):
            self.checks.look(batch.record(i), batch.place(i))
        self.watch.add_embeddings(batch)

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
        self.watch.finish(reader.place(), self.rows)
        self._report_twins()
        read_any = bool(reader.count) and len(labels) > 0
        selected = (
            self.fields.finish(problems, reader.name, reader.audit.seen)
            if read_any
            else Selected({}, None, None)
        )
        inline = "probabilities" in reader.audit.seen
        return Gold(reader, labels, selected, inline, self.watch)

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
        report_twins(counts, self.image, self.reader.place())


def _joined(parts: list[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
