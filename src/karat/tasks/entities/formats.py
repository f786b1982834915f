"""The formats of entities, and which of them an input is."""

from __future__ import annotations

from karat.model.problem import Problems
from karat.model.task import Card, Request
from karat.tasks.entities.caches import read_caches
from karat.tasks.entities.pair import EntityPairs


def read(card: Card, request: Request, problems: Problems) -> EntityPairs | None:
    """The pairs of a request, whatever its format."""
    return read_caches(card, request, problems)
