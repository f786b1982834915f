"""Whole stress runs of the five tasks, against numbers of SciPy, scikit-learn and others."""

from __future__ import annotations

import numpy as np
import pytest
from suite.runs import TASKS, case, change, expected, find, folder, needs_data, stressed

import karat
from karat.model.report import Report
from karat.present import suite as shown

CLASSIFICATION = ("text_classification", "nli", "image_classification")
pytestmark = needs_data


def near(value: float | None, wanted: float) -> bool:
    return value == pytest.approx(wanted, abs=2e-6)


@pytest.mark.parametrize("task", CLASSIFICATION)
@pytest.mark.parametrize("side", ["ref", "eval"])
def test_metrics_of_both_sides(task: str, side: str) -> None:
    """accuracy, F1, log loss, Brier, AUROC, ECE and confidence."""
    want, report = expected()[task][side], stressed(task)
    for name, key in (
        ("accuracy", "accuracy"),
        ("f1_macro", "macro_f1"),
        ("precision_macro", "macro_precision"),
        ("recall_macro", "macro_recall"),
        ("log_loss", "log_loss"),
        ("brier", "brier_sum"),
        ("auroc_ovr_macro", "auc_ovr_macro"),
        ("auroc_ovo_macro", "auc_ovo_macro"),
        ("ece", "ece10_top_label"),
        ("average_confidence", "average_confidence"),
    ):
        assert near(getattr(change(report, name), side), want[key]), name


@pytest.mark.parametrize("task", CLASSIFICATION)
def test_change_of_accuracy_and_its_interval(task: str) -> None:
    """The bootstrap has its own draws, so the ends have a tolerance."""
    want, found = expected()[task], change(stressed(task), "accuracy")
    assert near(found.change, want["accuracy_change"])
    low, high = want["accuracy_change_bootstrap95_seed42"]
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)


@pytest.mark.parametrize("task", CLASSIFICATION)
def test_what_the_metrics_lost(task: str) -> None:
    """Accuracy, F1 and Brier by what they lost, log loss by the share it grew."""
    ref, other = expected()[task]["ref"], expected()[task]["eval"]
    found = {one.subject: one for one in find(stressed(task), "overall_metrics").cases}
    assert set(found) == {"accuracy", "f1_macro", "log_loss", "brier"}
    for name, key, sign in (("accuracy", "accuracy", -1), ("f1_macro", "macro_f1", -1),
                            ("brier", "brier_sum", 1)):  # fmt: skip
        assert near(found[name].value, sign * (other[key] - ref[key]))
        assert (found[name].warn, found[name].fail) == (0.05, 0.10)
    growth = other["log_loss"] / ref["log_loss"] - 1
    assert found["log_loss"].value == pytest.approx(growth, abs=1e-5)
    assert (found["log_loss"].warn, found["log_loss"].fail) == (0.10, 0.25)


@pytest.mark.parametrize("task", CLASSIFICATION)
def test_label_drift(task: str) -> None:
    """PSI with 1 added to each bin, and the chi-square p."""
    for name, key, subject in (
        ("label_drift", "label_drift", "labels"),
        ("predicted_label_drift", "predicted_label_drift", "predictions"),
    ):
        want, found = expected()[task][key], case(stressed(task), name, subject)
        assert near(found.value, want["psi"])
        if min(*want["ref"], *want["eval"]) >= 9:
            assert near(found.p, want["chi2_p"])
        else:
            assert found.p == pytest.approx(want["permutation_p_999_seed42"], abs=0.02)


@pytest.mark.parametrize("task", CLASSIFICATION)
def test_confidence(task: str) -> None:
    """KS with its p, PSI, Wasserstein; the mean; what it foresees of accuracy; calibration."""
    want, report = expected()[task], stressed(task)
    found = case(report, "confidence_drift", "confidence")
    drift = want["confidence_drift"]
    assert near(found.value, drift["ks"])
    assert near(found.p, drift["ks_p"])
    assert near(found.table["psi"], drift["psi_10_ref_deciles"])
    assert near(found.table["wasserstein / deviation"], drift["wasserstein_over_ref_std"])
    mean = case(report, "average_confidence", "confidence").table["change"]
    assert near(mean, want["average_confidence_change"])
    foreseen = case(report, "estimated_accuracy", "accuracy").table
    assert near(foreseen["estimate"], want["atc"]["estimated_eval_accuracy"])
    assert near(foreseen["threshold"], want["atc"]["threshold"])
    assert near(foreseen["true accuracy"], want["atc"]["true_eval_accuracy"])
    gap = case(report, "calibration_comparison", "curves").value
    assert near(gap, want["calibration_comparison"]["mse_min_count_weighted"])
    ece = case(report, "calibration_error", "ece").value
    assert near(ece, want["eval"]["ece10_top_label"])


@pytest.mark.parametrize("task", CLASSIFICATION)
def test_better_than_constant(task: str) -> None:
    """Accuracy less the largest share, with Wilson's interval."""
    want = expected()[task]["eval"]
    found = case(stressed(task), "better_than_constant", "accuracy")
    base = want["majority_baseline_accuracy"]
    assert near(found.value, want["accuracy"] - base)
    assert found.low == pytest.approx(want["accuracy_wilson95"][0] - base, abs=2e-6)
    assert found.high == pytest.approx(want["accuracy_wilson95"][1] - base, abs=2e-6)


@pytest.mark.parametrize(
    ("task", "key"), [("text_classification", "text"), ("nli", "text"), ("nli", "text_pair")]
)
def test_words(task: str, key: str) -> None:
    """Divergence and PSI of words with its permutation p; lengths; new words."""
    want, report = expected()[task][key], stressed(task)
    found = case(report, "unigram_drift", key)
    assert near(found.table["divergence"], want["unigram_js_div_base2"])
    assert near(found.table["psi"], want["unigram_psi_add1"])
    theirs = want["unigram_permutation_p_999_seed42"]
    # Both are shares of 999 shuffles: four standard errors of their difference.
    assert found.p == pytest.approx(theirs, abs=4 * (2 * theirs * (1 - theirs) / 999) ** 0.5)
    length = case(report, "text_length_drift", key)
    assert near(length.p, want["word_count_drift"]["ks_p"])
    assert near(length.table["psi of deciles"], want["word_count_drift"]["psi_10_ref_deciles"])
    new = case(report, "unseen_words", key)
    assert near(new.table["new share"], want["eval_unseen_token_rate"])
    assert new.rows_total == want["eval_rows_with_unseen"]
    blank = case(report, "empty_text", key)
    assert [row.index for row in blank.rows] == want["empty_rows_eval"]


@pytest.mark.parametrize(
    ("task", "column"),
    [("text_classification", "channel"), ("nli", "genre"), ("image_classification", "camera")],
)
def test_categories(task: str, column: str) -> None:
    """Drift of a column, its new values, and accuracy of its subsets by Fisher's test."""
    want, report = expected()[task], stressed(task)
    drift = want[f"meta_{column}_drift"]
    assert near(case(report, "metadata_drift", column).value, drift["psi"])
    new = case(report, "metadata_unseen_value", column)
    places = [drift["levels"].index(level) for level in drift["unseen"]]
    assert new.rows_total == sum(drift["eval"][i] for i in places)
    judged = 0
    for level, subset in want[f"subset_{column}"].items():
        if subset["n"] < 15:
            continue
        found = case(report, "subset_performance", f"meta.{column} = {level}")
        assert near(found.table["subset"], subset["accuracy"])
        assert near(-found.table["drop to all"], subset["diff_from_overall"])
        assert near(found.p, subset["fisher_less_p"])
        judged += 1
    assert judged


@pytest.mark.parametrize(
    ("task", "column"),
    [("text_classification", "order_value"), ("image_classification", "brightness")],
)
def test_numbers(task: str, column: str) -> None:
    """Drift of a number, and what lies outside."""
    want, report = expected()[task], stressed(task)
    drift = want[f"meta_{column}_drift"]
    found = case(report, "metadata_drift", column)
    assert near(found.p, drift["ks_p"])
    assert near(found.table["ks"], drift["ks"])
    assert near(found.table["psi of deciles"], drift["psi_10_ref_deciles"])
    assert near(found.table["wasserstein / deviation"], drift["wasserstein_over_ref_std"])
    outside = want[f"meta_{column}_outliers"]
    rows = case(report, "metadata_outlier", column).rows
    assert [row.index for row in rows] == outside["rows"]
    rows = case(report, "metadata_out_of_range", column).rows
    assert [row.index for row in rows] == outside["out_of_ref_range"]


@pytest.mark.parametrize("task", CLASSIFICATION)
def test_recall_by_label(task: str) -> None:
    """Each label against the rest, by Fisher's test; rates equal to those of scikit-learn."""
    want, report = expected()[task], stressed(task)
    cases = {one.subject: one for one in find(report, "subset_performance").cases}
    names = [row for row in cases if row.startswith("true label = ")]
    rates = {round(want["subset_label"][key]["accuracy"], 6) for key in want["subset_label"]}
    ps = {round(want["subset_label"][key]["fisher_less_p"], 6) for key in want["subset_label"]}
    for name in names:
        assert round(cases[name].table["subset"], 6) in rates
        assert round(cases[name].p or 0.0, 6) in ps


def test_embeddings() -> None:
    """Centroids, energy distance and outliers."""
    want, report = expected()["text_classification"], stressed("text_classification")
    found = case(report, "embedding_drift", "sentence_embedding")
    drift = want["embedding_drift"]
    assert near(found.value, drift["centroid_euclidean_of_unit_vectors"])
    assert near(found.table["energy distance"], drift["energy_distance"])
    assert found.p == pytest.approx(drift["energy_permutation_p_999_seed42"], abs=0.02)
    rows = case(report, "embedding_outliers", "sentence_embedding").rows
    assert [row.index for row in rows] == want["embedding_anomalies"]["rows"]


@pytest.mark.parametrize("name", ["ner", "ner_inclusive_end"])
def test_entities(name: str) -> None:
    """Strict and bare scores as nervaluate's, by type, and drift with rows shuffled whole."""
    want, report = expected()[name], stressed(name)
    for side in ("ref", "eval"):
        for part in ("precision", "recall", "f1"):
            found = getattr(change(report, f"{part}_micro"), side)
            assert near(found, want[side]["strict"][part])
        assert near(getattr(change(report, "span_f1"), side), want[side]["span_only"]["f1"])
    for test, key, subject in (
        ("entity_type_drift", "entity_type_drift", "labels"),
        ("predicted_entity_type_drift", "predicted_entity_type_drift", "predictions"),
    ):
        found = case(report, test, subject)
        assert near(found.value, want[key]["psi"])
        assert found.p == pytest.approx(want[key]["row_permutation_p_999_seed42"], abs=0.03)
    lengths = case(report, "entity_length_drift", "length of mentions")
    assert near(lengths.value, want["entity_length_chars_drift"]["psi_10_ref_deciles"])
    rows = case(report, "entities_per_row_drift", "mentions a row")
    assert near(rows.p, want["entities_per_row_drift"]["ks_p"])
    assert near(rows.table["psi of deciles"], want["entities_per_row_drift"]["psi_10_ref_deciles"])
    for type_, counts in want["eval"]["by_type"].items():
        if counts["tp"] + counts["fn"] >= 10:
            found = case(report, "subset_performance", f"type = {type_}")
            assert near(found.table["subset"], counts["recall"])
    weak = case(report, "subset_performance", "type = ORG")
    assert weak.status in ("warning", "fail")
    assert weak.rows_total > 0


def test_boxes() -> None:
    """Counts at IoU 0.5 and score 0.5 by class, AP of the COCO tools, drift of areas."""
    want, report = expected()["object_detection"], stressed("object_detection")
    for side in ("ref", "eval"):
        at = want[side]["iou50_conf50"]
        assert near(getattr(change(report, "precision"), side), at["precision"])
        assert near(getattr(change(report, "recall"), side), at["recall"])
        coco = want[side]["coco"]
        assert near(getattr(change(report, "AP"), side), coco["map_50_95"])
        assert near(getattr(change(report, "AP50"), side), coco["map_50"])
    for test, key, subject in (
        ("predicted_box_area_drift", "predicted_box_area_drift", "area of predicted boxes"),
        ("box_area_drift", "label_box_area_drift", "area of labelled boxes"),
    ):
        found = case(report, test, subject)
        assert near(found.value, want[key]["psi_10_ref_deciles"])
        assert found.status == "fail"
    found = case(report, "class_drift", "labels")
    assert near(found.value, want["class_drift"]["psi"])
    assert found.p == pytest.approx(want["class_drift"]["row_permutation_p_999_seed42"], abs=0.03)
    recalls = [want["eval"]["iou50_conf50"]["by_class"][key]["recall"] for key in "0123"]
    shown = [
        one.table["subset"]
        for one in find(report, "subset_performance").cases
        if one.subject.startswith("class of label")
    ]
    assert shown
    assert all(any(near(one, recall) for recall in recalls) for one in shown)


@pytest.mark.parametrize(
    "form", ["bom.jsonl", "crlf.jsonl", "json", "json.gz", "jsonl.gz", "nofinalnewline.jsonl"]
)
def test_formats_do_not_matter(form: str) -> None:
    """The same rows in another encoding give the same cases."""
    here = folder("formats")
    found = karat.stress(
        task="text-classification",
        ref=str(here / f"ref.{form}"),
        ref_predictions=str(here / f"ref_predictions.{form}"),
        evaluation=str(here / f"eval.{form}"),
        eval_predictions=str(here / f"eval_predictions.{form}"),
        numeric=("order_value",),
        categorical=("channel",),
        embeddings=("sentence_embedding",),
        class_names=("complaint", "question", "praise"),
        seed=42,
    )
    assert numbers(found) == numbers(stressed("text_classification"))


def numbers(report: Report) -> list[tuple[object, ...]]:
    """What every case says, without the names of files and the order of the classes."""
    return [
        (test.name, c.subject, c.status, c.value, c.p, c.q, [row.index for row in c.rows])
        for test in shown.tests_of(report)
        for c in test.cases
    ]


@pytest.mark.parametrize("task", TASKS)
def test_a_report_survives_json(task: str) -> None:
    """The document has the agreed keys at its top level and nothing that is no number."""
    report = stressed(task)
    text = report.to_json()
    assert Report.from_json(text).to_json() == text
    document = report.to_dict()
    assert document["kind"] == "stress"
    assert {"schema", "run", "summary", "metrics", "categories", "tests"} <= set(document)
    counts = document["summary"]["counts"]
    assert sum(counts.values()) == len(document["tests"])
    order = ["skip", "pass", "warning", "fail"]
    for test in document["tests"]:
        worst = max((c["status"] for c in test["cases"]), key=order.index, default="skip")
        assert test["status"] == worst or test["reason"]
    values = [c["value"] for t in document["tests"] for c in t["cases"] if c["value"] is not None]
    assert np.isfinite(values).all()
