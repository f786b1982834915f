"""Scores are those of the original at batch size 1, whatever karat's batches are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models.original import PATHS, cases_of, checkpoint, expected, tolerance

from karat.models.loading import Settings


@pytest.mark.parametrize("size", [7, None])
@pytest.mark.parametrize("dtype", ["fp64", "fp32"])
@pytest.mark.parametrize(("section", "short", "path"), PATHS)
def test_scores_are_those_of_the_original(
    section: str,
    short: str,
    path: str,
    dtype: str,
    size: int | None,
    reference: Path,
    model: Callable[[str], str],
    examples: dict[str, Any],
    score: Callable[..., Any],
) -> None:
    cases = cases_of(section, path)
    found = score(
        Settings(model(short), dtype=dtype),
        section,
        path,
        examples[section],
        cases=cases if cases[0] else ("d",),
        nsp=checkpoint(reference, short, path),
        batch_size=size,
    )
    ids = [c.id for e in examples[section] for c in e.candidates]
    bound = tolerance(dtype, short, section, path)
    for case in cases:
        wanted = expected(reference, dtype, section, short, path, case)
        assert len(ids) == len(wanted)
        for one, value in zip(ids, found[case], strict=True):
            assert value == pytest.approx(wanted[one], rel=bound, abs=0), (case, one)
