"""Drawing for plot-systems and compare-measures. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.compat.neleval.scoretables import Bounds
from karat.errors import MissingExtra, UsageError
from karat.read.source import Source

Figures = dict[str, Any]
Point = tuple[float, Bounds]
"""A place along one axis, and a score with its lower and upper bound along the other."""

METRICS = {"precision": ("b", "^"), "recall": ("r", "v"), "fscore": ("k", ".")}
"""How each metric is drawn."""
MARKERS = ("+", ".", "o", "s", "*", "^", "v", "p")
LONGEST_LEGEND = 20


@dataclass(frozen=True)
class Series:
    """Points that belong together, drawn alike."""

    name: str
    points: list[Point]


def add_picture_flags(one: argparse.ArgumentParser) -> Any:
    """The flags that all pictures share; returns the group of where they go."""
    output = one.add_mutually_exclusive_group()
    output.add_argument("-o", "--out-fmt", default="./{}.pdf", metavar="TEMPLATE", help="./{}.pdf")
    one.add_argument("--figsize", type=_pair, default=(8.0, 6.0), metavar="W,H", help="inches")
    one.add_argument("--cmap", default="jet", help="colour map; default jet")
    one.add_argument("--label-map", type=mapping, default={}, metavar="JSON|FILE", help="names")
    return output


def _pair(text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not two numbers with a comma") from error
    return first, second


def mapping(text: str) -> dict[str, Any]:
    """An object given as JSON or as the name of a file that holds it."""
    try:
        found = json.loads(text if text.lstrip().startswith("{") else Source.of(text).data())
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no JSON object: {error}") from error
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no JSON object")
    return found


def pyplot() -> Any:
    """matplotlib's pyplot."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise MissingExtra("drawing pictures", "plot") from None
    return plt


def figure(size: Sequence[float]) -> tuple[Any, Any]:
    """A new figure, which needs no screen, and its axes."""
    pyplot()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=tuple(size))
    FigureCanvasAgg(made)
    return made, made.add_subplot()


def save(figures: Figures, template: str) -> str:
    """Write every figure by its name, and say where. A single one needs no place for it."""
    if "{}" not in template and len(figures) > 1:
        raise UsageError(f"-o {template}: the template needs {{}} where the name goes")
    for name, made in figures.items():
        path = Path(template.format(name.replace("/", "_")))
        # The extension decides the type, so it stays at the end of the name beside.
        beside = path.with_name(f".part-{path.name}")
        try:
            made.savefig(beside, bbox_inches="tight")
        except ValueError as error:
            raise UsageError(f"-o {template}: {error}") from error
        beside.replace(path)
    return "Saved to " + template.format("{" + ",".join(figures) + "}")


def colours(name: str, many: int) -> list[Any]:
    """That many colours of a map."""
    pyplot()
    import matplotlib as mpl

    if name not in mpl.colormaps:
        raise UsageError(f"there is no colour map named {name!r}")
    chosen = mpl.colormaps[name]
    return [chosen(i / max(many - 1, 1)) for i in range(many)]


def comparison(names: Sequence[str], scores: Any, chosen: argparse.Namespace) -> str:
    """The pictures of compare-measures: three correlations, the spread, and violins."""
    from karat.compat.neleval.relations import correlation

    shown = [str(chosen.label_map.get(name, name)) for name in names]
    figures: Figures = {}
    for kind in ("pearson-r", "spearman-r", "kendall-tau"):
        matrix = [
            [
                1.0 if a == b else correlation(kind, scores[:, a], scores[:, b])
                for b in range(len(names))
            ]
            for a in range(len(names))
        ]
        figures[kind.split("-")[0]] = heat(matrix, shown, shown, chosen, (-1.0, 1.0))
    for name, method in (("spread", "boxplot"), ("violin", "violinplot")):
        made, axes = figure(chosen.figsize)
        getattr(axes, method)([scores[:, i] for i in range(len(names))])
        axes.set_xticks(range(1, len(names) + 1), shown, rotation=90)
        axes.set_ylabel("fscore")
        figures[name] = made
    return save(figures, chosen.out_fmt)


def heat(
    matrix: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    chosen: argparse.Namespace,
    limits: tuple[float | None, float | None],
) -> Any:
    """A heat map with its scale."""
    colours(chosen.cmap, 1)
    made, axes = figure(chosen.figsize)
    drawn = axes.imshow(matrix, cmap=chosen.cmap, vmin=limits[0], vmax=limits[1], aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_yticks(range(len(rows)), rows)
    made.colorbar(drawn)
    return made


def _style(name: str, chosen: argparse.Namespace, colour: Any, marker: str) -> dict[str, Any]:
    """How a series is drawn: `colour/marker/more` of the style map, or what is given."""
    said = chosen.style_map.get(name, "")
    if not isinstance(said, str):
        raise UsageError(f"the style of {name} is colour/marker as text, not {said!r}")
    parts = said.split("/", 2)
    try:
        more = json.loads(parts[2]) if len(parts) > 2 else {}
    except ValueError as error:
        raise UsageError(f"the style of {name} ends in no JSON: {parts[2]!r}") from error
    colour = parts[0] or colour
    marker = (parts[1] if len(parts) > 1 else "") or marker
    return {"color": colour, "marker": marker, "markeredgecolor": colour, **more}


def _ncols(chosen: argparse.Namespace, many: int) -> int:
    return chosen.legend_ncol or -(-many // LONGEST_LEGEND)


def bars(series: Sequence[Series], ticks: Sequence[str], title: str, chosen: Any) -> Any:
    """Scores over named places, upright or lying; F scores show their bounds."""
    made, axes = figure(chosen.figsize)
    across = chosen.kind == "rows"
    paint = colours(chosen.cmap, len(series))
    for k, one in enumerate(series):
        colour, marker = METRICS.get(one.name, (paint[k], MARKERS[k % len(MARKERS)]))
        how = _style(one.name, chosen, colour, marker)
        at = [place for place, _ in one.points]
        score = [bounds[0] for _, bounds in one.points]
        reach = None
        if chosen.ci is not None and one.name not in ("precision", "recall"):
            reach = [[b[0] - b[1] for _, b in one.points], [b[2] - b[0] for _, b in one.points]]
        label = str(chosen.label_map.get(one.name, one.name))
        line = "-" if chosen.lines else "none"
        try:
            if across:
                axes.errorbar(score, at, xerr=reach, ls=line, label=label, **how)
            else:
                axes.errorbar(at, score, yerr=reach, ls=line, label=label, **how)
        except (ValueError, AttributeError) as error:
            raise UsageError(f"the style of {one.name} cannot be drawn: {error}") from error
    margin = (-0.5, len(ticks) - 0.5)
    if across:
        axes.set_yticks(range(len(ticks)), ticks)
        axes.set(xlabel=title, ylim=margin[::-1])
    else:
        axes.set_xticks(range(len(ticks)), ticks, rotation=40, ha="right")
        axes.set(ylabel=title, xlim=margin)
    if chosen.limits is not None:
        (axes.set_xlim if across else axes.set_ylim)(*chosen.limits)
    axes.grid(axis="x" if across else "y")
    if len(series) > 1:
        axes.legend(ncols=_ncols(chosen, len(series)))
    return made


def scatter(series: Sequence[Series], names: Sequence[str], title: str, chosen: Any) -> Any:
    """Precision over recall, a marker a series."""
    made, axes = figure(chosen.figsize)
    paint = colours(chosen.cmap, len(series))
    for k, (one, name) in enumerate(zip(series, names, strict=True)):
        how = _style(one.name, chosen, paint[k], MARKERS[k % len(MARKERS)])
        recall = [place for place, _ in one.points]
        precision = [bounds[0] for _, bounds in one.points]
        axes.plot(recall, precision, ls="-" if chosen.lines else "none", label=name, **how)
    axes.set(xlabel="recall", ylabel="precision", title=title)
    if chosen.limits is not None:
        axes.set(xlim=chosen.limits, ylim=chosen.limits)
    axes.grid()
    return made


def legend(of: Any, chosen: Any) -> Any:
    """The legend of a figure, as a figure of its own."""
    made, axes = figure(chosen.figsize)
    axes.axis("off")
    handles, labels = of.axes[0].get_legend_handles_labels()
    axes.legend(handles, labels, ncols=_ncols(chosen, len(labels)), loc="center")
    return made
