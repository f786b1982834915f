"""karat convert: every way keeps the offsets, and what a format cannot say is told."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from karat import DataError, UsageError, score
from karat.model.problem import Problem
from karat.run.convert import convert

FORMATS = ("cache", "spacy", "conll", "tags", "brat")
SIGNS = [*"aZé東д_1-.,'&<{", "e\u0301", "𝔘", "👩\u200d🚀", "😀"]
SPACES = [" ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2028", "\u0085"]

Row = dict[str, Any]


def entity(kind: str, *places: tuple[int, int]) -> Row:
    mentions = [{"start_offset": a, "end_offset": b} for a, b in places]
    return {"type": kind, "mentions": mentions}


def texts(dice: Random) -> list[Row]:
    """Texts of many alphabets and kinds of white space, with spans that start and end anywhere."""
    rows = []
    for _ in range(4):
        words = ["".join(dice.choices(SIGNS, k=dice.randint(1, 5))) for _ in range(6)]
        text = "".join(word + dice.choice(SPACES) for word in words)
        spans, at = [], 0
        while at < len(text) and dice.random() < 0.85:
            start = dice.randint(at, len(text) - 1)
            end = dice.randint(start + 1, min(len(text), start + 8))
            at = start + 1
            if not (text[start].isspace() or text[end - 1].isspace()):
                spans.append((start, end))
                at = end
        kinds = ("PER", "A-B", "Ünï", "O")
        rows.append({"text": text, "entities": [entity(dice.choice(kinds), s) for s in spans]})
    return rows


def written(rows: list[Row], path: Path) -> Path:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes("".join(lines).encode())
    return path


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_bytes().decode().split("\n") if line]


def ending(form: str) -> str:
    return {"conll": ".conll", "brat": ""}.get(form, ".jsonl")


@pytest.mark.parametrize("seed", range(40))
def test_any_chain_of_formats_keeps_every_offset(seed: int, tmp_path: Path) -> None:
    dice = Random(seed)
    rows = texts(dice)
    here, form = written(rows, tmp_path / "0.jsonl"), "cache"
    for step, target in enumerate([*dice.choices(FORMATS, k=3), "cache"], 1):
        if target == form:
            continue
        there = tmp_path / f"{step}{ending(target)}"
        options: dict[str, Any] = {"end": "exclusive"} if form == "cache" else {}
        if target in ("conll", "tags"):
            options["scheme"] = dice.choice(("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"))
        convert([here], there, form, target, options)
        here, form = there, target
    found = read(here)
    assert [row["entities"] for row in found] == [row["entities"] for row in rows]
    for old, new in zip(rows, found, strict=True):
        # Columns know the places of tokens, not which kind of white space stands between them.
        assert new["text"].split() == old["text"].split()


@pytest.mark.parametrize("form", ["spacy", "tags", "brat"])
def test_texts_come_back_as_they_were(form: str, tmp_path: Path) -> None:
    rows = [*texts(Random(form)), {"text": "", "entities": []}, {"text": " \n", "entities": []}]
    first = written(rows, tmp_path / "a.jsonl")
    convert([first], tmp_path / f"b{ending(form)}", "cache", form, {"end": "exclusive"})
    convert([tmp_path / f"b{ending(form)}"], tmp_path / "c.jsonl", form, "cache")
    assert read(tmp_path / "c.jsonl") == rows


def test_groups_survive_brat(tmp_path: Path) -> None:
    row = {"text": "Ada met her", "entities": [entity("PER", (0, 3), (8, 11)), entity("X", (4, 7))]}
    convert([written([row], tmp_path / "a.jsonl")], tmp_path / "b", "cache", "brat")
    convert([tmp_path / "b"], tmp_path / "c.jsonl", "brat", "cache")
    assert read(tmp_path / "c.jsonl") == [row]


def problems_of(path: Path, target: str, **options: Any) -> list[Problem]:
    """What a conversion that must fail says; nothing is left of it."""
    before = sorted(path.parent.iterdir())
    with pytest.raises(DataError) as stopped:
        convert([path], path.parent / "out", target=target, options=options)
    assert sorted(path.parent.iterdir()) == before
    return [one for one in stopped.value.problems if one.severity == "error"]


@pytest.mark.parametrize(
    ("row", "target", "code"),
    [
        ({"text": "a b", "entities": [entity("A B", (0, 1))]}, "brat", "format-limit"),
        ({"text": "a b", "entities": [entity("A\tB", (0, 1))]}, "conll", "format-limit"),
        ({"text": "a b", "entities": [entity("", (0, 1))]}, "tags", "format-limit"),
        ({"tokens": ["a\tb"], "ner_tags": ["O"]}, "conll", "format-limit"),
        ({"tokens": ["-DOCSTART-"], "ner_tags": ["O"]}, "conll", "format-limit"),
        ({"tokens": ["a"], "ner_tags": ["B-X"], "offsets": [[0, 9]]}, "cache", "offset-order"),
        ({"tokens": ["a"], "ner_tags": ["B-X"], "offsets": [["x", 1]]}, "cache", "offset-type"),
        ({"tokens": ["a"], "ner_tags": ["B-X"], "offsets": []}, "cache", "sentence-length"),
        ({"tokens": ["a"], "ner_tags": ["B-X", "O"]}, "cache", "sentence-length"),
        ({"tokens": ["a"], "ner_tags": [1]}, "cache", "tag-unreadable"),
        ({"tokens": [1], "ner_tags": ["O"]}, "cache", "tokens-type"),
    ],
)
def test_what_cannot_be_said_is_an_error(row: Row, target: str, code: str, tmp_path: Path) -> None:
    path = written([row], tmp_path / "a.jsonl")
    found = problems_of(path, target)
    assert [(one.code, one.file, one.line) for one in found] == [(code, str(path), 1)]


def test_broken_inputs_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a"], "ner_tags": ["O"]}\n{"tokens": \n')
    assert [(p.code, p.line) for p in problems_of(path, "cache")] == [("json-syntax", 2)]
    path = tmp_path / "a.conll"
    path.write_bytes(b"a O\n\n\xff B-X\n")
    assert [(p.code, p.line) for p in problems_of(path, "cache")] == [("encoding", 3)]


def test_what_tags_lose_is_a_warning(tmp_path: Path) -> None:
    row = {"text": "a b ", "entities": [entity("X", (0, 2)), entity("Y", (2, 3), (3, 4))]}
    path = written([row], tmp_path / "a.jsonl")
    _, problems = convert([path], tmp_path / "b.jsonl", target="tags", options={"end": "exclusive"})
    told = sorted((p.code, p.severity) for p in problems if p.file == str(path) and not p.key)
    assert told == [
        ("mentions-apart", "warning"),
        ("offset-space", "warning"),
        ("offset-space", "warning"),
    ]
    assert read(tmp_path / "b.jsonl")[0]["ner_tags"] == ["B-X", "B-Y"]


def test_tokens_of_a_text_are_found_in_it(tmp_path: Path) -> None:
    """Pieces of words with offsets, marks without a label, and words to be looked up."""
    rows = [
        {
            "tokens": ["[CLS]", "Bob", "##by", "[SEP]"],
            "ner_tags": [-100, 1, 2, -100],
            "offsets": [[0, 0], [0, 3], [3, 5], [0, 0]],
            "text": "Bobby",
        },
        {"tokens": ["in", "Ōsaka", "."], "ner_tags": [0, 3, 0], "text": " in\nŌsaka."},
        {"tokens": ["not", "there"], "ner_tags": [0, 1], "text": "elsewhere"},
    ]
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(rows).encode()))
    names = {"tag_names": "O,B-PER,I-PER,B-LOC"}
    convert([path], tmp_path / "b.jsonl", "tags", "cache", names)
    assert read(tmp_path / "b.jsonl") == [
        {"text": "Bobby", "entities": [entity("PER", (0, 5))]},
        {"text": " in\nŌsaka.", "entities": [entity("LOC", (4, 9))]},
        {"text": "not there", "entities": [entity("PER", (4, 9))]},
    ]


def test_predictions_in_the_row_can_be_meant(tmp_path: Path) -> None:
    row = {"text": "Ada", "entities": [], "predicted_entities": [entity("PER", (0, 3))]}
    path = written([row], tmp_path / "a.jsonl")
    convert([path], tmp_path / "b.jsonl", "cache", "tags", {"role": "predictions"})
    assert read(tmp_path / "b.jsonl")[0]["predicted_tags"] == ["B-PER"]
    tags = {"tokens": ["Ada"], "ner_tags": ["O"], "predicted_tags": ["B-PER"]}
    path = written([tags], tmp_path / "c.jsonl")
    convert([path], tmp_path / "d.jsonl", "tags", "cache", {"role": "predictions"})
    assert read(tmp_path / "d.jsonl") == [{"predicted_entities": [entity("PER", (0, 3))]}]


def test_a_cache_gets_other_ends_and_tags_another_scheme(tmp_path: Path) -> None:
    row = {"text": "Ada", "entities": [entity("PER", (0, 3))]}
    path = written([row], tmp_path / "a.jsonl")
    _, problems = convert(
        [path], tmp_path / "b.jsonl", "cache", "cache", {"write_end": "inclusive"}
    )
    assert read(tmp_path / "b.jsonl")[0]["entities"] == [entity("PER", (0, 2))]
    assert [(p.code, p.severity) for p in problems] == [("end-convention", "note")]
    (tmp_path / "a.conll").write_text("New B-X\nYork I-X\nRome B-X\n")
    convert([tmp_path / "a.conll"], tmp_path / "b.conll", "conll", "conll", {"scheme": "BILOU"})
    assert [line.split()[-1] for line in (tmp_path / "b.conll").read_text().splitlines()] == [
        "B-X",
        "L-X",
        "U-X",
    ]


def test_usage(tmp_path: Path) -> None:
    path = written([{"text": "Ada", "entities": []}], tmp_path / "a.jsonl")
    for options in ({"column": "x"}, {"colour": "red"}, {"scheme": "X"}):
        with pytest.raises(UsageError):
            convert([path], tmp_path / "b", "cache", "conll", options)
    with pytest.raises(UsageError, match="standard input"):
        convert(["-"], tmp_path / "b", "cache", "conll")


def test_records_with_a_text_and_tags_are_tags(tmp_path: Path) -> None:
    """Hugging Face's records may hold the text as well; they are not text classification."""
    row = {"id": "1", "text": "Ada", "tokens": ["Ada"], "ner_tags": ["B-PER"]}
    path = written([row], tmp_path / "a.jsonl")
    other = written([{"tokens": ["Ada"], "predicted_tags": ["B-PER"]}], tmp_path / "b.jsonl")
    report = score(str(path), str(other))
    assert (report.task, report.f1_micro) == ("entities", 1.0)
