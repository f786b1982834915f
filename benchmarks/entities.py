"""Entities: karat against the bare decoding of the files, seqeval and nervaluate.

    python benchmarks/entities.py --rows 200000 --rounds 3

The data is made on first use in a temporary folder: sentences of about 17 words with spans of four
types, predicted with errors in four documents of ten, as caches, as JSON tags and as columns.
Before anything is timed, karat's numbers are held against those of the tools.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from random import Random
from typing import Any

from measure import Peer, Work, answer_as_child, arguments, chosen, machine, race

SEED = 20250319
TYPES = ("PER", "LOC", "ORG", "MISC")
WORDS = ("the", "Anna", "sold", "Port", "Hill", "bank", "in", "and", "Rail", "May", "of", "left")
Chunk = tuple[int, int, str]


# ---- data -------------------------------------------------------------------------------------


def sentence(dice: Random) -> tuple[list[str], list[Chunk]]:
    """Words, and chunks as (first word, past the last word, type)."""
    words = [WORDS[int(dice.random() * len(WORDS))] for _ in range(8 + int(dice.random() * 19))]
    chunks, at = [], int(dice.random() * 8)
    while at < len(words):
        end = min(len(words), at + 1 + int(dice.random() * 3))
        chunks.append((at, end, TYPES[int(dice.random() * 4)]))
        at = end + 1 + int(dice.random() * 14)
    return words, chunks


def predicted(dice: Random, chunks: list[Chunk], length: int) -> list[Chunk]:
    """The chunks as a tagger with errors finds them."""
    if dice.random() < 0.61:
        return chunks
    out: list[Chunk] = []
    for start, end, kind in chunks:
        way, stop, said = dice.random(), end, kind
        if way < 0.2:
            continue
        if way < 0.4:
            said = TYPES[int(dice.random() * 4)]
        elif way < 0.5 and end < length:
            stop = end + 1
        elif way < 0.6 and end - start > 1:
            stop = end - 1
        if not out or out[-1][1] <= start:
            out.append((start, stop, said))
    return out


def tags(chunks: list[Chunk], length: int) -> list[str]:
    """The chunks as IOB2 tags."""
    found = ["O"] * length
    for start, end, kind in chunks:
        found[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
    return found


def entities(words: list[str], chunks: list[Chunk]) -> list[dict[str, Any]]:
    """The chunks in characters, as caches hold them."""
    edges, at = [], 0
    for word in words:
        edges.append((at, at + len(word)))
        at += len(word) + 1
    return [
        {
            "type": kind,
            "mentions": [{"start_offset": edges[a][0], "end_offset": edges[b - 1][1]}],
        }
        for a, b, kind in chunks
    ]


def make(folder: Path, rows: int) -> None:
    """Write all files, unless they are there."""
    if (folder / "done").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    dice = Random(SEED)
    names = (
        "gold.jsonl",
        "pred.jsonl",
        "gold.tags.jsonl",
        "pred.tags.jsonl",
        "gold.txt",
        "pred.txt",
    )
    files = [(folder / name).open("w") for name in names]
    for _ in range(rows):
        words, gold = sentence(dice)
        pred = predicted(dice, gold, len(words))
        files[0].write(
            json.dumps({"text": " ".join(words), "entities": entities(words, gold)}) + "\n"
        )
        files[1].write(json.dumps({"predicted_entities": entities(words, pred)}) + "\n")
        for place, key, chunks in ((2, "ner_tags", gold), (3, "predicted_tags", pred)):
            line = tags(chunks, len(words))
            files[place].write(json.dumps({"tokens": words, key: line}) + "\n")
            pairs = zip(words, line, strict=True)
            files[place + 2].write("\n".join(f"{w}\t{t}" for w, t in pairs) + "\n\n")
    for file in files:
        file.close()
    (folder / "done").touch()


# ---- peers ------------------------------------------------------------------------------------


def bare(folder: Path) -> Work:
    """Typed decoding of both caches and nothing else."""
    import msgspec

    from karat.tasks.entities.records import Entity

    gold = msgspec.defstruct("Gold", [("text", str), ("entities", list[Entity])], gc=False)
    pred = msgspec.defstruct("Pred", [("predicted_entities", list[Entity])], gc=False)

    def work() -> Any:
        first = msgspec.json.Decoder(gold).decode_lines((folder / "gold.jsonl").read_bytes())
        second = msgspec.json.Decoder(pred).decode_lines((folder / "pred.jsonl").read_bytes())
        return first, second

    return work


def karat_with(suffix: str, **options: Any) -> Any:
    """A score by karat, files read and checked, intervals left out."""

    def prepare(folder: Path) -> Work:
        import karat
        from karat import score

        # The first call imports the engine; what a library costs to import is left out for all.
        sample = Path(karat.__file__).parent / "samples" / "entities"
        files = [str(sample / f"{side}.jsonl") for side in ("gold", "predictions")]
        score(*files, task="entities", confidence=None)
        sides = [str(folder / f"{side}{suffix}") for side in ("gold", "pred")]
        return lambda: score(*sides, task="entities", confidence=None, **options)

    return prepare


def tag_lists(folder: Path) -> tuple[list[list[str]], list[list[str]]]:
    """The tags of both sides, parsed by the fastest reader there is."""
    import orjson

    def read(name: str, key: str) -> list[list[str]]:
        with (folder / name).open("rb") as file:
            return [orjson.loads(line)[key] for line in file]

    return read("gold.tags.jsonl", "ner_tags"), read("pred.tags.jsonl", "predicted_tags")


def seqeval(folder: Path) -> Work:
    """seqeval's report, from the same tags."""
    from seqeval.metrics import classification_report

    warnings.simplefilter("ignore")
    return lambda: classification_report(*tag_lists(folder), output_dict=True)


def nervaluate(folder: Path) -> Work:
    """nervaluate's four schemas, from the same caches."""
    import orjson
    from nervaluate import Evaluator

    def read(name: str, key: str) -> list[list[dict[str, Any]]]:
        with (folder / name).open("rb") as file:
            return [
                [
                    {"start": m["start_offset"], "end": m["end_offset"] - 1, "label": e["type"]}
                    for e in orjson.loads(line)[key]
                    for m in e["mentions"]
                ]
                for line in file
            ]

    def work() -> Any:
        gold, pred = read("gold.jsonl", "entities"), read("pred.jsonl", "predicted_entities")
        return Evaluator(gold, pred, tags=list(TYPES), loader="dict").evaluate()

    return work


PEERS = (
    Peer("typed parse of the caches", "typed parse of the caches", bare),
    Peer("karat, exact spans", "seqeval, report", karat_with(".jsonl")),
    Peer("seqeval, report", "seqeval, report", seqeval),
    Peer(
        "karat --like seqeval, JSON tags",
        "seqeval, report",
        karat_with(".tags.jsonl", like="seqeval"),
    ),
    Peer("karat --like seqeval, columns", "seqeval, report", karat_with(".txt", like="seqeval")),
    Peer("karat --like nervaluate", "nervaluate", karat_with(".jsonl", like="nervaluate")),
    Peer("nervaluate", "nervaluate", nervaluate),
)


def check(folder: Path) -> None:
    """Hold karat's numbers against the tools' before anything is timed."""
    from karat import score

    report: Any = seqeval(folder)()
    for suffix, options in (
        (".jsonl", {}),
        (".tags.jsonl", {"like": "seqeval"}),
        (".txt", {"like": "seqeval"}),
    ):
        ours = score(
            *(str(folder / f"{side}{suffix}") for side in ("gold", "pred")),
            task="entities",
            confidence=None,
            **options,  # type: ignore[arg-type]
        )
        assert abs((ours.f1_micro or 0) - report["micro avg"]["f1-score"]) < 1e-12, suffix
    theirs: Any = nervaluate(folder)()
    like = karat_with(".jsonl", like="nervaluate")(folder)()
    for schema, result in theirs["overall"].items():
        assert like[f"{schema}_f1"].value == result.f1, schema


def main() -> None:
    """Make the data, check the numbers, race the peers."""
    given = arguments(rows=20_000)
    folder = Path(tempfile.gettempdir()) / f"karat-entities-{given.rows}"
    if given.peer:
        answer_as_child(PEERS, given.peer, given.folder)
        return
    make(folder, given.rows)
    check(folder)
    print(f"{given.rows:,} sentences; {machine()}")
    race(Path(__file__), chosen(PEERS, given.only), folder, given.rounds)


if __name__ == "__main__":
    main()
