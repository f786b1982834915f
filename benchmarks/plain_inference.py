"""The plain way to score StereoSet's candidates, as a straightforward script would.

Batches in file order, padded to the longest, softmax over the whole vocabulary at every position,
one `.item()` a token, every candidate by itself. It is the peer of `stereotypes_inference.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import transformers

from karat.models.examples import Example, closed, pairs


def padded(rows: Sequence[Sequence[int]], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask."""
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return ids.to(device), mask.to(device)


class Plain:
    """A model and its tokenizer. `scores` encodes first, so that the model's time stands alone."""

    auto: Any
    comparable = True
    """Whether an item is a candidate and its number the candidate's score."""

    def __init__(self, folder: str, device: str) -> None:
        self.device = device
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = self.auto.from_pretrained(folder).to(device).eval()

    def encoded(self, examples: Sequence[Example]) -> list[Any]:
        """What is put into batches."""
        raise NotImplementedError

    def batch(self, items: list[Any]) -> list[float]:
        """A number for each."""
        raise NotImplementedError

    def scores(self, items: list[Any], size: int) -> list[float]:
        """A number for each item."""
        found: list[float] = []
        for at in range(0, len(items), size):
            found += self.batch(items[at : at + size])
        return found


class Sentences(Plain):
    """Causal, intrasentence: the geometric mean over a sentence, but for its first token."""

    auto = transformers.AutoModelForCausalLM
    comparable = False

    def encoded(self, examples: Sequence[Example]) -> list[Any]:
        """(ids, where reading begins)."""
        rows = self.tokenizer([c.sentence for _, c in pairs(examples)])["input_ids"]
        return [(row, 1) for row in rows]

    def batch(self, items: list[Any]) -> list[float]:
        """One forward pass."""
        ids, mask = padded([row for row, _ in items], self.device)
        shown = torch.softmax(self.model(input_ids=ids, attention_mask=mask).logits, -1)
        found = []
        for i, (row, begin) in enumerate(items):
            told = [math.log(shown[i, k - 1, row[k]].item()) for k in range(begin, len(row))]
            found.append(math.exp(sum(told) / max(len(told), 1)))
        return found


class Continuations(Sentences):
    """Causal, intersentence, case d: the candidate behind its context."""

    comparable = True

    def encoded(self, examples: Sequence[Example]) -> list[Any]:
        """(ids of both, where the candidate begins)."""
        told = [(closed(context), c.sentence) for context, c in pairs(examples)]
        rows = self.tokenizer([f"{a} {b}" for a, b in told])["input_ids"]
        starts = self.tokenizer([a for a, _ in told])["input_ids"]
        return [(row, max(len(start), 1)) for row, start in zip(rows, starts, strict=True)]


class MaskedWords(Plain):
    """Masked, intrasentence: the probability of each piece of the word, one text a piece."""

    auto = transformers.AutoModelForMaskedLM
    comparable = False

    def encoded(self, examples: Sequence[Example]) -> list[Any]:
        """(ids, place of the mask, the piece asked for)."""
        mask = self.tokenizer.mask_token
        texts, pieces = [], []
        for context, c in pairs(examples):
            ids = self.tokenizer(c.word, add_special_tokens=False)["input_ids"]
            for j, piece in enumerate(ids):
                texts.append(context.replace("BLANK", self.tokenizer.decode(ids[:j]) + mask))
                pieces.append(piece)
        rows = self.tokenizer(texts)["input_ids"]
        at = [row.index(self.tokenizer.mask_token_id) for row in rows]
        return list(zip(rows, at, pieces, strict=True))

    def batch(self, items: list[Any]) -> list[float]:
        """One forward pass."""
        ids, mask = padded([row for row, _, _ in items], self.device)
        shown = torch.softmax(self.model(input_ids=ids, attention_mask=mask).logits, -1)
        return [shown[i, at, piece].item() for i, (_, at, piece) in enumerate(items)]


class NextSentences(Plain):
    """Masked, intersentence: the model's own next-sentence head."""

    auto = transformers.AutoModelForNextSentencePrediction

    def encoded(self, examples: Sequence[Example]) -> list[Any]:
        """(ids, token types)."""
        told = list(pairs(examples))
        found = self.tokenizer(
            [a for a, _ in told], [c.sentence for _, c in told], return_token_type_ids=True
        )
        return list(zip(found["input_ids"], found["token_type_ids"], strict=True))

    def batch(self, items: list[Any]) -> list[float]:
        """One forward pass."""
        ids, mask = padded([row for row, _ in items], self.device)
        types, _ = padded([kinds for _, kinds in items], self.device)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        shown = torch.softmax(self.model(**given).logits, -1)
        return [shown[i, 0].item() for i in range(len(items))]


class SpanContinuations(Plain):
    """Encoder-decoder, intersentence: the candidate as the span that follows the context."""

    auto = transformers.AutoModelForSeq2SeqLM

    def encoded(self, examples: Sequence[Example]) -> list[Any]:
        """(ids of the context, ids of the span)."""
        told = list(pairs(examples))
        contexts = self.tokenizer([f"{closed(a)} <extra_id_0>" for a, _ in told])["input_ids"]
        spans = self.tokenizer([f"<pad> <extra_id_0> {c.sentence}" for _, c in told])["input_ids"]
        return list(zip(contexts, spans, strict=True))

    def batch(self, items: list[Any]) -> list[float]:
        """One forward pass of encoder and decoder."""
        ids, mask = padded([context for context, _ in items], self.device)
        spans, there = padded([span for _, span in items], self.device)
        given = {"decoder_input_ids": spans, "decoder_attention_mask": there}
        logits = self.model(input_ids=ids, attention_mask=mask, **given).logits
        shown = torch.softmax(logits, -1)
        found = []
        for i, (_, span) in enumerate(items):
            told = [math.log(shown[i, k - 1, span[k]].item()) for k in range(2, len(span))]
            found.append(math.exp(sum(told) / len(told)))
        return found
