"""Why single images lost points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from karat.model.pairs import IntArray
from karat.model.report import Example
from karat.tasks.detection.drawing import drawing
from karat.tasks.detection.measure import Outcome, cut_of
from karat.tasks.detection.scene import DetectionPairs


def worst(
    pairs: DetectionPairs, became: Outcome, options: Mapping[str, Any], most: int
) -> list[Example]:
    """The images with most boxes wrong or missed from the score cut on, worst first."""
    scene, found = pairs.gold, pairs.pred.detections
    kept = became.counted[found.score[became.counted] >= cut_of(options)]
    hits = kept[became.truth[kept] >= 0]
    false = kept[became.truth[kept] < 0]
    missed = np.flatnonzero(~scene.truths.crowd)
    missed = missed[~np.isin(missed, became.truth[hits])]
    right = np.bincount(found.image[hits], minlength=scene.n)
    wrong = np.bincount(found.image[false], minlength=scene.n)
    lost = np.bincount(scene.truths.image[missed], minlength=scene.n)
    order = np.argsort(-(wrong + lost), kind="stable")[:most]
    out = []
    for i in order.tolist():
        if not wrong[i] + lost[i]:
            break
        gone = missed[scene.truths.image[missed] == i]
        extra = false[found.image[false] == i]
        total = lost[i] + right[i]
        why = f"{lost[i]} of {total} boxes missed{_named(pairs, scene.truths.category[gone])}"
        why += f"; {wrong[i]} false{_named(pairs, found.category[extra])}"
        f1 = 2 * right[i] / (2 * right[i] + wrong[i] + lost[i])
        out.append(
            Example(
                id=str(scene.names[i]),
                record=int(scene.records[i]),
                score=float(f1),
                why=why,
                kind="missed" if lost[i] >= wrong[i] else "false",
                fields={
                    "right": int(right[i]),
                    "false": int(wrong[i]),
                    "missed": int(lost[i]),
                    **drawing(pairs, i, cut_of(options)),
                },
            )
        )
    return out


def _named(pairs: DetectionPairs, categories: IntArray) -> str:
    counts = Counter(pairs.gold.class_names[c] for c in categories.tolist())
    listed = ", ".join(f"{name} x{n}" for name, n in counts.most_common(3))
    return f" ({listed})" if listed else ""
