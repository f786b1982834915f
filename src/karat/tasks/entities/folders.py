"""brat folders on both sides, paired by the names of their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from karat.model.pairs import Pairs
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.brat import Document as Standoff
from karat.read.brat import read_folder
from karat.read.place import Place
from karat.tasks.entities.checks import check_known
from karat.tasks.entities.pair import Document, EntityPairs, Gold, Lookup, Predicted
from karat.tasks.entities.records import Spans, same_types
from karat.tasks.entities.tagged import select


def read_folders(request: Request, item: str, problems: Problems) -> EntityPairs | None:
    """The documents of the gold folder, with the annotations of the other one."""
    gold_name = request.gold[0].name
    gold = read_folder(Path(gold_name), problems)
    request.gold[0].records = len(gold)
    for one in gold:
        if one.marks is None:
            Place(problems, gold_name).add("label-missing", f"{one.name} has no .ann file")
    if not request.predictions:
        if request.purpose == "score":
            Place(problems, gold_name).add("prediction-missing", "no folder of predictions")
        return None
    pred_name = request.predictions[0].name
    paired = _paired(gold, gold_name, pred_name, problems)
    request.predictions[0].records = len(paired)
    if problems.errors:
        return None
    true, said = spans_of(gold), spans_of(paired)
    check_known(true.occurring, said.types, said.kind, Place(problems, pred_name))
    first, second = same_types(true, said)
    sizes = np.array([len(one.text or "") for one in gold], dtype=np.float64)
    chosen = select(request, {"text_length": sizes}, Place(problems, gold_name))
    if problems.errors:
        return None
    return Pairs(
        n=len(gold),
        gold=Gold(
            first,
            _lookup(gold),
            np.arange(len(gold)),
            notes=("ends are exclusive (brat's format)",),
        ),
        pred=Predicted(second),
        ids=[one.name for one in gold],
        item=item,
        facets=chosen.facets,
        cluster=chosen.cluster,
        weights=chosen.weights,
    )


def _paired(
    gold: Sequence[Standoff], gold_name: str, pred_name: str, problems: Problems
) -> list[Standoff]:
    """The predicted document of each gold one; where there is none is reported."""
    texts = {one.name: one.text for one in gold if one.text is not None}
    found = {one.name: one for one in read_folder(Path(pred_name), problems, texts)}
    place = Place(problems, pred_name)
    paired = []
    for one in gold:
        other = found.pop(one.name, None)
        if other is None or other.marks is None:
            message = f"there is no {one.name}.ann for the document in {gold_name}"
            place.add("prediction-missing", message)
            continue
        paired.append(other)
        if one.text is not None and other.text != one.text:
            message = f"{one.name}.txt is not the text that it is in {gold_name}"
            place.add("text-differs", message, severity="warning")
    for name in found:
        message = f"{name} is not in {gold_name}; it was left out"
        place.add("document-unknown", message, severity="warning")
    return paired


def spans_of(documents: Sequence[Standoff]) -> Spans:
    """The annotations of the documents as columns; equivalent ones of one type are one entity."""
    rows = [
        (d, mark.start, mark.end, mark.type, mark.group)
        for d, one in enumerate(documents)
        for mark in sorted(one.marks or (), key=lambda mark: (mark.group, mark.type))
    ]
    if not rows:
        return Spans.empty(len(documents))
    doc, start, end, types, groups = (list(column) for column in zip(*rows, strict=True))
    names = tuple(dict.fromkeys(types))
    kind = np.array([names.index(name) for name in types], dtype=np.int32)
    key = np.array(doc, dtype=np.int64) * (1 + max(groups)) + np.array(groups)
    turns = (np.diff(key) != 0) | (np.diff(kind) != 0)
    group = np.cumsum(np.concatenate([[0], turns])).astype(np.int64)
    return Spans(len(documents), np.array(doc), np.array(start), np.array(end), kind, group, names)


def _lookup(documents: Sequence[Standoff]) -> Lookup:
    def find(wanted: Sequence[int]) -> Mapping[int, Document]:
        out = {}
        for d in wanted:
            text = documents[d].text or ""
            out[d] = Document(None, {"text": text}, lambda a, b, text=text: text[a:b])  # type: ignore[misc]
        return out

    return find
