"""Both command lines against the plain reference, byte for byte, over files as people write them.

The texts are those of the fuzzer; what varies here is the file: blanks, escapes, order, ids that
hold quotes, superfluous ids, empty articles, whole and odd numbers as probabilities.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from making import question, text
from reference import official11, official20, questions

from karat.compat import squad, squad11, squad_pictures

ODD_IDS = ("q{}", "é{}", 'a"b{}', '":{}', "\\{}", "\\\\{}", "日{}", " {} ")
ODD_CHANCES = (0, 1, -1, 0.5, -0.0, 5e-324, 1e308, 2**64, 10**30, float("inf"), float("nan"))


def as_file(rng: Random, path: Path, value: Any) -> str:
    """The path of a file that holds the value, in one of the ways of writing it."""
    blanks = rng.choice(
        [{}, {"indent": 1}, {"separators": (",", ":")}, {"separators": (" , ", " : ")}]
    )
    made = json.dumps(value, ensure_ascii=rng.random() < 0.5, **blanks)
    try:
        path.write_text(made, "utf-8")
    except UnicodeEncodeError:  # half a surrogate pair can only be written as an escape
        path.write_text(json.dumps(value, **blanks), "utf-8")
    return str(path)


def articles(rng: Random, posed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Paragraphs of a few questions, some articles and paragraphs without any."""
    found: list[dict[str, Any]] = [{"paragraphs": []}]
    left = list(posed)
    while left:
        size = rng.randrange(6)
        part, left = left[:size], left[size:]
        paragraphs = [{"context": text(rng), "qas": part}, {"qas": []}]
        found.append({"title": text(rng), "paragraphs": paragraphs[: rng.choice([1, 2])]})
    return found


def case(seed: int) -> tuple[Random, dict[str, Any], dict[str, str], dict[str, float]]:
    rng = Random(seed)
    pool = [text(rng) for _ in range(8)] + ["", "the", "the cat", "a cat sat"]
    n = rng.choice([1, 2, 40])
    ids = [rng.choice(ODD_IDS).format(i) for i in range(n)]
    most = rng.choice([[0], [1, 2], [0, 0, 1, 2, 6]])
    posed = [question(key, *(rng.choice(pool) for _ in range(rng.choice(most)))) for key in ids]
    keys = rng.choice([ids, rng.sample(ids, n)])
    said = {key: rng.choice(pool) for key in keys}
    draw = rng.choice([rng.random, lambda: 0.5, lambda: rng.choice(ODD_CHANCES)])
    chances = {key: draw() for key in rng.choice([keys, rng.sample(ids, n)])}
    said |= {f"extra {i}": "x" for i in range(rng.choice([0, 0, 2]))}
    return rng, {"version": "v2.0", "data": articles(rng, posed)}, said, chances


@pytest.mark.parametrize("block", range(4))
def test_version_2(
    block: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(squad_pictures, "draw", lambda scores, folder: [])
    for seed in range(40 * block, 40 * block + 40):
        rng, data, said, chances = case(seed)
        words = [as_file(rng, tmp_path / "g", data), as_file(rng, tmp_path / "p", said)]
        cut = rng.choice([1.0, 0.5, 0.0, -1.0, float("nan")])
        words.append(f"--na-prob-thresh={cut}")
        given, curves = rng.random() < 0.6, rng.random() < 0.5
        words += ["-n", as_file(rng, tmp_path / "n", chances)] if given else []
        words += ["-p", str(tmp_path)] if curves else []
        assert squad.main(words) == 0, seed
        expected = official20(data, said, chances if given else None, cut, curves)
        assert capsys.readouterr().out == json.dumps(expected, indent=2) + "\n", seed


@pytest.mark.parametrize("block", range(2))
def test_version_1(block: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(40 * block, 40 * block + 40):
        rng, data, said, _ = case(seed)
        for one in questions(data):
            one["answers"] = one["answers"] or [{"text": "the"}]
            if rng.random() < 0.1:
                said.pop(one["id"])
        words = [as_file(rng, tmp_path / "g", data), as_file(rng, tmp_path / "p", said)]
        assert squad11.main(words) == 0, seed
        assert capsys.readouterr().out == json.dumps(official11(data, said)) + "\n", seed
