"""karat --like conlleval against a token by token walk that follows the script's rules."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from entities.fuzz import scored_tags, tags
from entities.walk import walk

from karat import score

POOLS = {
    "iob": ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"],
    "iobes": ["O", "B-PER", "I-PER", "E-PER", "S-PER", "B-LOC", "E-LOC", "S-LOC"],
    "odd": ["O", "B-PER", "I-A-B", "I", "B", "I-PER", "PER-X", "E-A-B"],
    "endless": [
        *("O", "B", "B-", "S", "U", ".", ".-A", "O-A", "-A", "A", "[", "]-A", "B-A", "I-A"),
        *("I-0", "B-0", "S-A", "L-A", "-", "OA", "b-a"),
    ],
}


@pytest.mark.parametrize("pool", POOLS)
def test_like_conlleval(pool: str) -> None:
    dice, compared = Random(pool), 0
    for _ in range(60):
        gold, pred = tags(dice, POOLS[pool])
        ours, counts = scored_tags(gold, pred, like="conlleval"), walk(gold, pred)
        assert ours["token_accuracy"] == 100 * counts.same / counts.tokens
        if counts.true and counts.said:
            precision = 100 * counts.right / counts.said
            recall = 100 * counts.right / counts.true
            total = precision + recall
            assert ours["precision_micro"] == precision
            assert ours["recall_micro"] == recall
            assert ours["f1_micro"] == (2 * precision * recall / total if total else 0.0)
            compared += 1
    assert compared > 30


def test_marks_of_documents_are_tokens_to_conlleval(tmp_path: Path) -> None:
    """Seven lines with tags, of which six agree; the script knows -X- as a mark only."""
    lines = ["-DOCSTART- -X- O O", "", "Ada X B-P B-P", "ran X O I-P", "-X- -X- O B-P"]
    lines += ["now X O O", "", "-DOCSTART- -X- O O", "Bob X I-P I-P", "sat X O O", ""]
    (tmp_path / "x.conll").write_text("\n".join(lines))
    found = score(str(tmp_path / "x.conll"), like="conlleval", examples=1)
    assert found["token_accuracy"].value == 100 * 6 / 7
    assert (found["precision_micro"].value, found["recall_micro"].value) == (50.0, 50.0)
    assert found["f1_type_P"].value == 50.0
    assert found.clusters == 3
    assert found.examples[0].why == 'too long: P "Ada ran", gold P "Ada"'
    default = score(str(tmp_path / "x.conll"))
    assert default["token_accuracy"].value == 4 / 5


def test_the_example_of_the_shared_task() -> None:
    """Four gold phrases, five found, three of them right: 60.00, 75.00 and 66.67 percent."""
    gold = [["B-NP", "I-NP", "B-VP", "B-NP", "O", "B-PP"]]
    pred = [["B-NP", "I-NP", "B-VP", "B-NP", "B-X", "B-Y"]]
    ours = scored_tags(gold, pred, like="conlleval")
    assert ours["precision_micro"] == 60.0
    assert ours["recall_micro"] == 75.0
    assert ours["f1_micro"] == pytest.approx(66.66666666666667, abs=1e-12)


@pytest.mark.parametrize(
    ("like", "pool"),
    [
        (None, "iob"),
        ("conlleval", "iob"),
        ("conlleval", "endless"),
        ("seqeval", "endless"),
        ("seqeval-strict:IOB2", "iob"),
        ("nervaluate", "iob"),
    ],
)
def test_blocks_do_not_show(like: str | None, pool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences are decoded in blocks; any size of them gives the same chunks."""
    dice = Random("blocks")
    sides = [tags(dice, POOLS[pool]) for _ in range(40)]
    gold = [line for side, _ in sides for line in side]
    pred = [line for _, side in sides for line in side]
    if like == "nervaluate":
        pred = gold
    whole = scored_tags(gold, pred, like=like)
    monkeypatch.setattr("karat.tasks.entities.chunks.BLOCK", 7)
    assert scored_tags(gold, pred, like=like) == whole
