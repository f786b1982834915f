"""Several runs on one page: what they are called, and the scores that they share."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Report
from karat.present.html.figures import interval_of, main_scores, value_of
from karat.present.html.markup import Content, Safe, element, joined
from karat.present.html.scores import score_bar
from karat.present.html.sheet import Cell, Column, sheet

MOST_SHARED = 12


def names_of(reports: Sequence[Report]) -> list[str]:
    """A name for each run: its task, then its predictions where the task says too little."""
    names = [report.title or report.task or report.kind for report in reports]
    if len(set(names)) == len(names):
        return names
    files = [[i.name for i in r.inputs if i.role != "gold"] for r in reports]
    full = [
        f"{name}: {', '.join(own)}" if own else name for name, own in zip(names, files, strict=True)
    ]
    if len(set(full)) == len(full):
        return full
    return [f"{at}. {name}" for at, name in enumerate(full, 1)]


def shared_section(reports: Sequence[Report], names: Sequence[str], heading: str) -> Safe:
    """The scores that two or more runs of one task have in common."""
    tasks = dict.fromkeys(report.task for report in reports)
    parts = []
    for task in tasks:
        group = [(n, r) for n, r in zip(names, reports, strict=True) if r.task == task and r.scores]
        if len(group) > 1:
            parts.append(_shared(group, heading))
    return joined(parts)


def _shared(group: list[tuple[str, Report]], heading: str) -> Safe:
    common = set.intersection(*({s.name for s in report.scores} for _, report in group))
    wanted = [s.name for s in main_scores(group[0][1].scores) if s.name in common][:MOST_SHARED]
    if not wanted:
        return Safe("")
    rows: list[list[Cell | Content]] = []
    for name in wanted:
        for run, report in group:
            score = report[name]
            value = value_of(score.scale, score.value, score.low, score.high)
            span = interval_of(score.scale, score.value, score.low, score.high)
            rows.append(
                [name, run, Cell(element("strong", value), score.value), span, score_bar(score)]
            )
    columns = [
        Column("score"),
        Column("run"),
        Column("value", numeric=True),
        Column("interval", numeric=True, extra=True),
        Column("", sortable=False),
    ]
    title = f"{group[0][1].title or group[0][1].task}: shared scores"
    return joined(
        element(heading, title),
        element("p", _caution(group), class_="note"),
        sheet(title, columns, rows),
    )


def _caution(group: list[tuple[str, Report]]) -> str:
    """What these intervals can and cannot say."""
    gold = {report.signature.inputs.get("gold", "") for _, report in group}
    if len(gold) > 1:
        return "The runs were scored against different gold files, so the numbers do not compare."
    return (
        "Each interval is of its own run. Whether two runs differ is seen more sharply item by "
        "item: karat compare does that."
    )
