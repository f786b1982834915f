"""A Report in Python: scores by name, the page of the command line, data frames."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest
from click.testing import CliRunner
from contract.samples import sample_files

import karat
from karat import tasks
from karat.cli.main import root


@pytest.fixture(scope="module")
def files() -> list[str]:
    return list(map(str, sample_files(tasks.card("text-classification"))))


@pytest.fixture(scope="module")
def report(files: list[str]) -> karat.Report:
    return karat.score(*files)


def test_scores_by_name(report: karat.Report) -> None:
    one = report["accuracy"]
    assert report.accuracy == one.value
    assert one in list(report)
    assert one.low is not None
    assert one.high is not None
    assert one.low < report.accuracy < one.high
    assert "accuracy" in report
    assert "acuracy" not in report
    assert {"accuracy", "f1_macro", "to_json", "scores"} <= set(dir(report))


@pytest.mark.parametrize("read", [lambda r: r["acuracy"], lambda r: r.acuracy])
def test_an_unknown_name_comes_with_the_close_ones(report: karat.Report, read: Any) -> None:
    with pytest.raises((KeyError, AttributeError), match="did you mean accuracy"):
        read(report)
    assert not hasattr(report, "_anything")


def test_it_prints_as_on_the_command_line(report: karat.Report, files: list[str]) -> None:
    shown = CliRunner().invoke(root, ["score", *files, "--quiet"]).stdout.splitlines()
    # The command line ends with how long it took.
    assert str(report).splitlines() == shown[:-1]
    assert len(repr(report)) < 200
    assert "text-classification" in repr(report)


def test_copies_are_equal(report: karat.Report) -> None:
    assert copy.deepcopy(report) == report
    assert pickle.loads(pickle.dumps(report)) == report


def test_frames_hold_the_scores(report: karat.Report) -> None:
    for frame in (report.to_pandas(), report.to_polars()):
        assert list(frame["name"]) == [score.name for score in report]
        assert list(frame["value"]) == [score.value for score in report]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_one_line(
    report: karat.Report, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(karat.KaratError) as stopped:
        getattr(report, f"to_{library}")()
    assert stopped.value.help == f"pip install {library}"
