"""Why single items lost points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.model.report import Example
from karat.read.pick import pick
from karat.tasks.classification.measure import ClassPairs

SHOWN = ("text", "text_pair", "image_path", "timestamp", "meta")


def worst(pairs: ClassPairs, most: int) -> list[Example]:
    """The wrongly labelled items whose gold class got the least probability, worst first."""
    wrong = np.flatnonzero(pairs.pred.top != pairs.gold.labels)
    chosen = wrong[np.argsort(-pairs.pred.log_loss[wrong], kind="stable")][:most]
    records = [_record(pairs, int(i)) for i in chosen]
    found = pick(pairs.gold.request.gold[0], records)
    return [
        _example(pairs, int(i), record, found.get(record))
        for i, record in zip(chosen, records, strict=True)
    ]


def _record(pairs: ClassPairs, i: int) -> int:
    """The record number in the file of item i."""
    return i if pairs.gold.records is None else int(pairs.gold.records[i])


def _example(
    pairs: ClassPairs, i: int, record: int, found: tuple[int | None, Mapping[str, Any]] | None
) -> Example:
    names, pred = pairs.gold.class_names, pairs.pred
    gold, top = names[int(pairs.gold.labels[i])], names[int(pred.top[i])]
    probability = float(np.exp(-pred.log_loss[i]))
    why = (
        f"said {top} ({pred.confidence[i]:.0%} sure); gold is {gold}, which got {probability:.1%} "
        f"and rank {int(pred.rank[i]) + 1} of {pred.classes}"
    )
    line, fields = (None, {}) if found is None else found
    shown = {key: fields[key] for key in SHOWN if key in fields}
    return Example(
        id=pairs.ids[i],
        record=record,
        line=line,
        score=float(-pred.log_loss[i]),
        why=why,
        kind=f"{gold} → {top}",
        fields={"gold": gold, "predicted": top, **shown},
    )
