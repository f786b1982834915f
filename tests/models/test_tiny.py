"""The model that comes with karat: it runs offline, and it has learnt the samples' English."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from karat.models.examples import Candidate, Example
from karat.models.loading import Settings

SAMPLES = Path(__file__).parents[2] / "src" / "karat" / "samples"


def test_the_sample_is_predicted_and_scored(
    karat: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    gold, out = str(SAMPLES / "stereotypes" / "gold.jsonl"), str(tmp_path / "p.json")
    status, _, err = karat("predict", "stereoset", gold, "--pretrained-class", "tiny", "--out", out)
    assert status == 0, err
    assert "gpt2, a causal model" in err
    status, text, err = karat("score", gold, out, "--json")
    assert status == 0, err
    assert json.loads(text)["task"] == "stereotypes"


def test_it_prefers_sentences_to_their_words_shuffled(score: Callable[..., Any]) -> None:
    lines = (SAMPLES / "text-classification" / "gold.jsonl").read_text().splitlines()[:40]
    examples = []
    for i, line in enumerate(lines):
        text = json.loads(line)["text"]
        candidates = (Candidate(f"{i}a", text), Candidate(f"{i}b", " ".join(text.split()[::-1])))
        examples.append(Example("", candidates))
    found = score(Settings("tiny"), "intrasentence", "GPT2LM", examples)[""]
    won = sum(a > b for a, b in zip(found[::2], found[1::2], strict=True))
    assert won >= 38
    # A model that had learnt nothing would give each of 600 pieces the same chance.
    assert sum(math.log(a) for a in found[::2]) / 40 > math.log(1 / 600) + 3


def test_it_is_small() -> None:
    files = list((SAMPLES / "tiny-model").iterdir())
    assert sum(file.stat().st_size for file in files) < 400_000
