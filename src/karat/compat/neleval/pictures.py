"""The pictures of plot-systems and compare-measures. They need matplotlib, the extra `plot`."""

from __future__ import annotations

import argparse
from typing import Any

from karat.errors import MissingExtra


def add_picture_flags(one: argparse.ArgumentParser) -> None:
    """The flags that all pictures share."""
    one.add_argument(
        "-o", "--out-fmt", default="./{}.pdf", metavar="TEMPLATE", help="default ./{}.pdf"
    )
    one.add_argument("--figsize", default="8,6", metavar="W,H", help="inches; default 8,6")
    one.add_argument("--cmap", default="jet", help="colour map; default jet")
    one.add_argument("--label-map", metavar="JSON-or-file", help="names to show instead")


def pyplot() -> Any:
    """matplotlib's pyplot without a screen."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("drawing pictures", "plot") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def add_plot(commands: Any) -> None:
    """The command `plot-systems`."""
    one = commands.add_parser("plot-systems", help="Summarise system results as scatter plots")
    one.add_argument("systems", metavar="EVALFILE", nargs="+")
    add_picture_flags(one)
    one.set_defaults(run=lambda chosen: pyplot() and None)


def comparison(names: list[str], scores: Any, chosen: argparse.Namespace) -> str:
    """The pictures of compare-measures."""
    pyplot()
    return ""
