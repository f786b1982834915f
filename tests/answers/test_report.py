"""Detection, clusters, slices and explanations of question answering."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import dataset, question, written

import karat
from karat.tasks.answers.facets import question_word

GOLD = dataset(
    [
        question("q1", "Paris", "in Paris", hard=True),
        question("q2", hard=False),
        question("q3", "the big red cat", hard=True),
        question("q4", "1907", hard=False),
    ]
)
SAID = {"q1": "paris", "q2": "no", "q3": "a red dog", "q4": ""}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [written(tmp_path, "gold.json", GOLD), written(tmp_path, "said.json", SAID)]


@pytest.mark.parametrize(
    ("version", "golds", "task"),
    [
        ("v2.0", ["x"], "squad2"),
        ("2.0", ["x"], "squad2"),
        ("1.1", ["x"], "squad1"),
        ("v1.1", ["x"], "squad1"),
    ],
)
def test_the_version_is_told_from_the_file(
    tmp_path: Path, version: str, golds: list[str], task: str
) -> None:
    data = dataset([question("q1", *golds), question("q2", *golds)], version)
    names = written(tmp_path, "g.json", data), written(tmp_path, "p.json", {"q1": "", "q2": "x"})
    assert karat.score(*names).task == task


def test_without_a_version_silence_makes_it_2(tmp_path: Path) -> None:
    said = written(tmp_path, "p.json", {"q1": "", "q2": "x"})
    for second, task in ((question("q2"), "squad2"), (question("q2", "y"), "squad1")):
        data = dataset([question("q1", "x"), second])
        del data["version"]
        assert karat.score(written(tmp_path, "g.json", data), said).task == task


def test_a_data_set_without_articles_is_still_one(tmp_path: Path) -> None:
    names = written(tmp_path, "g.json", dataset([]) | {"data": []}), written(tmp_path, "p.json", {})
    found = karat.check(*names)
    assert found.task == "squad2"
    assert [p.code for p in found.problems] == ["file-empty"]


def test_articles_are_clusters(files: list[str]) -> None:
    report = karat.score(*files)
    assert (report.unit, report.clusters) == ("article", 2)
    assert karat.score(*files, cluster="question").clusters is None
    assert karat.score(*files, cluster="paragraph").clusters == 2


def test_dicts_are_taken_as_files_are(files: list[str], tmp_path: Path) -> None:
    chances = {"q1": 0.9, "q2": 0.9, "q3": 0.1, "q4": 0.2}
    path = written(tmp_path, "na.json", chances)
    ours = karat.score(GOLD, SAID, na_probs=chances, examples=9)
    theirs = karat.score(*files, na_probs=path, examples=9)
    assert [score.value for score in ours] == [score.value for score in theirs]
    assert ours.examples == theirs.examples
    assert ours.to_json()


def test_slices_by_computed_and_own_fields(files: list[str]) -> None:
    report = karat.score(*files, by=["question_word", "answerable", "golds", "article", "hard"])
    found = {(s.field, s.level): (s.n, s.scores[0].value) for s in report.slices}
    assert found["question_word", "who"] == (4, 25.0)
    assert found["answerable", "true"][0] == 3
    assert found["golds", "2"] == (1, 100.0)
    assert found["article", "t0"] == (2, 50.0)
    assert found["hard", "true"] == (2, 50.0)


def test_explanations_say_what_is_shared(files: list[str]) -> None:
    found = {e.id: e for e in karat.score(*files, examples=9).examples}
    assert set(found) == {"q2", "q3", "q4"}
    assert found["q2"].kind == "answered the unanswerable"
    assert found["q4"].kind == "said nothing"
    assert found["q3"].fields["in common"] == "red"
    assert found["q3"].fields["gold, normalised"] == "big red cat"
    assert "missing: big cat" in found["q3"].why
    assert "too much: dog" in found["q3"].why


def test_a_silenced_answer_is_explained(files: list[str], tmp_path: Path) -> None:
    chances = written(tmp_path, "na.json", {"q1": 0.9, "q2": 0.9, "q3": 0.1, "q4": 0.2})
    report = karat.score(*files, na_probs=chances, na_prob_threshold=0.5, examples=9)
    found = {e.id: e for e in report.examples}
    assert found["q1"].kind == "silenced by the threshold"
    assert found["q1"].why == "its no-answer probability 0.9 is above the threshold 0.5"
    assert "q2" not in found  # silence is right there
    assert {curve.kind for curve in report.curves} == {"step", "histogram"}
    # The threshold lets q3 and q4 speak, two of the three that have an answer, and no other.
    marks = {series.name: series.mark for series in report.curves[0].series}
    assert marks["oracle"] == [2 / 3, 1.0]
    assert marks["exact"] == [0.0, 0.0]


def test_partly_right_and_silenced_is_silenced(files: list[str], tmp_path: Path) -> None:
    chances = written(tmp_path, "na.json", {"q1": 0.1, "q2": 0.1, "q3": 0.8, "q4": 0.2, "q9": 0.3})
    report = karat.score(*files, na_probs=chances, na_prob_threshold=0.5, examples=9)
    (found,) = [e for e in report.examples if e.id == "q3"]
    assert (found.kind, found.score) == ("silenced by the threshold", 0.0)
    assert found.fields["in common"] == "red"
    # Two of the three with an answer are below the threshold, and q2; q9 is no question.
    marks = {series.name: series.mark for series in report.curves[0].series}
    assert marks["oracle"] == [2 / 3, 2 / 3]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Whose is it?", "who"),
        ("In which year did what happen?", "which"),
        ("How many?", "how"),
        ("Name one.", "other"),
        ("", "other"),
    ],
)
def test_question_words(text: str, word: str) -> None:
    assert question_word(text) == word


def test_the_normalizer_is_in_the_signature(files: list[str]) -> None:
    plain, chars = karat.score(*files), karat.score(*files, normalizer="chars")
    assert "normalizer:squad" in plain.signature.text
    assert "normalizer:chars" in chars.signature.text
    assert any("chars" in note for note in chars.notes)


def test_a_language_without_its_normalizer_is_said(files: list[str]) -> None:
    assert any("--language" in note for note in karat.score(*files, language="de").notes)
    spoken = karat.score(*files, language="de", normalizer="mlqa")
    assert not any("--language" in note for note in spoken.notes)


def test_weights_replace_the_official_sums(tmp_path: Path) -> None:
    data = dataset([question("q1", "x", w=3), question("q2", "y", w=1)])
    names = written(tmp_path, "g.json", data), written(tmp_path, "p.json", {"q1": "x", "q2": "n"})
    assert karat.score(*names, weights="w").exact == 75.0


def test_a_score_counts_the_questions_it_is_about(tmp_path: Path) -> None:
    data = dataset([question("q1", "x"), question("q2", "y"), question("q3")])
    gold = written(tmp_path, "g.json", data)
    said = written(tmp_path, "p.json", {"q1": "x", "q2": "", "q3": ""})
    found = karat.score(gold, said)
    assert [found[name].n for name in ("exact", "HasAns_exact", "HasAns_f1", "NoAns_f1")] == [
        3,
        2,
        2,
        1,
    ]
    assert karat.score(gold, said, confidence=None)["HasAns_f1"].n == 2
