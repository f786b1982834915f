"""Next-sentence training: pairs, learning, and a stopped run that ends as an unbroken one."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from karat.errors import UsageError
from karat.models.documents import make_pairs, read_documents, sentences, split
from karat.models.loading import Settings
from karat.models.training import Recipe, Trainer

TOPICS = ["nurse", "doctor", "music", "family", "school", "street", "garden", "window"]


def write_documents(path: Path, n: int) -> Path:
    """One document a line; a document keeps to its topic, so that neighbours can be told."""
    chance = random.Random(3)
    lines = []
    for i in range(n):
        topic = TOPICS[i % len(TOPICS)]
        ends = chance.sample(["early", "late", "again", "today", "there", "well"], 4)
        lines.append(" ".join(f"The {topic} {topic} was {end}." for end in ends))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_sentences_are_cut_at_their_ends() -> None:
    text = 'He came. "Who?" she said... Then e.g. nothing! ¿Qué? End'
    assert sentences(text)[0] == "He came."
    assert " ".join(sentences("One. Two! Three? 4 is not. Five")).split() == [
        "One.", "Two!", "Three?", "4", "is", "not.", "Five",
    ]  # fmt: skip


def test_pairs_are_neighbours_or_from_two_documents(tmp_path: Path) -> None:
    documents = [["a1.", "a2.", "a3."], ["b1.", "b2."], ["c1."]]
    pairs = make_pairs(documents, 27)
    assert sorted(p[:2] for p in pairs if p.label) == [
        ("a1.", "a2."), ("a2.", "a3."), ("b1.", "b2."),
    ]  # fmt: skip
    unrelated = [p for p in pairs if not p.label]
    assert sorted(p.first for p in unrelated) == ["a1.", "a2.", "a3.", "b1.", "b2.", "c1."]
    assert all(p.first[0] != p.second[0] for p in unrelated)
    assert make_pairs(documents, 27) == pairs != make_pairs(documents, 28)
    with pytest.raises(UsageError, match="two documents"):
        make_pairs(documents[:1], 27)


def test_a_folder_holds_a_document_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.\nTwo.\n")
    (tmp_path / "b.txt").write_text("Three. Four.")
    assert read_documents([tmp_path]) == [["One.", "Two."], ["Three.", "Four."]]
    kept, held = split([[str(i)] for i in range(20)], 0.1, 27)
    assert len(held) == 2
    assert sorted(d[0] for d in kept + held) == sorted(str(i) for i in range(20))


@pytest.mark.parametrize("short", ["gpt2", "t5"])
def test_a_stopped_training_ends_as_an_unbroken_one(
    short: str, tmp_path: Path, model: Callable[[str], str]
) -> None:
    documents = read_documents([write_documents(tmp_path / "d.txt", 8)])
    recipe = Recipe(epochs=2, batch_size=4, accumulation=2, every=2)
    checkpoint = tmp_path / "c"

    def fresh() -> Trainer:
        return Trainer(Settings(model(short)), recipe, make_pairs(documents, 27))

    unbroken, said, again = fresh(), list[str](), list[str]()
    for _ in unbroken.go(said.append):
        pass
    stopped = fresh()
    for count, _ in enumerate(stopped.go(lambda text: None, checkpoint)):
        if count == 20:
            break
    resumed = fresh()
    resumed.restore(checkpoint)
    assert (resumed.epoch, resumed.batch) != (0, 0)
    for _ in resumed.go(again.append, checkpoint):
        pass
    assert again == said[-len(again) :]
    told = resumed.model.state_dict()
    for name, weight in unbroken.model.state_dict().items():
        assert torch.equal(weight, told[name]), name


def test_training_learns_and_predict_takes_the_result(
    tmp_path: Path,
    karat: Callable[..., tuple[int, str, str]],
    model: Callable[[str], str],
    data: dict[str, str],
) -> None:
    texts = write_documents(tmp_path / "d.txt", 240)
    out = tmp_path / "nsp.safetensors"
    words = ["train", "nsp", str(texts), "--pretrained-class", model("gpt2"), "--out", str(out)]
    words += ["--epochs", "4", "--core-lr", "5e-3", "--head-lr", "5e-3", "--batch-size", "16"]
    status, _, err = karat(*words)
    assert status == 0, err
    assert float(err.split("held-out accuracy")[1].split()[0]) > 0.7
    words = ["predict", "stereoset", data["intersentence"], "--pretrained-class", model("gpt2")]
    made = tmp_path / "p.json"
    status, _, err = karat(*words, "--nsp-model-path", str(out), "--out", str(made))
    assert status == 0, err
    assert "ModelNSP" in err
    assert made.exists()


def test_a_masked_model_is_not_trained(model: Callable[[str], str], tmp_path: Path) -> None:
    pairs: Any = make_pairs([["a."], ["b."]], 1)
    with pytest.raises(UsageError, match="own next-sentence head"):
        Trainer(Settings(model("bert")), Recipe(), pairs)


def test_a_checkpoint_of_another_run_is_refused(
    tmp_path: Path, model: Callable[[str], str]
) -> None:
    pairs = make_pairs(read_documents([write_documents(tmp_path / "d.txt", 4)]), 27)
    checkpoint = tmp_path / "c"
    first = Trainer(Settings(model("gpt2")), Recipe(batch_size=4), pairs)
    first.save(checkpoint)
    Trainer(Settings(model("gpt2")), Recipe(batch_size=4, every=9), pairs).restore(checkpoint)
    others: list[tuple[str, Recipe, Any]] = [
        ("gpt2", Recipe(batch_size=2), pairs),
        ("gpt2", Recipe(batch_size=4), pairs[::-1]),
        ("t5", Recipe(batch_size=4), pairs),
    ]
    for short, recipe, other in others:
        with pytest.raises(UsageError, match="no checkpoint of this run"):
            Trainer(Settings(model(short)), recipe, other).restore(checkpoint)


def test_a_checkpoint_waits_for_the_next_step(tmp_path: Path, model: Callable[[str], str]) -> None:
    pairs = make_pairs(read_documents([write_documents(tmp_path / "d.txt", 4)]), 27)
    trainer = Trainer(Settings(model("gpt2")), Recipe(batch_size=1, accumulation=4, every=3), pairs)
    for _, batch in trainer.go(lambda text: None, tmp_path / "c"):
        assert (tmp_path / "c").exists() == (batch >= 4)
        if batch == 5:
            break
