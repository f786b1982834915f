"""The metrics of classification, as functions of the confusion counts and of per-item losses.

Notation: for class c, tp is right predictions of c, pred all predictions of c, gold all items of
c; n is the number of items. Macro averages run over the classes that occur in gold or prediction,
an undefined precision or recall entering as 0. References are scikit-learn's functions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.model.metric import About, Events, Metric, Ratio, Smooth, Totals
from karat.model.pairs import FloatArray
from karat.tasks.classification.calibration import BINS, score_calibration
from karat.tasks.classification.order import score_order

Average = Callable[[FloatArray, Totals], FloatArray]


def _over(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, and 0 where b is 0."""
    return np.asarray(np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b != 0))


def _precision(t: Totals) -> FloatArray:
    return _over(t["tp"], t["pred"])


def _recall(t: Totals) -> FloatArray:
    return _over(t["tp"], t["gold"])


def _f1(t: Totals) -> FloatArray:
    return _over(2 * t["tp"], t["pred"] + t["gold"])


def _macro(each: FloatArray, t: Totals) -> FloatArray:
    """The mean over classes that occur."""
    occurs = (t["pred"] + t["gold"]) > 0
    return _quotient((each * occurs).sum(axis=-1), occurs.sum(axis=-1))


def _weighted(each: FloatArray, t: Totals) -> FloatArray:
    """The mean over classes, weighted by how often each occurs in gold."""
    return _quotient((each * t["gold"]).sum(axis=-1), t["n"])


def _quotient(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, and NaN where b is 0."""
    shape = np.broadcast(a, b).shape
    return np.asarray(np.divide(a, b, out=np.full(shape, np.nan), where=b != 0))


def _balanced(t: Totals) -> FloatArray:
    """The mean recall of the classes that occur in gold."""
    occurs = t["gold"] > 0
    return _quotient((_recall(t) * occurs).sum(axis=-1), occurs.sum(axis=-1))


def _mcc(t: Totals) -> FloatArray:
    """Gorodkin's multi-class correlation of gold and prediction."""
    n = t["n"]
    covariance = t["correct"] * n - (t["pred"] * t["gold"]).sum(axis=-1)
    spread = (n**2 - (t["pred"] ** 2).sum(axis=-1)) * (n**2 - (t["gold"] ** 2).sum(axis=-1))
    return _quotient(covariance, np.sqrt(np.maximum(spread, 0)))


def _kappa(t: Totals) -> FloatArray:
    """Cohen's kappa: agreement beyond what the two margins give by chance."""
    n = t["n"]
    chance = (t["pred"] * t["gold"]).sum(axis=-1)
    return _quotient(t["correct"] * n - chance, n**2 - chance)


def label_metrics(names: tuple[str, ...], tops: tuple[int, ...]) -> list[Metric]:
    """Everything that depends on the predicted label alone."""
    k = len(names)
    found: list[Metric] = [
        Ratio(
            "labels",
            ("accuracy",),
            {"correct": 1},
            {"n": 1},
            About(main=True, formula="correct / n", reference="sklearn.metrics.accuracy_score"),
            proportion=True,
        )
    ]
    for top in tops:
        formula = f"items whose gold class is among the first {top} / n"
        about = About(main=True, formula=formula, reference="sklearn.metrics.top_k_accuracy_score")
        found.append(
            Ratio(
                "ranks",
                (f"accuracy_top_{top}",),
                {f"top{top}": 1},
                {"n": 1},
                about,
                proportion=True,
            )
        )
    found.append(
        Smooth(
            "labels",
            "balanced_accuracy",
            _balanced,
            About(
                main=True,
                formula="mean recall over the classes in gold",
                reference="sklearn.metrics.balanced_accuracy_score",
            ),
        )
    )
    found += _averages()
    found += [
        Smooth(
            "labels",
            "mcc",
            _mcc,
            About(
                scale="signed",
                main=True,
                formula="covariance of gold and prediction / product of their spreads",
                undefined="gold or prediction is one class throughout",
                reference="sklearn.metrics.matthews_corrcoef",
            ),
        ),
        Smooth(
            "labels",
            "kappa",
            _kappa,
            About(
                scale="signed",
                main=True,
                formula="(accuracy - chance) / (1 - chance)",
                undefined="gold and prediction are one and the same class throughout",
                reference="sklearn.metrics.cohen_kappa_score",
            ),
        ),
    ]
    found += _by_class(names)
    return found + (_binary_labels(names) if k == 2 else [])


def _averages() -> list[Metric]:
    """Precision, recall and F1 as macro, micro and weighted averages."""
    parts = {
        "precision": (_precision, "tp / pred"),
        "recall": (_recall, "tp / gold"),
        "f1": (_f1, "2 tp / (pred + gold)"),
    }
    found: list[Metric] = []
    for average, mean in (("macro", _macro), ("weighted", _weighted)):
        over = "over classes that occur" if average == "macro" else "weighted by gold"
        for name, (each, formula) in parts.items():
            about = About(
                main=average == "macro",
                formula=f"mean of {formula} {over}",
                reference="sklearn.metrics.precision_recall_fscore_support",
            )
            found.append(Smooth("labels", f"{name}_{average}", _averaged(each, mean), about))
    for name in parts:
        # One label an item: every wrong prediction is one false positive and one false negative.
        about = About(formula="correct / n (one label an item)")
        found.append(
            Ratio("labels", (f"{name}_micro",), {"correct": 1}, {"n": 1}, about, proportion=True)
        )
    return found


def _averaged(
    each: Callable[[Totals], FloatArray], mean: Average
) -> Callable[[Totals], FloatArray]:
    return lambda totals: mean(each(totals), totals)


def _by_class(names: tuple[str, ...]) -> list[Metric]:
    """Precision, recall and F1 of each class."""

    def family(
        part: str, num: dict[str, float], den: dict[str, float], formula: str, proportion: bool
    ) -> Ratio:
        return Ratio(
            "labels",
            tuple(f"{part}_class_{name}" for name in names),
            num,
            den,
            About(
                group=f"{part} by class",
                formula=formula,
                undefined=f"{formula}: the denominator is 0",
            ),
            proportion=proportion,
        )

    return [
        family("precision", {"tp": 1}, {"pred": 1}, "tp / pred", True),
        family("recall", {"tp": 1}, {"gold": 1}, "tp / gold", True),
        family("f1", {"tp": 2}, {"pred": 1, "gold": 1}, "2 tp / (pred + gold)", False),
    ]


def _binary_labels(names: tuple[str, ...]) -> list[Metric]:
    """The binary view: class 1 is the positive one."""

    def one(name: str, value: Callable[[Totals], FloatArray], formula: str) -> Smooth:
        about = About(group="binary view", formula=f"{formula}; positive class {names[1]}")
        return Smooth("labels", name, value, about)

    return [
        one("precision", lambda t: _quotient(t["tp"][..., 1], t["pred"][..., 1]), "tp / pred"),
        one("recall", lambda t: _quotient(t["tp"][..., 1], t["gold"][..., 1]), "tp / gold"),
        one(
            "specificity", lambda t: _quotient(t["tp"][..., 0], t["gold"][..., 0]), "tn / (tn + fp)"
        ),
        one(
            "f1",
            lambda t: _quotient(2 * t["tp"][..., 1], t["pred"][..., 1] + t["gold"][..., 1]),
            "2 tp / (pred + gold)",
        ),
    ]


def probability_metrics(classes: int) -> list[Metric]:
    """Losses, confidence and calibration."""

    def mean(name: str, cell: str, about: About, factor: float = 1.0) -> Ratio:
        return Ratio("probabilities", (name,), {cell: 1}, {"n": 1}, about, factor=factor)

    brier = "sum over classes of (p - [gold])^2, mean over items"
    found: list[Metric] = [
        mean(
            "log_loss",
            "log_loss",
            About(
                better="lower",
                scale="unbounded",
                main=True,
                formula="mean of -ln p(gold), p clipped to [2^-52, 1 - 2^-52]",
                reference="sklearn.metrics.log_loss",
            ),
        ),
        mean(
            "brier",
            "brier",
            About(
                better="lower",
                scale="unbounded",
                main=True,
                formula=brier,
                reference="sklearn.metrics.brier_score_loss",
            ),
        ),
        Events(
            "reliability",
            ("ece", "mce"),
            score_calibration,
            About(
                better="lower",
                main=True,
                formula=f"gap of accuracy and confidence in {BINS} bins: weighted mean, largest",
                undefined="there are no items",
            ),
            no_interval="gaps of bins are never negative, so resampling would only push them up",
        ),
        mean(
            "average_confidence",
            "confidence",
            About(better="none", main=True, formula="mean of the largest p"),
        ),
    ]
    if classes == 2:
        about = About(better="lower", group="binary view", formula="mean of (p(1) - [gold is 1])^2")
        found.append(mean("brier_binary", "brier", about, factor=0.5))
    return found


def order_metrics(names: tuple[str, ...]) -> list[Metric]:
    """AUROC and average precision: macro, and by class."""
    macro = ("auroc_ovr_macro", "auroc_ovo_macro", "average_precision_macro")
    each = tuple(
        f"{part}_class_{name}" for part in ("auroc", "average_precision") for name in names
    )
    about = About(
        main=True,
        formula="AUROC: chance that a member ranks above others; AP: mean precision at members",
        undefined="the class has no member, or nothing else occurs",
        reference="sklearn.metrics.roc_auc_score, average_precision_score",
    )
    return [Events("order", macro + each, score_order, about, facts={"main": macro})]
