"""Scores as the tools compute them: the same counts, the same operations in the same order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from karat.model.pairs import FloatArray
from karat.tasks.entities.schemas import PARTS, SCHEMAS

Sums = Mapping[str, FloatArray]
"""Name of a group of cells -> its totals."""


def seqeval(t: Sums, types: tuple[str, ...]) -> dict[str, float]:
    """seqeval's numbers; nothing where it would fail or divide nothing by nothing."""
    out: dict[str, float] = {}
    tp, pred, gold = t["type_tp"], t["type_pred"], t["type_gold"]
    if not types:
        return out
    each = _prf(tp, pred, gold)
    for part, values in zip(("precision", "recall", "f1"), each, strict=True):
        out |= {f"{part}_type_{name}": float(v) for name, v in zip(types, values, strict=True)}
        out[f"{part}_macro"] = float(np.average(values))
        if gold.sum() > 0:
            out[f"{part}_weighted"] = float(np.average(values, weights=gold))
        else:
            out[f"{part}_weighted"] = 0.0
    micro = _prf(*(np.array([column.sum()]) for column in (tp, pred, gold)))
    for part, values in zip(("precision", "recall", "f1"), micro, strict=True):
        out[f"{part}_micro"] = float(np.average(values))
    return out


def _prf(tp: FloatArray, pred: FloatArray, gold: FloatArray) -> tuple[FloatArray, ...]:
    precision = np.where(pred == 0, 0.0, tp / np.where(pred == 0, 1, pred))
    recall = np.where(gold == 0, 0.0, tp / np.where(gold == 0, 1, gold))
    total = precision + recall
    total[total == 0.0] = 1
    return precision, recall, 2.0 * precision * recall / total


def conlleval(t: Sums, types: tuple[str, ...]) -> dict[str, float]:
    """conlleval's percentages."""
    out: dict[str, float] = {}
    rows = [("micro", 0, ("tp", "pred", "gold"))]
    rows += [
        (f"type_{name}", i, ("type_tp", "type_pred", "type_gold")) for i, name in enumerate(types)
    ]
    for ending, i, cells in rows:
        right, said, true = (float(t[cell][i]) for cell in cells)
        precision = 100.0 * right / said if said > 0 else 0.0
        recall = 100.0 * right / true if true > 0 else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
        for part, value in (("precision", precision), ("recall", recall), ("f1", f1)):
            out[f"{part}_{ending}"] = value
    return out


def accuracy(t: Sums) -> float:
    """conlleval's percentage of tokens with the right tag: multiplied first, then divided."""
    return 100.0 * float(t["same"][0]) / float(t["tokens"][0])


def nervaluate(t: Sums, types: tuple[str, ...]) -> dict[str, float]:
    """nervaluate's precision, recall and F1 of each schema, in all and by type."""
    out: dict[str, float] = {}
    for schema in SCHEMAS:
        rows = [("", 0, schema)]
        rows += [(f"_type_{name}", i, f"type_{schema}") for i, name in enumerate(types)]
        for ending, i, cells in rows:
            counts = [float(t[f"{cells}_{part}"][i]) for part in PARTS]
            for part, value in zip(
                ("precision", "recall", "f1"), _semeval(schema, counts), strict=True
            ):
                out[f"{schema}_{part}{ending}"] = value
    return out


def _semeval(schema: str, counts: list[float]) -> tuple[float, float, float]:
    correct, incorrect, partial, missed, spurious = counts
    credit = correct + 0.5 * partial if schema in ("partial", "ent_type") else correct
    actual = correct + incorrect + partial + spurious
    possible = correct + incorrect + partial + missed
    precision = credit / actual if actual > 0 else 0.0
    recall = credit / possible if possible > 0 else 0.0
    f1 = 2 * (precision * recall) / (precision + recall) if precision + recall > 0 else 0.0
    return precision, recall, f1
