"""The original code's scores of the tiny models: which there are, and how close is equal."""

from __future__ import annotations

import json
from pathlib import Path

FOLDERS = {
    "bert": "tiny-bert-cased",
    "gpt2": "tiny-gpt2",
    "mgpt": "tiny-mgpt",
    "t5": "tiny-t5",
    "mt5": "tiny-mt5",
}
CASES = ("orig", "b", "c", "d", "e", "f")
PATHS = [
    ("intersentence", "bert", "BertNextSentence"),
    ("intersentence", "gpt2", "GPT2LM"),
    ("intersentence", "gpt2", "ModelNSP"),
    ("intersentence", "mgpt", "GPT2LM"),
    ("intersentence", "mt5", "ModelNSP"),
    ("intersentence", "mt5", "mT5LM"),
    ("intersentence", "t5", "ModelNSP"),
    ("intersentence", "t5", "T5LM"),
    ("intrasentence", "bert", "BertLM"),
    ("intrasentence", "gpt2", "GPT2LM"),
    ("intrasentence", "mgpt", "GPT2LM"),
    ("intrasentence", "mt5", "mT5LM"),
    ("intrasentence", "t5", "T5LM"),
]


def cases_of(section: str, path: str) -> tuple[str, ...]:
    """The case numbers of a path; one unnamed where it has none."""
    return CASES if path == "GPT2LM" and section == "intersentence" else ("",)


def checkpoint(reference: Path, short: str, path: str) -> Path | None:
    """The next-sentence checkpoint of a tiny model, where the path needs one."""
    name = f"{FOLDERS[short]}_5e-06_0.001_1_FINAL.pth"
    return reference / "models" / "nsp" / name if path == "ModelNSP" else None


def expected(
    reference: Path, dtype: str, section: str, short: str, path: str, case: str
) -> dict[str, float]:
    """Candidate id -> the original's score at batch size 1."""
    tail = f"_{case}" if case else ""
    file = reference / f"scores-{dtype}" / f"{section}__{short}_{path}{tail}.json"
    return {row["id"]: row["score"] for row in json.loads(file.read_text())[section]}


def tolerance(dtype: str, short: str, section: str, path: str) -> float:
    """What the reference data promise: the original's `generate` casts its scores to fp32."""
    if dtype == "fp32":
        return 2e-4 if "t5" in short else 2e-5
    generated = "t5" in short and (section == "intrasentence" or path == "ModelNSP")
    return 2e-6 if generated else 1e-9
