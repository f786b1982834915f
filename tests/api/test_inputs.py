"""Whatever holds the rows, the report is the same: paths, bytes, open files, lists, data frames."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from contract.samples import sample_files

import karat
from karat import tasks

Rows = list[dict[str, Any]]


class Stream:
    """A table that shows nothing of itself but the Arrow C stream."""

    def __init__(self, rows: Rows) -> None:
        self._table = pa.Table.from_pylist(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


HOLDERS: dict[str, Callable[[Rows], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": lambda rows: (row for row in rows),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": lambda rows: pl.DataFrame(rows).lazy(),
    "arrow": pa.Table.from_pylist,
    "arrow stream": Stream,
    "bytes": lambda rows: "\n".join(map(json.dumps, rows)).encode(),
    "binary file": lambda rows: io.BytesIO("\n".join(map(json.dumps, rows)).encode()),
    "text file": lambda rows: io.StringIO("\n".join(map(json.dumps, rows))),
}


@pytest.fixture(scope="module")
def files() -> tuple[Path, Path]:
    return sample_files(tasks.card("text-classification"))


@pytest.fixture(scope="module")
def sides(files: tuple[Path, Path]) -> tuple[Rows, Rows]:
    gold, pred = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
    return gold, pred


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_every_holder_of_rows_gives_the_same_scores(
    holder: Callable[[Rows], Any], files: tuple[Path, Path], sides: tuple[Rows, Rows]
) -> None:
    expected = karat.score(*files, by="text_length")
    gold, pred = sides
    found = karat.score(holder(gold), holder(pred), by="text_length")
    assert found.scores == expected.scores
    assert found.slices == expected.slices
    # Only one of the sides may be of this kind.
    assert karat.score(files[0], holder(pred)).scores == expected.scores
    assert karat.check(holder(gold), holder(pred)).ok


def test_sides_in_memory_are_told_apart(sides: tuple[Rows, Rows]) -> None:
    gold, pred = sides
    with pytest.raises(karat.DataError) as stopped:
        karat.score(gold, pred[:-1])
    assert {problem.file for problem in stopped.value.problems} <= {"<gold>", "<predictions>"}
    assert len({i.name for i in karat.score(gold, pred).inputs}) == 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"gold": None}, "there is no gold"),
        ({"cluster": ["meta.channel"]}, "cluster takes names of fields"),
        ({"by": [3]}, "by takes names of fields"),
        ({"weights": ""}, "weights is empty"),
    ],
)
def test_calls_that_cannot_work_say_why(
    wrong: dict[str, Any], says: str, sides: tuple[Rows, Rows]
) -> None:
    gold, pred = sides
    with pytest.raises(karat.UsageError, match=says):
        karat.score(**{"gold": gold, "predictions": pred, **wrong})


def test_a_misspelt_field_is_the_callers_slip_and_not_the_datas(sides: tuple[Rows, Rows]) -> None:
    gold = [{**row, "channel": "mail"} for row in sides[0]]
    pred = HOLDERS["bytes"](sides[1])
    with pytest.raises(karat.DataError) as stopped:
        karat.score(HOLDERS["bytes"](gold), pred, by="chanel")
    (problem,) = stopped.value.problems
    assert (problem.code, problem.key) == ("field-missing", "chanel")
    assert "did you mean channel" in problem.help


def test_a_field_of_endless_values_is_refused() -> None:
    gold = [{"text": f"text {i}", "label": i % 2} for i in range(5_001)]
    pred = [{"probabilities": [0.75, 0.25]}] * 5_001
    with pytest.raises(karat.UsageError, match="text has 5,001 values, too many to slice by"):
        karat.score(gold, pred, by="text")


def test_items_in_no_slice_are_counted(sides: tuple[Rows, Rows]) -> None:
    gold = [{**row, "some": "here"} if at < 10 else row for at, row in enumerate(sides[0])]
    report = karat.score(gold, sides[1], by="some")
    assert [(one.level, one.n) for one in report.slices] == [("here", 10)]
    missing = f"{len(gold) - 10:,} of {len(gold):,} have no some, and are in no slice of it"
    assert missing in report.notes
    assert not any("in no slice" in note for note in karat.score(*sides, by="text_length").notes)
