"""Does the candidate follow? A probability from a next-sentence head or a fine-tuned model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import cast

import torch

from karat.errors import UsageError
from karat.models.batches import Fetch, Row, distinct
from karat.models.examples import Example, pairs
from karat.models.loading import Loaded, precision
from karat.models.masked import padded
from karat.models.seq2seq import second_step
from karat.models.text import Encoded

PREFIX = "binary classification: "


class NextSentences:
    """Common ground of the three: equal pairs are one unit, a unit gives one probability."""

    kinds = ("",)

    def __init__(self, loaded: Loaded, examples: Sequence[Example], prefix: str = "") -> None:
        self.loaded = loaded
        told = list(pairs(examples))
        encoded = loaded.encoder.pairs([prefix + c for c, _ in told], [c.sentence for _, c in told])
        self.units: Sequence[Hashable]
        self.units, self._own = distinct(encoded)
        self.notes: list[str] = []
        self.work = self

    def cost(self, unit: Hashable) -> int:
        """Tokens of the pair."""
        return len(cast("Encoded", unit).ids)

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """The probability of each pair."""
        chosen = cast("Sequence[Encoded]", units)
        with precision(self.loaded.settings):
            inputs = padded([pair.ids for pair in chosen], self.loaded.device)
            found = self.probabilities(chosen, inputs)
        return lambda: [[p] for p in found.double().cpu().tolist()]

    def probabilities(
        self, pairs: Sequence[Encoded], inputs: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        """(n,): the probability that the second sentence follows."""
        raise NotImplementedError

    def scores(self, rows: Sequence[Row]) -> dict[str, list[float | None]]:
        """The score of each candidate."""
        return {"": [rows[i][0] for i in self._own]}


class BertNextSentence(NextSentences):
    """The next-sentence head that the model was pretrained with."""

    def probabilities(
        self, pairs: Sequence[Encoded], inputs: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        """The first of the two: `is next`."""
        types = padded([pair.types for pair in pairs], self.loaded.device)["input_ids"]
        logits = self.loaded.model(**inputs, token_type_ids=types).logits
        return torch.softmax(exact(logits), -1)[:, 0]


class TrainedCausal(NextSentences):
    """A fine-tuned causal model: the mean of its hidden states, and three layers."""

    def probabilities(
        self, pairs: Sequence[Encoded], inputs: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        """The second of the two: label 1, related."""
        return torch.softmax(exact(self.loaded.model(**inputs)), -1)[:, 1]


class TrainedSeq2Seq(NextSentences):
    """A fine-tuned T5 or mT5: 1 against 0 at the second step of the decoder, as in the original."""

    def __init__(self, loaded: Loaded, examples: Sequence[Example]) -> None:
        # The published checkpoints of T5 know the English prefix, those of mT5 none.
        prefix = PREFIX if loaded.model.core_model.config.model_type == "t5" else ""
        super().__init__(loaded, examples, prefix)
        self._digits = [loaded.encoder.token("0"), loaded.encoder.token("1")]
        if self._digits[0] == self._digits[1]:
            raise UsageError("this tokenizer cannot tell 0 from 1, so the model cannot answer")

    def probabilities(
        self, pairs: Sequence[Encoded], inputs: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        """The share of 1 among 0 and 1."""
        model = self.loaded.model.core_model
        encoded = model.get_encoder()(**inputs)[0]
        _, logits = second_step(model, encoded, inputs["attention_mask"])
        return torch.softmax(logits[:, self._digits], -1)[:, 1]


def exact(logits: torch.Tensor) -> torch.Tensor:
    """The logits in fp32 at least."""
    return logits if logits.dtype == torch.float64 else logits.float()
