"""Object detection, put together: read, measure, score, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.model.evidence import Columns, Counts, Evidence
from karat.model.metric import Metric
from karat.model.problem import Problems
from karat.model.report import Curve, Example, Table
from karat.model.task import Card, Request
from karat.tasks.detection import measure as m
from karat.tasks.detection import metrics, pair, views
from karat.tasks.detection.calibration import (
    BINS,
    calibrates,
    calibration,
    calibration_metrics,
)
from karat.tasks.detection.explain import worst
from karat.tasks.detection.precision import Matches
from karat.tasks.detection.scene import DetectionPairs
from karat.tasks.detection.summary import by_class, summarised
from karat.tasks.detection.tide import errors
from karat.tasks.detection.wanted import summary_names

RARE = 10
"""With fewer images a class's average precision has no closed interval worth its name."""


class Detection:
    """Object detection, from COCO files or caches."""

    def read(self, card: Card, request: Request, problems: Problems) -> DetectionPairs | None:
        """Paired columns; rows of data without boxes to score against are left out."""
        return pair.read(card, request, problems)

    def measure(self, pairs: DetectionPairs, options: Mapping[str, Any]) -> Sequence[Evidence]:
        """Ranked matches, counts at the score cut, losses of matched boxes."""
        found = m.evaluated(pairs)
        became = m.outcome(pairs, found)
        out: list[Evidence] = [
            m.matches(found, pairs, _rule(options)),
            m.at_a_cut(pairs, became, options),
        ]
        if calibrates(pairs, _boxes(options)):
            out.append(calibration(pairs))
        return out

    def metrics(self, pairs: DetectionPairs, options: Mapping[str, Any]) -> Sequence[Metric]:
        """What the data and the options allow."""
        names = pairs.gold.class_names
        found = metrics.ranked_metrics(
            names, pairs.pred.rules, pairs.pred.detections.n
        ) + metrics.cut_metrics(names)
        return found + (calibration_metrics() if calibrates(pairs, _boxes(options)) else [])

    def official(
        self, pairs: DetectionPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """The summary and the average precision of each class, as pycocotools rounds them."""
        if _rule(options) != "coco" or pairs.weights is not None:
            return {}
        arrays, rules = _ranked(evidence).arrays, pairs.pred.rules
        out = {one.name: summarised(arrays, rules, one) for one in summary_names(rules)}
        names = pairs.gold.class_names
        return out | {f"AP_class_{n}": v for n, v in zip(names, by_class(arrays), strict=True)}

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The choices that change a number."""
        return {
            "convention": _rule(options),
            "boxes": _boxes(options),
            "cut": f"score >= {m.cut_of(options):g}, IoU >= {m.OVERLAP:g}",
        }

    def notes(self, pairs: DetectionPairs, options: Mapping[str, Any]) -> list[str]:
        """What was decided or left out."""
        scene, rules = pairs.gold, pairs.pred.rules
        out = []
        if scene.format == "cache":
            how = "read" if options.get("coordinates") in (None, "auto") else "taken"
            out.append(f"coordinates were {how} as {scene.unit}; --coordinates overrides")
        if rules.area_names == ("all",) and not options.get("areas"):
            out.append(
                "no AP by area: fractions without image sizes have none; add width and height to "
                "the data, or ask with --areas in %"
            )
        if not pairs.pred.exclusive:
            out.append("vectors do not sum to 1, so the matched boxes were not calibrated")
        truths = scene.truths
        pair_ids = np.unique(truths.category.astype(np.int64) * scene.n + truths.image)
        seen = np.bincount(pair_ids // max(scene.n, 1))
        rare = int(((seen > 0) & (seen < RARE)).sum())
        if rare and pairs.pred.detections.n > metrics.RESAMPLED_BOXES:
            out.append(
                f"{rare} classes occur in fewer than {RARE} images: closed intervals of AP are too "
                "narrow there, --bootstrap 1000 draws whole images"
            )
        return out

    def views(
        self, pairs: DetectionPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """Classes, confusions, kinds of error, score cuts; precision over recall."""
        ranked, scene, found = _ranked(evidence), pairs.gold, pairs.pred.detections
        became = m.outcome(pairs, ranked.evaluated)
        counted = np.zeros(found.n, dtype=bool)
        counted[became.counted] = True
        wrong = errors(scene.truths, found, became.truth, counted, scene.n, len(scene.classes))
        tables = [
            views.classes_table(pairs, ranked.arrays, became, options),
            views.confusion(pairs, options),
            views.errors_table(wrong),
            views.cuts_table(pairs, became, options),
            views.doubtful_labels(pairs, wrong),
        ]
        curves = [views.precision_recall(pairs, ranked.arrays, tables[0], options)]
        for one in evidence:
            if isinstance(one, Counts) and one.name == "calibration":
                matrix = one.table.matrix if isinstance(one.table, Columns) else np.zeros((1, 0))
                curves.append(views.reliability(matrix.sum(axis=0)[3:], BINS))
        return views.shown(tables), [curve for curve in curves if curve.series]

    def examples(
        self,
        pairs: DetectionPairs,
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """The images with most boxes wrong or missed."""
        became = m.outcome(pairs, _ranked(evidence).evaluated)
        return worst(pairs, became, options, most)


def _boxes(options: Mapping[str, Any]) -> str:
    return str(options.get("boxes") or "argmax")


def _rule(options: Mapping[str, Any]) -> str:
    return str(options.get("convention") or "coco")


def _ranked(evidence: Sequence[Evidence]) -> Matches:
    return next(one for one in evidence if isinstance(one, Matches))


TASK = Detection()
