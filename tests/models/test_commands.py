"""The command lines: names of files, every case, wrong calls, the documented flags."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

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
    from karat.run.predicting import Job, result_name

    job = Job(files={"intrasentence": None, "intersentence": data["intersentence"]}, paths={})
    name = result_name(Settings("a/gpt2"), job, {"intersentence": "GPT2LM"}, "e")
    assert name == "a_gpt2__GPT2LM_e_en.json"


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
