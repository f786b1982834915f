"""Both sides made comparable where they hold different mentions, as Cai and Strube (2010) do.

A side that is changed gives each item to one cluster, its last.
"""

from __future__ import annotations

import numpy as np

from karat.model.pairs import BoolArray, IntArray
from karat.tasks.linking.clusters import Clustering, Crossing


def _with_singletons(side: Clustering, items: IntArray, group: IntArray) -> Clustering:
    """The clustering with each of the items in a new cluster of its own."""
    new = side.n + np.arange(len(items))
    return Clustering(
        np.concatenate([side.cluster, new]),
        np.concatenate([side.item, items]),
        np.concatenate([side.group, group]),
        side.items,
    )


def _without(side: Clustering, drop: BoolArray) -> Clustering:
    """The clustering without some items, each of the others in its last cluster alone.

    Clusters left empty vanish.
    """
    kept = ~drop[side.item] & (side.last[side.item] == side.cluster)
    old, cluster = np.unique(side.cluster[kept], return_inverse=True)
    return Clustering(cluster.astype(np.int64), side.item[kept], side.group[old], side.items)


def _missing(have: Clustering, lack: Clustering) -> tuple[BoolArray, IntArray, IntArray]:
    """The items that one side has and the other lacks: as a mask, as a list, and their groups."""
    which = have.present & ~lack.present
    items = np.flatnonzero(which)
    return which, items, have.group[have.last[items]]


def for_recall(crossing: Crossing) -> Crossing:
    """Missed items join the response as singletons; spurious ones leave it."""
    gold, system = crossing.gold, crossing.system
    spurious, _, _ = _missing(system, gold)
    _, missed, group = _missing(gold, system)
    return Crossing(
        gold, _with_singletons(_without(system, spurious), missed, group), crossing.groups
    )


def for_precision(crossing: Crossing) -> Crossing:
    """Missed items join the response as singletons; spurious ones join gold unless alone."""
    gold, system = crossing.gold, crossing.system
    spurious, items, _ = _missing(system, gold)
    _, missed, missed_group = _missing(gold, system)
    alone = np.zeros(len(spurious), dtype=bool)
    alone[items] = system.size[system.last[items]] == 1
    kept = np.flatnonzero(spurious & ~alone)
    nothing = np.zeros(len(spurious), dtype=bool)
    return Crossing(
        _with_singletons(_without(gold, nothing), kept, system.group[system.last[kept]]),
        _with_singletons(_without(system, alone), missed, missed_group),
        crossing.groups,
    )
