"""Every metric that scikit-learn has is equal to scikit-learn's, to 1e-12."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics as oracle

import karat
from karat.tasks.classification.order import descending

CASES = [
    # classes, rows, decimals written, share of labels taken from the prediction
    (2, 60, 2, 0.8),
    (2, 400, 4, 0.3),
    (3, 500, 4, 0.7),
    (5, 300, 3, 0.5),
    (7, 90, 1, 0.2),
    (40, 900, 6, 0.6),
]


def rows(classes: int, n: int, decimals: int, skill: float, seed: int) -> tuple[Any, Any]:
    """Labels and probabilities that sum to 1 in their decimals, with ties."""
    rng = np.random.default_rng(seed)
    unit = 10**decimals
    cuts = np.sort(rng.integers(0, unit + 1, size=(n, classes - 1)), axis=1)
    parts = np.diff(np.c_[np.zeros(n, dtype=int), cuts, np.full(n, unit)], axis=1)
    probabilities = parts / unit
    labels = np.where(
        rng.random(n) < skill, probabilities.argmax(axis=1), rng.integers(0, classes, n)
    )
    return labels, probabilities


def report_of(labels: Any, probabilities: Any, **more: Any) -> karat.Report:
    gold = [{"text": f"t{i}", "label": int(y)} for i, y in enumerate(labels)]
    predictions = [{"probabilities": [float(x) for x in p]} for p in probabilities]
    return karat.score(gold, predictions, task="text-classification", **more)


def close(ours: float | None, theirs: float) -> None:
    assert ours is not None
    assert ours == pytest.approx(theirs, abs=1e-12, rel=1e-12)


@pytest.fixture(params=CASES, ids=lambda case: f"k{case[0]}-n{case[1]}")
def case(request: pytest.FixtureRequest) -> tuple[Any, Any, karat.Report]:
    k, n, decimals, skill = request.param
    labels, probabilities = rows(k, n, decimals, skill, seed=k * 1000 + n)
    return labels, probabilities, report_of(labels, probabilities)


def test_label_metrics(case: tuple[Any, Any, karat.Report]) -> None:
    """Accuracy, averages, agreement."""
    labels, probabilities, report = case
    top = probabilities.argmax(axis=1)
    occurring = sorted(set(labels) | set(top))
    close(report["accuracy"].value, oracle.accuracy_score(labels, top))
    recalls = [(top[labels == c] == c).mean() for c in sorted(set(labels))]
    close(report["balanced_accuracy"].value, float(np.mean(recalls)))
    close(report["mcc"].value, oracle.matthews_corrcoef(labels, top))
    close(report["kappa"].value, oracle.cohen_kappa_score(labels, top))
    for average in ("macro", "micro", "weighted"):
        p, r, f, _ = oracle.precision_recall_fscore_support(
            labels, top, labels=occurring, average=average, zero_division=0
        )
        close(report[f"precision_{average}"].value, p)
        close(report[f"recall_{average}"].value, r)
        close(report[f"f1_{average}"].value, f)


def test_by_class(case: tuple[Any, Any, karat.Report]) -> None:
    """Each class; where scikit-learn divides by zero, karat says undefined."""
    labels, probabilities, report = case
    k, top = probabilities.shape[1], probabilities.argmax(axis=1)
    nan = float("nan")
    expected = oracle.precision_recall_fscore_support(
        labels, top, labels=range(k), zero_division=nan
    )
    for part, values in zip(("precision", "recall", "f1"), expected[:3], strict=True):
        for c in range(k):
            score = report[f"{part}_class_{c}"]
            if np.isnan(values[c]):
                assert score.value is None
                assert score.reason
            else:
                close(score.value, values[c])


def test_losses(case: tuple[Any, Any, karat.Report]) -> None:
    """Log loss and Brier; the Brier score of scikit-learn is the sum over classes too."""
    labels, probabilities, report = case
    k = probabilities.shape[1]
    close(report["log_loss"].value, oracle.log_loss(labels, probabilities, labels=range(k)))
    whole = oracle.brier_score_loss(labels, probabilities, labels=range(k), scale_by_half=False)
    close(report["brier"].value, whole)
    close(report["average_confidence"].value, float(probabilities.max(axis=1).mean()))


def test_order(case: tuple[Any, Any, karat.Report]) -> None:
    """AUROC and average precision, by column: rounded rows are refused by roc_auc_score whole."""
    labels, probabilities, report = case
    classes = sorted(set(labels))
    one = {c: oracle.roc_auc_score(labels == c, probabilities[:, c]) for c in classes}
    precision = {
        c: oracle.average_precision_score(labels == c, probabilities[:, c]) for c in classes
    }
    close(report["auroc_ovr_macro"].value, float(np.mean(list(one.values()))))
    close(report["average_precision_macro"].value, float(np.mean(list(precision.values()))))
    for c in classes:
        close(report[f"auroc_class_{c}"].value, one[c])
        close(report[f"average_precision_class_{c}"].value, precision[c])
    pairs = []
    for i, a in enumerate(classes):
        for b in classes[i + 1 :]:
            both = (labels == a) | (labels == b)
            pairs += [
                oracle.roc_auc_score(labels[both] == c, probabilities[both, c]) for c in (a, b)
            ]
    close(report["auroc_ovo_macro"].value, float(np.mean(pairs)))


def test_weights_are_sample_weights() -> None:
    """`weights` is scikit-learn's sample_weight."""
    labels, probabilities = rows(3, 400, 3, 0.6, seed=5)
    w = np.random.default_rng(6).integers(0, 50, size=400) / 10
    gold = [
        {"text": "x", "label": int(y), "meta": {"w": float(x)}}
        for y, x in zip(labels, w, strict=True)
    ]
    predictions = [{"probabilities": [float(x) for x in p]} for p in probabilities]
    report = karat.score(gold, predictions, weights="meta.w")
    top = probabilities.argmax(axis=1)
    close(report["accuracy"].value, oracle.accuracy_score(labels, top, sample_weight=w))
    close(report["mcc"].value, oracle.matthews_corrcoef(labels, top, sample_weight=w))
    macro = oracle.f1_score(labels, top, average="macro", sample_weight=w)
    close(report["f1_macro"].value, macro)
    close(report["log_loss"].value, oracle.log_loss(labels, probabilities, sample_weight=w))
    one = oracle.roc_auc_score(labels == 1, probabilities[:, 1], sample_weight=w)
    close(report["auroc_class_1"].value, one)
    assert report.n_effective == pytest.approx(w.sum() ** 2 / (w**2).sum())


def test_top_k() -> None:
    """Top-k accuracy; without ties scikit-learn's rule and ours are one."""
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet(np.ones(8), 300)
    labels = rng.integers(0, 8, 300)
    report = report_of(labels, probabilities, top_k=(4, 2, 3, 7, 8))
    for k in (2, 3, 4, 7):
        expected = oracle.top_k_accuracy_score(labels, probabilities, k=k, labels=range(8))
        close(report[f"accuracy_top_{k}"].value, expected)
    assert report["accuracy_top_8"].value == 1
    with pytest.raises(karat.UsageError, match="top_k cannot be 0"):
        report_of(labels, probabilities, top_k=(0,))


def test_binary_view() -> None:
    """Two classes also give the numbers of the positive one, and the halved Brier score."""
    labels, probabilities = rows(2, 200, 3, 0.6, seed=9)
    report = report_of(labels, probabilities)
    top = probabilities.argmax(axis=1)
    close(report["precision"].value, oracle.precision_score(labels, top))
    close(report["recall"].value, oracle.recall_score(labels, top))
    close(report["f1"].value, oracle.f1_score(labels, top))
    close(report["specificity"].value, oracle.recall_score(labels, top, pos_label=0))
    close(report["brier_binary"].value, oracle.brier_score_loss(labels, probabilities[:, 1]))


def test_calibration() -> None:
    """ECE and MCE against the textbook loop over bins."""
    labels, probabilities = rows(3, 500, 4, 0.6, seed=12)
    report = report_of(labels, probabilities)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    gaps, shares = [], []
    for low in np.arange(10) / 10:
        inside = (confidence > low) & (confidence <= low + 0.1)
        if inside.any():
            gaps.append(abs(right[inside].mean() - confidence[inside].mean()))
            shares.append(inside.mean())
    close(report["ece"].value, float(np.dot(gaps, shares)))
    close(report["mce"].value, max(gaps))
    assert report["ece"].low is None
    assert report["ece"].no_interval
    chance = report["ece"].chance
    assert chance is not None
    rng = np.random.default_rng(1)
    # What chance means: outcomes redrawn from the stated confidences.
    drawn = []
    for _ in range(400):
        right = rng.random(500) < confidence
        total = 0.0
        for low in np.arange(10) / 10:
            inside = (confidence > low) & (confidence <= low + 0.1)
            if inside.any():
                total += abs(right[inside].mean() - confidence[inside].mean()) * inside.mean()
        drawn.append(total)
    assert chance == pytest.approx(np.mean(drawn), rel=0.1)


def test_the_table_of_classes_is_weighted_as_the_scores_are() -> None:
    labels, probabilities = rows(3, 80, 4, 0.5, 11)
    shares = np.random.default_rng(12).random(80) * 3
    gold = [{"text": "t", "label": int(y), "share": w} for y, w in zip(labels, shares, strict=True)]
    report = karat.score(
        gold, [{"probabilities": p.tolist()} for p in probabilities], weights="share"
    )
    table = next(one for one in report.tables if one.name == "classes")
    top = probabilities.argmax(axis=1)
    expected = oracle.precision_recall_fscore_support(labels, top, sample_weight=shares)
    for c, (name, precision, recall, f1, true, said) in enumerate(table.rows):
        assert (precision, recall, f1) == pytest.approx([column[c] for column in expected[:3]])
        assert precision == pytest.approx(report[f"precision_class_{name}"].value, abs=1e-12)
        assert (true, said) == ((labels == c).sum(), (top == c).sum())
    assert "weighted" in table.note


def test_equal_scores_stay_in_the_order_of_the_rows() -> None:
    """As a stable sort leaves them: other sorts differ between processors."""
    scores = np.random.default_rng(2).integers(0, 9, 500) / 8
    found = descending(scores)
    assert np.array_equal(found.order, np.argsort(-scores, kind="stable"))
    for place in (0, 250, 499):
        level = np.flatnonzero(scores[found.order] == scores[found.order][place])
        assert (found.first[place], found.last[place]) == (level[0], level[-1])


def test_calibration_does_not_depend_on_the_order_of_rows() -> None:
    labels, probabilities = rows(5, 400, 4, 0.6, 3)
    first = report_of(labels, probabilities)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(labels))
        again = report_of(labels[order], probabilities[order])
        assert (again.ece, again.mce) == (first.ece, first.mce)
