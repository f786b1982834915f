"""Reference and evaluation data of a run configuration, checked apart and against each other."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.read.place import Place
from karat.read.sides import Half, Vectors, cross_check
from karat.tasks.classification.rows import Side, read_side


def check_sides(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Side]:
    """Both sides, read and checked; `configuration` is the place of the configuration file."""
    sides = {name: read_side(card.name, request, problems) for name, request in requests.items()}
    cross_check({name: _half(side) for name, side in sides.items()}, requests, configuration)
    return sides


def _half(side: Side) -> Half:
    gold, vectors = side.gold, None
    if side.predictions is not None:
        file = side.prediction_file or ""
        vectors = Vectors(side.predictions.classes, file, "probabilities")
    return Half(gold.reader, "label", bool(gold.labelled), gold.watch, vectors)
