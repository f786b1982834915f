"""The task's tables and pictures: domains, target terms, what the data hides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.model.report import Curve, Series, Table
from karat.tasks.stereotypes.examples import StereoPairs
from karat.tasks.stereotypes.measure import Group, groups_of, outcomes, terms_of
from karat.tasks.stereotypes.sentences import blanks, same_words

OVERALL = "overall"
SHORT = {
    "count": "count",
    "lm": "lm",
    "ss": "ss",
    "icat": "icat",
    "multi_class_ss_stdev": "ss stdev",
    "micro_icat": "micro icat",
    "ties": "ties",
}
"""The scores that tables show, and what their columns are called."""


def tables(pairs: StereoPairs, values: Mapping[str, float], ties: str) -> list[Table]:
    """Scores by section and domain, scores by target term, and what cannot be scored."""
    found = _domains(pairs, values, ties) if values else []
    if pairs.gold.whole is not None:
        found.append(_targets(pairs, ties))
    found.append(_hidden(pairs))
    return found


def curves(pairs: StereoPairs, values: Mapping[str, float], name: str) -> list[Curve]:
    """SS by domain around 50, and LM against SS."""
    groups = [g for g in groups_of(pairs.gold) if g.section is None]
    names = [OVERALL if g.domain is None else pairs.gold.domains[g.domain] for g in groups]
    ss = [values[f"{g.name(pairs.gold)}ss"] for g in groups if f"{g.name(pairs.gold)}ss" in values]
    if len(ss) != len(groups):
        return []
    places = [float(i) for i in range(len(groups))]
    by_domain = Curve(
        name="ss_by_domain",
        title="Preference for the stereotype",
        x="SS (50 is no preference)",
        y="domain",
        series=[Series(name=name, x=ss, y=places)],
        kind="around",
        note="|".join(names),
    )
    if pairs.gold.kinds != 3:
        return [by_domain]
    lm = [values[f"{group.name(pairs.gold)}lm"] for group in groups]
    plane = Curve(
        name="lm_ss",
        title="Language model score against preference",
        x="SS",
        y="LM",
        series=[
            Series(name=f"{name} {label}" if label != "overall" else name, x=[x], y=[y])
            for label, x, y in zip(names, ss, lm, strict=True)
        ],
        kind="icat",
    )
    return [by_domain, plane]


def _domains(pairs: StereoPairs, values: Mapping[str, float], ties: str) -> list[Table]:
    """A table a section, both together first."""
    counted = outcomes(pairs, ties)
    shown = [name for name in SHORT if name in values or name == "ties"]
    gold, rows = pairs.gold, dict[int | None, list[list[Any]]]()
    for group in groups_of(gold):
        if group.section is not None and len(gold.sections) == 1:
            continue
        inside = group.holds(gold.section, gold.domain)
        cells: list[Any] = [OVERALL if group.domain is None else gold.domains[group.domain]]
        for name in shown:
            value = values.get(f"{group.name(gold)}{name}")
            if name == "ties":
                cells.append(int(counted.tied[inside].sum()))
            elif name == "count" and value is not None:
                cells.append(int(value))
            else:
                cells.append(_finite(value))
        rows.setdefault(group.section, []).append(cells)
    return [
        Table(
            name="domains" if section is None else f"domains_{gold.sections[section]}",
            title="By domain" if section is None else f"By domain, {gold.sections[section]}",
            columns=["domain", *(SHORT[name] for name in shown)],
            rows=part,
            kind="domains",
        )
        for section, part in rows.items()
    ]


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else value


def _targets(pairs: StereoPairs, ties: str) -> Table:
    """Every target term, the farthest from 50 first."""
    gold, counted = pairs.gold, outcomes(pairs, ties)
    terms = terms_of(gold, Group(None, None))
    size = len(terms.names)

    def total(column: Any) -> Any:
        return np.bincount(terms.codes, column, size)

    count, tied = total(None), total(counted.tied)
    with np.errstate(divide="ignore", invalid="ignore"):
        ss = 100.0 * (total(counted.pro) / total(counted.decided))
        lm = 100.0 * (total(counted.related) / total(counted.compared))
    domain = np.zeros(size, dtype=np.int64)
    domain[terms.codes] = gold.domain
    order = np.argsort(-np.abs(np.nan_to_num(ss, nan=50.0) - 50.0), kind="stable")
    rows = [
        [
            terms.names[t],
            gold.domains[int(domain[t])],
            int(count[t]),
            _finite(float(lm[t])),
            _finite(float(ss[t])),
            _finite(float(lm[t] * min(ss[t], 100 - ss[t]) / 50)),
            int(tied[t]),
        ]
        for t in order.tolist()
        if count[t]
    ]
    return Table(
        name="targets",
        title="By target term, the farthest from 50 first",
        columns=["target", "domain", "count", "lm", "ss", "icat", "ties"],
        rows=rows,
        kind="targets",
        note="a term has a few dozen examples: its scores are rough",
    )


def _hidden(pairs: StereoPairs) -> Table:
    """What no score can tell: ties, candidates of equal text, contexts with two gaps."""
    gold, rows = pairs.gold, []
    tied = pairs.pred.compared(0, 1) == 0
    for s, sheet in enumerate(gold.sheets):
        inside = np.flatnonzero(gold.sheet == s)
        places = gold.row[inside].tolist()
        same, gaps = same_words(sheet), blanks(sheet)
        rows.append(
            [
                sheet.section,
                len(inside),
                int(tied[inside].sum()),
                sum(map(same.__getitem__, places)),
                sum(gap > 1 for gap in map(gaps.__getitem__, places) if gap),
            ]
        )
    return Table(
        name="unscorable",
        title="What cannot be told apart",
        columns=["section", "examples", "ties", "equal candidates", "two BLANKs"],
        rows=rows,
        kind="plain",
    )
