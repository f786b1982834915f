"""The pytest plugin in a real pytest, and the adapters against stand-ins of their trackers."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.integrations import mlflow, wandb
from karat.model.report import Report, Score, System, Table

TESTS = """
def test_good(karat):
    karat.score("gold.jsonl", "said.jsonl").at_least(accuracy=0.5).at_most(ece=1.0)

def test_bad(karat):
    karat.score("gold.jsonl", "said.jsonl").at_least(accuracy=0.95)

def test_bound(karat):
    karat.score("gold.jsonl", "said.jsonl").at_least(accuracy=0.74, bound=True)

def test_same(karat):
    karat.compare("gold.jsonl", "said.jsonl", "said.jsonl", names=["a", "b"]).not_worse(accuracy=0)

def test_worse(karat):
    karat.compare("gold.jsonl", "said.jsonl", "worse.jsonl").not_worse(accuracy=0.01)

def test_report(karat):
    assert karat.score("gold.jsonl", "said.jsonl").accuracy == 0.75
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    gold = [{"text": "t", "label": i % 2} for i in range(40)]
    right = [i % 4 != 3 for i in range(40)]
    said = [_said(row["label"], ok) for row, ok in zip(gold, right, strict=True)]  # type: ignore[arg-type]
    worse = [_said(row["label"], i % 4 == 0) for i, row in enumerate(gold)]  # type: ignore[arg-type]
    for name, rows in (("gold", gold), ("said", said), ("worse", worse)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "test_model.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def _said(label: int, right: bool) -> dict[str, Any]:
    one = label if right else 1 - label
    return {"probabilities": [0.9, 0.1] if one == 0 else [0.1, 0.9]}


def test_the_plugin_says_metric_limit_and_interval(project: Path) -> None:
    # Where the installed package brings the plugin along, it is blocked and loaded by module.
    words = ["-p", "no:karat", "-p", "karat.pytest_plugin", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "test_model.py"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    out = done.stdout
    assert "3 failed, 3 passed" in out, out + done.stderr
    assert "accuracy is 0.75, which misses >= 0.95 (95 % interval 0." in out
    assert "the interval's worse end of accuracy is 0.5" in out
    assert "worse loses to said by 50" in out
    assert "Traceback" not in out


@pytest.fixture
def report() -> Report:
    return Report(
        task="nli",
        scores=[
            Score(name="f1 (a)@x", value=0.5, low=0.4, high=0.6),
            Score(name="mcc", value=None, reason="one class"),
        ],
        tables=[Table(name="classes", title="By class", columns=["class", "n"], rows=[["a", 1]])],
    )


class Recorder:
    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args: Any, **keywords: Any) -> None:
            self.calls.append((name, args[0] if args else keywords))

        return call


def test_mlflow_gets_numbers_tags_and_the_report(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = Recorder()
    monkeypatch.setitem(sys.modules, "mlflow", tracker)  # type: ignore[arg-type]
    logged = mlflow.log(report, prefix="dev.")
    expected = {"dev.f1 _a__x": 0.5, "dev.f1 _a__x_low": 0.4, "dev.f1 _a__x_high": 0.6}
    assert logged == expected
    calls = dict(tracker.calls)
    assert calls["log_metrics"] == expected
    assert calls["set_tags"]["karat.task"] == "nli"
    assert Report.from_json(calls["log_text"]) == report


def test_wandb_gets_numbers_and_tables(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Recorder()
    run.config = Recorder()  # type: ignore[attr-defined]
    module = types.SimpleNamespace(run=run, Table=lambda columns, data: (columns, data))
    monkeypatch.setitem(sys.modules, "wandb", module)  # type: ignore[arg-type]
    assert wandb.log(report)["f1 (a)@x.high"] == 0.6
    ((_, logged),) = run.calls
    assert logged["classes"] == (["class", "n"], [["a", 1]])
    assert "mcc" not in logged
    module.run = None
    with pytest.raises(karat.KaratError, match="no active run"):
        wandb.log(report)


def test_a_comparison_is_logged_system_by_system(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [Score(name=f"s{at}", value=0.5) for at in range(1200)]
    systems = [System(name="old", scores=report.scores), System(name="new", scores=many)]
    both = Report(kind="compare", task="nli", systems=systems)
    assert wandb.values(both)["old/f1 (a)@x.low"] == 0.4
    tracker = Recorder()
    monkeypatch.setitem(sys.modules, "mlflow", tracker)  # type: ignore[arg-type]
    assert mlflow.log(both)["new/s1199"] == 0.5
    sizes = [len(given) for name, given in tracker.calls if name == "log_metrics"]
    assert sum(sizes) == 1203
    assert max(sizes) <= 1000


@pytest.mark.parametrize(("adapter", "name"), [(mlflow, "mlflow"), (wandb, "wandb")])
def test_a_tracker_that_is_missing_is_told(
    adapter: Any, name: str, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(karat.KaratError, match="not installed") as told:
        adapter.log(report)
    assert "pip install" in told.value.help
