"""The history: what is appended is there, whoever else writes; real changes are marked."""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from scipy import stats

import karat
from karat.cli.main import main
from karat.model.report import Input, Report, Score
from karat.model.signature import Signature
from karat.present.html.history import page
from karat.run import history

WRITER = """
import sys
from karat.model.report import Report, Score
from karat.run import history
path, who, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
for i in range(many):
    history.append(Report(task=who, n=i, scores=[Score(name="f1", value=0.5, main=True)]), path)
"""


def a_report(value: float, se: float | None = 0.01, predictions: str = "p", **more: str) -> Report:
    low, high = (None, None) if se is None else (value - 1.96 * se, value + 1.96 * se)
    score = Score(
        name="f1", value=value, low=low, high=high, se=se, n=100, main=True,
        better=more.get("better", "higher"),
    )  # fmt: skip
    inputs = {"gold": more.get("gold", "g" * 64), "predictions": predictions}
    return Report(
        task=more.get("task", "nli"),
        item="pair",
        n=100,
        scores=[score],
        inputs=[Input(role="predictions", name=more.get("name", "m/p.jsonl"), digest=predictions)],
        signature=Signature(task="nli", inputs=inputs),
    )


def test_a_run_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    moment = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
    number = history.append(a_report(0.5), path, moment)
    (found,) = history.runs(path)
    assert (found.id, found.at, found.name) == (number, "2026-05-04T03:02:01+00:00", "p")
    assert found.scores == a_report(0.5).scores
    assert history.report(path, number) == a_report(0.5)


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path, many = tmp_path / "runs.db", 40
    words = [sys.executable, "-c", WRITER, str(path)]
    writers = [
        subprocess.Popen([*words, who, str(many)], stderr=subprocess.PIPE)
        for who in ("a", "b", "c")
    ]
    for writer in writers:
        _, err = writer.communicate(timeout=120)
        assert writer.returncode == 0, err.decode()
    found = history.runs(path)
    assert len(found) == 3 * many
    for who in ("a", "b", "c"):
        assert [one.n for one in found if one.task == who] == list(range(many))


def test_a_writer_that_dies_leaves_whole_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    history.append(a_report(0.5), path)
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("BEGIN IMMEDIATE")
    base.execute("DELETE FROM runs")
    base.close()
    assert len(history.runs(path)) == 1


def test_task_and_data_choose(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for task, gold in (("nli", "aa" * 32), ("nli", "bb" * 32), ("qa", "aa" * 32)):
        history.append(a_report(0.5, task=task, gold=gold), path)
    assert [one.id for one in history.runs(path, task="nli")] == [1, 2]
    assert [one.id for one in history.runs(path, data="aaa")] == [1, 3]


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ((0.5, 0.9), ["", "better"]),
        ((0.9, 0.5), ["", "worse"]),
        ((0.5, 0.51), ["", ""]),
        ((0.5, 0.9, 0.9), ["", "better", ""]),
    ],
)
def test_real_changes_are_marked(
    tmp_path: Path, values: tuple[float, ...], kinds: list[str]
) -> None:
    path = tmp_path / "runs.db"
    for i, value in enumerate(values):
        history.append(a_report(value, predictions=f"p{i}"), path)
    assert [one.changes.get("f1", "") for one in history.runs(path)] == kinds


def test_a_change_is_real_when_a_z_test_says_so(tmp_path: Path) -> None:
    for gap in (0.027, 0.0285):
        path = tmp_path / f"{gap}.db"
        history.append(a_report(0.5), path)
        history.append(a_report(0.5 + gap, predictions="q"), path)
        p = 2 * stats.norm.sf(gap / math.hypot(0.01, 0.01))
        assert bool(history.runs(path)[1].changes) == (p < 0.05)


def test_from_all_right_to_all_wrong_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for value, ends in ((1.0, (0.84, 1.0)), (0.0, (0.0, 0.16))):
        run = a_report(value, se=0.0, predictions=str(value))
        low, high = ends
        run.scores = [msgspec.structs.replace(run.scores[0], low=low, high=high)]
        history.append(run, path)
    assert [run.changes for run in history.runs(path)] == [{}, {"f1": "worse"}]


def test_what_cannot_be_compared_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    history.append(a_report(0.5), path)
    history.append(a_report(0.9, gold="h" * 64, predictions="q"), path)
    history.append(a_report(0.2, task="qa", predictions="r"), path)
    history.append(a_report(0.9, se=None, predictions="s"), path)
    assert not any(one.changes for one in history.runs(path))


def test_lower_may_be_better(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for i, value in enumerate((0.9, 0.5)):
        history.append(a_report(value, predictions=str(i), better="lower"), path)
    assert history.runs(path)[1].changes == {"f1": "better"}


@pytest.mark.parametrize("content", [b"no data base at all, but long enough" * 40, None])
def test_another_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "runs.db"
    if content is None:
        base = sqlite3.connect(path)
        base.execute("CREATE TABLE other (x)")
        base.commit()
        base.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(karat.UsageError, match="history"):
        history.append(a_report(0.5), path)
    if content is not None:
        assert path.read_bytes() == before


def test_a_newer_history_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    history.append(a_report(0.5), path)
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 9")
    base.commit()
    base.close()
    with pytest.raises(karat.UsageError, match="newer"):
        history.runs(path)


def test_a_history_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(karat.UsageError, match="no history"):
        history.runs(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_the_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"text": "t", "label": i % 2} for i in range(8)]
    said = [{"probabilities": [0.9, 0.1]} for _ in rows]
    for name, content in (("gold", rows), ("said", said)):
        text = "".join(json.dumps(row) + "\n" for row in content)
        Path(f"{name}.jsonl").write_text(text, encoding="utf-8")
    score = ["score", "gold.jsonl", "said.jsonl", "--quiet", "--log", "runs.db"]
    assert main(score) == 0
    assert main(score) == 0
    capsys.readouterr()
    assert main(["history", "--db", "runs.db"]) == 0
    out = capsys.readouterr().out
    assert out.count("said") == 2
    assert "accuracy" in out
    assert main(["history", "--db", "runs.db", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 2
    before = Path("runs.db").read_bytes()
    assert main(["history", "--db", "runs.db", "--html", "runs.db"]) == 2
    assert "ends in .html" in capsys.readouterr().err
    assert Path("runs.db").read_bytes() == before
    assert main(["history", "--db", "runs.db", "--html"]) == 0
    shown = Path("history.html").read_text(encoding="utf-8")
    assert "the last of 2 runs" in shown
    assert shown.count("<svg") > 1


def test_without_a_name_the_history_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rows = [{"text": "t", "label": i % 2, "probabilities": [0.9, 0.1]} for i in range(4)]
    path = tmp_path / "gold.jsonl"
    said = tmp_path / "said.jsonl"
    path.write_text(
        "".join(json.dumps({"text": r["text"], "label": r["label"]}) + "\n" for r in rows)
    )
    said.write_text("".join(json.dumps({"probabilities": r["probabilities"]}) + "\n" for r in rows))
    assert main(["score", str(path), str(said), "--quiet"]) == 0
    assert not (tmp_path / ".local").exists()
    assert main(["score", str(path), str(said), "--quiet", "--log"]) == 0
    assert len(history.runs(tmp_path / ".local" / "share" / "karat" / "runs.db")) == 1


def test_text_from_data_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    name = "<script>alert(1)</script>.jsonl"
    for i, value in enumerate((0.2, 0.9)):
        history.append(a_report(value, name=name, predictions=str(i)), path)
    shown = page(history.runs(path)).decode()
    assert "<script>alert" not in shown
    drawing = shown[shown.index("<svg") : shown.index("</svg>") + 6]
    marks = ET.fromstring(drawing).findall("g")
    assert len(marks) == 2
    assert "▲" in drawing
