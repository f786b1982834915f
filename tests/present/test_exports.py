"""Reports for spreadsheets, build servers and pull requests, read back by other programs."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import msgspec
import openpyxl
import pytest

from karat.model import suite
from karat.model.problem import Problem
from karat.model.report import (
    Comparison,
    Difference,
    Example,
    Gate,
    Report,
    Score,
    SliceDifference,
    System,
    Table,
)
from karat.present import github, junit, latex, markdown, workbook


def read(report: Report) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(workbook.render(report)))


def test_a_workbook_holds_every_number(report: Report) -> None:
    book = read(report)
    assert book.sheetnames == ["scores", "slices", "confusion", "problems", "about"]
    rows = list(book["scores"].values)
    assert rows[0][:4] == ("name", "value", "low", "high")
    assert rows[1][:4] == ("accuracy", 0.80112, 0.794, 0.8083)
    assert rows[3][1] is None
    assert "one class only" in rows[3]
    assert list(book["confusion"].values)[1] == ("a", 9000, 33)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t="])
def test_no_cell_of_a_workbook_is_a_formula(report: Report, start: str) -> None:
    text = f"{start}cmd()"
    report.examples = [Example(id=text, record=0, score=-1.5, why=text, fields={text: text})]
    report.tables.append(Table(name="t", title=text, columns=[text], rows=[[text]]))
    book = read(report)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert "f" not in {cell.data_type for cell in cells}
    assert not [
        c for c in cells if isinstance(c.value, str) and c.value.startswith(("=", "+", "-", "@"))
    ]
    assert -1.5 in [cell.value for cell in cells]


def test_sheets_have_names_that_a_workbook_can_hold(report: Report) -> None:
    long = "a/b:c[d]*?" * 9
    report.tables += [Table(name="t", title=long, columns=["x"], rows=[[1]]) for _ in range(2)]
    names = read(report).sheetnames
    assert len(set(names)) == len(names)
    assert all(len(name) <= 31 for name in names)


def test_the_same_report_makes_the_same_rows(report: Report) -> None:
    first, second = read(report), read(report)
    assert first.properties.created == second.properties.created
    assert [list(s.values) for s in first] == [list(s.values) for s in second]


def test_junit_has_a_case_a_gate(report: Report) -> None:
    root = ET.fromstring(junit.render(report))
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert cases["accuracy>=0.8"].find("failure") is None
    failure = cases["ece<=0.01"].find("failure")
    assert failure is not None
    assert failure.get("message") == "ece is 0.0312"
    values = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert values["accuracy"] == "0.80112"
    assert values["mcc"] == ""


def test_junit_tells_the_systems_of_a_comparison_apart(report: Report) -> None:
    report.gates = [
        Gate(rule="f1=0.01", passed=True, value=0.0, text=f"{name} against old: fine")
        for name in ("b", "c")
    ]
    root = ET.fromstring(junit.render(report))
    names = [case.get("name") for case in root.iter("testcase")]
    assert names == ["f1=0.01 (b against old)", "f1=0.01 (c against old)", "input"]


def stressed() -> Report:
    """A stress run of two tests, one of which fails."""
    case = suite.Case(subject="label", status="fail", value=0.4, statistic="PSI", text="moved")
    tests = [
        suite.Test(name="drift", category="drift", status="fail", title="Drift", cases=[case]),
        suite.Test(name="rare", category="data", status="skip", reason="no metadata", title="Rare"),
    ]
    change = suite.Change(ref=0.9, eval=0.8, change=-0.1, low=-0.15, high=-0.05)
    return Report(
        kind="stress",
        task="nli",
        title="Inference, stress test",
        item="pair",
        n=40,
        summary=suite.Summary(status="fail", counts={"fail": 1, "skip": 1}),
        metrics={"f1_macro": change},
        tests=tests,
    )


def test_a_workbook_holds_a_stress_run() -> None:
    book = read(stressed())
    rows = list(book["tests"].values)
    assert rows[1][:5] == ("drift", "drift", "label", "fail", "moved")
    assert rows[2][:5] == ("rare", "data", None, "skip", "no metadata")
    assert list(book["changes"].values)[1] == ("f1_macro", 0.9, 0.8, -0.1, -0.15, -0.05)


def test_latex_of_a_stress_run_has_its_changes() -> None:
    text = latex.render(stressed()).decode()
    assert r"f1\_macro & 0.900 & 0.800 & $-0.100$ & [$-0.150$, $-0.050$] \\" in text
    assert "1 fail, 0 warn, 0 pass, 1 skipped" in text


def test_a_workbook_holds_the_systems_of_a_comparison(report: Report) -> None:
    score = Score(name="f1", value=0.8, low=0.7, high=0.9, n=7)
    report.systems = [
        System(name="a", letter="a", scores=[score]),
        System(name="=b", letter="b", scores=[score], beats={"f1": ["a"]}),
    ]
    head, *rows = list(read(report)["systems"].values)
    assert [dict(zip(head, row, strict=True))["beats"] for row in rows] == [None, "a"]
    assert [row[:5] for row in rows] == [("a", "f1", 0.8, 0.7, 0.9), ("'=b", "f1", 0.8, 0.7, 0.9)]


def test_markdown_says_once_why_there_is_no_interval(report: Report) -> None:
    found = [Difference(name=name, value=0.1, no_interval="a maximum") for name in ("mce", "ece")]
    report.systems = [System(name=name, letter=name) for name in "ab"]
    report.comparisons = [Comparison(system="b", baseline="a", differences=found, sentence="Yes.")]
    assert "- mce, ece: a maximum" in markdown.render(report).decode().splitlines()


def test_a_workbook_holds_the_slices_of_a_comparison(report: Report) -> None:
    found = Difference(name="f1", value=0.1, p=0.03, q=0.04)
    part = SliceDifference(field="lang", level="de", n=7, differences=[found])
    one = Comparison(system="b", baseline="a", differences=[found], slices=[part], sentence="Yes.")
    report.comparisons = [one]
    head, *rows = list(read(report)["comparisons"].values)
    assert [row[:6] for row in rows] == [
        ("b", "a", None, None, report.n, "f1"),
        ("b", "a", "lang", "de", 7, "f1"),
    ]
    assert rows[1][head.index("q")] == 0.04


def test_junit_stays_xml_whatever_the_text(report: Report) -> None:
    report.gates = [Gate(rule="a>=1", passed=False, value=None, text="\x00\x1b[31m <&\uffff")]
    root = ET.fromstring(junit.render(report))
    failure = root.find(".//failure")
    assert failure is not None
    assert "\\x1b[31m <&" in (failure.get("message") or "")


def test_annotations_name_gates_and_places(report: Report) -> None:
    lines = github.render(report).decode().splitlines()
    assert lines[0] == "::error title=karat gate failed::ece<=0.01: ece is 0.0312"
    assert lines[1] == "::warning file=p.jsonl,line=33,title=karat probability-sum::sums to 0.98"
    assert lines[2].startswith("::notice file=p.jsonl,title=")


def test_an_annotation_stays_one_line(report: Report) -> None:
    evil = Problem("x", "error", "100 %\n::set-env::", file="a,b:c", line=1, help="do")
    report = msgspec.structs.replace(report, gates=[], problems=[evil])
    assert github.render(report) == (
        b"::error file=a%2Cb%3Ac,line=1,title=karat x::100 %25%0A::set-env::%0Ahelp: do\n"
    )
