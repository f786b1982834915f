"""What people see of a comparison: the command, the terminal, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sklearn.metrics import accuracy_score

import karat
from karat.cli.main import main
from karat.model.report import Comparison, Difference, Report, Score, System
from karat.present import csvfile, latex, markdown
from karat.present.comparison import comparison_lines, side_by_side
from karat.present.style import Style
from karat.run.verdicts import sentence
from karat.stats.compare import SAME

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(words)
        return status, *capsys.readouterr()

    return call


def difference(**changes: Any) -> Difference:
    plain = {
        "name": "f1",
        "value": 0.012,
        "low": 0.004,
        "high": 0.02,
        "p": 0.003,
        "adjusted_p": 0.003,
        "smallest_seen": 0.01,
        "main": True,
    }
    return Difference(**{**plain, **changes})


SEES = "; this test set can see differences of"
SENTENCES: list[tuple[dict[str, Any], str]] = [
    ({}, f"B beats A by 1.20 points f1 [0.40, 2.00], p = 0.003{SEES} 1.00."),
    (
        {"value": -0.012, "low": -0.02, "high": -0.004},
        f"B loses to A by 1.20 points f1 [0.40, 2.00], p = 0.003{SEES} 1.00.",
    ),
    ({"better": "lower"}, f"B loses to A by 1.20 points f1 [0.40, 2.00], p = 0.003{SEES} 1.00."),
    (
        {"p": 0.2, "adjusted_p": 0.4, "low": -0.006, "high": 0.03},
        f"B and A cannot be told apart by f1: +1.2 points [-0.6, 3.0], adjusted p = 0.4{SEES} 1.0.",
    ),
    (
        {"scale": "percent", "value": 12.0, "low": 4.0, "high": 20.0, "smallest_seen": 9.0},
        f"B beats A by 12.0 points f1 [4.0, 20.0], p = 0.003{SEES} 9.0.",
    ),
    (
        {"scale": "signed", "p": 0.0001, "adjusted_p": 0.0001},
        f"B beats A by 0.0120 f1 [0.0040, 0.0200], p < 0.001{SEES} 0.0100.",
    ),
    ({"better": "near"}, f"B minus A is +1.20 points f1 [0.40, 2.00], p = 0.003{SEES} 1.00."),
    (
        {"value": None, "reason": "the denominator is 0"},
        "B and A cannot be compared by f1: the denominator is 0.",
    ),
]


@pytest.mark.parametrize(("changes", "told"), SENTENCES)
def test_the_sentence(changes: dict[str, Any], told: str) -> None:
    assert sentence("B", "A", [difference(**changes)], 0.95) == told


def test_the_sentence_names_what_differs_where_the_first_score_does_not() -> None:
    same = difference(name="spans", value=0.0, low=None, high=None, p=1.0, no_interval=SAME)
    same = msgspec.structs.replace(same, adjusted_p=1.0, smallest_seen=None)
    unsure = difference(name="g", p=0.4, adjusted_p=0.4)
    start = "B and A do the same on every item, as far as spans goes"
    assert sentence("B", "A", [same, unsure], 0.95) == f"{start}."
    told = sentence("B", "A", [same, unsure, difference()], 0.95)
    assert told == f"{start}; B beats A by 1.20 points f1 [0.40, 2.00], p = 0.003{SEES} 1.00."


def test_an_interval_that_ends_at_zero_keeps_its_digits() -> None:
    told = sentence("B", "A", [difference(value=-0.05, low=-0.1, high=0.0, p=0.05)], 0.95)
    assert "5.0 points f1 [0.0, 10.0]" in told


def test_the_command(run: Run, data: Any) -> None:
    status, out, err = run("compare", data.gold, data.systems["low"], data.systems["high"])
    assert status == 0
    assert "detected text-classification" in err
    value = accuracy_score(data.labels, data.said("high"))
    assert f"{value:.3f}"[:4] in out
    assert "high beats low by" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_the_gate_sets_the_status(run: Run, data: Any) -> None:
    words = ("compare", data.gold, data.systems["high"], data.systems["low"], "--quiet")
    status, _, err = run(*words, "--fail-if-worse", "accuracy=0.01")
    assert status == 1
    assert "gate failed: accuracy=0.01" in err
    assert run(*words, "--fail-if-worse", "accuracy=0.9")[0] == 0


def test_json_is_one_document(run: Run, data: Any) -> None:
    words = ("compare", data.gold, data.systems["low"], data.systems["high"])
    status, out, _ = run(*words, "--names", "x,y", "--json")
    assert status == 0
    document = json.loads(out)
    assert document["kind"] == "compare"
    assert [one["name"] for one in document["systems"]] == ["x", "y"]


def test_a_run_is_kept_and_compared(run: Run, data: Any, tmp_path: Path) -> None:
    kept = str(tmp_path / "run.json")
    words = ("score", data.gold, data.systems["low"], "--keep-evidence")
    status, _, err = run(*words, "--quiet")
    assert status == 2
    assert "--out RUN.json" in err
    assert run(*words, "--quiet", "--out", kept)[0] == 0
    status, out, _ = run("compare", data.gold, data.systems["high"], "--baseline", kept)
    assert status == 0
    assert "high beats low by" in out


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "No such file"), (b"{", "no run file"), (b"\xff\xfe", "no run file")],
)
def test_a_bad_baseline_is_told(
    run: Run, data: Any, tmp_path: Path, content: bytes | None, told: str
) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_bytes(content)
    status, _, err = run("compare", data.gold, data.systems["high"], "--baseline", str(path))
    assert status == 2
    assert told in err
    assert "Traceback" not in err
    assert "bug" not in err


def three() -> Report:
    def system(name: str, letter: str, value: float, beats: list[str]) -> System:
        score = Score(name="f_1", value=value, low=value - 0.01, high=value + 0.01, main=True)
        return System(name=name, letter=letter, scores=[score], beats={"f_1": beats})

    return Report(
        kind="compare",
        task="nli",
        title="Inference & more",
        item="pair",
        n=1200,
        systems=[
            system("base", "a", 0.8, []),
            system("<b>|x_1", "b", 0.85, ["base"]),
            system("wide", "c", 0.9, ["base", "<b>|x_1"]),
        ],
        comparisons=[
            Comparison(
                system="<b>|x_1",
                baseline="base",
                differences=[difference(name="f_1", test="mcnemar", wins=9, ties=5, losses=2)],
                sentence="B | wins.",
            ),
            Comparison(system="wide", baseline="base", differences=[difference(name="f_1")]),
        ],
    )


def test_superscripts_in_the_terminal() -> None:
    plain = comparison_lines(three(), Style())[0]
    assert "0.900^a,b" in plain[1]
    assert "0.850^a" in plain[1]
    assert "0.900ᵃᵇ" in comparison_lines(three(), Style(unicode=True))[0][1]


def test_many_systems_have_a_row_each() -> None:
    scores = [Score(name=name, value=0.5, main=True) for name in ("f1_macro", "mcc", "x" * 60)]
    names = [f"system {at}" for at in range(9)]
    systems = [System(name=n, letter=n[-1], scores=scores) for n in names]
    lines = side_by_side(Report(task="nli", systems=systems), Style())
    assert lines[0].split() == ["f1_macro", "mcc"]
    assert [line.split()[1:3] for line in lines[1:10]] == [name.split() for name in names]
    assert "1 more" in lines[-1]


def test_standard_input_can_be_one_file(run: Run, data: Any) -> None:
    status, _, told = run("compare", data.gold, "-", "-")
    assert status == 2
    assert "standard input" in told


def test_the_tables_say_what_was_done() -> None:
    text = "\n".join(line for block in comparison_lines(three(), Style()) for line in block)
    assert "exact McNemar" in text
    assert "Holm's method over 2 systems" in text
    assert "9/5/2" in text


def test_latex_escapes_and_names_the_test() -> None:
    text = latex.render(three()).decode()
    assert r"\toprule" in text
    assert r"Inference \& more, 1,200 pairs." in text
    assert r"\textless{}b\textgreater{}\textbar{}x\_1" in text
    assert r"$^{\mathrm{a,b}}$" in text
    assert "exact McNemar" in text[text.index(r"\caption") : text.index(r"\label")]
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 3
    assert "<b>" not in text


def test_latex_of_a_score_report(data: Any) -> None:
    text = latex.render(karat.score(data.gold, data.systems["low"])).decode()
    assert r"accuracy\_top" not in text
    assert "f1\\_macro & " in text
    assert "95\\,\\% intervals" in text


def test_csv_holds_every_difference(data: Any) -> None:
    report = karat.compare(data.gold, data.systems["low"], data.systems["high"], by="meta.group")
    text = csvfile.render(report).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    (found,) = (
        row
        for row in rows
        if (row["kind"], row["name"], row["level"]) == ("difference", "accuracy", "")
    )
    gap = accuracy_score(data.labels, data.said("high"))
    gap -= accuracy_score(data.labels, data.said("low"))
    assert float(found["difference"]) == pytest.approx(gap, abs=1e-12)
    assert (found["system"], found["baseline"], found["n"]) == ("high", "low", "60")
    levels = {row["level"] for row in rows if row["kind"] == "difference"}
    assert levels == {"", "a", "b"}


def test_markdown_keeps_its_columns() -> None:
    text = markdown.render(three()).decode()
    assert "0.850<sup>a</sup>" in text
    assert "&lt;b>\\|x" in text
    for block in text.split("\n\n"):
        if block.startswith("|"):
            bars = {line.replace("\\|", "").count("|") for line in block.splitlines()}
            assert len(bars) == 1
