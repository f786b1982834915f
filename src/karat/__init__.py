"""karat weighs model predictions against gold.

>>> import karat
>>> report = karat.score("gold.jsonl", "predictions.jsonl")
>>> report["accuracy"].low, report["accuracy"].high
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.api import check, compare, convert, score, stress
    from karat.errors import DataError, KaratError, MissingExtra, UsageError
    from karat.model.problem import Problem
    from karat.model.report import Report

__version__ = "0.1.0"

# Loaded on first use: `import karat` must stay instant.
_HOMES = {
    "DataError": "karat.errors",
    "KaratError": "karat.errors",
    "MissingExtra": "karat.errors",
    "Problem": "karat.model.problem",
    "Report": "karat.model.report",
    "UsageError": "karat.errors",
    "check": "karat.api",
    "compare": "karat.api",
    "convert": "karat.api",
    "score": "karat.api",
    "stress": "karat.api",
}

__all__ = [
    "DataError",
    "KaratError",
    "MissingExtra",
    "Problem",
    "Report",
    "UsageError",
    "__version__",
    "check",
    "compare",
    "convert",
    "score",
    "stress",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
