"""Work in batches: planned once, run largest first, halved where memory does not suffice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch

Unit = TypeVar("Unit", bound=Hashable)
Row = list[float]
Fetch = Callable[[], list[Row]]
Meter = Callable[[str, int, int | None], None]

CPU_BUDGET, DEVICE_BUDGET = 2048, 16384
"""Padded tokens in a batch: what fits a cache, what fills an accelerator."""


class Work(Protocol):
    """Distinct inputs, what each costs in tokens, and how a batch of them is computed.

    `begin` hands a batch to the device and returns what fetches a row of numbers for each unit: an
    accelerator computes while the next batch is packed. It must give a unit the same numbers, up
    to rounding, whatever else is in the batch.
    """

    @property
    def units(self) -> Sequence[Hashable]:
        """The distinct inputs."""

    def cost(self, unit: Hashable) -> int:
        """Tokens of a unit."""

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """What fetches a row of numbers for each unit."""


def distinct(inputs: Iterable[Unit]) -> tuple[list[Unit], list[int]]:
    """(the inputs without repeats, the place of each input among those)."""
    places: dict[Unit, int] = {}
    own = [places.setdefault(one, len(places)) for one in inputs]
    return list(places), own


def moved(array: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """The array as a tensor on the device; from pinned memory, so that copies do not wait."""
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if device.type != "cuda":
        return tensor
    return tensor.pin_memory().to(device, non_blocking=True)


def plan(costs: Sequence[int], budget: int, ceiling: int | None = None) -> list[list[int]]:
    """Batches of indices, longest first: rows times the longest stay within the budget.

    Longest first, so that a batch that does not fit memory shows at once and not after an hour.
    """
    order = sorted(range(len(costs)), key=lambda i: (-costs[i], i))
    batches: list[list[int]] = []
    room = 0
    for i in order:
        if not batches or len(batches[-1]) >= room:
            batches.append([])
            room = max(1, budget // max(costs[i], 1))
            room = min(room, ceiling) if ceiling else room
        batches[-1].append(i)
    return batches


def fingerprint(units: Sequence[Hashable], batches: Sequence[Sequence[int]], settings: str) -> str:
    """A name for a plan: equal only for the same inputs, batches and settings."""
    digest = hashlib.sha256(settings.encode())
    for unit in units:
        digest.update(repr(unit).encode())
    digest.update(repr([list(batch) for batch in batches]).encode())
    return digest.hexdigest()[:20]


@dataclass
class Memory:
    """How large a batch may be; shrinks when a batch did not fit. `halved` counts how often."""

    budget: int
    halved: int = field(default=0)

    def begin(self, work: Work, units: Sequence[Hashable]) -> Fetch:
        """What fetches the rows of the units, begun in as many pieces as memory asks for."""
        if len(units) > 1 and max(map(work.cost, units)) * len(units) > self.budget:
            return self._halves(work, units)
        try:
            return work.begin(units)
        except (torch.OutOfMemoryError, MemoryError):
            pass
        except RuntimeError as error:
            if "allocate memory" not in str(error):
                raise
        # Outside the handler: there the traceback would keep the tensors of the failed batch alive.
        if len(units) == 1:
            raise MemoryError("not even one input fits into the memory of the device")
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.halved += 1
        self.budget = max(1, max(map(work.cost, units)) * len(units) // 2)
        return self._halves(work, units)

    def _halves(self, work: Work, units: Sequence[Hashable]) -> Fetch:
        middle = (len(units) + 1) // 2
        first = self.begin(work, units[:middle])()
        second = self.begin(work, units[middle:])
        return lambda: first + second()
