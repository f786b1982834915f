"""plot-systems: scores of systems as columns, rows, scatter plots or one heat map."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from karat.compat.neleval import pictures
from karat.compat.neleval.evaluate import Late, add_measures
from karat.compat.neleval.systems import COLUMN, read_evaluation, wanted
from karat.errors import DataError, UsageError
from karat.model.problem import Problem
from karat.read.source import Source

Bounds = tuple[float, float, float]
"""A score with its lower and upper bound."""


@dataclass
class System:
    """One system: its name, its group, and measure -> metric -> score."""

    name: str
    group: str
    scores: Mapping[str, Mapping[str, Bounds]]
    style: Mapping[str, Any] = field(default_factory=dict)


def add_plot(commands: Any) -> None:
    """The command `plot-systems`."""
    one = commands.add_parser("plot-systems", help="Summarise system results as scatter plots")
    one.add_argument(
        "systems", metavar="EVALFILE", nargs="+", help="tables of evaluate or confidence"
    )
    add_measures(one)
    pictures.add_picture_flags(one)
    _choice(one, "axis", "measure", by_measure="measure", by_system="system", single_plot="single")
    _choice(
        one, "kind", "columns", columns="columns", rows="rows", scatter="scatter", heatmap="heatmap"
    )
    _choice(
        one,
        "metrics",
        "fscore",
        pr="precision recall",
        prf="precision recall fscore",
        recall_only="recall",
    )
    one.add_argument("--lines", action="store_true", help="join the points")
    one.add_argument("--limits", type=_limits, default=(0.0, 1.0), help="0,1 or MIN,MAX or tight")
    one.add_argument("-i", "--input-fmt", choices=("evaluate", "confidence"), default="evaluate")
    one.add_argument("--ci", type=int, metavar="N", help="show N %% intervals; needs -i confidence")
    one.add_argument(
        "--interactive", nargs="?", const="show", metavar="SHELL", help="show, or a shell"
    )
    one.add_argument("--run-code", metavar="PY", help="run this with `figures` before saving")
    one.add_argument("--legend-ncol", type=int, metavar="N", help="columns of the legend")
    one.add_argument(
        "--group-re", metavar="RE", type=_expression, help="group by a match in the path"
    )
    one.add_argument(
        "--best-in-group", nargs="?", const="", metavar="MEASURE", help="one system a group"
    )
    one.add_argument("-s", "--sort-by", default="none", help="none, name, score or a measure")
    one.add_argument("--at-most", type=int, metavar="N", help="only the first N systems")
    one.add_argument(
        "--style-map", type=pictures.mapping, default={}, metavar="JSON|FILE", help="styles"
    )
    one.add_argument("--anon", action="store_true", help="leave names of systems out")
    one.set_defaults(run=_plot)


def _choice(one: argparse.ArgumentParser, dest: str, default: str, **flags: str) -> None:
    group = one.add_mutually_exclusive_group()
    for flag, value in flags.items():
        name = f"--{flag.replace('_', '-')}"
        group.add_argument(name, dest=dest, action="store_const", const=value, default=default)


def _expression(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression") from error


def _limits(text: str) -> tuple[float, float] | None:
    if text == "tight":
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither MIN,MAX nor tight") from error
    return low, high


def _plot(chosen: argparse.Namespace) -> str:
    _refuse(chosen)
    systems = _systems(chosen)
    names = wanted(chosen.measure, list(dict.fromkeys(m for one in systems for m in one.scores)))
    if not names:
        raise Late("none of the measures is in the files")
    systems = _chosen(systems, names, chosen)
    figures = _FIGURES[chosen.kind](systems, names, chosen)
    if chosen.run_code is not None:
        scope = {"figures": figures, "plt": pictures.pyplot(), "systems": systems}
        exec(chosen.run_code, scope)  # noqa: S102  # the user's own code, which the flag is for
    if chosen.interactive is not None:
        import code

        code.interact(
            "figures holds the pictures", local={"figures": figures, "plt": pictures.pyplot()}
        )
        return ""
    return pictures.save(figures, chosen.out_fmt)


def _refuse(chosen: argparse.Namespace) -> None:
    """Return if the flags go together."""
    if chosen.ci is not None and chosen.input_fmt != "confidence":
        raise UsageError("--ci needs -i confidence")
    if chosen.axis == "single" and chosen.kind == "scatter":
        raise UsageError("--single-plot cannot be a scatter plot")
    several = chosen.axis != "measure" or chosen.kind == "heatmap"
    if several and (chosen.sort_by == "score" or chosen.best_in_group == ""):
        raise UsageError("a figure has several measures, so say which one sorts or is best")


def _systems(chosen: argparse.Namespace) -> list[System]:
    found = []
    for path in chosen.systems:
        match = None if chosen.group_re is None else chosen.group_re.search(path)
        if chosen.group_re is not None and match is None:
            raise Late(f"{chosen.group_re.pattern!r} does not occur in {path}")
        name = Path(path).name.removesuffix(".evaluation").removesuffix(".confidence")
        scores = (
            _confidence(path, chosen.ci) if chosen.input_fmt == "confidence" else _evaluation(path)
        )
        group = match[0] if match else name
        style = chosen.style_map.get(name, chosen.style_map.get(group, {}))
        found.append(System(name, group, scores, style if isinstance(style, dict) else {}))
    return found


def _evaluation(path: str) -> dict[str, dict[str, Bounds]]:
    return {
        measure: {metric: (row[i], row[i], row[i]) for metric, i in COLUMN.items()}
        for measure, row in read_evaluation(path).items()
    }


def _confidence(path: str, level: int | None) -> dict[str, dict[str, Bounds]]:
    """The scores and bounds of a table of `confidence`."""
    source = Source.of(path)
    lines = [
        [cell.strip() for cell in line.split("\t")]
        for line in source.data().decode("utf-8", "replace").splitlines()
    ]
    try:
        head = lines[0]
        value = head.index("score")
        low, high = (
            (head.index(f"{level}%("), head.index(f"){level}%")) if level else (value, value)
        )
        found: dict[str, dict[str, Bounds]] = {}
        for row in lines[1:]:
            found.setdefault(row[0], {})[row[1]] = (
                float(row[value]),
                float(row[low]),
                float(row[high]),
            )
    except (IndexError, ValueError) as error:
        text = "this is no table of `confidence` with these bounds"
        raise DataError([Problem("confidence-broken", "error", text, source.name)]) from error
    return found


def _score(one: System, measure: str, metric: str) -> float:
    found = one.scores.get(measure, {}).get(metric)
    return found[0] if found else float("-inf")


def _chosen(
    systems: list[System], names: Sequence[str], chosen: argparse.Namespace
) -> list[System]:
    """The systems to show, in their order."""
    metric = chosen.metrics.split()[-1]
    if chosen.best_in_group is not None:
        by = chosen.best_in_group or names[0]
        best: dict[str, System] = {}
        for one in systems:
            if one.group not in best or _score(one, by, metric) > _score(
                best[one.group], by, metric
            ):
                best[one.group] = one
        systems = list(best.values())
    if chosen.sort_by == "name":
        systems = sorted(systems, key=lambda one: one.name)
    elif chosen.sort_by != "none":
        by = names[0] if chosen.sort_by == "score" else chosen.sort_by
        systems = sorted(systems, key=lambda one: -_score(one, by, metric))
    return systems[: chosen.at_most]


Figures = dict[str, Any]
Series = list[tuple[str, list[Bounds | None], Mapping[str, Any]]]


def _bars(systems: list[System], names: Sequence[str], chosen: argparse.Namespace) -> Figures:
    """Columns or rows: a figure a measure, a figure a system, or all in one."""
    shown = ["" if chosen.anon else str(chosen.label_map.get(s.name, s.name)) for s in systems]
    titles = pictures.labelled(names, chosen.label_map)
    metrics = chosen.metrics.split()
    if chosen.axis == "measure":
        return {
            name: _bar(
                [(m, [s.scores.get(name, {}).get(m) for s in systems], {}) for m in metrics],
                shown,
                title,
                chosen,
            )
            for name, title in zip(names, titles, strict=True)
        }
    if chosen.axis == "system":
        return {
            s.name: _bar(
                [(m, [s.scores.get(n, {}).get(m) for n in names], s.style) for m in metrics],
                titles,
                label,
                chosen,
            )
            for s, label in zip(systems, shown, strict=True)
        }
    series: Series = [
        (f"{label} {m}".strip(), [s.scores.get(n, {}).get(m) for n in names], s.style)
        for s, label in zip(systems, shown, strict=True)
        for m in metrics
    ]
    return {"altogether": _bar(series, titles, "", chosen)}


def _bar(series: Series, ticks: Sequence[str], title: str, chosen: argparse.Namespace) -> Any:
    made, axes = pictures.figure(chosen.figsize)
    across = chosen.kind == "rows"
    paint = pictures.colours(chosen.cmap, len(series))
    for k, (label, values, style) in enumerate(series):
        at = [
            i + 0.6 * (k + 0.5) / len(series) - 0.3 for i, v in enumerate(values) if v is not None
        ]
        held = [v for v in values if v is not None]
        middle = [v[0] for v in held]
        reach = [[v[0] - v[1] for v in held], [v[2] - v[0] for v in held]]
        how: dict[str, Any] = {
            "fmt": "o-" if chosen.lines else "o",
            "label": label,
            "color": paint[k],
            **style,
        }
        bars = {"xerr": reach} if across else {"yerr": reach}
        axes.errorbar(*((middle, at) if across else (at, middle)), **bars, **how)
    if across:
        axes.set_yticks(range(len(ticks)), ticks)
        axes.invert_yaxis()
    else:
        axes.set_xticks(range(len(ticks)), ticks, rotation=90)
    if chosen.limits is not None:
        (axes.set_xlim if across else axes.set_ylim)(*chosen.limits)
    axes.set_title(title)
    axes.legend(ncols=chosen.legend_ncol or 1)
    return made


def _scatter(systems: list[System], names: Sequence[str], chosen: argparse.Namespace) -> Figures:
    """Recall over precision: a figure a measure or a system, and the legend on its own."""
    by_measure = chosen.axis == "measure"
    points = [s.name for s in systems] if by_measure else list(names)
    paint = dict(zip(points, pictures.colours(chosen.cmap, len(points)), strict=True))
    figures: Figures = {}
    handles: dict[str, Any] = {}
    for title in names if by_measure else [s.name for s in systems]:
        made, axes = pictures.figure(chosen.figsize)
        for point in points:
            system = next(s for s in systems if s.name == (point if by_measure else title))
            found = system.scores.get(title if by_measure else point, {})
            if "precision" in found and "recall" in found:
                label = str(chosen.label_map.get(point, point))
                how = {"color": paint[point], "label": label, **system.style}
                handles[label] = axes.scatter(found["precision"][0], found["recall"][0], **how)
        axes.set(xlabel="precision", ylabel="recall", title=str(chosen.label_map.get(title, title)))
        if chosen.limits is not None:
            axes.set(xlim=chosen.limits, ylim=chosen.limits)
        figures[title] = made
    legend, axes = pictures.figure(chosen.figsize)
    axes.axis("off")
    if not (chosen.anon and by_measure):
        axes.legend(
            list(handles.values()), list(handles), ncols=chosen.legend_ncol or 1, loc="center"
        )
    figures["_legend_"] = legend
    return figures


def _heatmap(systems: list[System], names: Sequence[str], chosen: argparse.Namespace) -> Figures:
    """Systems by measures."""
    metric = chosen.metrics.split()[-1]
    rows = ["" if chosen.anon else str(chosen.label_map.get(s.name, s.name)) for s in systems]
    matrix = [[s.scores.get(n, {}).get(metric, (float("nan"),))[0] for n in names] for s in systems]
    columns = pictures.labelled(names, chosen.label_map)
    return {"heatmap": pictures.heat(matrix, rows, columns, chosen, chosen.limits or (None, None))}


_FIGURES: dict[str, Callable[[list[System], Sequence[str], argparse.Namespace], Figures]] = {
    "columns": _bars,
    "rows": _bars,
    "scatter": _scatter,
    "heatmap": _heatmap,
}
