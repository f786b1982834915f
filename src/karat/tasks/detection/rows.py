"""Everything a request for caches names, read and checked: data, and its predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from karat.model.problem import Problems
from karat.model.task import Request, Source
from karat.read.checks import report_partial_labels
from karat.read.facets import factors
from karat.read.fields import Fields, Selected
from karat.read.records import Records, pass_over
from karat.tasks.detection import cache, suspicions
from karat.tasks.detection.counted import COMPUTED, is_computed
from karat.tasks.detection.predictions import Predicted, read_predictions
from karat.tasks.detection.records import BOXES, FoundBox, InlinePrediction
from karat.tasks.detection.settings import chooser
from karat.tasks.detection.units import settle


@dataclass(frozen=True, slots=True)
class Side:
    """Data and predictions of one side; `predicted` is None where there are none.

    `unit` is what coordinates are in; `agree` says that each row of data has its predictions and
    neither file has an error.
    """

    data: cache.Data
    predicted: Predicted | None
    unit: str
    selected: Selected
    agree: bool


def fields_of(request: Request) -> Fields:
    """The fields of the records that a request wants."""
    split = (factors(name) if is_computed(name) else [name] for name in request.by)
    asked = dict.fromkeys(part for parts in split for part in parts if part not in COMPUTED)
    return Fields(tuple(asked), request.cluster, request.weights)


def read_side(request: Request, problems: Problems) -> Side:
    """Everything a request names, read and checked. Whether it is sound, `problems` says."""
    fields = fields_of(request)
    data = cache.read_data(request, fields, problems)
    selected = Selected({}, None, None)
    if data.reader.count:
        selected = fields.finish(problems, data.reader.name, data.reader.audit.seen)
    _report_labels(data, request)
    predicted = _predicted(request, data, problems)
    unit = settle(data, predicted, str(request.options.get("coordinates") or "auto"))
    background = str(request.options.get("background") or "none")
    agree = predicted is not None and suspicions.rows_agree(data, predicted, background)
    agree = agree and data.reader.sound
    if agree and predicted is not None:
        suspicions.same_everywhere(data, predicted)
    return Side(data, predicted, unit, selected, agree)


def _predicted(request: Request, data: cache.Data, problems: Problems) -> Predicted | None:
    """The predictions, from their own file or from the data rows."""
    reader, choose = data.reader, chooser(request.options)
    inline = BOXES in reader.audit.seen
    if request.predictions:
        found = read_predictions(request.predictions[0], data, choose, problems, False)
        if inline and reader.count:
            _report_conflicts(data, found)
        return found
    if inline:
        return read_predictions(request.gold[0], data, choose, problems, True)
    if request.purpose == "score" and reader.count:
        text = f"no predictions: give a prediction file, or '{BOXES}' in the data rows"
        reader.place().add("prediction-missing", text, BOXES)
    return None


def _report_labels(data: cache.Data, request: Request) -> None:
    missing, rows = np.flatnonzero(data.count < 0), len(data.count)
    if not len(missing) or not data.reader.count:
        return
    if len(missing) < rows:
        report_partial_labels(data.reader.place(int(missing[0])), len(missing), rows)
    elif request.purpose == "score":
        data.reader.place().add("label-missing", "no row has a label to score against", "label")


def _report_conflicts(data: cache.Data, predicted: Predicted) -> None:
    """Report data rows whose own boxes are others than those of the prediction file."""
    own, theirs = _boxes_of(data.reader.source), _boxes_of(predicted.reader.source)
    for record in sorted(own.keys() & theirs.keys()):
        if own[record] != theirs[record]:
            line = predicted.reader.line_of(record)
            where = f"line {line}" if line is not None else f"record {record}"
            text = (
                f"row carries its own '{BOXES}' that differs from {predicted.reader.name} {where}"
            )
            data.reader.place(record).add("prediction-conflict", text, BOXES)


def _boxes_of(source: Source) -> Mapping[int, int]:
    """A hash of the boxes of each row that has any list of them, whatever their order."""
    reader = Records(source, InlinePrediction, Problems(), pass_over)
    return {
        record: hash(tuple(sorted(map(_numbers, row.predicted_bounding_boxes))))
        for batch in reader
        for record, row in enumerate(batch.rows, batch.first)
        if isinstance(row.predicted_bounding_boxes, list)
    }


def _numbers(box: FoundBox) -> tuple[float, ...]:
    corners = msgspec.structs.astuple(box)[:-1]
    return (*corners, *box.probabilities)
