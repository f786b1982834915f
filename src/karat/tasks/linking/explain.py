"""What happened to each mention and each cluster, in words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from karat.model.pairs import IntArray
from karat.model.report import Example, Table
from karat.tasks.linking.annotations import Annotations
from karat.tasks.linking.clusters import Crossing
from karat.tasks.linking.measure import Sides, SpanIds
from karat.tasks.linking.measures import Measure

LABELS = (
    "correct link", "correct nil", "wrong-link", "link-as-nil", "nil-as-link", "missing", "extra",
)  # fmt: skip
"""What can become of a mention."""

WORST = ("wrong-link", "link-as-nil", "nil-as-link", "missing", "extra")
NAMED = 3
"""How many parts of a cluster are named."""

SPANS = Measure("clusters", "mention_ceaf", None, ("span",))


def labels(sides: Sides) -> tuple[IntArray, IntArray, IntArray]:
    """For every span: the place of its label in LABELS, its gold row and its system row (-1: none).

    Where a side has a span twice, the last one counts, as in the official script.
    """
    gold, system, size = sides.spans
    rows = [np.full(size, -1, dtype=np.int64) for _ in range(2)]
    for out, span in zip(rows, (gold, system), strict=True):
        out[span] = np.arange(len(span))
    kbid = sides.counting.fields.key(("kbid",))
    g = np.append(kbid.gold, -1)[rows[0]]
    s = np.append(kbid.system, -1)[rows[1]]
    found = np.select(
        [g < 0, s < 0, (g == 0) & (s == 0), g == 0, s == 0, g == s],
        [
            LABELS.index(n)
            for n in (
                "extra",
                "missing",
                "correct nil",
                "nil-as-link",
                "link-as-nil",
                "correct link",
            )
        ],
        LABELS.index("wrong-link"),
    )
    return found, rows[0], rows[1]


def outcomes(sides: Sides) -> Table:
    """How many mentions had which outcome."""
    found, _, _ = labels(sides)
    count = np.bincount(found, minlength=len(LABELS)).tolist()
    total = max(sum(count), 1)
    rows: list[list[Any]] = [
        [name, n, n / total] for name, n in zip(LABELS, count, strict=True) if n
    ]
    return Table(
        name="outcomes", title="Outcomes", columns=["outcome", "mentions", "share"], rows=rows
    )


def documents(sides: Sides, most: int) -> Table:
    """How many mentions had which outcome in each document; those with most mistakes first."""
    found, _, _ = labels(sides)
    gold, system, size = sides.spans
    coded = sides.counting.fields.key(("docid",))
    doc = np.zeros(size, dtype=np.int64)
    doc[system], doc[gold] = coded.system, coded.gold
    shape = coded.size, len(LABELS)
    count = np.bincount(doc * shape[1] + found, minlength=shape[0] * shape[1]).reshape(shape)
    names = sides.counting.fields.values("docid")
    wrong = count[:, [LABELS.index(name) for name in WORST]]
    some = np.flatnonzero(count.sum(axis=1))
    worst = some[np.argsort(-wrong.sum(axis=1)[some], kind="stable")][:most].tolist()
    right = (count.sum(axis=1) - wrong.sum(axis=1)).tolist()
    rows = [[names[i], right[i], *wrong[i].tolist()] for i in worst]
    columns = ["document", "correct", *WORST]
    return Table(name="documents", title="Outcomes by document", columns=columns, rows=rows)


def clusters(sides: Sides, most: int = 10) -> Table:
    """The gold clusters that were split most and the system clusters that merge most."""
    crossing = sides.counting.crossing(SPANS)
    names = _names(sides.gold), _names(sides.system)
    rows = [
        *_cut(crossing, "split", *names, most),
        *_cut(crossing.swapped, "merged", *names[::-1], most),
    ]
    columns = ["what", "cluster", "mentions", "missing", "parts", "largest parts"]
    return Table(name="clusters", title="Split and merged clusters", columns=columns, rows=rows)


def _cut(
    crossing: Crossing, what: str, names: list[str], others: list[str], most: int
) -> list[list[Any]]:
    """The clusters of the first side that fall into most parts of the other, and those parts."""
    g, s, n = crossing.cells
    size = crossing.gold.size
    parts = np.bincount(g, minlength=len(size))
    largest = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(largest, g, n)
    found = crossing.system.present[crossing.gold.item]
    kept = np.bincount(crossing.gold.cluster[found], minlength=len(size))
    worst = np.argsort(-(kept - largest), kind="stable")[:most]

    def into(cluster: int) -> str:
        """The largest parts by name, with their sizes."""
        here = np.flatnonzero(g == cluster)
        first = here[np.argsort(-n[here], kind="stable")][:NAMED].tolist()
        said = [f"{others[s[i]]} ({n[i]})" for i in first]
        return ", ".join(said + ["..."] * (len(here) > NAMED))

    counts = (size, size - kept, parts)
    return [
        [what, names[i], *(int(c[i]) for c in counts), into(i)]
        for i in worst.tolist()
        if parts[i] > 1
    ]


def _names(side: Annotations) -> list[str]:
    """The entity of each cluster: clusters are numbered by first appearance."""
    _, first = np.unique(side.top_eid, return_index=True)
    return [side.ids[i] if i >= 0 else "(no entity)" for i in side.top_eid[np.sort(first)].tolist()]


def examples(sides: Sides, ids: SpanIds, most: int) -> list[Example]:
    """Mentions that went wrong: wrong entities first, then missed and made-up ones."""
    found, gold, system = labels(sides)
    seen: Counter[str] = Counter()
    out: list[Example] = []
    order = [np.flatnonzero(found == LABELS.index(name)) for name in WORST]
    for span in np.concatenate(order)[:most].tolist():
        label = LABELS[found[span]]
        seen[label] += 1
        out.append(_example(sides, ids, span, label, int(gold[span]), int(system[span])))
    return out


def _example(sides: Sides, ids: SpanIds, span: int, label: str, gold: int, system: int) -> Example:
    left = _entity(sides.gold, gold) if gold >= 0 else None
    right = _entity(sides.system, system) if system >= 0 else None
    side, row = (sides.gold, gold) if gold >= 0 else (sides.system, system)
    why = {
        "missing": f"the system has no mention here; gold says {left}",
        "extra": f"gold has no mention here; the system says {right}",
    }.get(label, f"gold says {left}, the system says {right}")
    fields: dict[str, Any] = {"document": side.docs[side.doc[row]]}
    text = _text(sides.texts, side, row)
    if text:
        fields["text"] = text
    fields |= {k: v for k, v in (("gold", left), ("predicted", right)) if v is not None}
    line = int(side.line[row])
    return Example(
        id=ids[span], record=line - 1, line=line, score=None, why=why, kind=label, fields=fields
    )


def _entity(side: Annotations, row: int) -> str:
    eid, kind = int(side.top_eid[row]), int(side.top_kind[row])
    name = side.ids[eid] if eid >= 0 else "no entity"
    return name if kind < 0 else f"{name} ({side.kinds[kind]})"


def _text(folder: str | None, side: Annotations, row: int, around: int = 30) -> str:
    """The mention in its sentence, from DOCID.txt in a folder of texts; "" where there is none."""
    if folder is None:
        return ""
    name = side.docs[side.doc[row]]
    path = Path(folder) / f"{name}.txt"
    # A document id is data: it must not lead out of the folder.
    if Path(folder).resolve() not in path.resolve().parents or not path.is_file():
        return ""
    text = path.read_text("utf-8", "replace")
    start, end = int(side.start[row]), int(side.end[row]) + 1
    before, after = text[max(start - around, 0) : start], text[end : end + around]
    return f"{before}[{text[start:end]}]{after}".replace("\n", " ")
