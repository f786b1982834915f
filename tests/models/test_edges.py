"""Rows that are odd, and models the original did not know, against one plain sentence at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from karat.errors import UsageError
from karat.models.examples import Candidate, Example
from karat.models.loading import Settings

ODD = [
    Example(
        "The BLANK met a BLANK today.",
        (
            Candidate("1", "The nurse met a nurse today.", "nurse"),
            Candidate("2", "The hispanic met a hispanic today.", "hispanic"),
            Candidate("3", "The nurse met a nurse today.", "nurse"),
        ),
    ),
    Example(
        "They were BLANKed",
        (
            Candidate("4", "They were blanketed", "blanket"),
            Candidate("5", "They were walked", "walk"),
            Candidate("6", "They were two wordsed", "two words"),
        ),
    ),
    Example(
        "Elle est\u00a0BLANK ?",
        (
            Candidate("7", "Elle est\u00a0grande ?", "grande"),
            Candidate("8", "Elle est\u00a0l'\u00e9t\u00e9 ?", "l'\u00e9t\u00e9"),
            Candidate("9", "Elle est\u00a0 ?", ""),
        ),
    ),
]


def naive_masked(folder: str, examples: list[Example]) -> list[float | None]:
    """One text at a time, as the definition says it."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).double().eval()
    found: list[float | None] = []
    for example in examples:
        for candidate in example.candidates:
            pieces = tokenizer.encode(candidate.word, add_special_tokens=False)
            told = []
            for j, piece in enumerate(pieces):
                shown = tokenizer.decode(pieces[:j]) if j else ""
                text = example.context.replace("BLANK", shown + tokenizer.mask_token)
                ids = torch.tensor([tokenizer.encode(text)])
                at = int((ids[0] == tokenizer.mask_token_id).nonzero()[0])
                with torch.no_grad():
                    told.append(float(model(ids).logits[0, at].softmax(-1)[piece]))
            found.append(sum(told) / len(told) if told else None)
    return found


def naive_causal(model: Any, tokenizer: Any, examples: list[Example]) -> list[float]:
    """One sentence at a time, the first token after the start of a text."""
    found = []
    for example in examples:
        for candidate in example.candidates:
            ids = tokenizer.encode(candidate.sentence)
            with torch.no_grad():
                start = tokenizer.encode("<|endoftext|>")[:1]
                told = [float(model(torch.tensor([start])).logits[0, 0].log_softmax(-1)[ids[0]])]
                logits = model(torch.tensor([ids])).logits[0].log_softmax(-1)
            told += [float(logits[k, ids[k + 1]]) for k in range(len(ids) - 1)]
            found.append(math.exp(sum(told) / len(told)))
    return found


@pytest.mark.parametrize("budget", [1, 64, 4096])
def test_odd_rows_of_masked_models(
    model: Callable[[str], str], score: Callable[..., Any], budget: int
) -> None:
    settings = Settings(model("bert"), dtype="fp64")
    found = score(settings, "intrasentence", "BertLM", ODD, budget=budget)[""]
    naive = naive_masked(model("bert"), ODD)
    assert found[:8] == pytest.approx(naive[:8], rel=1e-9)
    assert found[0] == found[2]
    assert found[8] is None


@pytest.mark.parametrize("short", ["t5", "mt5"])
def test_an_empty_word_has_no_score_and_equal_words_equal_ones(
    model: Callable[[str], str], score: Callable[..., Any], short: str
) -> None:
    found = score(Settings(model(short)), "intrasentence", "T5LM", ODD)[""]
    assert found[0] == found[2]
    assert found[8] is None
    assert all(0 < s < 1 for s in found[:8])


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory, model: Callable[[str], str]) -> str:
    """A tiny Llama with the tokenizer of the tiny GPT-2."""
    folder = tmp_path_factory.mktemp("llama")
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=1200, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
        bos_token_id=1199, eos_token_id=1199, initializer_range=0.3,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(model("gpt2")).save_pretrained(folder)
    return str(folder)


def test_a_llama_goes_through_the_same_scorer(llama: str, score: Callable[..., Any]) -> None:
    found = score(Settings(llama, dtype="fp64"), "intrasentence", "GPT2LM", ODD)[""]
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    plain = transformers.AutoModelForCausalLM.from_pretrained(llama).double().eval()
    assert found == pytest.approx(naive_causal(plain, tokenizer, ODD), rel=1e-9)
    assert found[0] == found[2]


@pytest.mark.parametrize("kind", ["Bloom", "GPTNeo", "Gemma2"])
def test_models_built_otherwise_are_right_all_the_same(
    kind: str, tmp_path: Path, model: Callable[[str], str], score: Callable[..., Any]
) -> None:
    """Relative positions without ids, local attention, capped logits: rows may not be shared."""
    torch.manual_seed(2)
    sizes: dict[str, dict[str, Any]] = {
        "Bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 4},
        "GPTNeo": {
            "hidden_size": 32, "num_layers": 2, "num_heads": 4, "window_size": 4,
            "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 128,
        },
        "Gemma2": {
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "head_dim": 8,
            "num_attention_heads": 4, "num_key_value_heads": 2, "sliding_window": 4,
            "final_logit_softcapping": 0.5, "max_position_embeddings": 128,
        },
    }  # fmt: skip
    ends = {"bos_token_id": 1199, "eos_token_id": 1199, "pad_token_id": 0}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=1200, initializer_range=0.3, **ends, **sizes[kind]
    )
    plain = getattr(transformers, f"{kind}ForCausalLM")(config).double().eval()
    plain.save_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model("gpt2"))
    tokenizer.save_pretrained(tmp_path)
    found = score(Settings(str(tmp_path), dtype="fp64"), "intrasentence", "GPT2LM", ODD)[""]
    assert found == pytest.approx(naive_causal(plain, tokenizer, ODD), rel=1e-6)


def test_a_model_without_the_head_is_refused(
    llama: str, tmp_path: Path, model: Callable[[str], str], score: Callable[..., Any]
) -> None:
    config = transformers.AutoConfig.from_pretrained(model("bert"))
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(model("bert")).save_pretrained(tmp_path)
    settings = Settings(str(tmp_path))
    with pytest.raises(UsageError, match="would be random"):
        score(settings, "intersentence", "BertNextSentence", ODD)
    with pytest.raises(UsageError, match="does not fit: llama is a causal model"):
        score(Settings(llama), "intrasentence", "BertLM", ODD)
    allowed = Settings(str(tmp_path), like_original=True)
    assert len(score(allowed, "intersentence", "BertNextSentence", ODD)[""]) == 9
