"""The JSON document of a report."""

from __future__ import annotations

from karat.model.report import Report


def render(report: Report) -> bytes:
    """The document in full precision, as `--json` prints it."""
    return report.to_json().encode() + b"\n"
