"""A Report in MLflow: scores as metrics, the signature as tags, the whole report as an artifact."""

from __future__ import annotations

import re
from typing import Any

from karat.errors import KaratError
from karat.integrations import scores_of
from karat.model.report import Report

MOST_AT_ONCE = 1000
"""MLflow takes no more metrics in one call."""


def log(report: Report, *, prefix: str = "", step: int | None = None) -> dict[str, float]:
    """The metrics that were logged to the active run.

    Each score has its value, and `_low` and `_high` where there is an interval.
    """
    mlflow = _library()
    found = metrics(report, prefix)
    items = list(found.items())
    for start in range(0, len(items), MOST_AT_ONCE):
        mlflow.log_metrics(dict(items[start : start + MOST_AT_ONCE]), step=step)
    mlflow.set_tags({"karat.task": report.task, "karat.signature": report.signature.text[:5000]})
    mlflow.log_text(report.to_json(), f"karat/{prefix.strip('._/') or 'report'}.json")
    return found


def metrics(report: Report, prefix: str = "") -> dict[str, float]:
    """The scores under names that MLflow takes."""
    found: dict[str, float] = {}
    for name, score in scores_of(report):
        ends = (("", score.value), ("_low", score.low), ("_high", score.high))
        for ending, value in ends:
            if value is not None:
                found[re.sub(r"[^\w\-./ ]", "_", f"{prefix}{name}{ending}")] = value
    return found


def _library() -> Any:
    try:
        import mlflow  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise KaratError("MLflow is not installed", help="pip install mlflow-skinny") from None
    return mlflow
