"""Reference and evaluation data of a run configuration, checked apart and against each other."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.read.place import Place
from karat.read.sides import Half, cross_check
from karat.tasks.entities.caches import Side, read_side


def check_sides(
    card: Card, requests: Mapping[str, Request], configuration: Place, problems: Problems
) -> dict[str, Side]:
    """Both sides, read and checked; `configuration` is the place of the configuration file."""
    del card
    sides = {name: read_side(request, problems) for name, request in requests.items()}
    cross_check({name: _half(side) for name, side in sides.items()}, requests, configuration)
    return sides


def _half(side: Side) -> Half:
    written = side.gold.written
    return Half(written.reader, written.key, bool(written.labelled.any()), side.gold.watch)
