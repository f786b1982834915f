"""Frames, rows and dev.json into each other, and a translation laid over them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from karat import DataError, UsageError, score
from karat.read.frames import read_frame
from karat.run.convert import convert
from karat.tasks.stereotypes.release import cut_word
from karat.tasks.stereotypes.results import nested


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("target", ["jsonl", "csv", "parquet"])
def test_there_and_back(reference: Path, tmp_path: Path, target: str) -> None:
    source = reference / "intrasentence" / "df_intrasentence_de.pkl"
    middle, back = tmp_path / f"rows.{target}", tmp_path / "back.pkl"
    convert([source], middle, target=target)
    convert([middle], back, target="frame")
    expected = read_frame("a", source.read_bytes()).columns
    assert read_frame("b", back.read_bytes()).columns == expected
    assert pd.read_pickle(back)["id"].tolist() == expected["id"]


def test_rows_score_as_the_frames_do(reference: Path, tmp_path: Path) -> None:
    name = "gpt2_GPT2LM_GPT2LM_d_en.json"
    expected = json.loads((reference / "expected.json").read_text("utf-8"))[name]
    for target in ("jsonl", "csv", "parquet"):
        files = []
        for section in ("intrasentence", "intersentence"):
            made = tmp_path / f"df_{section}_en.{target}"
            convert([reference / section / f"df_{section}_en.pkl"], made, target=target)
            files.append(str(made))
        report = score(",".join(files), reference / "predictions" / name, confidence=None)
        assert nested(report) == expected


def release(reference: Path, tmp_path: Path) -> Path:
    """StereoSet's release, rebuilt from the shipped English frames."""
    data: dict[str, list[Any]] = {}
    for section in ("intrasentence", "intersentence"):
        path = reference / section / f"df_{section}_en.pkl"
        data[section] = [
            {
                **{key: row[key] for key in ("id", "target", "bias_type", "context")},
                "sentences": [
                    {key: row[f"c{i}_{key}"] for key in ("sentence", "id", "labels", "gold_label")}
                    for i in (1, 2, 3)
                ],
            }
            for row in read_frame("f", path.read_bytes()).rows()
        ]
    dev = tmp_path / "dev.json"
    dev.write_text(json.dumps({"version": "1.0", "data": data}), "utf-8")
    return dev


def test_the_release_becomes_the_shipped_frames(reference: Path, tmp_path: Path) -> None:
    dev = release(reference, tmp_path)
    for section in ("intrasentence", "intersentence"):
        made = tmp_path / f"{section}.pkl"
        convert([dev], made, target="frame", options={"section": section})
        shipped = reference / section / f"df_{section}_en.pkl"
        expected = read_frame("a", shipped.read_bytes()).columns
        assert read_frame("b", made.read_bytes()).columns == expected


def test_the_release_scores_as_the_frames_do(reference: Path, tmp_path: Path) -> None:
    name = "bert-base-cased_BertLM_BertNextSentence_en.json"
    dev = release(reference, tmp_path)
    both = tmp_path / "both.jsonl"
    convert([dev], both, target="jsonl")
    expected = json.loads((reference / "expected.json").read_text("utf-8"))[name]
    for data in (dev, both):
        report = score(data, reference / "predictions" / name, confidence=None)
        assert nested(report) == expected


@pytest.mark.parametrize(
    ("context", "sentence", "word"),
    [
        ("The BLANK ran.", "The dog's ran.", "dogs"),
        ("He was BLANK.", "He was tall.", "tall"),
        ("A BLANK and a BLANK.", "A cat and a hat.", "hat"),
        ("No gap", "No gap", ""),
        ("It is BLANK", "It", ""),
    ],
)
def test_words_are_cut_at_the_last_blank(context: str, sentence: str, word: str) -> None:
    assert cut_word(context, sentence) == word


TABLE = """id,field,text
e0,context,Der Mann war LEER.
e0,target,Mann
e0,c1_word,alt
"""


def test_a_translation_rebuilds_the_sentences(make: Any, tmp_path: Path) -> None:
    gold, _ = make([("race", "a", 1.0, 0.0, 0.0), ("race", "b", 1.0, 0.0, 0.0)])
    table, made = tmp_path / "de.csv", tmp_path / "out.jsonl"
    table.write_text(TABLE, "utf-8")
    _, problems = convert([gold], made, target="jsonl", options={"translations": str(table)})
    first, second = rows(made)
    assert first["c1_sentence"] == "Der Mann war alt."
    assert first["c2_sentence"] == "Der Mann war anti-stereotype 0."
    assert (first["target"], first["target_original"]) == ("Mann", "a")
    assert second["c1_sentence"] == "The b was anti-stereotype 1."
    assert [(p.code, p.severity) for p in problems] == [("translation-missing", "warning")]


def test_rows_without_a_translation_keep_their_sentences(make: Any, tmp_path: Path) -> None:
    """English sentences are not always context and word; the table may be JSON lines as well."""
    gold, _ = make([("race", "a", 1.0, 0.0, 0.0), ("race", "b", 1.0, 0.0, 0.0)])
    gold.write_text(gold.read_text("utf-8").replace("The b was anti", "the B was anti"), "utf-8")
    table, made = tmp_path / "de.jsonl", tmp_path / "out.jsonl"
    table.write_text('{"id": "e0", "field": "c1_word", "text": "alt, grau"}\n', "utf-8")
    convert([gold], made, target="jsonl", options={"translations": str(table)})
    first, second = rows(made)
    assert first["c1_sentence"] == "The a was alt, grau."
    assert second["c1_sentence"] == "the B was anti-stereotype 1."


def test_a_table_that_is_not_there_is_one_problem(make: Any, tmp_path: Path) -> None:
    gold, _ = make([("race", "a", 1.0, 0.0, 0.0)])
    with pytest.raises(DataError) as caught:
        convert([gold], tmp_path / "o.jsonl", target="jsonl", options={"translations": "no.csv"})
    assert [problem.code for problem in caught.value.problems] == ["file-missing"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("e9,target,x", "translation-unknown"),
        ("e1,bias_type,x", "translation-field"),
        ("e0,target,Frau", "translation-repeated"),
        ("e1,context,Kein Wort.", "blank-missing"),
        ("e1,,x", "translation-empty"),
    ],
)
def test_a_translation_that_does_not_fit(make: Any, tmp_path: Path, line: str, code: str) -> None:
    gold, _ = make([("race", "a", 1.0, 0.0, 0.0), ("race", "b", 1.0, 0.0, 0.0)])
    table, made = tmp_path / "de.csv", tmp_path / "out.jsonl"
    table.write_text(TABLE + line + "\n", "utf-8")
    with pytest.raises(DataError) as caught:
        convert([gold], made, target="jsonl", options={"translations": str(table)})
    assert code in {problem.code for problem in caught.value.problems}
    assert not made.exists()


def test_a_frame_holds_one_section(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one section"):
        convert([release(reference, tmp_path)], tmp_path / "x.pkl", target="frame")


def test_defects_of_the_release_have_their_path(tmp_path: Path) -> None:
    dev = tmp_path / "dev.json"
    sentences = [{"id": f"k{i}", "sentence": "s", "gold_label": "unrelated"} for i in range(3)]
    sentences[1]["sentence"] = 4  # type: ignore[assignment]
    example = {
        "id": "e",
        "target": "t",
        "bias_type": "race",
        "context": "c",
        "sentences": sentences,
    }
    dev.write_text(json.dumps({"data": {"intrasentence": [example, {"id": "f"}]}}), "utf-8")
    with pytest.raises(DataError) as caught:
        convert([dev], tmp_path / "out.jsonl", source="stereoset", target="jsonl")
    found = {(p.code, p.record, p.key) for p in caught.value.problems}
    assert ("field-type", 0, "data.intrasentence[0].sentences[1].sentence") in found
    assert ("candidates-count", 1, "data.intrasentence[1]") in found
