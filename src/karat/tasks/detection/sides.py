"""Reference and evaluation data of a run configuration, checked apart and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.read import sides
from karat.read.place import Place
from karat.tasks.detection.pair import pairs_of
from karat.tasks.detection.records import BOXES
from karat.tasks.detection.rows import Side, read_side
from karat.tasks.detection.scene import DetectionPairs


class Checked(NamedTuple):
    """One side, and its images beside their predictions where both are sound."""

    side: Side
    pairs: DetectionPairs | None


def check_sides(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Checked]:
    """Both sides, read and checked; `configuration` is the place of the configuration file."""
    found: dict[str, Checked] = {}
    for name, request in requests.items():
        side = read_side(request, problems)
        found[name] = Checked(side, pairs_of(card, request, side, problems))
    halves = {name: _half(one.side) for name, one in found.items()}
    sides.cross_check(halves, requests, configuration)
    return found


def _half(side: Side) -> sides.Half:
    data, predicted, vectors = side.data, side.predicted, None
    if predicted is not None and predicted.width and predicted.reader.sound:
        vectors = sides.Vectors(predicted.width, predicted.reader.name, BOXES)
    return sides.Half(data.reader, "label", bool((data.count >= 0).any()), data.watch, vectors)
