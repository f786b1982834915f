"""The signature of a run: everything that must be equal for equal numbers."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

import karat
from karat.model.signature import Signature
from karat.model.task import Card, Option, Request
from karat.read.source import Source

if TYPE_CHECKING:
    from karat.model.report import Report
    from karat.run.pipeline import Measured


def sign(measured: Measured, interval: str, seed: int) -> Signature:
    """The signature of what was measured and how it was inferred."""
    card, request = measured.card, measured.request
    definitions = dict(measured.task.definitions(request.options))
    script = f"{card.official.name}@{card.official.version}" if card.official else ""
    sides = (("gold", request.gold), ("predictions", request.predictions))
    digests = {
        role if len(side) == 1 else f"{role}{i + 1}": one.digest()
        for role, side in sides
        for i, one in enumerate(side)
    }
    return Signature(
        task=card.name,
        # A task that can score as several tools do says which one it was.
        official=definitions.pop("official", script),
        options=changed_options(card, request),
        definitions=definitions,
        n=measured.pairs.n,
        inputs=digests,
        interval=interval,
        seed=seed,
        versions=_versions(),
    )


def sign_stress(card: Card, tests: Mapping[str, Any], report: Report, seed: int) -> Signature:
    """The signature of a stress run: its inputs, its test settings and its seed."""
    told = hashlib.sha256(msgspec.json.encode(tests, order="deterministic")).hexdigest()
    return Signature(
        task=f"stress {card.name}",
        options={"tests": told[:12]} if tests else {},
        n=report.n,
        inputs={one.role: one.digest for one in report.inputs if one.role != "configuration"},
        interval="0.95",
        seed=seed,
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    # Sums of floats changed in Python 3.12, random streams belong to NumPy's version.
    return {
        "karat": karat.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def changed_options(card: Card, request: Request) -> dict[str, Any]:
    """The options that can change a score and are not at their default."""
    changed = {
        option.name: _told(option, request.options[option.name])
        for option in card.options
        if option.signature
        and option.name in request.options
        and request.options[option.name] != option.default
    }
    if request.cluster is not None:
        changed["cluster"] = request.cluster
    if request.weights is not None:
        changed["weights"] = request.weights
    if request.by:
        changed["by"] = ",".join(request.by)
    return changed


def _told(option: Option, value: Any) -> Any:
    """The value of an option; of a file that it names the content, wherever that lies."""
    if option.kind != "path":
        return value
    if isinstance(value, (str, os.PathLike)):
        return Source.of(value).digest()[:12]
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:12]
