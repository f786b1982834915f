"""A Report in Weights & Biases: scores as summary values, tables as tables, a signature."""

from __future__ import annotations

from typing import Any

from karat.errors import KaratError
from karat.integrations import scores_of
from karat.model.report import Report


def log(report: Report, run: Any = None, *, prefix: str = "") -> dict[str, float]:
    """The values that were logged to the run, or to the active one.

    Each score has its value, and `.low` and `.high` where there is an interval.
    """
    wandb = _library()
    target = run or wandb.run
    if target is None:
        raise KaratError("there is no active run", help="call wandb.init() first, or give run=")
    found = values(report, prefix)
    tables = {
        f"{prefix}{table.name}": wandb.Table(columns=table.columns, data=table.rows)
        for table in report.tables
    }
    target.log({**found, **tables})
    target.config.update({f"{prefix}karat_signature": report.signature.text})
    return found


def values(report: Report, prefix: str = "") -> dict[str, float]:
    """The scores by name, with the ends of their intervals."""
    found: dict[str, float] = {}
    for name, score in scores_of(report):
        for ending, value in (("", score.value), (".low", score.low), (".high", score.high)):
            if value is not None:
                found[f"{prefix}{name}{ending}"] = value
    return found


def _library() -> Any:
    try:
        import wandb  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise KaratError("Weights & Biases is not installed", help="pip install wandb") from None
    return wandb
