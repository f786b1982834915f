"""The page of a report: read as a user would, and never wider than 80 columns."""

from __future__ import annotations

import dataclasses
import re

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.model.report import Example, Report, Score, Slice, SliceScore, Table
from karat.present.style import Style
from karat.present.terminal import render
from karat.present.widths import width

PLAIN_PAGE = """\
Text classification | 11,873 texts | pred.jsonl

             value     95 % interval       n
  accuracy  0.8011  0.7940 to 0.8083  11,873
  ece       0.0312                    11,873  [1][2]
  mcc       -                         11,873  [3]
  and 1 more: --all shows them, --json has them

 by meta.language  accuracy        interval      n  to the rest
  de                  0.788  0.770 to 0.805  2,869       -0.047  *
  en                 0.8490  0.8410 to 0.8570  9,004
  * differs from the rest of the data, q < 0.05, all slices taken together

confusion
  gold, predicted      a      b
  a                9,000     33
  b                   40  2,800

  [1] biased under resampling
  [2] a perfectly calibrated model of this size gets 0.0120 by chance
  [3] one class only

  pass  accuracy>=0.8: accuracy is 0.80112
  FAIL  ece<=0.01: ece is 0.0312

warning: p.jsonl:33: probability-sum sums to 0.98
and 6 more; karat check shows them

signature text-classification|n:11873|ci:delta|seed:12345|karat:1
0.50 s | 23,746 texts/s
"""


def squeezed(text: str) -> list[str]:
    return [re.sub(r" {2,}", "  ", line.strip()) for line in text.splitlines()]


def test_the_plain_page(report: Report) -> None:
    assert squeezed(render(report, seconds=0.5)) == squeezed(PLAIN_PAGE)


def test_numbers_stand_below_each_other(report: Report) -> None:
    lines = render(report).splitlines()
    accuracy, ece, undefined = lines[3:6]
    assert accuracy.index(".") == ece.index(".")
    assert undefined.index("-") == ece.index("0.")
    assert {len(line.split("11,873")[0]) for line in lines[3:6]} == {accuracy.index("11,873")}


def test_plain_is_ascii_and_a_terminal_gets_more(report: Report) -> None:
    assert render(report, seconds=1).isascii()
    rich = render(report, style=Style(unicode=True), seconds=1)
    assert "0.7940 – 0.8083" in rich
    assert "11\u202f873" in rich
    assert "−0.047" in rich
    assert "\x1b" not in rich


def test_colour_means_good_or_bad_and_changes_nothing_else(report: Report) -> None:
    coloured = render(report, style=Style(colour=True))
    assert "\x1b[31mFAIL\x1b[0m" in coloured
    assert "\x1b[32mpass\x1b[0m" in coloured
    bare = re.sub(r"\x1b\[\d+m", "", coloured)
    assert [line.rstrip() for line in bare.splitlines()] == render(report).splitlines()


def test_everything_shows_the_other_scores_in_their_groups(report: Report) -> None:
    page = render(report, everything=True)
    assert " classes\n  recall_class_a" in page
    report.scores.append(Score(name="brier", value=0.3, n=3))
    assert re.search(r"recall_class_a .*\n\n  brier", render(report, everything=True))
    assert "--all" not in page


def test_slices_are_cut_and_say_so(report: Report) -> None:
    report.slices = [
        Slice(
            field="f", level=f"level {i}", n=5, scores=[SliceScore(name="accuracy", value=i / 20)]
        )
        for i in reversed(range(15))
    ]
    page = render(report)
    assert page.index("level 0 ") < page.index("level 1 ") < page.index("level 11")
    assert "level 12" not in page
    assert "and 3 more" in page
    assert "level 14" in render(report, everything=True)


def test_worst_first_knows_the_direction(report: Report) -> None:
    values = {"low": 0.1, "middle": 0.5, "high": 0.8}
    for better, worst in (("higher", "low"), ("lower", "high"), ("near", "low")):
        report.scores = [Score(name="x", value=0.5, n=9, better=better, near=0.5, main=True)]
        report.slices = [
            Slice(field="f", level=level, n=3, scores=[SliceScore(name="x", value=value)])
            for level, value in values.items()
        ]
        after = render(report).split("by f")[1].splitlines()[1]
        assert after.split()[0] == worst


def test_the_star_is_explained_where_there_is_one(report: Report) -> None:
    report.scores = [Score(name="x", value=0.5, n=9, main=True)]
    for q, explained in ((0.01, True), (0.2, False)):
        one = SliceScore(name="x", value=0.4, difference=-0.1, q=q)
        report.slices = [Slice(field="a*b", level="c * d", n=3, scores=[one])]
        assert ("* differs from the rest" in render(report)) == explained


def test_an_empty_level_is_seen(report: Report) -> None:
    one = SliceScore(name=report.scores[0].name, value=0.4)
    report.slices = [Slice(field="f", level=" ", n=3, scores=[one])]
    assert "' '" in render(report)


def test_clusters_bring_their_columns(report: Report) -> None:
    report.clusters, report.unit = 812, "meta.conversation"
    first = msgspec.structs.replace(report.scores[0], clusters=812, design_effect=1.314)
    report.scores = [first, *report.scores[1:]]
    page = render(report)
    assert "| 812 conversations |" in page
    assert re.search(r"clusters +deff", page)
    assert re.search(r"accuracy .* 812 +1\.31", page)


def test_a_large_confusion_matrix_becomes_its_largest_cells(report: Report) -> None:
    names = [f"c{i}" for i in range(20)]
    rows = [[name, *(50 if j == i else 0 for j in range(20))] for i, name in enumerate(names)]
    rows[3][1 + 7] = 50
    report.tables = [Table(name="c", title="c", kind="confusion", columns=["", *names], rows=rows)]
    page = render(report)
    assert re.search(r"c3 +c7 +50 +50\.0 %", page)
    assert "c1 " not in page


def test_a_hostile_name_cannot_steer_the_terminal(report: Report) -> None:
    report.slices[0] = msgspec.structs.replace(report.slices[0], level="\x1b[2J\rgone")
    assert "\x1b" not in render(report)


def test_an_empty_report_is_a_page(report: Report) -> None:
    assert render(Report(task="x")).startswith("x | 0 items\n")


names = st.text(min_size=1, max_size=120)
numbers = st.one_of(st.none(), st.floats(-1e9, 1e9, allow_nan=False))


@given(st.lists(names, min_size=1, max_size=9), numbers, numbers, st.integers(0, 10**9))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_line_is_wider_than_80(
    report: Report, labels: list[str], value: float | None, other: float | None, n: int
) -> None:
    low, high = (None, None) if None in (value, other) else sorted((value, other))
    report.title, report.item, report.n, report.clusters = labels[0], "item", n, n
    report.scores = [
        Score(
            name=name,
            value=value,
            low=low,
            high=high,
            n=n,
            clusters=n,
            design_effect=2.0,
            main=True,
            reason=name,
            group=name,
            no_interval=name,
        )
        for name in labels
    ]
    report.slices = [
        Slice(
            field=labels[-1],
            level=name,
            n=n,
            scores=[
                SliceScore(
                    name=labels[0], value=value, low=low, high=high, difference=other, q=0.01
                )
            ],
        )
        for name in labels
    ]
    columns = ["", *labels]
    matrix = [[name, *([n] * len(labels))] for name in labels]
    report.tables = [
        Table(name="a", title=labels[0], kind="confusion", columns=columns, rows=matrix),
        Table(name="b", title=labels[0], columns=["x", "y"], rows=[[labels[0], value]]),
    ]
    report.notes = labels
    report.examples = [
        Example(id=labels[0], record=3, score=value, why=labels[-1], fields={"t": labels[0]})
    ]
    for style in (Style(), Style(unicode=True)):
        for everything in (False, True):
            page = render(report, style=style, everything=everything, seconds=1.0)
            assert max(width(line) for line in page.split("\n")) <= 80


def test_style_is_a_value() -> None:
    assert dataclasses.replace(Style(), colour=True) == Style(colour=True)


def test_names_leave_out_what_the_heading_of_their_family_says() -> None:
    scores = [
        Score(name="icat", value=0.5),
        Score(name="gender.icat", value=0.5, group="icat by domain"),
        Score(name="muc.recall", value=0.5, group="muc"),
        Score(name="musical.recall", value=0.5, group="muc"),
    ]
    page = render(Report(task="t", n=3, scores=scores), style=Style(), everything=True)
    names = [line.split()[0] for line in page.splitlines() if "0.5" in line]
    assert names == ["icat", "gender", "recall", "musical.recall"]
