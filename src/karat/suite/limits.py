"""Every stress test: its kind, and how large an effect warns and fails. Settings may change both.

The numbers are published ones where the statistic is the same, so that configurations move over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

DATA, DRIFT, PERFORMANCE = "data checks", "drift", "performance"
CALIBRATION, SUBSETS, DEGRADATION = "calibration", "subsets", "subset degradation"
PERTURBATION = "perturbation"
CATEGORIES = (DATA, DRIFT, PERFORMANCE, CALIBRATION, SUBSETS, DEGRADATION, PERTURBATION)


@dataclass(frozen=True, slots=True)
class Limit:
    """A test's name, kind, and effect sizes; None is a level that is never reached."""

    name: str
    category: str
    title: str
    warn: float | None
    fail: float | None
    run: bool = True


_TABLE = (
    ("empty_text", DATA, "Texts without content", 0.0, 0.01),
    ("unseen_words", DATA, "Words never seen in reference", 0.01, 0.05),
    ("duplicate_rows", DATA, "The same input more than once", 0.01, 0.05),
    ("ref_eval_overlap", DATA, "Evaluation inputs that are reference inputs", 0.01, 0.05),
    ("label_flips", DATA, "The same input with another label in reference", 0.0, 0.005),
    ("conflicting_labels", DATA, "The same input with two labels", 0.0, 0.005),
    ("label_imbalance", DATA, "One class outweighs the others", 0.6, 0.9),
    ("unseen_labels", DATA, "Classes that reference does not have", 1.0, None),
    ("metadata_unseen_value", DATA, "Metadata values never seen in reference", 0.0, 0.01),
    ("metadata_rare_value", DATA, "Metadata values rare in reference", 0.0, 0.01),
    ("metadata_null", DATA, "Metadata that is missing", 0.0, 0.01),
    ("metadata_out_of_range", DATA, "Metadata outside the range of reference", 0.0, 0.01),
    ("metadata_outlier", DATA, "Metadata far outside the usual", 0.01, 0.05),
    ("embedding_outliers", DATA, "Embeddings far outside the usual", 0.02, 0.05),
    ("span_quality", DATA, "Overlapping, repeated or loose mentions", 0.0, 0.05),
    ("box_quality", DATA, "Repeated, tiny or clipped boxes", 0.0, 0.05),
    ("label_drift", DRIFT, "Labels", 0.2, 0.6),
    ("predicted_label_drift", DRIFT, "Predicted labels", 0.2, 0.6),
    ("confidence_drift", DRIFT, "Confidence", 0.1, 0.2),
    ("text_length_drift", DRIFT, "Words a text", 0.2, 0.6),
    ("unigram_drift", DRIFT, "Words", 0.03, 0.10),
    ("bigram_drift", DRIFT, "Pairs of words", 0.03, 0.10),
    ("character_drift", DRIFT, "Characters", 0.03, 0.10),
    ("metadata_drift", DRIFT, "Metadata", 0.2, 0.6),
    ("embedding_drift", DRIFT, "Embeddings", 0.1, 0.2),
    ("entity_type_drift", DRIFT, "Entity types", 0.1, 0.4),
    ("predicted_entity_type_drift", DRIFT, "Predicted entity types", 0.1, 0.4),
    ("entity_length_drift", DRIFT, "Length of entities", 0.1, 0.4),
    ("entities_per_row_drift", DRIFT, "Entities a row", 0.1, 0.4),
    ("class_drift", DRIFT, "Classes of boxes", 0.2, 0.6),
    ("predicted_class_drift", DRIFT, "Classes of predicted boxes", 0.2, 0.6),
    ("box_area_drift", DRIFT, "Area of boxes", 0.1, 0.4),
    ("predicted_box_area_drift", DRIFT, "Area of predicted boxes", 0.1, 0.4),
    ("boxes_per_image_drift", DRIFT, "Boxes an image", 0.1, 0.4),
    ("box_position_drift", DRIFT, "Position of boxes", 0.1, 0.4),
    ("overall_metrics", PERFORMANCE, "Metrics against reference", 0.05, 0.10),
    ("better_than_constant", PERFORMANCE, "Better than always saying one class", 0.05, 0.0),
    ("average_confidence", PERFORMANCE, "Average confidence", 0.05, 0.20),
    ("estimated_accuracy", PERFORMANCE, "Accuracy estimated from confidence", 0.05, 0.20),
    ("calibration_error", CALIBRATION, "Confidence against accuracy", 0.05, 0.10),
    ("calibration_comparison", CALIBRATION, "Calibration against reference", 0.02, 0.10),
    ("overconfident_errors", CALIBRATION, "Wrong and very sure", 0.05, 0.15),
    ("subset_performance", SUBSETS, "Subsets against the rest", 0.05, 0.13),
    ("subset_degradation", DEGRADATION, "Subsets that lost more than the others", 0.05, 0.13),
    ("perturbation_flips", PERTURBATION, "Predictions that flip on changed inputs", 0.05, 0.15),
)

LIMITS = {row[0]: Limit(*row) for row in _TABLE}


ALIASES = {
    "avg_confidence": "average_confidence",
    "atc": "estimated_accuracy",
    "categorical_label_drift": "label_drift",
    "multiclass_pred_label_drift": "predicted_label_drift",
    "exact_match_label_flipping": "label_flips",
    "unseen_unigram": "unseen_words",
    "subset_drift": "subset_degradation",
    "feature_drift": "metadata_drift",
}
"""Names that configurations of the file formats' vendor use for the same tests."""

KINDS = {
    **{name: (name,) for name in CATEGORIES},
    "abnormal inputs": (DATA,),
    "data cleanliness": (DATA,),
    "data poisoning detection": (DATA,),
    "model performance": (PERFORMANCE, CALIBRATION),
    "subset performance": (SUBSETS, DEGRADATION),
    "transformations": (PERTURBATION,),
    "adversarial": (),
}
"""Categories as settings name them, ours and those of the vendor -> ours."""

GLOBAL = (
    "categories",
    "run_default",
    "global_sample_size",
    "global_target_text_keys",
    "target_text_keys",
    "metadata_tests",
    "custom_tests",
    "dynamic_configs",
)


def limits(settings: Mapping[str, Any]) -> dict[str, Limit]:
    """The tests under a configuration's settings.

    `{"label_drift": {"run": false}}` switches a test off; `severity_thresholds` of two or three
    numbers replace warn and fail (of three, the first and the last count; null is never reached);
    `categories` keeps only the named kinds, `run_default` says whether the others run as well
    (where no kind is named they do, unless it is false).
    """
    kinds, others = settings.get("categories") or (), settings.get("run_default")
    wanted = {own for kind in kinds for own in KINDS[kind.lower()]}
    all_run = not kinds if others is None else others
    found = {
        name: replace(limit, run=all_run or limit.category in wanted)
        for name, limit in LIMITS.items()
    }
    for given, own in settings.items():
        name = ALIASES.get(given, given)
        if name not in found or not isinstance(own, Mapping):
            continue
        limit = found[name]
        if isinstance(own.get("run"), bool):
            limit = replace(limit, run=own["run"])
        levels = own.get("severity_thresholds")
        if isinstance(levels, (list, tuple)) and len(levels) in (2, 3):
            warn, fail = (None if x is None else float(x) for x in (levels[0], levels[-1]))
            limit = replace(limit, warn=warn, fail=fail)
        found[name] = limit
    return found
