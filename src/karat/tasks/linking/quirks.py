"""Two oddities that only neleval's own command line keeps: in B-cubed and in entity CEAF."""

from __future__ import annotations

import numpy as np

from karat.model.pairs import FloatArray, IntArray
from karat.tasks.linking.clusters import Clustering, Crossing, summed_reals
from karat.tasks.linking.counts import Four


class CountedNothing(Four):
    """Counts of entity CEAF: what is got is a whole 0 where neither side has a cluster."""

    def numbers(self, group: int = 0) -> dict[str, int | float]:
        """The counts of one group and what they score."""
        row = super().numbers(group)
        nothing = not any(row.values())
        return row | {"ptp": 0, "rtp": 0} if nothing else row


def borrowed(crossing: Crossing, has_span: IntArray, bare: IntArray) -> FloatArray:
    """What gold items gain, by group, from the system's mentions without candidate.

    A key that the system lacks is compared with the cluster of such mentions, where the system has
    the span under another entity or type. The right share is 0. `has_span` lists items whose span
    the system has, `bare` items of system mentions that have no candidate.
    """
    gold, system = crossing.gold, crossing.system
    nothing = np.zeros(crossing.groups)
    bare = bare[system.present[bare]] if len(bare) else bare
    lacking = has_span[gold.present[has_span] & ~system.present[has_span]]
    if not len(bare) or not len(lacking):
        return nothing
    cluster = np.full(crossing.groups, -1, dtype=np.int64)
    cluster[_group(system, bare)] = system.last[bare]
    group = _group(gold, lacking)
    lacking, group = lacking[cluster[group] >= 0], group[cluster[group] >= 0]
    g = gold.last[lacking]
    return summed_reals(group, crossing.count(g, cluster[group]) / gold.size[g], crossing.groups)


def _group(side: Clustering, items: IntArray) -> IntArray:
    return side.group[side.last[items]]
