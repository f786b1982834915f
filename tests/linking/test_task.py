"""`karat score` over mentions: official numbers, intervals, slices, warnings and explanations."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import karat
from karat.errors import DataError, UsageError
from linking import brute

Write = Callable[[str, str], Path]
DATA = os.environ.get("KARAT_REFERENCE_DATA")
TASK = "entity-linking"
CASES = (
    "all_mixed",
    "luo05_sys_a",
    "tca_13",
    "multi_candidates",
    "nil_prefix",
    "crlf_and_int_forms",
)

GOLD = """
d1 0 4 E1 1.0 PER
d1 10 14 E2 1.0 ORG
d1 20 24 NIL1 1.0 PER
d2 0 4 E2 1.0 ORG
d2 9 12 E3 1.0 PER
"""
SYSTEM = """
d1 0 4 E1 0.9 PER
d1 10 14 E4 0.8 ORG E2 0.1 ORG
d1 20 24 E9 0.7 PER
d2 0 4 NIL5 0.9 ORG
d3 0 4 E2 0.9 GPE
"""


@pytest.mark.parametrize("name", CASES)
def test_scores_are_the_official_ones(name: str) -> None:
    """The recorded output of neleval, to the decimals it prints."""
    if DATA is None:
        pytest.skip("KARAT_REFERENCE_DATA is not set")
    home = Path(DATA) / "linking" / "cases" / name
    rows = [line.split("\t") for line in (home / "expected").read_text("utf-8").splitlines()[1:]]
    files = str(home / "gold.tsv"), str(home / "sys.tsv")
    report = karat.score(*files, task=TASK, measure=[row[-1] for row in rows])
    for row in rows:
        for score, text in zip(("precision", "recall", "fscore"), row[4:7], strict=True):
            value = report[f"{row[-1]}.{score}"].value
            # Without a denominator there is no score here, and 0 there.
            assert f"{value or 0:.3f}" == text, (row[-1], score)


def report_of(write: Write, gold: str, system: str, **how: Any) -> karat.Report:
    return karat.score(str(write("g.tsv", gold)), str(write("s.tsv", system)), task=TASK, **how)


def test_outcomes_are_counted(write: Write) -> None:
    report = report_of(write, GOLD, SYSTEM, examples=9)
    table = next(t for t in report.tables if t.name == "outcomes")
    assert {row[0]: row[1] for row in table.rows} == {
        "correct link": 1, "wrong-link": 1, "nil-as-link": 1, "link-as-nil": 1, "missing": 1,
        "extra": 1,
    }  # fmt: skip
    assert [e.kind for e in report.examples] == [
        "wrong-link",
        "link-as-nil",
        "nil-as-link",
        "missing",
        "extra",
    ]
    assert report.examples[0].why == "gold says E2 (ORG), the system says E4 (ORG)"
    assert (report.examples[0].id, report.examples[0].line) == ("d1:10-14", 2)


def test_outcomes_are_counted_by_document(write: Write) -> None:
    report = report_of(write, GOLD, SYSTEM)
    table = next(t for t in report.tables if t.name == "documents")
    assert table.columns == [
        "document", "correct", "wrong-link", "link-as-nil", "nil-as-link", "missing", "extra",
    ]  # fmt: skip
    assert table.rows == [
        ["d1", 1, 1, 0, 1, 0, 0], ["d2", 0, 0, 1, 0, 1, 0], ["d3", 0, 0, 0, 0, 0, 1],
    ]  # fmt: skip


def test_split_and_merged_clusters_are_named(write: Write) -> None:
    gold = "d 1 1 A\nd 2 2 A\nd 3 3 A\nd 4 4 A\nd 5 5 B"
    report = report_of(write, gold, "d 1 1 X\nd 2 2 X\nd 3 3 Y\nd 5 5 Y", measure=["muc"])
    table = next(t for t in report.tables if t.name == "clusters")
    assert table.columns == ["what", "cluster", "mentions", "missing", "parts", "largest parts"]
    assert table.rows == [
        ["split", "A", 4, 1, 2, "X (2), Y (1)"], ["merged", "Y", 2, 0, 2, "A (1), B (1)"],
    ]  # fmt: skip


def test_mentions_are_shown_in_their_text(write: Write, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "d1.txt").write_text("Anna lives with Bertha now", encoding="utf-8")
    gold, system = "d1 16 21 E1\n../s 0 3 E1", "d1 16 21 E2\n../s 0 3 E2"
    report = report_of(write, gold, system, examples=5, texts=str(tmp_path / "texts"))
    shown = {e.id: e.fields.get("text") for e in report.examples}
    assert shown == {"d1:16-21": "Anna lives with [Bertha] now", "../s:0-3": None}


def test_candidates_beyond_the_best_count_in_recall_at_k(write: Write) -> None:
    """Of five gold mentions one is right at once, one more at the second candidate."""
    report = report_of(write, GOLD, SYSTEM)
    assert (report["recall_at_1"].value, report["recall_at_2"].value) == (0.2, 0.4)


def test_clusters_inside_documents_have_intervals(write: Write) -> None:
    gold = "".join(f"d{i} {k} {k} E{i}_{k // 2}\n" for i in range(30) for k in range(6))
    dice = Random(3)
    system = "".join(
        f"d{i} {k} {k} F{i}_{dice.randrange(3)}\n" for i in range(30) for k in range(6)
    )
    inside = report_of(write, gold, system, measure=["luo", "blanc", "lea"])
    for name in (
        "muc.fscore",
        "b_cubed.recall",
        "entity_ceaf.precision",
        "blanc.fscore",
        "conll_average",
    ):
        score = inside[name]
        assert score.low is not None, name
        assert score.low < score.value < score.high, name
        assert (score.unit, score.clusters) == ("docid", 30)
    across = report_of(write, gold.replace("_", "").replace("E1", "E"), system, measure=["luo"])
    assert across["muc.fscore"].low is None
    assert "across documents" in across["muc.fscore"].no_interval


@pytest.mark.parametrize("seed", range(10))
def test_blanc_and_the_conll_average_are_means(write: Write, seed: int) -> None:
    """Over all pairs of mentions of a document, written with sets of pairs."""
    dice = Random(seed)
    sides: list[list[brute.Row]] = [
        [("d", k, k, f"E{dice.randrange(3)}") for k in range(8) if dice.random() < 0.9]
        for _ in range(2)
    ]
    text = ["\n".join(" ".join(map(str, row)) for row in side) for side in sides]
    report = report_of(write, *text, measure=["conll", "blanc"])
    gold, system = map(brute.clusters, sides)
    kinds = [(f(gold), f(system)) for f in (brute.pairs, brute.apart)]
    scored = [score(len(k & r), len(r), len(k)) for k, r in kinds if k or r]
    for place, name in enumerate(("precision", "recall", "fscore")):
        mean = sum(three[place] for three in scored) / len(scored)
        assert report[f"blanc.{name}"].value == pytest.approx(mean), name
    found = []
    for half in (brute.muc, brute.b_cubed):
        (rtp, relevant), (ptp, retrieved) = half(gold, system), half(system, gold)
        found.append(harmonic(share(ptp, retrieved), share(rtp, relevant)))
    aligned = brute.ceaf(gold, system, entities=True)
    found.append(harmonic(share(aligned, len(system)), share(aligned, len(gold))))
    assert report["conll_average"].value == pytest.approx(sum(found) / 3)


def share(part: Any, whole: int) -> float:
    return float(part / whole) if whole else 0.0


def harmonic(p: float, r: float) -> float:
    return 2 * p * r / (p + r) if p + r else 0.0


def score(both: int, made: int, there: int) -> tuple[float, float, float]:
    p, r = share(both, made), share(both, there)
    return p, r, harmonic(p, r)


def test_any_two_formats_may_meet(tmp_path: Path) -> None:
    """A table of 2015, AIDA and coreference columns against an annotation table, undeclared."""
    table = tmp_path / "gold.tsv"
    table.write_text("d\t1\t2\tE1\t1.0\tPER/NAM\n")
    others = {
        "edl.tab": "run\tm\tX\td:1-2\tE1\tPER\tNAM\t1.0\n",
        "aida.tsv": "-DOCSTART- (d)\nX\tB\tX Y\tE1\nY\tI\tX Y\tE1\n",
        "coref.conll": "#begin document d\nx (0\ny 0)\n#end document\n",
    }
    for name, text in others.items():
        (tmp_path / name).write_text(text)
        for sides in ((table, tmp_path / name), (tmp_path / name, table)):
            report = karat.score(*map(str, sides), measure=["strong_mention_match"])
            assert report["strong_mention_match.fscore"].value == 1, sides


def test_a_system_may_find_nothing(write: Write, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.tsv"
    nothing.touch()
    gold = str(write("g.tsv", GOLD))
    report = karat.score(gold, str(nothing), measure=["strong_mention_match"])
    assert report["strong_mention_match.recall"].value == 0
    assert "predictions-empty" in {p.code for p in report.problems}
    with pytest.raises(DataError):
        karat.score(str(nothing), gold)


def test_an_offset_out_of_all_bounds_is_a_problem(tmp_path: Path) -> None:
    table = tmp_path / "edl.tab"
    table.write_text(f"run\tm\tX\td:{'9' * 30}-{'9' * 30}\tE1\tPER\tNAM\t1.0\n")
    with pytest.raises(DataError) as caught:
        karat.score(str(table), str(table))
    assert {(p.code, p.line) for p in caught.value.problems} == {("offset-too-large", 1)}


def test_titles_make_ids_one_in_every_format(write: Write, tmp_path: Path) -> None:
    titles = tmp_path / "titles.tsv"
    titles.write_text("Barack Obama\tBHO\n")
    aida = tmp_path / "aida.tsv"
    aida.write_text("-DOCSTART- (d)\nX\tB\tX\tBHO\n")
    gold = str(write("g.tsv", "d 1 1 Barack_Obama"))
    for system in (str(aida), str(write("s.tsv", "d 1 1 BHO"))):
        for options, right in (({}, 0), ({"titles": str(titles)}, 1)):
            report = karat.score(gold, system, measure=["strong_link_match"], **options)
            assert report["strong_link_match.fscore"].value == right


def test_slices_of_clusters_are_measured_inside(write: Write) -> None:
    gold = "d 0 1 E1 1 PER\nd 2 3 E1 1 PER\nd 4 5 E1 1 ORG\nd 6 7 E2 1 ORG"
    report = report_of(
        write, gold, gold.replace("E2", "E1"), by="type", measure=["muc", "strong_mention_match"]
    )
    found = {s.level: {x.name: x.value for x in s.scores} for s in report.slices}
    # Of organisations alone, gold has two singletons, which the system joins.
    assert found["ORG"]["muc.precision"] == 0
    assert found["PER"]["muc.precision"] == 1
    assert found["PER"]["strong_mention_match.recall"] == 1


def test_macro_averages_have_the_official_names(write: Write) -> None:
    report = report_of(write, GOLD, SYSTEM, group_by=["docid"], measure=["strong_mention_match"])
    # d1: 3 of 3 and 3 of 3; d2: 1 of 1 and 1 of 2; d3: 0 of 1 and nothing.
    assert report["strong_mention_match;docid=<macro>.precision"].value == pytest.approx(2 / 3)
    assert report["strong_mention_match;docid=<macro>.recall"].value == pytest.approx(0.5)
    table = next(t for t in report.tables if t.name == "groups")
    assert ["strong_mention_match;docid=<micro>", 4, 1, 4, 1] in [row[:5] for row in table.rows]


@pytest.mark.parametrize(
    ("gold", "system", "code", "side"),
    [
        ("d 0 1 E1", "d 0 1 E1\nd 0 1 E2", "span-in-two-clusters", "s.tsv"),
        ("d 0 1 NIL1\nd 0 1 NIL2", "d 0 1 NIL1", "nil-repeated", "g.tsv"),
        ("d 0 1 E1", "d 0 1 E1\nd 0 1 E1", "span-repeated", "s.tsv"),
        ("d 0 1 E1", "d 0 1", "no-candidate", "s.tsv"),
        ("d 0 1 E1", "d 0 1 E1\ne 0 1 E1", "document-not-in-gold", "s.tsv"),
        ("d 5 1 E1", "d 5 1 E1", "span-reversed", "g.tsv"),
    ],
)
def test_what_distorts_scores_is_said(
    write: Write, gold: str, system: str, code: str, side: str
) -> None:
    report = report_of(write, gold, system)
    found = [p for p in report.problems if p.code == code]
    assert found, [p.text for p in report.problems]
    assert any(str(p.file).endswith(side) and p.line for p in found)
    assert all(p.severity == "warning" for p in report.problems)


def test_overlapping_spans_are_said_where_they_matter(write: Write) -> None:
    nested = "d 0 9 E1\nd 2 3 E2"
    quiet = report_of(write, nested, nested, measure=["all"])
    assert "spans-overlap" not in {p.code for p in quiet.problems}
    loud = report_of(write, nested, nested, measure=["overlap-maxmax::span"])
    assert "spans-overlap" in {p.code for p in loud.problems}


@pytest.mark.parametrize("kind", ["{broken", '{"a":' * 100_000])
def test_a_broken_json_type_is_a_problem(write: Write, kind: str) -> None:
    with pytest.raises(karat.DataError) as caught:
        report_of(write, f"d 0 1 E1 1 {kind}", "d 0 1 E1")
    assert [(p.code, p.line) for p in caught.value.problems] == [("type-json", 1)]


def test_a_broken_json_type_is_told_where_mentions_are_left_out_too(
    write: Write, tmp_path: Path
) -> None:
    zones = tmp_path / "zones.tsv"
    zones.write_text("d\t5\t9\n", encoding="utf-8")
    with pytest.raises(karat.DataError) as caught:
        report_of(write, "d 0 1 E1 1 PER\nd 6 7 E2 1 {broken", "d 0 1 E1", exclude_spans=zones)
    assert [(p.code, p.line) for p in caught.value.problems] == [("type-json", 2)]


def test_wrong_names_are_usage_errors(write: Write) -> None:
    with pytest.raises(UsageError, match="muck"):
        report_of(write, GOLD, SYSTEM, measure=["muck"])
    with pytest.raises(UsageError, match="field"):
        report_of(write, GOLD, SYSTEM, by="colour")


def test_type_weights_are_for_sets(write: Write) -> None:
    """Gold PER answered as GPE is worth a half; clusters know no weights, which is said."""
    weights = str(write("w.tsv", "PER GPE 0.5"))
    gold, system = "d 0 1 E1 1 PER\nd 2 3 E1 1 PER", "d 0 1 E1 1 GPE\nd 2 3 E1 1 PER"
    names = ["muc", "strong_typed_mention_match"]
    report = report_of(write, gold, system, measure=names, type_weights=weights)
    assert report["strong_typed_mention_match.recall"].value == 0.75
    assert report["muc.recall"].value == 1
    assert any("type weights" in note for note in report.notes)


def test_links_alone_take_the_mentions_of_gold(tmp_path: Path) -> None:
    xml = tmp_path / "q.xml"
    query = (
        '<query id="q{0}"><name>abc</name><docid>d</docid><beg>{0}0</beg><end>{0}2</end></query>'
    )
    xml.write_text("<a>" + "".join(query.format(i) for i in (1, 2)) + "</a>", encoding="utf-8")
    gold, system = tmp_path / "g.tab", tmp_path / "s.tab"
    gold.write_text("q1\tE1\tPER\nq2\tNIL1\tPER\n")
    system.write_text("q1\tE1\t0.5\nq2\tE1\t0.5\n")
    report = karat.score(
        f"{xml},{gold}", str(system), measure=["strong_link_match", "strong_mention_match"]
    )
    assert report.task == TASK
    assert report["strong_mention_match.fscore"].value == 1
    assert report["strong_link_match.precision"].value == 0.5


def test_gold_can_be_checked_alone(write: Write) -> None:
    repeated = karat.check(str(write("g.tsv", "d 0 1 E1\nd 0 1 E2")), task=TASK)
    assert [(p.code, p.line) for p in repeated.problems] == [("span-in-two-clusters", 2)]
    broken = karat.check(str(write("g.tsv", "d 0 x E1")), task=TASK)
    assert [p.code for p in broken.problems] == ["offset-not-integer"]
    with pytest.raises(UsageError, match="PREDICTIONS"):
        karat.score(str(write("g.tsv", "d 0 1 E1")), task=TASK)
