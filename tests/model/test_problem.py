"""Problems are counted, bounded and given in an order that can be read beside the files."""

from __future__ import annotations

from karat.model.problem import SHOWN_PER_CODE, Problems


def test_problems_come_file_by_file_and_by_line() -> None:
    problems = Problems()
    for file, line in (("b", 9), ("a", 4), ("b", None), ("a", 2), ("b", 3)):
        problems.add("code", "message", file=file, line=line)
    order = [(p.file, p.line) for p in problems]
    assert order == [("b", 3), ("b", 9), ("b", None), ("a", 2), ("a", 4)]


def test_records_of_one_line_and_rows_in_memory_come_in_order() -> None:
    problems = Problems()
    for line, record in ((1, 7), (1, 2)):
        problems.add("code", "message", file="list.json", line=line, record=record)
    for record in (5, 3):
        problems.add("code", "message", file="<rows>", record=record)
    assert [p.record for p in problems] == [2, 7, 3, 5]


def test_what_is_past_the_bound_is_counted() -> None:
    problems = Problems()
    for line in range(SHOWN_PER_CODE + 5):
        problems.add("code", "message", file="a", line=line + 1)
    problems.add("other", "message", file="a", line=1, severity="warning")
    assert len(list(problems)) == SHOWN_PER_CODE + 1
    assert problems.hidden == {"code": 5}
    assert problems.counts == {"error": SHOWN_PER_CODE + 5, "warning": 1, "note": 0}


def test_hidden_ones_are_added_up_over_files() -> None:
    problems = Problems()
    for file in ("a", "b"):
        problems.count_more("code", "error", file, SHOWN_PER_CODE + 2)
    assert problems.hidden == {"code": 4}


def test_joined_collectors_count_what_both_met_once() -> None:
    first, second, many = Problems(), Problems(), SHOWN_PER_CODE + 5
    for side in (first, second):
        for line in range(many):
            side.add("of-gold", "message", file="gold", line=line + 1)
    for line in range(many + 7):
        second.add("of-system", "message", file="second", line=line + 1)
    first.join(second)
    assert first.errors == many + many + 7
    assert first.hidden == {"of-gold": 5, "of-system": 12}
    assert len(list(first)) == 2 * SHOWN_PER_CODE
