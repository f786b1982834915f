"""Object detection, put together: read, measure, score, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.model.evidence import Evidence
from karat.model.metric import Metric
from karat.model.problem import Problems
from karat.model.report import Curve, Example, Table
from karat.model.task import Card, Request
from karat.tasks.detection import measure as m
from karat.tasks.detection import metrics, pair
from karat.tasks.detection.evaluate import accumulate
from karat.tasks.detection.precision import Matches
from karat.tasks.detection.scene import DetectionPairs
from karat.tasks.detection.summary import by_class, summarised
from karat.tasks.detection.wanted import summary_names


class Detection:
    """Object detection, from COCO files or caches."""

    def read(self, card: Card, request: Request, problems: Problems) -> DetectionPairs | None:
        """Paired columns; rows of data without boxes to score against are left out."""
        return pair.read(card, request, problems)

    def measure(self, pairs: DetectionPairs, options: Mapping[str, Any]) -> Sequence[Evidence]:
        """Ranked matches, and counts at the score cut."""
        found = m.evaluated(pairs)
        became = m.outcome(pairs, found)
        return [m.matches(found, pairs, _rule(options)), m.at_a_cut(pairs, became, options)]

    def metrics(self, pairs: DetectionPairs, options: Mapping[str, Any]) -> Sequence[Metric]:
        """What the data and the options allow."""
        names = pairs.gold.class_names
        return metrics.ranked_metrics(names, pairs.pred.rules) + metrics.cut_metrics(names)

    def official(
        self, pairs: DetectionPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """The summary and the average precision of each class, as pycocotools rounds them."""
        ranked = _ranked(evidence)
        if _rule(options) != "coco" or pairs.weights is not None:
            return {}
        arrays = accumulate(ranked.evaluated, with_scores=False)
        rules = pairs.pred.rules
        out = {one.name: summarised(arrays, rules, one) for one in summary_names(rules)}
        names = pairs.gold.class_names
        return out | {f"AP_class_{n}": v for n, v in zip(names, by_class(arrays), strict=True)}

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The choices that change a number."""
        return {
            "convention": _rule(options),
            "boxes": str(options.get("boxes") or "argmax"),
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
        return out

    def views(
        self, pairs: DetectionPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """Nothing yet."""
        return [], []

    def examples(
        self,
        pairs: DetectionPairs,
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """Nothing yet."""
        return []


def _rule(options: Mapping[str, Any]) -> str:
    return str(options.get("convention") or "coco")


def _ranked(evidence: Sequence[Evidence]) -> Matches:
    return next(one for one in evidence if isinstance(one, Matches))


TASK = Detection()
