"""The five pictures of `score.py --out-image-dir`: three curves, two histograms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import not_
from pathlib import Path
from typing import Any

from karat.errors import MissingExtra
from karat.tasks.answers.totals import Scores, precision_recall, walk

TITLES = {
    "exact": "Precision-recall of exact match",
    "f1": "Precision-recall of F1",
    "oracle": "Precision-recall of telling the answerable questions",
}
BINS = 20


def draw(scores: Scores, folder: Path) -> list[Path]:
    """The files written. Raises MissingExtra where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("--out-image-dir", "plot") from None
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, curve in precision_recall(scores, walk(scores)).items():
        figure = Figure()
        _curve(figure, curve.precisions, curve.recalls, TITLES[name])
        made.append(_saved(figure, folder / f"pr_{name}.png"))
    for name, chosen in (
        ("hasAns", scores.answerable),
        ("noAns", list(map(not_, scores.answerable))),
    ):
        if any(chosen):
            chances = scores.chances or {}
            figure = Figure()
            mine = [chances[key] for key in compress(scores.ids, chosen) if key in chances]
            _histogram(figure, mine, name)
            made.append(_saved(figure, folder / f"na_prob_hist_{name}.png"))
    return made


def _curve(figure: Any, precisions: Sequence[float], recalls: Sequence[float], title: str) -> None:
    """Steps of precision over recall, filled."""
    axes = figure.add_subplot()
    axes.step(recalls, precisions, color="b", alpha=0.2, where="post")
    axes.fill_between(recalls, precisions, step="post", alpha=0.2, color="b")
    axes.set(xlabel="Recall", ylabel="Precision", title=title, xlim=(0, 1.05), ylim=(0, 1.05))


def _histogram(figure: Any, chances: Sequence[float], name: str) -> None:
    """Shares of the questions by probability, in 20 bins over [0, 1]."""
    axes = figure.add_subplot()
    weights = [1.0 / max(len(chances), 1)] * len(chances)
    axes.hist(chances, weights=weights, bins=BINS, range=(0.0, 1.0))
    axes.set(
        xlabel="Model probability of no answer",
        ylabel="Share of the questions",
        title=f"No-answer probability: {name}",
    )


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path)
    return path
