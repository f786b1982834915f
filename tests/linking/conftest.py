"""Annotation tables written down in tests, and the measures of two of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from karat.model.problem import Problems
from karat.read.source import Source
from karat.tasks.linking.annotations import Annotations
from karat.tasks.linking.counts import Counting
from karat.tasks.linking.grouping import results
from karat.tasks.linking.measures import resolve
from karat.tasks.linking.tsv import read_table

Score = Callable[..., dict[str, dict[str, Any]]]


def table(text: str) -> Annotations:
    """The mentions of a table whose cells are separated by blanks."""
    problems = Problems()
    content = "".join(f"{'	'.join(line.split())}\n" for line in text.strip().splitlines())
    found = read_table(Source.of(content.encode(), "table"), problems)
    assert not problems.errors, [p.text for p in problems]
    return found


@pytest.fixture
def score() -> Score:
    """Counts and scores of measures by name."""

    def scored(gold: str, system: str, *names: str, **how: Any) -> dict[str, dict[str, Any]]:
        return results(Counting(table(gold), table(system)), resolve(names), **how)

    return scored


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """A file with tabs for the blanks."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        lines = ("\t".join(line.split()) for line in text.strip().splitlines())
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return written
