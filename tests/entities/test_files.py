"""Columns, tag records, spaCy's JSON and brat folders; and the ways between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from karat import DataError, UsageError, check, score
from karat.run.convert import convert

ROWS = [
    {
        "text": "Ada Lovelace met Bob, in Ōsaka.",
        "entities": [
            {"type": "PER", "mentions": [{"start_offset": 0, "end_offset": 12}]},
            {"type": "PER", "mentions": [{"start_offset": 17, "end_offset": 20}]},
            {"type": "LOC", "mentions": [{"start_offset": 25, "end_offset": 30}]},
        ],
    },
    {"text": "Nobody came.", "entities": []},
]
COLUMNS = """-DOCSTART- -X- O O

Ada NNP B-PER B-PER
Lovelace NNP I-PER O
was VBD O O
in IN O O
Rome NNP B-LOC B-ORG

-DOCSTART- -X- O O

Bob NNP B-PER B-PER
slept VBD O O
"""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return path


def test_two_columns_of_one_file(tmp_path: Path) -> None:
    (tmp_path / "x.conll").write_text(COLUMNS)
    report = score(str(tmp_path / "x.conll"))
    assert (report.n, report.clusters) == (2, 2)
    assert report.precision_micro == report.recall_micro == 1 / 3
    assert report.span_f1 == 2 / 3
    assert report.token_accuracy == 5 / 7


def test_a_file_a_side(tmp_path: Path) -> None:
    for name, column in (("gold", 2), ("pred", 3)):
        lines = [line.split() for line in COLUMNS.splitlines()]
        text = "\n".join(f"{cells[0]}\t{cells[column]}" if cells else "" for cells in lines)
        (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
    report = score(str(tmp_path / "gold"), str(tmp_path / "pred"))
    assert report.precision_micro == 1 / 3


def test_sentences_that_differ_are_named(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("a\tO\nb\tO\n\nc\tO\n")
    (tmp_path / "pred").write_text("a\tO\n\nc\tO\n")
    found = check(str(tmp_path / "gold"), str(tmp_path / "pred")).problems
    assert [(p.code, p.line) for p in found] == [("sentence-length", 1)]
    (tmp_path / "pred").write_text("a\tO\nb\tO\n\nc\tX-Y\n")
    found = check(str(tmp_path / "gold"), str(tmp_path / "pred"), task="entities").problems
    assert [(p.code, p.line) for p in found] == [("tag-unreadable", 4)]
    (tmp_path / "gold").write_text("a\tO\nb O\n")
    found = check(str(tmp_path / "gold"), str(tmp_path / "pred"), task="entities").problems
    assert ("columns-count", 2) in [(p.code, p.line) for p in found]


def test_numbered_tags_need_names() -> None:
    gold = [{"tokens": ["a", "b", "c"], "ner_tags": [1, 2, -100]}]
    pred = [{"predictions": [1, 0, 0]}]
    names = "O,B-PER,I-PER"
    with pytest.raises(DataError):
        score(gold, pred)
    report = score(gold, pred, tag_names=names)
    assert report.token_accuracy == 0.5
    assert report.f1_micro == 0.0


def test_character_spans_are_refused_by_schools_of_tags(gold: Path) -> None:
    with pytest.raises(UsageError, match="token tags"):
        score(str(gold), str(gold), like="seqeval")


@pytest.mark.parametrize("options", [{"level": "weak"}, {"end": "inclusive"}])
def test_options_of_other_files_are_refused(options: dict[str, Any]) -> None:
    tags = [{"tokens": ["a"], "ner_tags": ["B-X"], "predicted_tags": ["O"]}]
    with pytest.raises(UsageError):
        score(tags, **options)


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"])
def test_every_scheme_can_be_written_and_read(scheme: str, gold: Path, tmp_path: Path) -> None:
    convert([gold], tmp_path / "t.jsonl", "cache", "tags", {"scheme": scheme})
    strict = score(
        str(tmp_path / "t.jsonl"), str(tmp_path / "t.jsonl"), like=f"seqeval-strict:{scheme}"
    )
    assert strict.f1_micro == 1.0


def test_formats_are_told_from_the_data(gold: Path, tmp_path: Path) -> None:
    convert([gold], tmp_path / "x.jsonl", target="spacy")
    used, _ = convert([tmp_path / "x.jsonl"], tmp_path / "y", target="conll")
    assert (used.source, used.target) == ("spacy", "conll")
    with pytest.raises(UsageError, match="could go several ways"):
        convert([gold], tmp_path / "z")
    with pytest.raises(UsageError, match="no format 'word'"):
        convert([gold], tmp_path / "z", target="word")


def test_nothing_is_written_where_tags_cannot_say_it(gold: Path, tmp_path: Path) -> None:
    row = {
        "text": "Port of Rome",
        "entities": [
            {"type": "ORG", "mentions": [{"start_offset": 0, "end_offset": 12}]},
            {"type": "LOC", "mentions": [{"start_offset": 8, "end_offset": 12}]},
        ],
    }
    gold.write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError) as stopped:
        convert([gold], tmp_path / "out", "cache", "conll")
    errors = [p.code for p in stopped.value.problems if p.severity == "error"]
    assert errors == ["span-overlap"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gold.jsonl"]


def test_brat_folders_with_groups_and_fragments(tmp_path: Path) -> None:
    for side in ("gold", "pred"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text("Ada said she met Bob and Cy Ray.")
    notes = "T1\tPER 0 3\tAda\nT2\tPER 9 12\tshe\nT3\tPER 17 20;25 31\tBob Cy Ray\n*\tEquiv T1 T2\n"
    (tmp_path / "gold" / "a.ann").write_text(notes)
    (tmp_path / "pred" / "a.ann").write_text("T1\tPER 0 3\tAda\n#1\tNote T1\tx\n")
    sides = [str(tmp_path / side) for side in ("gold", "pred")]
    assert score(*sides).recall_micro == 1 / 3
    assert score(*sides, level="weak").recall_micro == 1 / 2
    assert [p.code for p in check(*sides).problems] == ["span-discontinuous"]
    note = "T1\tPER 3 0\nT2\tPER 4 4\nT3\tPER 30 40\nT4\tPER 0 3\tBob\nT5\tPER 1\nN1\tRef T9\n"
    (tmp_path / "pred" / "a.ann").write_text(note)
    found = [(p.code, p.line) for p in check(*sides).problems if "pred" in (p.file or "")]
    assert sorted(found) == [
        ("brat-line", 5),
        ("offset-empty", 2),
        ("offset-order", 1),
        ("offset-range", 3),
        ("offset-text", 4),
    ]
    (tmp_path / "pred" / "a.ann").unlink()
    assert [p.code for p in check(*sides).problems if p.severity == "error"] == [
        "prediction-missing"
    ]


def test_offsets_without_a_text_are_bounded(tmp_path: Path) -> None:
    for side in "ab":
        (tmp_path / side).mkdir()
        (tmp_path / side / "x.ann").write_text("T1\tPER 0 99999999999999999999\tAda\n")
    found = check(str(tmp_path / "a"), str(tmp_path / "b")).problems
    assert [(p.code, p.line) for p in found] == [("offset-range", 1)] * 2


def test_equivalent_notes_of_two_types_are_two_entities(tmp_path: Path) -> None:
    """Gold says that a PER and a LOC are the same; the prediction has the LOC alone."""
    for side in "ab":
        (tmp_path / side).mkdir()
        (tmp_path / side / "x.txt").write_text("Ada Rome")
    notes = "T1\tPER 0 3\tAda\nT2\tLOC 4 8\tRome\n"
    (tmp_path / "a" / "x.ann").write_text(notes + "*\tEquiv T1 T2\n")
    (tmp_path / "b" / "x.ann").write_text("T1\tLOC 4 8\tRome\n")
    for level in ("entity", "weak"):
        report = score(str(tmp_path / "a"), str(tmp_path / "b"), level=level)
        assert (report.precision_micro, report.recall_micro) == (1.0, 0.5)


def test_fields_of_columns_can_be_crossed_and_weigh(tmp_path: Path) -> None:
    """Two sentences of 2 and 3 tokens; the first is wholly right, of the second's two one is."""
    gold, found = tmp_path / "gold.conll", tmp_path / "found.conll"
    gold.write_text("-DOCSTART- O\n\na B-PER\nb O\n\n-DOCSTART- O\n\nc B-PER\nd O\ne B-PER\n")
    found.write_text("-DOCSTART- O\n\na B-PER\nb O\n\n-DOCSTART- O\n\nc B-PER\nd O\ne O\n")
    sides = str(gold), str(found)
    assert score(*sides, by="tokens*tokens").slices[0].level == "3 * 3"
    # (2 + 3) right of (2 + 2 * 3) in gold
    assert score(*sides, weights="tokens")["recall_micro"].value == pytest.approx(5 / 8, abs=1e-12)
    with pytest.raises(DataError, match="weights must be numbers"):
        score(*sides, weights="document")
