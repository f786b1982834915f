"""Performance: the metrics of both sides, and what confidence says without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.model.evidence import Evidence
from karat.model.metric import Metric
from karat.model.pairs import FloatArray
from karat.model.suite import Change, Status
from karat.stats.between import Moved, moved
from karat.stats.intervals import Settings, wilson
from karat.stats.weights import stream
from karat.suite.judge import MIN_ROWS, POWER, Found, Z, judged, points, skipped
from karat.suite.limits import Limit
from karat.suite.movement import enough, histogram
from karat.suite.observed import Observed

DRAWS = 2_000
RELATIVE = ("log_loss",)
JUDGED = frozenset(
    {
        *("accuracy", "f1_macro", "log_loss", "brier", "f1_micro", "precision_micro"),
        *("recall_micro", "span_f1", "f1", "precision", "recall", "AP", "AP50"),
    }
)
"""The metrics that can fail a run; the others would only say the same again."""

RELATIVE_WARN, RELATIVE_FAIL = 0.10, 0.25

OFF = 0.05
"""An estimate that is farther from the truth needs a word."""


@dataclass(frozen=True)
class Scored:
    """A side as the engine sees it: what its task measured, and the metrics that read it."""

    evidence: Sequence[Evidence]
    metrics: Sequence[Metric]


def changes(ref: Scored, other: Scored, seed: int) -> list[Moved]:
    """Every main metric on both sides, with the interval of its change."""
    kept = [metric for metric in ref.metrics if metric.about.main]
    main = {name for metric in kept for name in main_names(metric)}
    found = moved(kept, ref.evidence, other.evidence, Settings(seed=seed, bootstrap=DRAWS))
    return [one for one in found if one.name in main]


def main_names(metric: Metric) -> tuple[str, ...]:
    """The names of a metric that short tables show."""
    facts = getattr(metric, "facts", {})
    names: tuple[str, ...] = tuple(facts.get("main", metric.names))
    return names


def as_metrics(found: Sequence[Moved]) -> dict[str, Change]:
    """The changes for the top of the report."""
    return {
        one.name: Change(
            ref=one.first, eval=one.second, change=one.change, low=one.low, high=one.high
        )
        for one in found
    }


def overall_metrics(
    found: Sequence[Moved], metrics: Sequence[Metric], sizes: tuple[int, int], limit: Limit
) -> list[Found]:
    """What each metric lost from reference to evaluation; the interval has to leave 0 out.

    Only the metrics of `JUDGED` are judged. Log loss is judged by the share it grew. `sizes` are
    the scored rows of both sides.
    """
    short = enough(*sizes)
    if found and short:
        return [skipped("metrics", short, n_ref=sizes[0], n_eval=sizes[1])]
    abouts = {name: metric.about for metric in metrics for name in metric.names}
    cases = []
    for one in found:
        about = abouts[one.name]
        if one.name not in JUDGED or about.better not in ("higher", "lower"):
            continue
        if one.change is None or one.low is None or one.high is None:
            cases.append(skipped(one.name, "there is no interval for its change"))
            continue
        sign = -1.0 if about.better == "higher" else 1.0
        unit, own = 100.0 if about.scale == "percent" else 1.0, limit
        if one.name in RELATIVE:
            if not one.first:
                cases.append(skipped(one.name, "reference has none of it to grow from"))
                continue
            unit, own = one.first, replace(limit, warn=RELATIVE_WARN, fail=RELATIVE_FAIL)
        loss = sign * one.change / unit
        believed = one.high < 0 if about.better == "higher" else one.low > 0
        bounds = sorted(sign * bound / unit for bound in (one.low, one.high))
        text = f"{one.name} goes from {one.first:.4g} to {one.second:.4g}"
        cases.append(
            judged(
                own,
                one.name,
                loss,
                "loss from ref to eval" if own is limit else "relative growth",
                text,
                believed=believed,
                low=bounds[0],
                high=bounds[1],
                n_ref=sizes[0],
                n_eval=sizes[1],
                underpowered=one.se is not None and unseen(own, one.se / unit),
                table={"ref": one.first, "eval": one.second, "change": one.change},
                plot=points([("change", one.change, one.low, one.high)]),
            )
        )
    return cases


def unseen(limit: Limit, se: float) -> bool:
    """Whether an effect at the warning level would be missed more often than once in five."""
    return bool(limit.warn is not None and se * POWER > limit.warn)


def better_than_constant(other: Observed, limit: Limit) -> list[Found]:
    """Accuracy less the share of the largest class: what one learns beyond always saying it."""
    if other.known is None or other.correct is None or other.labels is None:
        return []
    labels, right = other.labels[other.known], other.correct[other.known]
    n = len(labels)
    if n < MIN_ROWS:
        return [skipped("accuracy", f"only {n} labelled rows; {MIN_ROWS} are needed")]
    majority = float(np.bincount(labels).max() / n)
    accuracy = float(right.mean())
    low, high = wilson(accuracy, n)
    shown = points([("largest class", majority, None, None), ("accuracy", accuracy, low, high)])
    gain = accuracy - majority
    text = f"accuracy {accuracy:.3f}, always the largest class {majority:.3f}"
    found = judged(
        limit,
        "accuracy",
        gain,
        "accuracy - largest share",
        text,
        low=low - majority,
        high=high - majority,
        n_eval=n,
        plot=shown,
    )
    found.case.status = _gained(limit, gain, high - majority)
    return [found]


def _gained(limit: Limit, gain: float, most: float) -> Status:
    """Where a gain stands, of which less is worse.

    A failure needs an interval, whose upper end is `most`, below the warning level.
    """
    if limit.fail is not None and gain <= limit.fail:
        sure = limit.warn is None or most < limit.warn
        return "fail" if sure else "warning"
    return "warning" if limit.warn is not None and gain < limit.warn else "pass"


def average_confidence(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """The change of the mean confidence, in either direction."""
    if ref.confidence is None or other.confidence is None:
        return []
    short = enough(ref.n, other.n)
    if short:
        return [skipped("confidence", short)]
    change = float(other.confidence.mean() - ref.confidence.mean())
    draws = _means(other.confidence, seed, "eval") - _means(ref.confidence, seed, "ref")
    low, high = (float(x) for x in np.quantile(draws, [0.025, 0.975]))
    before, now = float(ref.confidence.mean()), float(other.confidence.mean())
    text = f"mean confidence {before:.3f} in reference, {now:.3f} now"
    return [
        judged(
            limit,
            "confidence",
            abs(change),
            "absolute change",
            text,
            believed=low > 0 or high < 0,
            low=low,
            high=high,
            underpowered=unseen(limit, (high - low) / (2 * Z)),
            table={"change": change},
            plot=histogram(ref.confidence, other.confidence),
        )
    ]


def _means(values: FloatArray, seed: int, purpose: str) -> FloatArray:
    """Means of resamples; of the normal limit where rows are many."""
    rng = stream(seed, f"confidence/{purpose}")
    n = len(values)
    if n > 5_000:
        return np.asarray(rng.normal(values.mean(), values.std(ddof=1) / np.sqrt(n), DRAWS))
    return np.asarray(values[rng.integers(0, n, (DRAWS, n))].mean(axis=1))


def estimated_accuracy(ref: Observed, other: Observed, limit: Limit, seed: int) -> list[Found]:
    """Accuracy foreseen from confidence alone (average thresholded confidence).

    The threshold leaves as much of reference below it as reference has errors; the share of
    evaluation above it is the estimate. It cannot see that the meaning of inputs changed.
    """
    if ref.confidence is None or other.confidence is None or ref.correct is None:
        return []
    if ref.known is None or int(ref.known.sum()) < MIN_ROWS or other.n < MIN_ROWS:
        return [skipped("accuracy", f"{MIN_ROWS} rows a side and reference labels are needed")]
    confidence, right = ref.confidence[ref.known], ref.correct[ref.known]
    threshold, accuracy = _threshold(confidence, float(right.mean()))
    estimate = float((other.confidence >= threshold).mean())
    rng = stream(seed, "estimated_accuracy")
    draws = np.empty(200)
    for i in range(len(draws)):
        pick = rng.integers(0, len(confidence), len(confidence))
        new = rng.integers(0, other.n, other.n)
        limit_i, base = _threshold(confidence[pick], float(right[pick].mean()))
        draws[i] = (other.confidence[new] >= limit_i).mean() - base
    low, high = (float(x) for x in np.quantile(draws, [0.025, 0.975]))
    text = f"confidence foresees accuracy {estimate:.3f} (reference {accuracy:.3f})"
    shown: list[tuple[str, float, float | None, float | None]] = [
        ("reference", accuracy, None, None),
        ("estimate", estimate, accuracy + low, accuracy + high),
    ]
    table: dict[str, float] = {"threshold": threshold, "estimate": estimate, "reference": accuracy}
    if other.known is not None and other.correct is not None:
        true = float(other.correct[other.known].mean())
        shown.append(("true", true, *wilson(true, int(other.known.sum()))))
        table |= {"true accuracy": true, "error of the estimate": estimate - true}
        text += f"; it is {true:.3f}"
        if abs(estimate - true) >= OFF:
            text += ", since confidence cannot see that inputs mean something else"
    return [
        judged(
            limit,
            "accuracy",
            accuracy - estimate,
            "drop of the estimate",
            text,
            believed=high < 0,
            low=low,
            high=high,
            n_ref=len(confidence),
            n_eval=other.n,
            underpowered=unseen(limit, (high - low) / (2 * Z)),
            table=table,
            plot=points(shown),
        )
    ]


def _threshold(confidence: FloatArray, accuracy: float) -> tuple[float, float]:
    """(the confidence with as many rows below it as there are errors, the accuracy)."""
    wrong = round((1 - accuracy) * len(confidence))
    place = min(wrong, len(confidence) - 1)
    return float(np.partition(confidence, place)[place]), accuracy
