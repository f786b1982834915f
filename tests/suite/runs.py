"""Stress runs of the reference data, made once a session."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

import karat
from karat.model.report import Report
from karat.model.suite import Case, Test

DATA = os.environ.get("KARAT_REFERENCE_DATA")
needs_data = pytest.mark.skipif(
    DATA is None, reason="KARAT_REFERENCE_DATA names no folder of reference data"
)
TASKS = ("text_classification", "nli", "image_classification", "ner", "object_detection")


def folder(name: str) -> Path:
    return Path(DATA or "") / "prediction-caches" / name


@cache
def stressed(name: str) -> Report:
    """The Report of one folder's configuration."""
    return karat.stress(folder(name) / "config.json")


@cache
def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder("expected.json")).read_text("utf-8"))
    return found


def find(report: Report, name: str) -> Test:
    assert not isinstance(report.tests, msgspec.UnsetType)
    (found,) = [test for test in report.tests if test.name == name]
    return found


def case(report: Report, name: str, subject: str) -> Case:
    (found,) = [one for one in find(report, name).cases if one.subject == subject]
    return found


def change(report: Report, name: str) -> Any:
    assert not isinstance(report.metrics, msgspec.UnsetType)
    return report.metrics[name]
