"""Why single examples lost points."""

from __future__ import annotations

from typing import Any

import numpy as np

from karat.model.report import Example
from karat.tasks.stereotypes.examples import StereoPairs

KINDS = ("stereotype", "anti-stereotype", "unrelated")


def worst(pairs: StereoPairs, most: int) -> list[Example]:
    """The examples whose unrelated candidate wins, then those that prefer the stereotype most."""
    scores = pairs.pred.scores
    lead = scores[:, 0] - scores[:, 1]
    size = np.abs(scores[:, :2]).sum(axis=1)
    # Scores of different models have different scales, so leads are taken relative to their size.
    lead = np.divide(lead, size, out=np.zeros_like(lead), where=size > 0)
    lost = np.zeros(pairs.n)
    if pairs.gold.kinds == 3:
        lost = (scores[:, 2:3] >= scores[:, :2]).sum(axis=1).astype(np.float64)
    order = np.lexsort((-lead, -lost))
    chosen = [i for i in order.tolist() if lost[i] or lead[i] >= 0][:most]
    return [_example(pairs, i, int(lost[i])) for i in chosen]


def _example(pairs: StereoPairs, i: int, lost: int) -> Example:
    scores = pairs.pred.scores[i].tolist()
    if scores[0] == scores[1]:
        why = f"stereotype and anti-stereotype tie at {scores[0]:.6g}"
    else:
        better = KINDS[0] if scores[0] > scores[1] else KINDS[1]
        why = f"prefers the {better}: {scores[0]:.6g} against {scores[1]:.6g}"
    if lost:
        beaten = "both" if lost == 2 else "one of the two"
        why = f"the unrelated candidate ({scores[2]:.6g}) is not below {beaten}; {why}"
    sheet = pairs.gold.sheets[pairs.gold.sheet[i]]
    row = int(pairs.gold.row[i])
    record = row if sheet.records is None else sheet.records[row]
    return Example(
        id=pairs.ids[i],
        record=record,
        line=sheet.line_of(record),
        score=scores[0] - scores[1],
        why=why,
        kind=f"{sheet.section} {pairs.gold.domains[int(pairs.gold.domain[i])]}",
        fields=_fields(pairs.gold.record(i)),
    )


def _fields(record: dict[str, Any]) -> dict[str, Any]:
    """The target, the context and the candidates under their labels."""
    shown = {
        key: record[key] for key in ("target", "context", "sent_more", "sent_less") if key in record
    }
    labelled = {
        record[f"c{i}_gold_label"]: record[f"c{i}_sentence"]
        for i in (1, 2, 3)
        if f"c{i}_id" in record
    }
    return shown | {kind: labelled[kind] for kind in KINDS if kind in labelled}
