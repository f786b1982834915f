"""Question-answering files for the tests, and the seeded texts of the fuzzer."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

# Words, articles, and what stands next to them in the wild: blanks of every kind, quotation marks,
# combining marks, letters whose lower case is odd, control characters, halves of surrogate pairs.
ATOMS = (
    *("a", "an", "the", "The", "A", "cat", "Dog", "x", "1", "n't", "h", "e"),
    *(" ", "  ", "\t", "\n", "\x1c", "\x85", "\xa0", "\u2003"),
    *("-", "'", "_", ".", "%", "’", "“", "”", "—", "\u200b", "\ufeff", "\u00ad"),
    *("\u0301", "İ", "Σ", "σ", "ς", "\u212a", "ß", "ẞ", "é", "½", "ª", "国", "😀"),
    *("\ud800", "\udfff", "\x00", "\x7f", "\x01"),
)


def text(rng: Random) -> str:
    return "".join(rng.choice(ATOMS) for _ in range(rng.randrange(6)))


def dataset(questions: list[dict[str, Any]], version: str = "v2.0") -> dict[str, Any]:
    half = (len(questions) + 1) // 2
    parts = [questions[:half], questions[half:]]
    articles = [
        {"title": f"t{i}", "paragraphs": [{"context": "c", "qas": part}]}
        for i, part in enumerate(parts)
    ]
    return {"version": version, "data": articles}


def question(key: str, *golds: str, **more: Any) -> dict[str, Any]:
    answers = [{"text": gold, "answer_start": 0} for gold in golds]
    return {"id": key, "question": "Who is it?", "answers": answers, **more}


def written(folder: Path, name: str, value: Any) -> str:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return str(path)
