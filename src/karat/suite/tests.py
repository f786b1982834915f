"""The table of tests: which tasks each one is for, and how it is run on the material."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from karat.model.seen import Seen
from karat.stats.between import Moved
from karat.suite import (
    calibration,
    columns,
    datachecks,
    drift,
    marks,
    performance,
    perturbation,
    subsets,
    wording,
)
from karat.suite.facets import Cut, cuts
from karat.suite.judge import Found, Outcome
from karat.suite.limits import Limit
from karat.suite.observed import Observed
from karat.suite.performance import Scored

TEXT, NLI, ENTITIES, IMAGES, BOXES = "T", "N", "E", "I", "O"
LETTER = {
    "Text Classification": TEXT,
    "Natural Language Inference": NLI,
    "Named Entity Recognition": ENTITIES,
    "Image Classification": IMAGES,
    "Object Detection": BOXES,
}


@dataclass(frozen=True)
class Material:
    """Both sides, what the engine measured of them, and the seed; `None` where there is nothing."""

    ref: Observed
    other: Observed
    scored_ref: Scored | None
    scored: Scored | None
    seed: int
    perturbed: Seen | None = None

    @cached_property
    def moved(self) -> list[Moved]:
        """The main metrics on both sides."""
        if self.scored_ref is None or self.scored is None:
            return []
        return performance.changes(self.scored_ref, self.scored, self.seed)

    @cached_property
    def cuts(self) -> list[Cut]:
        """The ways to cut rows into subsets."""
        return cuts(self.ref, self.other)

    @property
    def sides(self) -> tuple[Scored | None, Scored | None]:
        """What the engine measured of reference and of evaluation."""
        return self.scored_ref, self.scored


Look = Callable[[Material, Limit], list[Found]]


def _data(look: Callable[[Observed, Observed, Limit], list[Found]]) -> Look:
    return lambda m, limit: look(m.ref, m.other, limit)


def _drawn(look: Callable[[Observed, Observed, Limit, int], list[Found]]) -> Look:
    return lambda m, limit: look(m.ref, m.other, limit, m.seed)


def _overall(m: Material, limit: Limit) -> list[Found]:
    if m.scored is None:
        return []
    sizes = int(m.ref.seen.labelled.sum()), int(m.other.seen.labelled.sum())
    return performance.overall_metrics(m.moved, m.scored.metrics, sizes, limit)


def _calibrated(m: Material, limit: Limit) -> list[Found]:
    return calibration.calibration_error(m.other, m.scored, limit, m.seed) if m.scored else []


LABELS = "labels are needed on both sides"
EVAL_LABELS = "labels of evaluation and predictions are needed"
METADATA = "the data has no such metadata"
NUMBERS = "the data has no numeric metadata"
WORDS = "the data has no categorical metadata"
VECTORS = "no embeddings are configured"
PREDICTIONS = "predictions are needed on both sides"
BOTH = "labels and predictions are needed on both sides"
PERTURBED = "no cache of perturbed inputs was given"
INPUTS = "the rows have no inputs to compare"

_TABLE: tuple[tuple[str, str, Look, str], ...] = (
    ("empty_text", "TNE", _data(datachecks.empty_text), INPUTS),
    ("unseen_words", "TNE", _data(datachecks.unseen_words), INPUTS),
    ("duplicate_rows", "TNEIO", _data(datachecks.duplicate_rows), INPUTS),
    ("ref_eval_overlap", "TNEIO", _data(datachecks.ref_eval_overlap), INPUTS),
    ("label_flips", "TNI", _data(datachecks.label_flips), LABELS),
    ("conflicting_labels", "TNI", _data(datachecks.conflicting_labels), LABELS),
    ("label_imbalance", "TNI", _data(datachecks.label_imbalance), LABELS),
    ("unseen_labels", "TNEIO", _data(datachecks.unseen_labels), LABELS),
    ("metadata_unseen_value", "TNEIO", _data(columns.metadata_unseen_value), WORDS),
    ("metadata_rare_value", "TNEIO", _data(columns.metadata_rare_value), WORDS),
    ("metadata_null", "TNEIO", _data(columns.metadata_null), METADATA),
    ("metadata_out_of_range", "TNEIO", _data(columns.metadata_out_of_range), NUMBERS),
    ("metadata_outlier", "TNEIO", _data(columns.metadata_outlier), NUMBERS),
    ("embedding_outliers", "TNEIO", _data(columns.embedding_outliers), VECTORS),
    ("span_quality", "E", lambda m, limit: datachecks.span_quality(m.other, limit), INPUTS),
    ("box_quality", "O", lambda m, limit: datachecks.box_quality(m.other, limit), INPUTS),
    ("label_drift", "TNI", _drawn(drift.label_drift), LABELS),
    ("predicted_label_drift", "TNI", _drawn(drift.predicted_label_drift), PREDICTIONS),
    ("confidence_drift", "TNIO", _drawn(drift.confidence_drift), PREDICTIONS),
    ("text_length_drift", "TNE", _data(wording.text_length_drift), INPUTS),
    ("unigram_drift", "TNE", _drawn(wording.unigram_drift), INPUTS),
    ("bigram_drift", "TNE", _drawn(wording.bigram_drift), INPUTS),
    ("character_drift", "TNE", _drawn(wording.character_drift), INPUTS),
    ("metadata_drift", "TNEIO", _drawn(drift.metadata_drift), METADATA),
    ("embedding_drift", "TNEIO", _drawn(drift.embedding_drift), VECTORS),
    ("entity_type_drift", "E", _drawn(marks.entity_type_drift), LABELS),
    (
        "predicted_entity_type_drift",
        "E",
        _drawn(partial(marks.entity_type_drift, which="predictions")),
        PREDICTIONS,
    ),
    ("entity_length_drift", "E", _drawn(marks.entity_length_drift), LABELS),
    ("entities_per_row_drift", "E", _data(marks.entities_per_row_drift), LABELS),
    ("class_drift", "O", _drawn(marks.class_drift), LABELS),
    (
        "predicted_class_drift",
        "O",
        _drawn(partial(marks.class_drift, which="predictions")),
        PREDICTIONS,
    ),
    ("box_area_drift", "O", _drawn(marks.box_area_drift), LABELS),
    (
        "predicted_box_area_drift",
        "O",
        _drawn(partial(marks.box_area_drift, which="predictions")),
        PREDICTIONS,
    ),
    ("boxes_per_image_drift", "O", _data(marks.boxes_per_image_drift), LABELS),
    ("box_position_drift", "O", _drawn(marks.box_position_drift), LABELS),
    ("overall_metrics", "TNEIO", _overall, BOTH),
    (
        "better_than_constant",
        "TNI",
        lambda m, limit: performance.better_than_constant(m.other, limit),
        EVAL_LABELS,
    ),
    ("average_confidence", "TNI", _drawn(performance.average_confidence), PREDICTIONS),
    (
        "estimated_accuracy",
        "TNI",
        _drawn(performance.estimated_accuracy),
        "reference labels and predictions on both sides are needed",
    ),
    ("calibration_error", "TNI", _calibrated, EVAL_LABELS),
    ("calibration_comparison", "TNI", _drawn(calibration.calibration_comparison), BOTH),
    (
        "overconfident_errors",
        "TNI",
        lambda m, limit: calibration.overconfident_errors(m.other, limit),
        EVAL_LABELS,
    ),
    (
        "subset_performance",
        "TNEIO",
        lambda m, limit: subsets.subset_performance(m.ref, m.other, m.cuts, m.sides, limit),
        "no subset is large enough, or there is nothing to be right about",
    ),
    (
        "subset_degradation",
        "TNEIO",
        lambda m, limit: subsets.subset_degradation(m.ref, m.other, m.cuts, m.sides, limit),
        "no subset is large enough on both sides",
    ),
    (
        "perturbation_flips",
        "TNEIO",
        lambda m, limit: perturbation.perturbation_flips(m.other, m.perturbed, limit),
        PERTURBED,
    ),
)


def run(material: Material, task: str, limits: Mapping[str, Limit]) -> list[Outcome]:
    """Every test that the task has; what is switched off or lacks its data is skipped."""
    found = []
    for name, letters, look, lacking in _TABLE:
        if LETTER[task] not in letters:
            continue
        limit = limits[name]
        if not limit.run:
            found.append(Outcome(limit, reason="switched off"))
            continue
        cases: Sequence[Found] = look(material, limit)
        sizes = material.ref.n, material.other.n
        found.append(Outcome(limit, list(cases), "" if cases else lacking, sizes))
    return found
