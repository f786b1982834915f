"""plot-systems: scores of systems as columns, rows, scatter plots or one heat map."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.compat.neleval import pictures
from karat.compat.neleval.evaluate import Late, add_measures
from karat.compat.neleval.pictures import Figures, Point, Series
from karat.compat.neleval.scoretables import Bounds, read_confidence, read_evaluation
from karat.compat.neleval.systems import asked, expression, group_of, short_names
from karat.errors import UsageError


@dataclass
class System:
    """One system: its name, its group, and measure -> metric -> score with its bounds."""

    name: str
    group: str
    scores: Mapping[str, Mapping[str, Bounds]]

    def score(self, measure: str, metric: str = "fscore") -> float:
        """One score."""
        return self.scores[measure][metric][0]


Entry = tuple[str, list[System]]
"""What stands at one tick: the systems of a group, under its name."""


def add_plot(commands: Any) -> None:
    """The command `plot-systems`."""
    one = commands.add_parser("plot-systems", help="Summarise system results as scatter plots")
    one.add_argument(
        "systems", metavar="EVALFILE", nargs="+", help="tables of evaluate or confidence"
    )
    add_measures(one)
    output = pictures.add_picture_flags(one)
    output.add_argument(
        "--interactive", nargs="?", const="python", metavar="SHELL", help="open a Python shell"
    )
    output.add_argument(
        "--run-code",
        action="append",
        type=_code,
        metavar="PY",
        help="run this with `figures`, and save nothing; repeatable",
    )
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
    one.add_argument("-i", "--input-type", choices=("evaluate", "confidence"), default="evaluate")
    one.add_argument("--ci", type=int, metavar="N", help="show N %% intervals; needs -i confidence")
    one.add_argument("--legend-ncol", type=int, metavar="N", help="columns of the legend")
    one.add_argument(
        "--group-re", metavar="RE", type=expression, help="group by a match in the path"
    )
    one.add_argument(
        "--best-in-group", nargs="?", const="", metavar="MEASURE", help="one system a group"
    )
    one.add_argument("-s", "--sort-by", default="none", help="none, name, score or a measure")
    one.add_argument("--at-most", type=int, metavar="N", help="only the first N at the ticks")
    one.add_argument(
        "--style-map",
        type=pictures.mapping,
        default={},
        metavar="JSON|FILE",
        help="metric, measure, system or group to colour/marker",
    )
    one.add_argument("--anon", action="store_true", help="leave names of systems out")
    one.set_defaults(run=_plot)


def _choice(one: argparse.ArgumentParser, dest: str, default: str, **flags: str) -> None:
    group = one.add_mutually_exclusive_group()
    for flag, value in flags.items():
        name = f"--{flag.replace('_', '-')}"
        group.add_argument(name, dest=dest, action="store_const", const=value, default=default)


def _code(text: str) -> Any:
    try:
        return compile(text, "<run-code>", "exec")
    except (SyntaxError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no Python code: {error}") from error


def _limits(text: str) -> tuple[float, float] | None:
    if text == "tight":
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither MIN,MAX nor tight") from error
    return low, high


def _plot(chosen: argparse.Namespace) -> str | None:
    measures = asked(chosen.measure)
    _refuse(chosen, measures)
    figures = _FIGURES[chosen.kind](_systems(chosen, measures), measures, chosen)
    if chosen.run_code is None and chosen.interactive is None:
        return pictures.save(figures, chosen.out_fmt)
    scope = {"figures": figures, "plt": pictures.pyplot()}
    for code in chosen.run_code or ():
        exec(code, scope)  # noqa: S102  # the user's own code, which the flag is for
    if chosen.interactive is not None:
        import code as shell

        shell.interact("figures holds the pictures", local=scope)
    return None


def _refuse(chosen: argparse.Namespace, measures: Sequence[str]) -> None:
    """Return if the flags go together."""
    if chosen.ci is not None and chosen.input_type != "confidence":
        raise UsageError("--ci needs -i confidence")
    if chosen.axis == "single" and chosen.kind == "scatter":
        raise UsageError("--single-plot cannot be a scatter plot")
    if chosen.axis == "single" and chosen.group_re and not chosen.best_in_group:
        raise UsageError("--single-plot shows groups only with --best-in-group MEASURE")
    best = chosen.best_in_group == ""
    several = chosen.kind == "heatmap" or chosen.axis == "single"
    several = several or (chosen.axis == "system" and len(measures) > 1)
    if several and (chosen.sort_by == "score" or best):
        raise UsageError("a figure has several measures, so say which one sorts or is best")
    if best and chosen.kind == "scatter" and len(measures) > 1:
        raise UsageError("scatter plots share a legend, so say by which measure a system is best")


def _systems(chosen: argparse.Namespace, measures: Sequence[str]) -> list[System]:
    """The systems of all files, or the best ones of their groups by one measure."""
    found = []
    needed = [*measures, *(m for m in (_sorting(chosen), chosen.best_in_group) if m)]
    for path, name in zip(chosen.systems, short_names(chosen.systems), strict=True):
        group = name if chosen.group_re is None else group_of(path, chosen.group_re)
        confidence = chosen.input_type == "confidence"
        scores = read_confidence(path, chosen.ci) if confidence else read_evaluation(path)
        missing = [measure for measure in needed if measure not in scores]
        if missing:
            raise Late(f"{path} has no measure named {missing[0]!r}", help="see -m")
        found.append(System(name, group, scores))
    if chosen.best_in_group:
        found = [_best(some, chosen.best_in_group) for some in _grouped(found).values()]
    return found


def _sorting(chosen: argparse.Namespace) -> str | None:
    """The measure that sorts, where one is named."""
    return None if chosen.sort_by in ("none", "name", "score", "measure") else chosen.sort_by


def _grouped(systems: Sequence[System]) -> dict[str, list[System]]:
    groups: dict[str, list[System]] = {}
    for one in systems:
        groups.setdefault(one.group, []).append(one)
    return groups


def _best(systems: Sequence[System], measure: str) -> System:
    return max(systems, key=lambda one: one.score(measure))


def _entries(
    systems: Sequence[System], chosen: argparse.Namespace, measure: str | None
) -> list[Entry]:
    """The groups at the ticks, in order; `measure` is the one that a figure shows alone."""
    entries = list(_grouped(systems).items())
    if chosen.sort_by == "name":
        entries.sort(key=lambda entry: entry[0])
    by = measure if chosen.sort_by == "score" else _sorting(chosen)
    if by is not None:
        entries.sort(key=lambda entry: -_best(entry[1], by).score(by))
    return _alone(entries, chosen, measure)[: chosen.at_most]


def _alone(entries: list[Entry], chosen: argparse.Namespace, measure: str | None) -> list[Entry]:
    """The best system of each group, where that is asked for."""
    if chosen.best_in_group is None:
        return entries
    best = [_best(some, chosen.best_in_group or measure or "") for _, some in entries]
    return [(one.name, [one]) for one in best]


def _own_figures(
    systems: Sequence[System], measures: Sequence[str], chosen: argparse.Namespace
) -> list[Entry]:
    """The groups that have a figure each, by name."""
    return _alone(sorted(_grouped(systems).items()), chosen, measures[0])


def _shown(measures: Sequence[str], chosen: argparse.Namespace) -> Sequence[str]:
    """The measures at the ticks, in order."""
    return (sorted(measures) if chosen.sort_by == "name" else measures)[: chosen.at_most]


def _labels(names: Sequence[str], chosen: argparse.Namespace, systems: bool = False) -> list[str]:
    """What stands at the ticks."""
    if systems and chosen.anon:
        return [""] * len(names)
    return [str(chosen.label_map.get(name, name)) for name in names]


def _bars(systems: list[System], measures: list[str], chosen: argparse.Namespace) -> Figures:
    """Columns or rows: a figure a measure, a figure a system, or all in one."""
    metrics = chosen.metrics.split()
    if chosen.axis == "single":
        entries = _entries(systems, chosen, None)
        series = [
            Series(name, _points([some for _, some in entries], [name] * len(entries), metric))
            for name in measures
            for metric in metrics
        ]
        ticks = _labels([name for name, _ in entries], chosen, systems=True)
        return {"altogether": pictures.bars(series, ticks, metrics[-1], chosen)}
    figures = {}
    if chosen.axis == "measure":
        for measure in measures:
            entries = _entries(systems, chosen, measure)
            groups, keys = [some for _, some in entries], [measure] * len(entries)
            series = [Series(m, _points(groups, keys, m)) for m in metrics]
            ticks = _labels([name for name, _ in entries], chosen, systems=True)
            (title,) = _labels([measure], chosen)
            figures[measure] = pictures.bars(series, ticks, title, chosen)
        return figures
    shown = _shown(measures, chosen)
    for name, some in _own_figures(systems, measures, chosen):
        series = [Series(m, _points([some] * len(shown), shown, m)) for m in metrics]
        (title,) = _labels([name], chosen, systems=True)
        figures[name] = pictures.bars(series, _labels(shown, chosen), title, chosen)
    return figures


def _points(
    groups: Sequence[Sequence[System]], measures: Sequence[str], metric: str
) -> list[Point]:
    """A point a system, at the place of its group."""
    return [
        (place, one.scores[measure][metric])
        for place, (some, measure) in enumerate(zip(groups, measures, strict=True))
        for one in some
    ]


def _scatter(systems: list[System], measures: list[str], chosen: argparse.Namespace) -> Figures:
    """Precision over recall: a figure a measure or a group, and the legend on its own."""
    figures: Figures = {}
    shown: list[tuple[str, list[System], str]] = []
    if chosen.axis == "measure":
        for measure in measures:
            shown = [(name, some, measure) for name, some in _entries(systems, chosen, measure)]
            figures[measure] = _scattered(shown, measure, chosen)
    else:
        for name, some in _own_figures(systems, measures, chosen):
            shown = [(measure, some, measure) for measure in _shown(measures, chosen)]
            figures[name] = _scattered(shown, name, chosen)
    if len(shown) > 1:
        figures["_legend_"] = pictures.legend(next(iter(figures.values())), chosen)
    return figures


def _scattered(
    shown: Sequence[tuple[str, list[System], str]], title: str, chosen: argparse.Namespace
) -> Any:
    series = [
        Series(
            name,
            [(one.score(m, "recall"), one.scores[m]["precision"]) for one in some],
        )
        for name, some, m in shown
    ]
    names = _labels([name for name, _, _ in shown], chosen, systems=chosen.axis == "measure")
    (said,) = _labels([title], chosen, systems=chosen.axis == "system")
    return pictures.scatter(series, names, said, chosen)


def _heatmap(systems: list[System], measures: list[str], chosen: argparse.Namespace) -> Figures:
    """Measures by systems, or systems by measures."""
    entries = _entries(systems, chosen, None)
    crowded = [name for name, some in entries if len(some) > 1]
    if crowded:
        raise Late(f"group {crowded[0]} has several systems", help="see --best-in-group")
    rows, columns = (
        _labels(measures, chosen),
        _labels([n for n, _ in entries], chosen, systems=True),
    )
    matrix = [[some[0].score(m) for _, some in entries] for m in measures]
    if chosen.axis == "system":
        rows, columns = columns, rows
        matrix = [list(column) for column in zip(*matrix, strict=True)]
    return {"heatmap": pictures.heat(matrix, rows, columns, chosen, chosen.limits or (None, None))}


_FIGURES: dict[str, Callable[[list[System], list[str], argparse.Namespace], Figures]] = {
    "columns": _bars,
    "rows": _bars,
    "scatter": _scatter,
    "heatmap": _heatmap,
}
