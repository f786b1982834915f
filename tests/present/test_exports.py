"""Reports for spreadsheets, build servers and pull requests, read back by other programs."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import msgspec
import openpyxl
import pytest

from karat.model.problem import Problem
from karat.model.report import Example, Gate, Report, Table
from karat.present import github, junit, workbook


def read(report: Report) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(workbook.render(report)))


def test_a_workbook_holds_every_number(report: Report) -> None:
    book = read(report)
    assert book.sheetnames == ["scores", "slices", "confusion", "about"]
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
