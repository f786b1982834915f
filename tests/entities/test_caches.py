"""Prediction caches: the reference numbers, conventions of ends, and every defect by name."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from karat import DataError, UsageError, check, score

DATA = os.environ.get("KARAT_REFERENCE_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="KARAT_REFERENCE_DATA is not set")
CACHES = Path(DATA or ".") / "prediction-caches"


def mention(start: int, end: int) -> dict[str, int]:
    return {"start_offset": start, "end_offset": end}


def entity(kind: str, *mentions: tuple[int, int]) -> dict[str, Any]:
    return {"type": kind, "mentions": [mention(*one) for one in mentions]}


TEXT = "Ada met Bob in Rome"
GOLD = [{"text": TEXT, "entities": [entity("PER", (0, 3)), entity("PER", (8, 11))]}]


@needs_data
@pytest.mark.parametrize("folder", ["ner", "ner_inclusive_end"])
@pytest.mark.parametrize("side", ["ref", "eval"])
def test_the_reference_numbers(folder: str, side: str) -> None:
    expected = json.loads((CACHES / "expected.json").read_text())[folder][side]
    files = [str(CACHES / folder / name) for name in (f"{side}.jsonl", f"{side}_predictions.jsonl")]
    report = score(*files, confidence=None)
    assert report.n == expected["rows"]
    for part in ("precision", "recall", "f1"):
        assert report[f"{part}_micro"].value == pytest.approx(expected["strict"][part], abs=5e-7)
        assert report[f"span_{part}"].value == pytest.approx(expected["span_only"][part], abs=5e-7)
        for kind, row in expected["by_type"].items():
            assert report[f"{part}_type_{kind}"].value == pytest.approx(row[part], abs=5e-7)


@needs_data
@pytest.mark.parametrize(
    "folder", sorted(CACHES.glob("broken/ner__*")) if DATA else [], ids=lambda path: path.name
)
def test_every_defect_is_named(folder: Path) -> None:
    defect = json.loads((folder / "defect.json").read_text())
    files = [str(folder / name) for name in ("eval.jsonl", "eval_predictions.jsonl")]
    found = check(*files, task="entities").problems
    assert len(found) == 1
    one = found[0]
    assert (one.code, one.severity, one.message) == (
        defect["code"],
        defect["severity"],
        defect["message"],
    )
    place = (Path(one.file or "").name, one.line, one.record, one.key)
    assert place == (defect["file"], defect["line"], defect["index"], defect["key"])


def codes(gold: Any, pred: Any, **options: Any) -> list[tuple[str, str | None]]:
    return [(p.code, p.key) for p in check(gold, pred, task="entities", **options).problems]


@pytest.mark.parametrize(
    ("wrong", "code", "key"),
    [
        ({"mentions": [mention(0, 3)]}, "entity-no-type", "[0]"),
        ({"type": "PER"}, "mentions-missing", "[0].mentions"),
        (entity("PER", (-3, 3)), "offset-range", "[0].mentions[0]"),
        (entity("PER", (9, 3)), "offset-order", "[0].mentions[0]"),
        (entity("B-PER", (0, 3)), "entity-bio-tag", "[0].type"),
        (entity("PER", (0, 3), (0, 3)), "mention-duplicate", "[0].mentions[1]"),
        ({"type": 3, "mentions": [mention(0, 3)]}, "entity-type", "[0].type"),
        ({"type": "PER", "mentions": [[0, 3]]}, "mention-type", "[0].mentions[0]"),
        (entity("PER", (0, 2**40)), "offset-range", "[0].mentions[0].end_offset"),
    ],
)
def test_defects_beyond_the_reference_set(wrong: Any, code: str, key: str) -> None:
    pred = [{"predicted_entities": [wrong]}]
    found = codes(GOLD, pred, end="exclusive")
    assert (code, f"predicted_entities{key}") in found
    assert len(found) == 1


def test_one_side_inclusive_is_stopped_and_can_be_forced() -> None:
    text = "one two six ten fox dog"
    edges = [(0, 3), (4, 7), (8, 11), (12, 15), (16, 19)]
    gold = [{"text": text, "entities": [entity("N", one) for one in edges]}]
    pred = [{"predicted_entities": [entity("N", (a, b - 1)) for a, b in edges]}]
    with pytest.raises(DataError) as stopped:
        score(gold, pred)
    assert [p.code for p in stopped.value.problems] == ["end-conventions-differ"]
    report = score(gold, pred, gold_end="exclusive", predictions_end="inclusive")
    assert report.f1_micro == 1.0
    assert score(gold, pred, gold_end="exclusive").f1_micro == 1.0
    same = score(gold, pred, end="exclusive")
    assert same.f1_micro == 0.0
    assert [p.code for p in same.problems] == ["end-conventions-differ"]


def hello(end: int) -> list[dict[str, Any]]:
    return [{"text": "Hello, world!", "entities": [entity("ORG", (7, end))]}]


def test_one_span_a_side_is_enough_where_they_point_opposite_ways() -> None:
    """Read alone, each file says too little; together they cannot mean the same."""
    pred = [{"predicted_entities": [entity("ORG", (7, 12))]}]
    assert codes(hello(11), pred) == [("end-conventions-differ", "predicted_entities")]
    # One character too long, but neither end tells: an error of the model, not of the file.
    assert codes(hello(12), [{"predicted_entities": [entity("ORG", (7, 13))]}]) == []
    other = [{"predicted_entities": [entity("ORG", (0, 4))]}]
    assert codes(hello(11), other) == []


def test_check_says_how_ends_were_read_and_takes_the_flags() -> None:
    pred = [{"predicted_entities": [entity("ORG", (7, 11))]}]
    said = "ends are exclusive (the default; 0 spans say exclusive, 1 inclusive)"
    assert check(hello(11), pred).notes == [said]
    assert check(hello(11), pred, end="inclusive").notes == ["ends are inclusive (as given)"]


def test_a_shift_that_no_word_edge_shows_is_stopped() -> None:
    text = "x" * 40
    edges = [(i, i + 3) for i in range(0, 30, 5)]
    gold = [{"text": text, "entities": [entity("N", one) for one in edges]}]
    pred = [{"predicted_entities": [entity("N", (a, b + 1)) for a, b in edges]}]
    assert codes(gold, pred) == [("end-conventions-differ", "predicted_entities")]


@pytest.mark.parametrize("rows", [4, 30])
def test_sides_that_mean_different_ends_are_never_scored_in_silence(rows: int) -> None:
    """Names that end in dots, and a model with errors: votes are mixed, the ends still differ."""
    dice = Random(rows)
    words = ["Ada", "met", "Bob", "in", "Rome", "and", "Inc.", "St.", "Zoë", "Mr.", "U.S.", "soil"]
    for _ in range(40):
        gold: list[dict[str, Any]] = []
        pred: list[dict[str, Any]] = []
        for _ in range(rows):
            line = dice.choices(words, k=8)
            starts = [len(" ".join(line[:i])) + (i > 0) for i in range(8)]
            true = [(starts[i], starts[i] + len(line[i])) for i in range(0, 8, 2)]
            said = [(a, b + 3 * (dice.random() < 0.1)) for a, b in true if dice.random() < 0.8]
            text = " ".join(line) + " ..."
            gold.append({"text": text, "entities": [entity("N", one) for one in true]})
            pred.append({"predicted_entities": [entity("N", (a, b - 1)) for a, b in said]})
        with pytest.raises(DataError) as stopped:
            score(gold, pred, confidence=None)
        assert "end-conventions-differ" in [p.code for p in stopped.value.problems]


def test_hard_facts_decide_where_no_word_does() -> None:
    gold = [{"text": "xxxx", "entities": [entity("N", (0, 4))]}]
    pred = [{"predicted_entities": [entity("N", (0, 4))]}]
    assert any("exclusive" in note for note in score(gold, pred).notes)
    gold = [{"text": "xxxx", "entities": [entity("N", (2, 2))]}]
    pred = [{"predicted_entities": [entity("N", (2, 2))]}]
    assert any("inclusive" in note for note in score(gold, pred).notes)


def test_a_span_against_all_votes_is_the_error() -> None:
    """Two names that stop at words, and an empty span: the span is wrong, not the names."""
    said = [entity("PER", (0, 3)), entity("PER", (8, 11)), entity("LOC", (15, 15))]
    assert codes(GOLD, [{"predicted_entities": said}]) == [
        ("offset-empty", "predicted_entities[2].mentions[0]"),
        ("entity-type-unknown", "predicted_entities"),
    ]
    inclusive = [{"text": TEXT, "entities": [entity("PER", (0, 2)), entity("PER", (8, 10))]}]
    said = [entity("PER", (0, 2)), entity("PER", (8, 10)), entity("PER", (15, 19))]
    assert codes(inclusive, [{"predicted_entities": said}]) == [
        ("offset-range", "predicted_entities[2].mentions[0]")
    ]


def test_facts_against_each_other_are_an_error() -> None:
    gold = [{"text": "xxxx", "entities": [entity("N", (0, 4)), entity("N", (2, 2))]}]
    assert ("end-mixed", "entities") in codes(gold, [{"predicted_entities": []}])


def test_whole_entities_strict_and_weak() -> None:
    gold = [{"text": TEXT, "entities": [entity("PER", (0, 3), (8, 11)), entity("LOC", (15, 19))]}]
    pred = [{"predicted_entities": [entity("PER", (0, 3)), entity("LOC", (15, 19))]}]
    strict = score(gold, pred, level="entity")
    assert (strict.precision_micro, strict.recall_micro) == (0.5, 0.5)
    weak = score(gold, pred, level="weak")
    assert (weak.precision_micro, weak.recall_micro) == (1.0, 1.0)
    for report, right in ((strict, 0.0), (weak, 1.0)):
        entities, mentions = report.tables[:2]
        assert (entities.name, mentions.name) == ("entities", "types")
        assert entities.rows == [["LOC", 1, 1, 1, 1, 1], ["PER", right, right, right, 1, 1]]
        assert mentions.rows[1] == ["PER", 1.0, 0.5, 2 / 3, 2, 1]


def test_weak_f1_of_a_type_from_its_precision_and_recall() -> None:
    """One gold entity, found by two predictions out of three: P = 2/3, R = 1, F = 4/5."""
    gold = [{"text": TEXT, "entities": [entity("PER", (0, 3), (8, 11))]}]
    said = [entity("PER", (0, 3)), entity("PER", (8, 11)), entity("PER", (15, 19))]
    report = score(gold, [{"predicted_entities": said}], level="weak")
    assert report.tables[0].rows == [["PER", 2 / 3, 1.0, 0.8, 1, 3]]
    assert report.f1_micro == pytest.approx(0.8, abs=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"like": "nervaluate", "level": "entity"}, "scores mentions only"),
        ({"min_overlap": 50}, "belongs to --like nervaluate"),
        ({"like": "nervaluate", "min_overlap": 0.5}, "between 1 and 100"),
        ({"tag_names": "O,B-PER"}, "tokens and tags"),
        ({"like": "conlleval"}, "token tags"),
    ],
)
def test_options_without_a_meaning_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        score(GOLD, [{"predicted_entities": []}], **options)


@pytest.mark.parametrize(
    ("options", "tool"),
    [({}, ""), ({"like": "nervaluate"}, "nervaluate@1.2.1")],
)
def test_the_signature_names_the_tool(options: dict[str, Any], tool: str) -> None:
    report = score(GOLD, [{"predicted_entities": []}], **options)
    assert report.signature.official == tool


def test_the_schemas_are_a_table() -> None:
    said = [entity("PER", (0, 3)), entity("LOC", (8, 11)), entity("LOC", (15, 19))]
    report = score(GOLD, [{"predicted_entities": said}], like="nervaluate")
    assert report.tables[0].columns[1:6] == ["COR", "INC", "PAR", "MIS", "SPU"]
    assert {row[0]: row[1:6] for row in report.tables[0].rows} == {
        "strict": [1, 1, 0, 0, 1],
        "partial": [2, 0, 0, 0, 1],
        "ent_type": [1, 1, 0, 0, 1],
        "exact": [2, 0, 0, 0, 1],
    }


def test_inline_predictions_and_conflicts() -> None:
    rows = [{**GOLD[0], "predicted_entities": [entity("PER", (0, 3))]}]
    assert score(rows).recall_micro == 0.5
    other = [{"predicted_entities": [entity("PER", (8, 11))]}]
    assert ("prediction-conflict", "predicted_entities") in codes(rows, other)


def test_rows_without_labels_are_left_out() -> None:
    gold = [*GOLD, {"text": "nobody"}]
    pred = [{"predicted_entities": [entity("PER", (0, 3))]}, {"predicted_entities": []}]
    report = score(gold, pred)
    assert report.n == 1
    assert [p.code for p in report.problems] == ["label-partial"]


def test_predictions_must_be_as_many_as_rows() -> None:
    assert ("count-mismatch", "predicted_entities") in codes(GOLD, [{"predicted_entities": []}] * 2)


def test_characters_are_code_points() -> None:
    text = "𝔘𝔫𝔦 met Zoë"
    gold = [{"text": text, "entities": [entity("PER", (8, 11))]}]
    report = score(gold, [{"predicted_entities": [entity("PER", (8, 11))]}], examples=1)
    assert report.f1_micro == 1.0


@pytest.mark.parametrize(("encoding", "size"), [("utf-8", 1), ("utf-16-le", 2), ("utf-32-le", 4)])
def test_offsets_that_count_something_else_are_told(encoding: str, size: int) -> None:
    """The same five names behind an emoji, counted in bytes, UTF-16 units and code points."""
    text = "🚀 met Zoë"

    def unit(place: int) -> int:
        return len(text[:place].encode(encoding)) // size

    said = entity("PER", (unit(6), unit(9)))
    gold = [{"text": text, "entities": [entity("PER", (6, 9))]}] * 5
    found = codes(gold, [{"predicted_entities": [said]}] * 5, end="exclusive")
    told = ("offset-units", "predicted_entities") in found
    assert told == (size < 4)
    if size == 4:
        assert found == []


@pytest.mark.parametrize("broken", ["\n{}\n", "{}\n{}[\n"])
def test_a_broken_file_of_data_hides_nothing_of_the_predictions(
    broken: str, tmp_path: Path
) -> None:
    gold, pred = tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"
    gold.write_text(broken.replace("{}", json.dumps(GOLD[0])))
    rows = [{"predicted_entities": [entity("PER", (3, 7))]}] * gold.read_text().count("text")
    pred.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = [code for code, _ in codes(str(gold), str(pred), end="exclusive")]
    assert found[0] in ("blank-line", "json-syntax")
    assert "offset-space" in found
