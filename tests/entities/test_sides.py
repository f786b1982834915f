"""Files alone, files of different kinds, and sides that do not belong together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from karat import DataError, check, score

GOLD = "Ada B-PER\nmet O\n\nBob B-PER\nRay I-PER\n"
RECORDS = [{"tokens": ["Ada", "met"], "ner_tags": ["B-PER", "O"]}]
CACHE = [
    {
        "text": "Ada met",
        "entities": [{"type": "PER", "mentions": [{"start_offset": 0, "end_offset": 3}]}],
    }
]


def written(path: Path, rows: list[Any] | str) -> str:
    text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(text, "utf-8")
    return str(path)


def told(*sides: Any, **options: Any) -> list[tuple[str, int | None, str | None]]:
    return [(p.code, p.line, p.key) for p in check(*sides, task="entities", **options).problems]


@pytest.mark.parametrize("rows", [GOLD, RECORDS, CACHE])
def test_gold_alone_can_be_checked_but_not_scored(rows: Any, tmp_path: Path) -> None:
    path = written(tmp_path / ("a.conll" if rows is GOLD else "a.jsonl"), rows)
    assert check(path).ok
    with pytest.raises(DataError) as stopped:
        score(path)
    assert [p.code for p in stopped.value.problems] == ["prediction-missing"]


def test_how_ends_were_read_is_told_of_gold_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", CACHE)
    assert told(path, end="exclusive") == [("end-convention", None, "entities")]


def test_a_bad_tag_is_named_where_it_stands(tmp_path: Path) -> None:
    gold = written(tmp_path / "a.conll", GOLD)
    pred = written(tmp_path / "b.conll", GOLD.replace("I-PER", "IPER"))
    assert told(gold, pred) == [("tag-unreadable", 5, None)]
    rows = [*RECORDS, {"tokens": ["#", "Cy", "Ray"], "ner_tags": [-100, "B-PER", "?"]}]
    pred_rows = [{"predicted_tags": ["O", "O"]}, {"predicted_tags": ["O", "O", "O"]}]
    sides = written(tmp_path / "a.jsonl", rows), written(tmp_path / "b.jsonl", pred_rows)
    assert told(*sides) == [("tag-unreadable", 2, "ner_tags[2]")]


def test_two_kinds_of_files_are_not_scored_together(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    written(folder / "a.ann", "")
    written(folder / "a.txt", "")
    sides = {
        "conll": written(tmp_path / "a.conll", GOLD),
        "tags": written(tmp_path / "tags.jsonl", RECORDS),
        "caches": written(tmp_path / "cache.jsonl", CACHE),
        "brat": str(folder),
    }
    for name, gold in sides.items():
        for other, pred in sides.items():
            codes = [code for code, _, _ in told(gold, pred)]
            assert ("format-mixed" in codes) == (name != other), (name, other)


def test_types_that_gold_never_has_are_told_in_every_format(tmp_path: Path) -> None:
    gold, pred = (
        [{"tokens": ["Ada"], "ner_tags": [tag]} for tag in tags]
        for tags in (["B-PER", "O"], ["B-PERSON", "B-LOC"])
    )
    unknown = ("entity-type-unknown", None, "ner_tags")
    assert told(gold, pred) == [unknown, unknown]
    for side, kind in (("a", "PER"), ("b", "PERSON")):
        (tmp_path / side).mkdir()
        written(tmp_path / side / "x.txt", "Ada")
        written(tmp_path / side / "x.ann", f"T1\t{kind} 0 3\tAda\n")
    assert told(str(tmp_path / "a"), str(tmp_path / "b")) == [("entity-type-unknown", None, None)]


def test_predicted_notes_are_held_against_the_text_of_gold(tmp_path: Path) -> None:
    for side in "ab":
        (tmp_path / side).mkdir()
        written(tmp_path / side / "x.ann", "T1\tPER 0 3\tAda\n")
    written(tmp_path / "a" / "x.txt", "Ada met")
    sides = str(tmp_path / "a"), str(tmp_path / "b")
    assert told(*sides) == []
    written(tmp_path / "b" / "x.ann", "T1\tPER 4 9\tmet\n")
    assert told(*sides) == [("offset-range", 1, None)]
    written(tmp_path / "b" / "x.txt", "So Ada met")
    assert [code for code, _, _ in told(*sides)] == ["offset-text", "text-differs"]


def test_predictions_a_row_off_are_told() -> None:
    edges = [(i % 7, i % 7 + 4) for i in range(12)]
    mentions = [
        [{"type": "N", "mentions": [{"start_offset": a, "end_offset": b}]}] for a, b in edges
    ]
    gold = [{"text": "x" * 20, "entities": one} for one in mentions]
    right = [{"predicted_entities": one} for one in mentions]
    assert told(gold, right) == []
    for late in (right[1:] + right[:1], right[-1:] + right[:-1]):
        assert told(gold, late) == [("rows-shifted", None, "predicted_entities")]


def test_examples_quote_words_beside_ignored_tokens() -> None:
    gold = [{"tokens": ["[CLS]", "Ada", "[SEP]", "met"], "ner_tags": [-100, "B-PER", -100, "O"]}]
    report = score(gold, [{"predicted_tags": ["O", "O", "O", "O"]}], examples=1)
    assert report.examples[0].why == 'missed: PER "Ada"'
    assert report.examples[0].fields["text"] == "Ada met"


def test_sentences_are_compared_before_ignored_tokens_are_left_out() -> None:
    gold = [{"tokens": ["#", "Ada"], "ner_tags": [-100, "B-PER"]}]
    found = told(gold, [{"predicted_tags": ["B-PER"]}])
    assert found == [("sentence-length", None, "predicted_tags")]


def test_one_file_without_predictions_is_no_garbage_to_seqeval(tmp_path: Path) -> None:
    """seqeval would read any word as a tag; the words of gold are not taken for predictions."""
    path = written(tmp_path / "a.conll", GOLD)
    assert check(path, like="seqeval").ok
    with pytest.raises(DataError) as stopped:
        score(path, like="seqeval")
    assert [p.code for p in stopped.value.problems] == ["prediction-missing"]
