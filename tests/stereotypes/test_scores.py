"""Scores of small data, by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from karat import DataError, check, score

EXAMPLES = [
    ("race", "a", 3.0, 2.0, 1.0),  # pro, both related
    ("race", "a", 2.0, 3.0, 2.0),  # anti; the stereotype ties with the unrelated
    ("gender", "b", 2.0, 2.0, 1.0),  # tie
    ("gender", "b", 1.0, 0.0, 2.0),  # pro, nothing related
]


def test_ties_are_lost_as_in_the_original(make: Any) -> None:
    report = score(*make(EXAMPLES))
    assert report.ss == 100 * 2 / 4
    assert report.lm == 100 * 5 / 8
    assert report.icat == 62.5
    assert report.ties == 25.0
    assert report["race.ss"].value == 50
    assert report["gender.lm"].value == 50
    assert report["multi_class_ss"].value == 50
    assert any("--ties strict" in note for note in report.notes)


def test_half_ties_count_half(make: Any) -> None:
    report = score(*make(EXAMPLES), ties="half")
    assert report.ss == 100 * 2.5 / 4
    assert report.lm == 100 * 5.5 / 8
    assert "ties:half" in report.signature.text


def test_dropped_ties_leave_their_comparison(make: Any) -> None:
    report = score(*make(EXAMPLES), ties="drop")
    assert report.ss == 100 * (2 / 3)
    assert report.lm == pytest.approx(100 * 5 / 7, abs=1e-12)
    assert report.count == 4
    assert report["multi_class_ss"].value == 75


def test_the_spread_over_terms_is_the_population_one(make: Any) -> None:
    report = score(*make([*EXAMPLES, ("race", "c", 9.0, 1.0, 0.0)]))
    # terms: a 50, b 50, c 100
    mean = 200 / 3
    spread = math.sqrt((2 * (50 - mean) ** 2 + (100 - mean) ** 2) / 3)
    assert report["multi_class_ss_stdev"].value == pytest.approx(spread, abs=1e-12)
    # icat: a has lm 75 and ss 50, b lm 50 and ss 50, c lm 100 and ss 100
    assert report["macro_icat"].value == pytest.approx((75 + 50 + 0) / 3, abs=1e-12)


def test_a_domains_score_counts_its_own_examples_and_terms(make: Any) -> None:
    report = score(*make([*EXAMPLES, ("race", "c", 9.0, 1.0, 0.0)]))
    names = ("ss", "icat", "race.ss", "race.icat", "gender.lm")
    assert [report[name].n for name in names] == [5, 5, 3, 3, 2]
    assert [report[f"{one}multi_class_ss"].n for one in ("", "race.", "gender.")] == [3, 2, 1]


def test_domains_rest_on_their_own_targets(make: Any) -> None:
    """Two targets of a domain are two clusters, however many there are in all."""
    many = [("race", f"r{i}", 1.0 + i % 2, 1.5, 0.0) for i in range(12)]
    few = [("religion", f"g{i % 2}", 1.0 + i % 3, 1.5, 0.0) for i in range(9)]
    report = score(*make(many + few))
    assert report["ss"].clusters == 14
    assert report["religion.ss"].clusters == 2


def test_the_test_against_fifty(make: Any) -> None:
    """By hand: two targets with 3 of 4 and 4 of 4; the standard error of a ratio of sums."""
    rows = [("race", "a", 2.0 - (i == 0) * 2, 1.0, 0.0) for i in range(4)]
    rows += [("race", "b", 2.0, 1.0, 0.0) for _ in range(4)]
    report = score(*make(rows))
    table = next(table for table in report.tables if table.name == "against_ideal")
    found = next(line for line in table.rows if line[0] == "ss")
    # residuals of clusters: (3 - 3.5)/8 and (4 - 3.5)/8; variance 2/1 * sum of squares
    se = 100 * math.sqrt(2 * 2 * (0.5 / 8) ** 2)
    t = (87.5 - 50) / se
    expected = 1 - 2 / math.pi * math.atan(t)  # Student's t with one degree of freedom
    assert found[3] == pytest.approx(expected, abs=1e-6)


def test_a_slice_measures_its_targets_again(make: Any) -> None:
    report = score(*make(EXAMPLES), by="bias_type")
    assert {part.level for part in report.slices} == {"race", "gender"}


def test_pairs_of_sentences(tmp_path: Path) -> None:
    rows = [
        {"id": str(i), "sent_more": f"m{i}", "sent_less": f"l{i}", "bias_type": domain}
        for i, domain in enumerate(("age", "age", "race"))
    ]
    gold = tmp_path / "crows.jsonl"
    gold.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    scores = [(-1.0, -2.0), (-3.0, -3.0), (-1.0, -9.0)]
    said = [
        {"id": str(i), "sent_more_score": a, "sent_less_score": b}
        for i, (a, b) in enumerate(scores)
    ]
    predictions = tmp_path / "said.jsonl"
    predictions.write_text("\n".join(map(json.dumps, said)), "utf-8")
    report = score(gold, predictions)
    assert report.task == "stereotypes"
    assert report.ss == pytest.approx(200 / 3)
    assert report["age.ss"].value == 50
    assert report.item == "pair"
    assert score(gold, predictions, ties="drop").ss == 100


def broken(make: Any, change: Any) -> list[tuple[str, int | None]]:
    gold, predictions = make(EXAMPLES)
    found = json.loads(predictions.read_text("utf-8"))
    change(found["intrasentence"])
    predictions.write_text(json.dumps(found, indent=2), "utf-8")
    with pytest.raises(DataError) as caught:
        score(gold, predictions)
    return [(p.code, p.line) for p in caught.value.problems if p.severity == "error"]


def test_a_missing_score_is_named(make: Any) -> None:
    assert broken(make, lambda rows: rows.pop(0)) == [("prediction-missing", None)]


def test_a_repeated_score_is_placed(make: Any) -> None:
    found = broken(make, lambda rows: rows.append({"id": "k0S", "score": 9.0}))
    assert found == [("prediction-duplicate", 51)]


def test_a_score_that_is_no_number(make: Any) -> None:
    found = broken(make, lambda rows: rows[1].update(score="high"))
    assert ("score-type", 7) in found


def test_a_score_that_is_not_finite(make: Any) -> None:
    for bad in (math.nan, math.inf, -math.inf):
        found = broken(make, lambda rows, bad=bad: rows[1].update(score=bad))
        assert found == [("score-not-finite", 7)]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"score": 3.0', '"score": 1e999', "score-not-finite"),
        ('"score": 3.0', '"score": 9, "score": 3.0', "duplicate-key"),
        ('"score": 3.0', '"scores": 3.0', "field-missing"),
        ('"id": "k0S"', '"id": 7', "prediction-id"),
        ('"score": 3.0', '"score": 3.0,,', "json-syntax"),
    ],
)
def test_the_line_of_a_defect(make: Any, old: str, new: str, code: str) -> None:
    """The row starts on line 3; what is no JSON is named by the line it is on."""
    gold, predictions = make(EXAMPLES)
    predictions.write_text(predictions.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(DataError) as caught:
        score(gold, predictions)
    line = 5 if code == "json-syntax" else 3
    assert (code, line) in {(p.code, p.line) for p in caught.value.problems}


def test_an_id_that_is_in_both_sections(make: Any) -> None:
    gold, predictions = make(EXAMPLES)
    found = json.loads(predictions.read_text("utf-8"))
    found["intersentence"] = [{"id": "k0S", "score": 9.0}]
    predictions.write_text(json.dumps(found), "utf-8")
    with pytest.raises(DataError) as caught:
        score(gold, predictions)
    keys = [p.key for p in caught.value.problems if p.code == "prediction-duplicate"]
    assert keys == ["intersentence[0]"]


def test_scores_as_a_list_as_lines_and_as_tables(make: Any, tmp_path: Path) -> None:
    gold, predictions = make(EXAMPLES)
    rows = json.loads(predictions.read_text("utf-8"))["intrasentence"]
    expected = {s.name: s.value for s in score(gold, predictions)}
    cells = [(str(row["id"]), str(row["score"])) for row in rows]
    for name, text in {
        "list.json": json.dumps(rows),
        "lines.jsonl": "\n\n".join(map(json.dumps, rows)),
        "cells.csv": "\ufeffid,score\r\n" + "".join(f"{a},{b}\r\n" for a, b in cells),
        "cells.tsv": "score\tid\n" + "".join(f"{b}\t{a}\n" for a, b in cells),
    }.items():
        path = tmp_path / name
        path.write_text(text, "utf-8", newline="")
        assert {s.name: s.value for s in score(gold, path)} == expected


def test_cells_have_their_lines(make: Any, tmp_path: Path) -> None:
    gold, _ = make(EXAMPLES)
    path = tmp_path / "model.csv"
    path.write_text("id,score\nk0S,1\nk0A,high\nk0U,\nk1S,nan\nk1A,1,2\n", "utf-8")
    with pytest.raises(DataError) as caught:
        score(gold, path)
    found = [(p.code, p.line) for p in caught.value.problems if p.code != "prediction-missing"]
    assert found == [
        ("score-type", 3),
        ("score-type", 4),
        ("score-not-finite", 5),
        ("row-width", 6),
    ]


def test_scores_alone_can_be_checked(make: Any) -> None:
    _, predictions = make(EXAMPLES)
    assert check(predictions).ok
    predictions.write_text('{"intrasentence": [{"id": "k", "score": null}]}', "utf-8")
    assert [p.code for p in check(predictions).problems] == ["score-type"]


def test_data_under_the_wrong_option_are_told(make: Any) -> None:
    gold, predictions = make(EXAMPLES, section="intersentence")
    report = score(predictions, task="stereotypes", intersentence_df_file=str(gold))
    assert [p.code for p in report.problems] == ["section-name"]


def test_skipped_examples_are_said(make: Any) -> None:
    gold, predictions = make(EXAMPLES)
    found = json.loads(predictions.read_text("utf-8"))
    found["intrasentence"].pop(0)
    predictions.write_text(json.dumps(found), "utf-8")
    report = score(gold, predictions, missing="skip")
    assert report.count == 3
    assert report.ss == pytest.approx(100 / 3)
    assert any("1 of 4 examples were skipped" in note for note in report.notes)


def test_extra_scores_are_a_warning(make: Any) -> None:
    gold, predictions = make(EXAMPLES)
    found = json.loads(predictions.read_text("utf-8"))
    found["intrasentence"].append({"id": "other", "score": 1.0})
    predictions.write_text(json.dumps(found), "utf-8")
    report = score(gold, predictions)
    assert [(p.code, p.severity) for p in report.problems] == [("prediction-extra", "warning")]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"c1_gold_label": "stereotype"}, "label-repeated"),
        ({"c1_gold_label": "neutral"}, "label-unknown"),
        ({"c3_id": None}, "candidates-count"),
        ({"c4_id": "x", "target": ""}, "candidates-count"),
        ({"target": ""}, "field-empty"),
        ({"bias_type": 3}, "field-type"),
    ],
)
def test_rows_that_are_not_sound(make: Any, change: dict[str, Any], code: str) -> None:
    gold, predictions = make(EXAMPLES)
    lines = gold.read_text("utf-8").splitlines()
    lines[2] = json.dumps(
        {k: v for k, v in (json.loads(lines[2]) | change).items() if v is not None}
    )
    gold.write_text("\n".join(lines), "utf-8")
    with pytest.raises(DataError) as caught:
        score(gold, predictions, task="stereotypes")
    assert (code, 3, 2) in {(p.code, p.line, p.record) for p in caught.value.problems}


def test_a_section_without_scores(make: Any) -> None:
    gold, predictions = make(EXAMPLES, section="intersentence")
    with pytest.raises(DataError) as caught:
        score(gold, predictions)
    assert "section-missing" in {p.code for p in caught.value.problems}


def test_the_same_rows_as_csv_and_in_memory(make: Any, tmp_path: Path) -> None:
    import csv

    gold, predictions = make(EXAMPLES)
    rows = [json.loads(line) for line in gold.read_text("utf-8").splitlines()]
    table = tmp_path / "gold.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    expected = {s.name: s.value for s in score(gold, predictions)}
    assert {s.name: s.value for s in score(table, predictions)} == expected
    assert {s.name: s.value for s in score(rows, predictions)} == expected


def test_an_integer_too_large_for_a_double(make: Any) -> None:
    gold, predictions = make(EXAMPLES)
    predictions.write_text(predictions.read_text().replace("3.0", "1" + 400 * "0"))
    with pytest.raises(DataError, match="score-not-finite"):
        score(gold, predictions)


@pytest.mark.parametrize(("apart", "told"), [(0, False), (1, False), (2, True), (3, True)])
def test_equal_texts_with_scores_apart_are_told(make: Any, apart: int, told: bool) -> None:
    """Three examples whose first two candidates are one text; scores of one text are equal."""
    gold, predictions = make([("race", "a", 1.0 + (i < apart), 1.0, 0.0) for i in range(3)])
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    for row in rows:
        own = {row[f"c{i}_gold_label"]: i for i in (1, 2, 3)}
        for part in ("word", "sentence"):
            row[f"c{own['anti-stereotype']}_{part}"] = row[f"c{own['stereotype']}_{part}"]
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
    codes = {problem.code for problem in score(gold, predictions).problems}
    assert ("scores-apart" in codes) is told


def test_a_file_of_both_tests_is_read_for_what_it_is_named(make: Any) -> None:
    gold, predictions = make([("race", "t", 2.0, 1.0, 0.0), ("race", "u", 2.0, 1.0, 0.0)])
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    rows[0]["section"], rows[1]["section"] = "intrasentence", "intersentence"
    data: dict[str, Any] = {"intrasentence": [], "intersentence": []}
    for row in rows:
        own = [
            {"id": row[f"c{i}_id"], "sentence": "s", "gold_label": row[f"c{i}_gold_label"]}
            for i in (1, 2, 3)
        ]
        data[row["section"]].append({**row, "sentences": own})
    dev = gold.with_name("dev.json")
    dev.write_text(json.dumps({"version": "1.1", "data": data}))
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
    kept = json.loads(predictions.read_text())["intrasentence"]
    predictions.write_text(json.dumps({"intrasentence": kept[:3], "intersentence": kept[3:]}))
    for file in (str(gold), gold, str(dev), dev, rows, pd.DataFrame(rows)):
        flags: dict[str, Any] = {"intrasentence_df_file": file, "intersentence_df_file": file}
        assert score(str(predictions), **flags).count == 2
        for flag in flags:
            report = score(str(predictions), **{flag: file})
            assert report.count == 1
            assert report[f"{flag.removesuffix('_df_file')}.count"].value == 1
