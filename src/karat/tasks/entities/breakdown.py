"""Tables of counts that a school of scoring has beside those of spans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from karat.model.report import Table
from karat.tasks.entities.official import Sums, nervaluate
from karat.tasks.entities.schemas import PARTS, SCHEMAS

SCORES = ("precision", "recall", "f1")


def schemas(t: Sums) -> Table:
    """What each of the four schemas made of the spans, with its scores."""
    scores = nervaluate(t, ())
    rows: list[list[Any]] = [
        [
            schema,
            *(int(t[f"{schema}_{part}"][0]) for part in PARTS),
            *(scores[f"{schema}_{part}"] for part in SCORES),
        ]
        for schema in SCHEMAS
    ]
    columns = ["schema", "COR", "INC", "PAR", "MIS", "SPU", *SCORES]
    return Table(name="schemas", title="SemEval-2013 schemas", columns=columns, rows=rows)


def entities(t: Sums, types: tuple[str, ...]) -> Table:
    """Whole entities by type, where those are what is scored."""
    found = t.get("type_found", t["type_tp"])
    columns = (t["type_tp"], t["type_pred"], found, t["type_gold"])
    return Table(
        name="entities",
        title="Whole entities by type",
        columns=["type", *SCORES, "gold", "predicted"],
        rows=by_type(types, zip(*(c.astype(int).tolist() for c in columns), strict=True)),
        kind="classes",
        note="the tables that follow count mentions",
    )


def by_type(types: tuple[str, ...], counts: Iterable[tuple[int, int, int, int]]) -> list[list[Any]]:
    """A row a type, from the counts of right, predicted, found and gold ones."""
    rows: list[list[Any]] = []
    for name, (right, said, found, true) in zip(types, counts, strict=True):
        precision = right / said if said else None
        recall = found / true if true else None
        rows.append([name, precision, recall, _f1(right, said, found, true), true, said])
    return rows


def _f1(right: int, said: int, found: int, true: int) -> float | None:
    """None where nothing is there, 0 where nothing is right."""
    if right == found:
        return 2 * right / (said + true) if said + true else None
    return 2 * right * found / (right * true + found * said)
