"""The command lines: names of files, every case, wrong calls, the documented flags."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from karat.compat import stereoset_inference

Run = Callable[..., tuple[int, str, str]]


def scores(path: Path, section: str) -> dict[str, float]:
    return {row["id"]: row["score"] for row in json.loads(path.read_text())[section]}


def test_the_documented_command_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reference: Path,
    data: dict[str, str],
) -> None:
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "tiny-bert-cased").symlink_to(reference / "models" / "tiny-bert-cased")
    monkeypatch.chdir(tmp_path)
    words = ["--pretrained-class", "hub/tiny-bert-cased"]
    for section, file in data.items():
        words += [f"--{section}-df-file", file]
    assert stereoset_inference.main(words) == 0
    made = tmp_path / "results/predictions/hub_tiny-bert-cased_BertLM_BertNextSentence_en.json"
    for section, path in (("intrasentence", "BertLM"), ("intersentence", "BertNextSentence")):
        file = reference / "scores-fp32" / f"{section}__bert_{path}.json"
        assert scores(made, section) == pytest.approx(scores(file, section), rel=2e-5)


def test_a_skipped_section_is_an_empty_word_in_the_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reference: Path,
    data: dict[str, str],
) -> None:
    monkeypatch.chdir(reference / "models")
    out = tmp_path / "out.json"
    words = [
        "--pretrained-class",
        "tiny-gpt2",
        "--tokenizer-name",
        "GPT2Tokenizer",
        "--case-no",
        "e",
    ]
    words += ["--intersentence-df-file", data["intersentence"], "--skip-intrasentence"]
    words += ["--intersentence-model", "GPT2LM", "--batch-size", "16", "--num-workers", "4"]
    assert stereoset_inference.main([*words, "--out", str(out)]) == 0
    assert list(json.loads(out.read_text())) == ["intersentence"]
    from karat.models.loading import Settings
    from karat.run.predicting import result_name

    name = result_name(Settings("a/gpt2"), {"intersentence": "GPT2LM"}, "e", "en")
    assert name == "a_gpt2__GPT2LM_e_en.json"


@pytest.mark.parametrize(
    ("file", "spoken"),
    [
        ("df_intrasentence_de.pkl", "de"),
        ("folder.x/df_intrasentence_de_temp.pkl", "mp"),
        ("mine_tr.jsonl", "tr"),
        ("dev.json", "en"),
    ],
)
def test_the_language_in_the_name(file: str, spoken: str, examples: dict[str, Any]) -> None:
    from karat.run.predicting import Job, language_of

    assert language_of(Job(files={}, paths={}, data=(file,)), examples) == spoken
    if file == "dev.json":
        assert language_of(Job(files={}, paths={}, data=(file,)), {}) is None


def test_both_tests_in_one_call_under_the_name_of_the_original(
    karat: Run, model: Callable[[str], str], data: dict[str, str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "tiny").symlink_to(model("mt5"))
    monkeypatch.chdir(tmp_path)
    both = ",".join(data.values())
    status, _, err = karat("predict", "stereoset", both, "--pretrained-class", "tiny/")
    assert status == 0, err
    made = tmp_path / "results" / "predictions" / "tiny_mT5LM_mT5LM_en.json"
    assert list(json.loads(made.read_text())) == ["intrasentence", "intersentence"]


@pytest.mark.parametrize(
    ("short", "words", "said"),
    [
        ("bert", ["--case-no", "d"], "--case-no does nothing for BertNextSentence"),
        ("bert", ["--end-tokens", "skip"], "--end-tokens does nothing for BertNextSentence"),
        ("t5", ["--case-no", "all"], "--case-no does nothing for T5LM"),
        (
            "gpt2",
            ["--intersentence-model", "GPT2LM", "--nsp-model-path", "x.pth"],
            "--nsp-model-path does nothing for GPT2LM",
        ),
        ("gpt2", ["--nsp-model-path", "x.pth"], "there is no such file"),
        ("t5", ["--tokenizer-name", "BertTokenizer"], "finds no vocabulary"),
    ],
)
def test_flags_that_cannot_fit_the_model(
    short: str, words: list[str], said: str, karat: Run, model: Callable[[str], str],
    data: dict[str, str], tmp_path: Path,
) -> None:  # fmt: skip
    first = ["predict", "stereoset", data["intersentence"], "--pretrained-class", model(short)]
    status, _, err = karat(*first, *words, "--out", str(tmp_path / "p.json"))
    assert (status, said in err) == (2, True), err


def test_no_section_is_run_before_all_paths_are_sound(
    karat: Run, model: Callable[[str], str], data: dict[str, str], tmp_path: Path
) -> None:
    words = ["--intersentence-model", "T5LM", "--out", str(tmp_path / "p.json")]
    both = ",".join(data.values())
    status, _, err = karat(
        "predict", "stereoset", both, "--pretrained-class", model("gpt2"), *words
    )
    assert status == 2
    assert "intrasentence: GPT2LM" not in err


@pytest.mark.parametrize("again", ["flag", "comma"])
def test_data_named_twice(
    again: str, karat: Run, model: Callable[[str], str], data: dict[str, str], tmp_path: Path
) -> None:
    file = data["intrasentence"]
    more = [file, "--intrasentence-df-file", file] if again == "flag" else [f"{file},{file}"]
    words = ["--pretrained-class", model("gpt2"), "--out", str(tmp_path / "p.json")]
    status, _, err = karat("predict", "stereoset", *more, *words)
    assert status == 2
    assert ("named twice" if again == "flag" else "section-repeated") in err


@pytest.mark.parametrize("what", ["stereoset", "text-classification", "train"])
def test_data_are_not_written_over(
    what: str, karat: Run, model: Callable[[str], str], tmp_path: Path
) -> None:
    file = tmp_path / "data.pth"
    file.write_text("A b. C d.\nE f. G h.\n")
    words = ["train", "nsp"] if what == "train" else ["predict", what]
    status, _, err = karat(*words, file, "--pretrained-class", model("gpt2"), "--out", file)
    assert status == 2
    assert "is one of the inputs" in err
    assert file.read_text().startswith("A b.")


def test_words_are_needed_where_they_are_read(
    karat: Run, model: Callable[[str], str], tmp_path: Path
) -> None:
    row = {"id": "e", "target": "t", "bias_type": "race", "context": "A BLANK b."}
    for i, label in enumerate(("stereotype", "anti-stereotype", "unrelated"), 1):
        own = {"id": f"k{i}", "sentence": f"A {i} b.", "gold_label": label}
        row |= {f"c{i}_{part}": value for part, value in own.items()}
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n")
    words = ["predict", "stereoset", str(file), "--out", str(tmp_path / "p.json")]
    assert karat(*words, "--pretrained-class", model("gpt2"))[0] == 0
    assert list(scores(tmp_path / "p.json", "intrasentence")) == ["k1", "k2", "k3"]
    status, _, err = karat(*words, "--pretrained-class", model("bert"))
    assert status == 2
    assert "column-missing there is no column c1_word, c2_word, c3_word" in err


def test_a_tokenizer_without_a_mask_is_told(model: Callable[[str], str]) -> None:
    from karat import UsageError
    from karat.models.loading import Loaded, Settings, load
    from karat.models.masked import MaskedWords

    loaded = load(Settings(model("bert")), "masked")
    loaded.encoder.tokenizer.mask_token = None
    with pytest.raises(UsageError, match="no mask token"):
        MaskedWords(Loaded(loaded.model, loaded.encoder, loaded.settings), [])


def test_a_missing_file_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert stereoset_inference.main(["--pretrained-class", "nowhere/at-all"]) == 2
    assert "--skip-intrasentence" in capsys.readouterr().err


def test_all_cases_come_from_one_pass(
    karat: Run, tmp_path: Path, model: Callable[[str], str], data: dict[str, str], reference: Path
) -> None:
    words = ["predict", "stereoset", data["intersentence"], "--pretrained-class", model("gpt2")]
    assert karat(*words, "--case-no", "all", "--out", str(tmp_path / "p.json"))[0] == 0
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == [f"p_{case}.json" for case in ("b", "c", "d", "e", "f", "orig")]
    for case in ("orig", "f"):
        file = reference / "scores-fp32" / f"intersentence__gpt2_GPT2LM_{case}.json"
        told = scores(tmp_path / f"p_{case}.json", "intersentence")
        assert told == pytest.approx(scores(file, "intersentence"), rel=2e-5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--intersentence-model", "ModelNSP"], "needs --nsp-model-path"),
        (["--intersentence-model", "T5LM"], "gpt2 is a causal model"),
        (["--tokenizer-name", "BertTokenizer"], "finds no vocabulary"),
        (["--tokenizer-name", "NoTokenizer"], "no such class"),
        (["--shard", "3/2"], "i/n is needed"),
        (["--device", "cuda:7"], "no usable CUDA device"),
        (["--device", "toaster"], "knows no such device"),
        (["--pretrained-class", "no/such/model"], "cannot load"),
    ],
)
def test_wrong_calls_are_answered(
    words: list[str], said: str, karat: Run, model: Callable[[str], str], data: dict[str, str],
    tmp_path: Path,
) -> None:  # fmt: skip
    first = ["predict", "stereoset", data["intersentence"], "--pretrained-class", model("gpt2")]
    status, _, err = karat(*first, *words, "--out", str(tmp_path / "p.json"))
    assert status == 2
    assert said in err
    assert "bug" not in err


def test_predictions_are_scored(
    karat: Run, tmp_path: Path, model: Callable[[str], str], data: dict[str, str]
) -> None:
    out = tmp_path / "p.json"
    words = ["predict", "stereoset", data["intrasentence"], "--pretrained-class", model("bert")]
    assert karat(*words, "--out", str(out))[0] == 0
    status, text, err = karat(
        "score", data["intrasentence"], str(out), "--json", "--skip-intersentence"
    )
    assert status == 0, err
    assert json.loads(text)["n"] == 60


@pytest.mark.parametrize("words", [["predict", "stereoset"], ["train", "nsp", "texts.txt"]])
def test_a_missing_library_is_one_line(
    words: list[str], karat: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    out = str(tmp_path / "p.pth")
    status, _, err = karat(*words, "--pretrained-class", "tiny", "--out", out)
    assert status == 2
    assert "pip install 'karat[models]'" in err
