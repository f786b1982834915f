"""Drawing for plot-systems and compare-measures. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.errors import MissingExtra, UsageError
from karat.read.source import Source

Figures = dict[str, Any]


def add_picture_flags(one: argparse.ArgumentParser) -> None:
    """The flags that all pictures share."""
    one.add_argument("-o", "--out-fmt", default="./{}.pdf", metavar="TEMPLATE", help="./{}.pdf")
    one.add_argument("--figsize", type=_pair, default=(8.0, 6.0), metavar="W,H", help="inches")
    one.add_argument("--cmap", default="jet", help="colour map; default jet")
    one.add_argument("--label-map", type=mapping, default={}, metavar="JSON|FILE", help="names")


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
    """Write every figure by its name, and say where."""
    if "{}" not in template:
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


def labelled(names: Sequence[str], labels: Mapping[str, Any]) -> list[str]:
    """The names to show."""
    return [str(labels.get(name, name)) for name in names]
