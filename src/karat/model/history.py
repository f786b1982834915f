"""One run in a history: what was scored on which data, and where a score really changed."""

from __future__ import annotations

import msgspec

from karat.model.report import Score


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """A run as the history keeps it.

    `at` is the time in UTC, `data` and `predictions` are digests of the inputs, `options` is the
    digest of what must be equal for two runs to be comparable. `changes` names the scores that
    surely differ from the run before on the same data: "better", "worse" or "different".
    """

    id: int
    at: str
    task: str
    name: str
    item: str
    n: int
    data: str
    predictions: str
    options: str
    signature: str
    scores: list[Score]
    changes: dict[str, str] = {}
