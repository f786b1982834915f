"""Question answering: karat against the plain algorithm and Hugging Face `evaluate`.

    python benchmarks/answers.py --rows 130000 --rounds 3

Every peer is a whole process, from its start to its end. The data is made on first use: two thirds
of the questions answerable, one to six gold answers, three per cent of odd Unicode. Before anything
is timed, the outputs are compared. Set KARAT_EVALUATE to a folder where `evaluate` is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from measure import Peer, answer_as_child, arguments, chosen, machine, race

SEED = 20250317
HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
WORDS = (
    *("river", "stone", "harbour", "ninety", "keeper", "winter", "glass", "county", "1874"),
    *("bridge", "of", "the", "a", "an", "in", "captain", "Dorn", "mill", "white", "north"),
    *("survey", "eleven", "metres", "parish", "church", "old"),
)
ODD = ("café", "—a", "“the”", "naïve", "ﬁne", "Straße", "ΟΔΟΣ", "x\u0301", "国", "½")


def phrase(rng: Random) -> str:
    """A span of one to eight words, mostly short."""
    size = min(1 + int(rng.expovariate(0.5)), 8)
    words = [rng.choice(WORDS) for _ in range(size)]
    if rng.random() < 0.03:
        words.append(rng.choice(ODD))
    return " ".join(words)


def answer(rng: Random, golds: list[str]) -> str:
    """What a model says: exact, a variant, a part, something else, nothing."""
    luck = rng.random()
    if not golds:
        return "" if luck < 0.8 else phrase(rng)
    gold = rng.choice(golds)
    if luck < 0.6:
        return gold
    if luck < 0.75:
        return f"the {gold.capitalize()}."
    if luck < 0.85:
        return gold.rsplit(" ", 1)[0]
    return phrase(rng) if luck < 0.92 else ""


def make(folder: Path, rows: int) -> None:
    """Write gold.json and said.json, unless they are there."""
    if (folder / "said.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = Random(SEED)
    data: list[dict[str, Any]] = []
    said: dict[str, str] = {}
    while len(said) < rows:
        paragraphs = []
        for _ in range(min(40, -(-(rows - len(said)) // 5))):
            questions: list[dict[str, Any]] = []
            for _ in range(min(5, rows - len(said))):
                key = f"{rng.getrandbits(96):024x}"
                golds = [phrase(rng) for _ in range(rng.choice([0, 0, 1, 2, 3, 6]))]
                answers = [{"text": gold, "answer_start": 7} for gold in golds]
                ask = f"What of the {phrase(rng)}?"
                questions.append(
                    {"question": ask, "id": key, "answers": answers, "is_impossible": not golds}
                )
                said[key] = answer(rng, golds)
            context = " ".join(phrase(rng) for _ in range(40))
            paragraphs.append({"qas": questions, "context": context})
        data.append({"title": f"article {len(data)}", "paragraphs": paragraphs})
    (folder / "gold.json").write_text(json.dumps({"version": "v2.0", "data": data}), "utf-8")
    (folder / "said.json").write_text(json.dumps(said), "utf-8")


# ---- peers --------------------------------------------------------------------------------------

BARE = """
import gc, sys; gc.disable()
import msgspec
A = msgspec.defstruct("A", [("text", str)], gc=False)
Q = msgspec.defstruct("Q", [("id", str), ("answers", list[A])], gc=False)
P = msgspec.defstruct("P", [("qas", list[Q])], gc=False)
R = msgspec.defstruct("R", [("paragraphs", list[P])], gc=False)
D = msgspec.defstruct("D", [("data", list[R])], gc=False)
data = msgspec.json.decode(open(sys.argv[1], "rb").read(), type=D)
said = msgspec.json.decode(open(sys.argv[2], "rb").read(), type=dict[str, str])
"""
PLAIN = f"""
import json, sys; sys.path.insert(0, {str(ROOT / "tests" / "answers")!r})
import numpy
from reference import official20
data, said = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
print(json.dumps(official20(data, said), indent=2))
"""
KARAT = f"""
import sys; sys.path.insert(0, {str(ROOT / "src")!r})
sys.argv = ["karat", "score", *sys.argv[1:], "--quiet", "--json"]
from karat.cli.main import main
sys.exit(main())
"""
HF = """
import json, os, sys; sys.path.insert(0, os.environ["KARAT_EVALUATE"])
os.environ["HF_HUB_OFFLINE"] = "1"
import evaluate
data, said = json.load(open(sys.argv[1]))["data"], json.load(open(sys.argv[2]))
qs = [q for a in data for p in a["paragraphs"] for q in p["qas"]]
gold = [{"id": q["id"], "answers": {"text": [x["text"] for x in q["answers"]],
    "answer_start": [x["answer_start"] for x in q["answers"]]}} for q in qs]
mine = [{"id": q["id"], "prediction_text": said[q["id"]], "no_answer_probability": 0.0} for q in qs]
print(evaluate.load("squad_v2").compute(predictions=mine, references=gold))
"""


def program(code: str) -> Any:
    """A peer that runs this code on the two files."""

    def command(folder: Path) -> list[str]:
        return [sys.executable, "-c", code, str(folder / "gold.json"), str(folder / "said.json")]

    return command


def shell(folder: Path) -> list[str]:
    """The documented command line."""
    files = [str(folder / "gold.json"), str(folder / "said.json")]
    return [sys.executable, str(ROOT / "score.py"), *files]


FLOOR, OFFICIAL = "typed parse of the two files", "plain official algorithm"
PEERS = [
    Peer(FLOOR, FLOOR, command=program(BARE)),
    Peer("score.py against the parse", FLOOR, command=shell),
    Peer(OFFICIAL, OFFICIAL, command=program(PLAIN)),
    Peer("score.py", OFFICIAL, command=shell),
    Peer("karat score, with intervals", OFFICIAL, command=program(KARAT)),
]
if os.environ.get("KARAT_EVALUATE"):
    PEERS.append(Peer("Hugging Face evaluate", OFFICIAL, command=program(HF)))


def agree(folder: Path) -> str:
    """Whether the printed documents are the same bytes."""
    outputs = [
        subprocess.run(command(folder), check=True, capture_output=True).stdout
        for command in (program(PLAIN), shell)
    ]
    return "output equal to the byte" if outputs[0] == outputs[1] else "OUTPUTS DIFFER"


def main() -> None:
    """Make the data, compare the outputs, race the peers."""
    given = arguments(rows=130_000, small=12_000)
    if given.peer:
        return answer_as_child(PEERS, given.peer, given.folder)
    base = Path(tempfile.gettempdir()) / "karat-benchmarks"
    print(machine())
    for rows in (given.small, given.rows):
        folder = base / f"answers-{rows}"
        make(folder, rows)
        print(f"\n{rows:,} questions: {agree(folder)}")
        race(HERE, chosen(PEERS, given.only), folder, given.rounds)
    return None


if __name__ == "__main__":
    main()
