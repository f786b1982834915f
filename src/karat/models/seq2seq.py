"""Encoder-decoder models that fill spans: T5, mT5 and their kin."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from karat.models.batches import Fetch, Row, moved, plan
from karat.models.examples import Example, closed
from karat.models.head import Head, alike
from karat.models.loading import Loaded, precision
from karat.models.masked import Fillings, Gap, padded, target_rows
from karat.models.text import Ids

SENTINEL = "<extra_id_0>"


def second_step(model: Any, encoded: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """(first ids, logits of the second step) of greedy decoding, also behind an end token."""
    start = torch.full((len(mask), 1), model.config.decoder_start_token_id, device=mask.device)
    inputs = {"encoder_outputs": (encoded,), "attention_mask": mask}
    first = model(decoder_input_ids=start, **inputs).logits[:, -1].argmax(-1)
    both = torch.cat([start, first[:, None]], 1)
    logits = model(decoder_input_ids=both, **inputs).logits[:, -1]
    return first, logits if logits.dtype == torch.float64 else logits.float()


class SpanWords:
    """T5LM and mT5LM, intrasentence: the word's pieces at the second step of the decoder.

    The first step should give the sentinel itself; what it gives is taken, as in the original, and
    how often it was something else is told.
    """

    kinds = ("",)

    def __init__(self, loaded: Loaded, examples: Sequence[Example]) -> None:
        self._loaded = loaded
        self._gaps = Fillings(loaded.encoder, examples, SENTINEL, spaced=False)
        encoded = loaded.encoder.ids(list(self._gaps.texts))
        self.units: Sequence[Hashable] = [
            Gap(ids, -1, targets)
            for ids, targets in zip(encoded, self._gaps.texts.values(), strict=True)
        ]
        self._sentinel = loaded.encoder.token(SENTINEL)
        broken = sum(self._sentinel not in ids for ids in encoded)
        self.notes: list[str] = []
        if broken:
            self.notes.append(
                f"in {broken} of {len(encoded)} texts {SENTINEL} stands inside a word and falls "
                "apart in this tokenizer, as in the original"
            )
        self.work = self

    def cost(self, unit: Hashable) -> int:
        """Tokens of the text."""
        return len(cast("Gap", unit).ids) + 2

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """For each text: whether the sentinel came first, then its targets' log-probabilities."""
        gaps = cast("Sequence[Gap]", units)
        model = self._loaded.model
        with precision(self._loaded.settings):
            inputs = padded([gap.ids for gap in gaps], self._loaded.device)
            encoded = model.get_encoder()(**inputs)[0]
            first, logits = second_step(model, encoded, inputs["attention_mask"])
            rows = target_rows(torch.log_softmax(logits, -1), gaps)
            right = first == self._sentinel
        return lambda: [
            [float(flag), *row] for flag, row in zip(right.cpu().tolist(), rows(), strict=True)
        ]

    def scores(self, rows: Sequence[Row]) -> dict[str, list[float | None]]:
        """The score of each candidate."""
        astray = sum(row[0] == 0 for row in rows)
        if astray:
            self.notes.append(
                f"in {astray} of {len(rows)} texts the model did not begin with {SENTINEL}"
            )
        texts = zip(self._gaps.texts.items(), rows, strict=True)
        found = {text: dict(zip(asked, row[1:], strict=True)) for (text, asked), row in texts}
        return {"": self._gaps.scores(found)}


class Spans(NamedTuple):
    """An encoder text and the decoder texts that belong to it."""

    ids: Ids
    decoded: tuple[Ids, ...]


class SpanContinuations:
    """T5LM and mT5LM, intersentence: a candidate as the span that follows the context.

    Every decoder token behind the sentinel counts, the end token too (as in the original; it can be
    left out). The context is encoded once for its three candidates.
    """

    kinds = ("",)

    def __init__(self, loaded: Loaded, examples: Sequence[Example]) -> None:
        self._loaded = loaded
        encoder = loaded.encoder
        contexts = encoder.ids([f"{closed(e.context)} {SENTINEL}" for e in examples])
        found = iter(
            encoder.ids([f"<pad> {SENTINEL} {c.sentence}" for e in examples for c in e.candidates])
        )
        keep = None if loaded.settings.end_tokens else -1
        own = [tuple(next(found)[:keep] for _ in e.candidates) for e in examples]
        self._own = list(zip(contexts, own, strict=True))
        places: dict[Spans, int] = {}
        for context, decoded in self._own:
            places.setdefault(Spans(context, tuple(dict.fromkeys(decoded))), len(places))
        self.units: Sequence[Hashable] = list(places)
        self._places = places
        self.notes: list[str] = []
        self.work = self
        with precision(loaded.settings):
            self._head = _decoder_head(loaded)

    def cost(self, unit: Hashable) -> int:
        """Tokens of the context."""
        return len(cast("Spans", unit).ids)

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """For each context: the summed log-probabilities of each continuation.

        Contexts and continuations differ in length for themselves, so the continuations of a batch
        are decoded in batches of their own, as large in tokens as that of the contexts.
        """
        spans = cast("Sequence[Spans]", units)
        device = self._loaded.device
        decoded = [(i, ids) for i, span in enumerate(spans) for ids in span.decoded]
        parts = plan([len(ids) for _, ids in decoded], len(spans) * max(map(self.cost, spans)))
        with precision(self._loaded.settings):
            inputs = padded([span.ids for span in spans], device)
            encoded, mask = self._loaded.model.get_encoder()(**inputs)[0], inputs["attention_mask"]
            told = []
            for part in parts:
                owner = moved(np.array([decoded[j][0] for j in part], np.int64), device)
                texts = [decoded[j][1] for j in part]
                told.append(self._decode(encoded[owner], mask[owner], texts))

        def fetch() -> list[Row]:
            sums = dict(zip(chain(*parts), chain(*(one() for one in told)), strict=True))
            in_order = iter(range(len(decoded)))
            return [[sums[next(in_order)] for _ in span.decoded] for span in spans]

        return fetch

    def _decode(
        self, encoded: Tensor, mask: Tensor, decoded: Sequence[Ids]
    ) -> Callable[[], list[float]]:
        """What fetches the summed log-probability of each continuation."""
        given = padded(decoded, mask.device)
        states = self._states(encoded, mask, given)
        sizes = [max(len(ids) - 2, 0) for ids in decoded]
        width = states.shape[1]
        at = np.concatenate([np.arange(1, 1 + k) + i * width for i, k in enumerate(sizes)])
        targets = np.array([t for ids in decoded for t in ids[2:]], np.int64)
        rows = states.reshape(-1, states.shape[-1])[moved(at, mask.device)]
        found = self._head.log_probs(rows, moved(targets, mask.device))

        def fetch() -> list[float]:
            parts = np.split(found.double().cpu().numpy(), np.cumsum(sizes)[:-1])
            return [math.fsum(part.tolist()) for part in parts]

        return fetch

    def _states(self, encoded: Tensor, mask: Tensor, given: dict[str, Tensor]) -> Tensor:
        """The decoder's states, or whole logits where the head could not be told apart."""
        model = self._loaded.model
        if self._head.project is None:
            logits: Tensor = model(
                encoder_outputs=(encoded,),
                attention_mask=mask,
                decoder_input_ids=given["input_ids"],
                decoder_attention_mask=given["attention_mask"],
            ).logits
            return logits
        states: Tensor = model.get_decoder()(
            **given, encoder_hidden_states=encoded, encoder_attention_mask=mask
        )[0]
        return states

    def scores(self, rows: Sequence[Row]) -> dict[str, list[float | None]]:
        """The geometric mean of each candidate's probabilities; None where it has no token."""
        told: list[float | None] = []
        for context, decoded in self._own:
            distinct = tuple(dict.fromkeys(decoded))
            row = rows[self._places[Spans(context, distinct)]]
            sums = dict(zip(distinct, row, strict=True))
            told += [math.exp(sums[d] / (len(d) - 2)) if len(d) > 2 else None for d in decoded]
        return {"": told}


def _decoder_head(loaded: Loaded) -> Head:
    """The decoder's head, found by trial: as it is, scaled as T5 does, or logits come whole."""
    model, config = loaded.model, loaded.model.config
    ids = torch.tensor([[7, 11, 13]], device=loaded.device)
    mask = torch.ones_like(ids)
    whole = model(input_ids=ids, attention_mask=mask, decoder_input_ids=ids).logits
    project: Callable[[Tensor], Tensor] | None = model.get_output_embeddings()
    if project is None:
        return Head(None)
    encoded = model.get_encoder()(input_ids=ids, attention_mask=mask)[0]
    states = model.get_decoder()(
        input_ids=ids, encoder_hidden_states=encoded, encoder_attention_mask=mask
    )[0]
    for scale in (1.0, getattr(config, "d_model", 1) ** -0.5):
        if alike(project(states * scale), whole):
            return Head(_scaled(project, scale))
    return Head(None)


def _scaled(project: Callable[[Tensor], Tensor], scale: float) -> Callable[[Tensor], Tensor]:
    return project if scale == 1.0 else lambda states: project(states * scale)
