"""Predictions for the cache tasks, against one text at a time through transformers itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

Run = Callable[..., tuple[int, str, str]]
TEXTS = [
    "The nurse was late.",
    "",
    "A doctor met the family of the musician today, again.",
    "The nurse was late.",
]


@pytest.fixture(scope="module")
def folder(
    model: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., str]:
    def make(kind: str, labels: dict[int, str]) -> str:
        path = tmp_path_factory.mktemp(kind)
        torch.manual_seed(5)
        config = transformers.AutoConfig.from_pretrained(model("bert"))
        config.id2label, config.label2id = labels, {v: k for k, v in labels.items()}
        config.initializer_range = 0.4
        getattr(transformers, f"BertFor{kind}Classification")(config).save_pretrained(path)
        transformers.AutoTokenizer.from_pretrained(model("bert")).save_pretrained(path)
        return str(path)

    return make


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, rows: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("task", ["text-classification", "nli"])
def test_probabilities_are_those_of_the_model(
    task: str, karat: Run, folder: Callable[..., str], tmp_path: Path
) -> None:
    place = folder("Sequence", {0: "no", 1: "maybe", 2: "yes"})
    rows = [{"text": text, "text_pair": TEXTS[::-1][i] or "None."} for i, text in enumerate(TEXTS)]
    data, out = write(tmp_path / "data.jsonl", rows), tmp_path / "p.jsonl"
    status, _, err = karat("predict", task, data, "--pretrained-class", place, "--out", str(out))
    assert status == 0, err
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(place).eval()
    found = lines(out)
    assert len(found) == len(rows)
    for row, made in zip(rows, found, strict=True):
        texts = (row["text"], row["text_pair"])[: 2 if task == "nli" else 1]
        with torch.no_grad():
            expected = plain(**tokenizer(*texts, return_tensors="pt")).logits[0].softmax(-1)
        assert made["probabilities"] == pytest.approx(expected.tolist(), abs=1e-5)
    if task == "text-classification":
        assert found[0] == found[3]


def test_entities_are_spans_of_the_text(
    karat: Run, folder: Callable[..., str], tmp_path: Path
) -> None:
    place = folder("Token", {0: "O", 1: "B-X", 2: "I-X", 3: "B-Y", 4: "I-Y"})
    data = write(tmp_path / "data.jsonl", [{"text": text} for text in TEXTS])
    out = tmp_path / "p.jsonl"
    status, _, err = karat("predict", "ner", data, "--pretrained-class", place, "--out", str(out))
    assert status == 0, err
    found = lines(out)
    assert len(found) == len(TEXTS)
    assert found[1] == {"predicted_entities": []}
    tagger = transformers.pipeline(
        "token-classification", model=place, aggregation_strategy="first"
    )
    for text, made in zip(TEXTS, found, strict=True):
        spans = [
            (e["type"], m["start_offset"], m["end_offset"] + 1)
            for e in made["predicted_entities"]
            for m in e["mentions"]
        ]
        told = tagger(text) if text else []
        assert spans == [(e["entity_group"], e["start"], e["end"]) for e in told]
    assert sum(len(row["predicted_entities"]) for row in found) > 3


def test_records_without_text_are_named(karat: Run, tmp_path: Path) -> None:
    data = write(tmp_path / "data.jsonl", [{"text": "a"}, {"txt": "b"}])
    out = str(tmp_path / "p.jsonl")
    status, _, err = karat(
        "predict", "text-classification", data, "--pretrained-class", "x/y", "--out", out
    )
    assert status == 2
    assert "data.jsonl:2: text-missing" in err
    assert "nothing was predicted" in err


def test_a_classifier_of_another_kind_is_refused(
    karat: Run, folder: Callable[..., str], tmp_path: Path
) -> None:
    """Both kinds have weights of the same names and shapes, so nothing else would tell."""
    data = write(tmp_path / "data.jsonl", [{"text": "a"}])
    for task, kind in (("ner", "Sequence"), ("text-classification", "Token")):
        words = ["--pretrained-class", folder(kind, {0: "O", 1: "X"})]
        status, _, err = karat("predict", task, data, *words, "--out", str(tmp_path / "p.jsonl"))
        assert status == 2
        assert "another task" in err
