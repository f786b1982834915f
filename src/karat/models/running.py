"""A path over its whole work: batches are planned, remembered when done, and shared out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from karat.models.batches import (
    CPU_BUDGET,
    DEVICE_BUDGET,
    Fetch,
    Memory,
    Meter,
    Row,
    Work,
    fingerprint,
    plan,
)
from karat.models.examples import Example, spread
from karat.models.journal import Journal, Shard
from karat.models.loading import Settings
from karat.models.paths import Path

SAMPLE = 64
"""Examples on which a faster type is compared with fp32."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How work is cut and watched. A batch has `batch_size` rows and `budget` tokens at most."""

    batch_size: int | None = None
    budget: int | None = None
    shard: Shard | None = None
    meter: Meter | None = None


def rows_of(
    work: Work, identity: str, settings: Settings, pace: Pace, journal: Journal | None, name: str
) -> tuple[list[Row] | None, list[str]]:
    """(the row of each unit, notes); None where batches of other shards are not there yet."""
    on_cpu = settings.device == "cpu"
    budget = pace.budget or (CPU_BUDGET if on_cpu else DEVICE_BUDGET)
    batches = plan([work.cost(unit) for unit in work.units], budget, pace.batch_size)
    memory = Memory(budget if not pace.batch_size else max(budget, _largest(work, batches)))
    mark = fingerprint(work.units, batches, identity + name)
    done = journal.done(mark) if journal else {}
    mine = [i for i in range(len(batches)) if _is_mine(i, pace.shard)]
    for count, (i, rows) in enumerate(_flow(work, memory, batches, mine, done)):
        if i not in done:
            done[i] = rows
            if journal:
                journal.add(mark, i, rows)
        if pace.meter:
            pace.meter(name, count + 1, len(mine))
    notes = []
    if memory.halved:
        notes.append(
            f"memory ran out {memory.halved} times and batches were halved: the last bits of "
            "scores may differ from those of an undisturbed run"
        )
    if len(done) < len(batches):
        return None, notes
    found: list[Row] = [[] for _ in work.units]
    for i, batch in enumerate(batches):
        for j, row in zip(batch, done[i], strict=True):
            found[j] = row
    return found, notes


def _flow(
    work: Work,
    memory: Memory,
    batches: list[list[int]],
    mine: list[int],
    done: Mapping[int, list[Row]],
) -> Iterator[tuple[int, list[Row]]]:
    """(batch, its rows) in order; a batch is fetched when the next one has begun."""
    begun: tuple[int, Fetch] | None = None
    for i in mine:
        if i in done:
            fetch: Fetch = partial(done.__getitem__, i)
        else:
            fetch = memory.begin(work, [work.units[j] for j in batches[i]])
        if begun:
            yield begun[0], begun[1]()
        begun = i, fetch
    if begun:
        yield begun[0], begun[1]()


def _largest(work: Work, batches: list[list[int]]) -> int:
    return max(
        (len(batch) * max(work.cost(work.units[j]) for j in batch) for batch in batches), default=1
    )


def _is_mine(batch: int, shard: Shard | None) -> bool:
    return shard is None or batch % shard[1] == shard[0] - 1


Maker = Callable[[Settings, list[Example]], tuple[Path, str, list[str]]]


def flipped(make: Maker, settings: Settings, examples: list[Example]) -> tuple[int, int]:
    """(orderings of two candidates that differ from fp32, orderings compared), on a sample."""
    sample = spread(examples, SAMPLE)
    found: list[list[float | None]] = []
    for one in (settings, replace(settings, dtype="fp32")):
        path, identity, _ = make(one, sample)
        rows, _ = rows_of(path.work, identity, one, Pace(), None, "")
        assert rows is not None
        scores = path.scores(rows)
        found.append([s for kind in path.kinds for s in scores[kind]])
    turned = total = 0
    size = len(sample[0].candidates)
    for start in range(0, len(found[0]), size):
        for a, b in combinations(range(start, start + size), 2):
            orders = [_order(scores[a], scores[b]) for scores in found]
            turned += orders[0] != orders[1]
            total += 1
    return turned, total


def _order(a: float | None, b: float | None) -> int:
    if a is None or b is None:
        return 0
    return (a > b) - (a < b)
