"""The original's numbers on real prediction files, equal as doubles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from karat import score
from karat.read.frames import read_frame
from karat.tasks.stereotypes.results import nested

FILES = (
    "GermanT5_t5-efficient-gc4-german-base-nl36_T5LM_T5LM_d_de",
    "THUMT_mGPT_GPT2LM_GPT2LM_c_de",
    "bert-base-cased_BertLM_BertNextSentence_en",
    "dbmdz_bert-base-german-cased_BertLM_BertNextSentence_de",
    "dbmdz_bert-base-turkish-cased_BertLM_BertNextSentence_tr",
    "google_mt5-base_mT5LM_ModelNSP_en",
    "google_mt5-base_mT5LM_mT5LM_tr",
    "gpt2_GPT2LM_GPT2LM_d_en",
    "gpt2__GPT2LM_orig_en",
    "miguelvictor_multilingual-gpt2-large_testtest_BertNextSentence_en",
    "t5-base_T5LM_T5LM_en",
)


def data(reference: Path, wanted: Any, language: str) -> dict[str, Path]:
    return {
        f"{s}_df_file": reference / s / f"df_{s}_{language}.pkl" for s in wanted if s != "overall"
    }


@pytest.mark.parametrize("name", FILES)
def test_every_number_is_the_original_one(reference: Path, name: str) -> None:
    expected = json.loads((reference / "expected.json").read_text("utf-8"))[f"{name}.json"]
    files = data(reference, expected, name[-2:])
    report = score(reference / "predictions" / f"{name}.json", confidence=None, **files)
    assert nested(report) == expected
    assert [p.text for p in report.problems] == []


def test_the_data_decide_where_the_name_says_nothing(reference: Path, tmp_path: Path) -> None:
    """A renamed file breaks the original; the English targets are found all the same."""
    name = "dbmdz_bert-base-german-cased_BertLM_BertNextSentence_de"
    expected = json.loads((reference / "expected.json").read_text("utf-8"))[f"{name}.json"]
    copy = tmp_path / "mine.pkl"
    copy.write_bytes((reference / "intersentence" / "df_intersentence_de.pkl").read_bytes())
    report = score(copy, reference / "predictions" / f"{name}.json", confidence=None)
    assert nested(report)["intersentence"] == expected["intersentence"]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("df_intersentence_de.pkl", "target_original"),
        ("df_intersentence_en.pkl", "target"),
        ("df_intersentence_en_v2.pkl", "target"),
        ("mine_en.pkl", "target_original"),
    ],
)
def test_the_name_decides_where_the_original_looks(
    reference: Path, tmp_path: Path, name: str, column: str
) -> None:
    """Characters 17 and 18 of the name; German targets are inflected, so terms are many more."""
    copy = tmp_path / name
    source = reference / "intersentence" / "df_intersentence_de.pkl"
    copy.write_bytes(source.read_bytes())
    scores = reference / "predictions" / f"{FILES[1]}.json"
    report = score(copy, scores, skip_intrasentence=True)
    terms = set(read_frame("de", source.read_bytes()).columns[column])
    assert report["multi_class_ss"].n == len(terms)


def test_a_row_without_an_english_term_keeps_its_own(make: Any) -> None:
    gold, predictions = make([("race", "eins", 2.0, 1.0, 0.0), ("race", "zwei", 0.0, 1.0, 0.0)])
    rows = [json.loads(line) for line in gold.read_text("utf-8").splitlines()]
    rows[0]["target_original"] = "one"
    gold.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    table = next(t for t in score(gold, predictions).tables if t.name == "targets")
    assert {row[0] for row in table.rows} == {"one", "zwei"}


def test_scores_of_another_language_are_told(reference: Path) -> None:
    """English scores with German data run without a word in the original."""
    files = data(reference, ("intrasentence", "intersentence"), "de")
    report = score(reference / "predictions" / f"{FILES[2]}.json", confidence=None, **files)
    codes = [problem.code for problem in report.problems]
    assert codes.count("language-mismatch") == 2
    assert codes.count("prediction-extra") == 1


def test_turkish_rows_that_no_score_can_tell(reference: Path) -> None:
    files = data(reference, ("intrasentence",), "tr")
    name = "google_mt5-base_mT5LM_mT5LM_tr.json"
    report = score(
        reference / "predictions" / name, confidence=None, skip_intersentence=True, **files
    )
    table = next(table for table in report.tables if table.name == "unscorable")
    assert table.rows == [["intrasentence", 2106, 12, 12, 2]]
