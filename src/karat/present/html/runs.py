"""Several runs on one page: what they are called, and the scores that they share."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Report
from karat.present.html import svg
from karat.present.html.figures import interval_of, main_scores, value_of
from karat.present.html.markup import Content, Safe, element, joined
from karat.present.html.scores import score_bar, shared_axis
from karat.present.html.sheet import Cell, Column, sheet, with_span

MOST_SHARED = 12


def names_of(reports: Sequence[Report]) -> list[str]:
    """A name for each run: its task, with what is different in its file where runs share a task."""
    titles = [report.title or report.task or report.kind for report in reports]
    files = [next((i.name for i in r.inputs if i.role != "gold"), "") for r in reports]
    names = []
    for at, title in enumerate(titles):
        alike = [files[i] for i, other in enumerate(titles) if other == title]
        short = _tail(files[at], alike) if len(alike) > 1 else ""
        names.append(f"{title}: {short}" if short else title)
    if len(set(names)) == len(names):
        return names
    return [f"{at}. {name}" for at, name in enumerate(names, 1)]


def _tail(path: str, all_paths: Sequence[str]) -> str:
    """As many last parts of the path as tell it from the others."""
    parts = path.split("/")
    for n in range(1, len(parts)):
        tail = parts[-n:]
        if sum(other.split("/")[-n:] == tail for other in all_paths) == 1:
            return "/".join(tail)
    return parts[-1]


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
    scale = shared_axis([report[name] for _, report in group for name in wanted])
    for name in wanted:
        for run, report in group:
            score = report[name]
            value = value_of(score.scale, score.value, score.low, score.high)
            span = interval_of(score.scale, score.value, score.low, score.high)
            label = run.replace(f"{report.title}: ", "", 1)
            rows.append(
                [
                    name,
                    label,
                    Cell(with_span(value, span), score.value),
                    span,
                    score_bar(score, scale),
                ]
            )
    columns = [
        Column("score"),
        Column("run"),
        Column("value", numeric=True),
        Column("interval", numeric=True, extra=True),
        Column("", sortable=False),
    ]
    title = f"{group[0][1].title or group[0][1].task}: shared scores"
    foot = None if scale is None else ["", "", "", "", svg.axis(scale)]
    inside = joined(
        element(heading, title),
        element("p", _caution(group), class_="note"),
        sheet(title, columns, rows, foot=foot, kind="full"),
    )
    return element("section", inside, class_="block shared")


def _caution(group: list[tuple[str, Report]]) -> str:
    """What these intervals can and cannot say."""
    gold = {report.signature.inputs.get("gold", "") for _, report in group}
    if len(gold) > 1:
        return "The runs were scored against different gold files, so the numbers do not compare."
    return (
        "Each interval is of its own run. Whether two runs differ is seen more sharply item by "
        "item: karat compare does that."
    )
