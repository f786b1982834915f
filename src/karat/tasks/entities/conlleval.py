"""conlleval's count of right chunks: both sides walked at once, in columns.

The script never compares chunks. It notes where both sides start one of the same type together,
and counts it where both end together, unless something set them apart in between. With ordinary
tags that comes to the same as equal chunks; with a bare S, a dot or `O-PER`, whose chunks no rule
ends, it does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.model.pairs import CodeArray, IntArray
from karat.tasks.entities.chunks import laid_out, read_conlleval, turns
from karat.tasks.entities.pair import Right


def right_chunks(
    names: Sequence[str], gold: CodeArray, pred: CodeArray, lengths: IntArray
) -> Right:
    """The chunks that the script finds right. `names` are the tags that both codes stand for."""
    readings, outside = [read_conlleval(name) for name in names], read_conlleval("O")
    first = laid_out(readings, outside, gold, lengths)
    second = laid_out(readings, outside, pred, lengths)
    (start, end), (begin, stop) = turns(first, "conlleval"), turns(second, "conlleval")
    same = first.kind == second.kind
    same_before = np.concatenate([[True], same[:-1]])
    opens = start & begin & same
    closes = end & stop & same_before
    turned = opens | closes | (end != stop) | ~same
    # Both are in a chunk together if the last turn before this place was that they opened one.
    last = np.maximum.accumulate(np.where(turned, np.arange(len(turned)), 0))
    together = np.concatenate([[False], opens[last[:-1]]])
    at = np.flatnonzero(together & closes)
    kind = first.kind[at - 1]
    doc = first.sentence[at - 1]
    if opens[last[-1]]:
        # The file ends while they are.
        kind, doc = np.append(kind, first.kind[-1]), np.append(doc, first.sentence[-1])
    return Right(doc, kind, first.types)


def same_tags(names: Sequence[str]) -> CodeArray:
    """A number for each tag, equal where the script takes tags for the same: `B-` and `B` are."""
    seen: dict[tuple[str, str], int] = {}
    split = [(name.partition("-")[0], read_conlleval(name).type) for name in names]
    return np.array([seen.setdefault(one, len(seen)) for one in split], dtype=np.int32)
