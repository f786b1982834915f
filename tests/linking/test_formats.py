"""Reading and writing: the table's rules, and the formats that are turned into it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.errors import DataError
from karat.model.problem import Problems
from karat.read.markup import elements
from karat.read.source import Source
from karat.run.convert import convert
from karat.tasks.linking.tsv import read_table, write_table

XML = """<?xml version="1.0"?>
<kbpentlink>
<query id="q1"><name>Abc</name><docid>D2</docid><beg>9</beg><end>{end}</end></query>
<query id="q2"><name>B &amp; C</name><docid>D1</docid><beg>10</beg><end>{other}</end></query>
</kbpentlink>
"""


def mentions(content: bytes | str) -> list[str]:
    data = content if isinstance(content, bytes) else content.encode()
    problems = Problems()
    found = read_table(Source.of(data, "t"), problems)
    assert not problems.errors, [p.text for p in problems]
    return list(write_table(found.mentions()))


def codes(content: bytes) -> list[tuple[str, int | None]]:
    problems = Problems()
    read_table(Source.of(content, "t"), problems)
    return [(p.code, p.line) for p in problems if p.severity == "error"]


def test_rows_are_in_the_official_order() -> None:
    text = "b\t5\t9\tE\na\t7\t8\tE\nb\t1\t2\tE\nb\t5\t12\tF\n"
    starts = [line.split("\t")[:3] for line in mentions(text)]
    assert starts == [["b", "1", "2"], ["b", "5", "12"], ["b", "5", "9"], ["a", "7", "8"]]


def test_candidates_are_best_first_and_ties_keep_their_order() -> None:
    line = "d\t0\t1\tA\t0.2\tP\tB\t0.8\tP\tC\t0.8\tP\n"
    assert mentions(line) == ["d\t0\t1\tB\t0.8\tP\tC\t0.8\tP\tA\t0.2\tP"]


def test_widths_line_ends_and_numbers() -> None:
    text = "d\t 0\t+1\r\nd\t1_0\t011\tE\t\t\rd\t2\t3\tE\t1e0\nd\t4\t5\tE\t0\tP"
    assert mentions(text) == [
        "d\t0\t1\t",
        "d\t2\t3\tE\t1.0\t",
        "d\t4\t5\tE\t0.0\tP",
        "d\t10\t11\tE\t\t",
    ]


def test_what_is_written_is_read_again() -> None:
    text = "d\t0\t1\tE\t0.0\tP\nd\t2\t3\tE\t1.0\tP\tF\t0.5\t\tG\t0.25\tQ"
    assert "\n".join(mentions(text)) == text
    assert mentions(gzip.compress(text.encode())) == text.split("\n")


def test_every_bad_line_is_named() -> None:
    text = b"d\t0\t1\tE\n\nd\tx\t1\tE\nd\t0\nd\t0\t1\tE\t\tP\nd\t0\t1\tE\t1\tP\tF\n"
    assert codes(text) == [
        ("line-blank", 2),
        ("offset-not-integer", 3),
        ("cell-count", 4),
        ("score-not-number", 5),
        ("cell-count", 6),
    ]
    assert codes(b"d\t0\t1\t\xff\n") == [("not-utf8", 1)]


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a><query id="1"/></a>',
        '<!DOCTYPE a SYSTEM "other.dtd"><a/>',
        "<a>" * 100,
        "<a><b></a>",
    ],
)
def test_unsafe_or_broken_xml_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        list(elements("x.xml", [text.encode()], "query"))


def test_xml_may_come_in_any_blocks() -> None:
    data = XML.format(end=11, other=14).encode()
    found = list(elements("x", [data[i : i + 7] for i in range(0, len(data), 7)], "query"))
    assert [(e.attributes["id"], e.children["name"], e.line) for e in found] == [
        ("q1", "Abc", 3),
        ("q2", "B & C", 4),
    ]


def tac(folder: Path, end: int, other: int, links: str) -> list[Path]:
    xml, table = folder / "q.xml", folder / "l.tab"
    xml.write_text(XML.format(end=end, other=other), encoding="utf-8")
    table.write_text(links, encoding="utf-8")
    return [xml, table]


def converted(inputs: list[Path], source: str, folder: Path, **options: Any) -> list[str]:
    out = folder / "out.tsv"
    convert(inputs, out, source, "neleval", options)
    return out.read_text("utf-8").splitlines()


def test_tac_with_types_scores_and_candidates(tmp_path: Path) -> None:
    links = "query_id\tkb\ttype\tscore\nq1\tE1\tPER\t0.5\nq1\tE2\tORG\t0\nq2\tNIL1\tGPE\n"
    assert converted(tac(tmp_path, 11, 14, links), "tac2014", tmp_path) == [
        "D2\t9\t11\tE1\t0.5\tPER\tE2\t0.0\tORG",
        "D1\t10\t14\tNIL1\t1.0\tGPE",
    ]


def test_a_number_in_the_third_of_three_cells_is_the_score(tmp_path: Path) -> None:
    found = converted(tac(tmp_path, 11, 14, "q1\tE1\t0.25\nq2\tE2\tPER\n"), "tac2014", tmp_path)
    assert found == ["D2\t9\t11\tE1\t0.25\t", "D1\t10\t14\tE2\t1.0\tPER"]


def test_ends_of_2011_are_told_from_the_names(tmp_path: Path) -> None:
    links = "q1\tE1\tPER\nq2\tE2\tPER\n"
    told = converted(tac(tmp_path, 12, 15, links), "tac2014", tmp_path)
    assert [line.split("\t")[2] for line in told] == ["11", "14"]
    (tmp_path / "out.tsv").unlink()
    kept = converted(tac(tmp_path, 12, 15, links), "tac2014", tmp_path, tac_year="2014")
    assert [line.split("\t")[2] for line in kept] == ["12", "15"]


@pytest.mark.parametrize(
    ("links", "code"),
    [
        ("q1\tE1\tPER\n", "query-without-link"),
        ("q1\tE1\tPER\nq2\tE1\tPER\nq9\tE1\tPER\n", "link-without-query"),
        ("q1\tE1\tPER\nq2\tE1\n", "link-short"),
        ("q1\tE1\tPER\nq2\tE1\tPER\thigh\n", "score-not-number"),
    ],
)
def test_links_that_do_not_fit(tmp_path: Path, links: str, code: str) -> None:
    with pytest.raises(DataError) as caught:
        converted(tac(tmp_path, 11, 14, links), "tac2014", tmp_path)
    assert code in {p.code for p in caught.value.problems}


def test_a_repeated_query_is_refused(tmp_path: Path) -> None:
    paths = tac(tmp_path, 11, 14, "q1\tE1\tPER\n")
    paths[0].write_text(paths[0].read_text().replace("q2", "q1"))
    with pytest.raises(DataError) as caught:
        converted(paths, "tac2014", tmp_path)
    assert "query-repeated" in {p.code for p in caught.value.problems}


def test_tac_2015_merges_spellings_of_a_place(tmp_path: Path) -> None:
    path = tmp_path / "t.tab"
    place = "run\tm\tX\t{}\t{}\tGPE\tNAM\t{}\n"
    path.write_text(
        place.format("D:1: 10 - 14", "E1", 0.9)
        + place.format("D:1:10–14", "E2", 0.95)
        + place.format("D:1:9-9", "E3", 1),
        encoding="utf-8",
    )
    assert converted([path], "tac2015", tmp_path) == [
        "D:1\t9\t9\tE3\t1.0\tGPE/NAM",
        "D:1\t10\t14\tE2\t0.95\tGPE/NAM\tE1\t0.9\tGPE/NAM",
    ]


def test_brat_ends_move_and_types_stay(tmp_path: Path) -> None:
    folder = tmp_path / "ann"
    folder.mkdir()
    (folder / "b.ann").write_text(
        "T1\tPER 0 6\tBarack\nT2\tLOC 10 15\tParis\nN1\tReference T1 Wikipedia:Barack%20O\tBarack\n"
    )
    assert converted([folder], "brat-links", tmp_path) == [
        "b\t0\t5\tBarack O\t1.0\tPER",
        "b\t10\t14\tNIL_b_T2\t1.0\tLOC",
    ]


def test_brat_files_with_several_references_and_fragments(tmp_path: Path) -> None:
    folder = tmp_path / "ann"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "c.ann").write_text("T1\tPER 0 1\tx\n")
    (folder / "a.txt").write_text("short")
    (folder / "a.ann").write_text(
        "N1\tReference T2 Wikipedia:A%26B\tAB\r\nT2\tORG 20 23;8 12\tab cd\r\n"
        "#1\tAnnotatorNotes T2\tsure\r\nN2\tReference T2 Other:A%26B\r\n"
    )
    (folder / "b.ann").write_text("T1\tPER 3 4\tx\n*\tEquiv T1 T2\nT2\tLOC 0 2\ty\n")
    assert converted([folder], "brat-links", tmp_path) == [
        "a\t8\t22\tA&B\t1.0\tORG\tOther:A%26B\t1.0\tORG",
        "b\t0\t1\tNIL_b_T2\t1.0\tLOC",
        "b\t3\t3\tNIL_b_T1\t1.0\tPER",
    ]


def test_broken_brat_lines_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "ann"
    folder.mkdir()
    (folder / "a.ann").write_text(
        "T1\tPER 0 1\tx\nT2\tPER 4\ty\nN1\tReference T1\nN2\tReference T9 Wikipedia:X\tx\nT3\nN3\n"
    )
    with pytest.raises(DataError) as stopped:
        converted([folder], "brat-links", tmp_path)
    assert sorted((p.code, p.line) for p in stopped.value.problems) == [
        ("brat-line", 2),
        ("brat-line", 5),
        ("reference-broken", 3),
        ("reference-broken", 6),
        ("reference-to-nothing", 4),
    ]


AIDA = """-DOCSTART- (1 EU)
EU\tB\tEU\t--NME--
rejects
German\tB\tGerman\tGermany\thttp
call

Peter\tB\tPeter Blackburn\tPeter_B
Blackburn\tI\tPeter Blackburn\tPeter_B
"""


def test_aida_counts_tokens_through_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(AIDA, encoding="utf-8")
    assert converted([path], "aida", tmp_path) == [
        "1_EU\t1\t1\tNIL_NME_1\t\t",
        "1_EU\t3\t3\tGermany\t\t",
        "1_EU\t5\t6\tPeter_B\t\t",
    ]


CONLL = """#begin document (x); part 000
x 0 the (1|(2
x 1 y 2)
x 2 z 1)

x 0 it (1)
#end document
"""


@pytest.mark.parametrize("target", ["tac2014", "tac2015", "brat-links", "conll-coref"])
def test_there_and_back_again(tmp_path: Path, target: str) -> None:
    """Spans and clusters survive every format that holds them."""
    source, there = tmp_path / "c.conll", tmp_path / "there"
    source.write_text(CONLL, encoding="utf-8")
    table = tmp_path / "t.tsv"
    convert([source], table, "conll-coref", "neleval")
    convert([table], there, "neleval", target)
    inputs = [there / "queries.xml", there / "links.tab"] if target == "tac2014" else [there]
    back = tmp_path / "back.tsv"
    convert(inputs, back, target, "neleval")
    report = karat.score(
        str(table),
        str(back),
        task="entity-linking",
        measure=["luo", "strong_mention_match"],
        confidence=None,
    )
    assert {
        s.value for s in report.scores if s.name.startswith(("b_cubed", "mention_ceaf", "strong"))
    } == {1.0}


def test_a_folder_that_a_document_name_leads_out_of_is_not_written(tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text("../../evil\t0\t3\tE\t1.0\tP\n")
    convert([table], tmp_path / "ann", "neleval", "brat-links")
    assert [p.parent.name for p in tmp_path.rglob("*.ann")] == ["ann"]
