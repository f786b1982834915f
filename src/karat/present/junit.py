"""A Report as JUnit XML, which build servers show: a test case a gate, or a stress test.

JUnit knows no warning: a test that warns has passed, with its status as a property.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from karat.model.problem import Problem
from karat.model.report import Gate, Report
from karat.model.suite import Test
from karat.present.suite import numbers_of, place_of, tests_of
from karat.present.widths import clean


def render(report: Report) -> bytes:
    """One suite: the gates, then one case for the run itself, with its scores as properties."""
    tests = tests_of(report)
    # The gate of a stress run says only what its tests say.
    gates = [] if tests else report.gates
    failed = sum(not gate.passed for gate in gates) + sum(t.status == "fail" for t in tests)
    errors = [problem for problem in report.problems if problem.severity == "error"]
    counts = {
        "name": f"karat {report.kind} {report.task}".strip(),
        "tests": str(len(gates) + len(tests) + 1),
        "failures": str(failed),
        "errors": str(int(bool(errors))),
        "skipped": str(sum(test.status == "skip" for test in tests)),
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", counts)
    properties = ET.SubElement(suite, "properties")
    for score in report.scores:
        value = "" if score.value is None else repr(score.value)
        ET.SubElement(properties, "property", name=clean(score.name), value=value)
    ET.SubElement(properties, "property", name="signature", value=clean(report.signature.text))
    for gate in gates:
        _case(suite, report, gate)
    for test in tests:
        _test(suite, report, test)
    _run(suite, report, errors)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(suite: ET.Element, report: Report, gate: Gate) -> None:
    name = clean(gate.rule)
    if sum(other.rule == gate.rule for other in report.gates) > 1:
        # Build servers merge cases of one name: the text begins with the system it is about.
        name += f" ({clean(gate.text).partition(':')[0]})"
    case = ET.SubElement(suite, "testcase", classname=_class(report), name=name, time="0")
    if not gate.passed:
        failure = ET.SubElement(case, "failure", message=clean(gate.text), type="gate")
        failure.text = clean(f"{gate.rule}: {gate.text}")


def _test(suite: ET.Element, report: Report, test: Test) -> None:
    """A stress test; its message is its worst case, its text all cases that warn or fail."""
    where = f"{_class(report)}.{test.category.replace(' ', '_')}"
    case = ET.SubElement(suite, "testcase", classname=where, name=test.name, time="0")
    properties = ET.SubElement(case, "properties")
    ET.SubElement(properties, "property", name="status", value=test.status)
    told = [
        clean("; ".join(filter(None, (f"{c.subject}: {c.text}", numbers_of(c), place_of(c)))))
        for c in test.cases
        if c.status in ("warning", "fail")
    ]
    if test.status == "skip":
        ET.SubElement(case, "skipped", message=clean(test.reason))
    elif test.status == "fail":
        failure = ET.SubElement(case, "failure", message=told[0], type=test.category)
        failure.text = "\n".join(told)
    elif told:
        ET.SubElement(case, "system-out").text = "\n".join(told)


def _run(suite: ET.Element, report: Report, errors: list[Problem]) -> None:
    """That the run came to its numbers, and what was wrong with its input."""
    case = ET.SubElement(suite, "testcase", classname=_class(report), name="input", time="0")
    if errors:
        error = ET.SubElement(case, "error", message=clean(errors[0].text), type=errors[0].code)
        error.text = "\n".join(clean(problem.text) for problem in errors)
    others = [clean(p.text) for p in report.problems if p.severity == "warning"]
    if others:
        ET.SubElement(case, "system-out").text = "\n".join(others)


def _class(report: Report) -> str:
    return f"karat.{clean(report.task) or report.kind}"
