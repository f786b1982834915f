"""What stands at BLANK, piece by piece: the items that masked and span-filling models share."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple, cast

import numpy as np
import torch

from karat.errors import UsageError
from karat.models.batches import Fetch, Row, moved
from karat.models.examples import Example, pairs
from karat.models.head import body_of, find_head
from karat.models.loading import Loaded, precision
from karat.models.text import Encoder, Ids

BLANK = "BLANK"


class Gap(NamedTuple):
    """A text with a mark, where it stands (-1: elsewhere), and the tokens asked for there."""

    ids: Ids
    at: int
    targets: Ids


class Fillings:
    """The gaps of all candidates. A candidate's score is the mean probability of its word's pieces.

    For piece j the mark stands behind the earlier pieces, which are put in as text and so encoded
    anew. Equal texts are one unit, whichever candidates they come from.
    """

    def __init__(self, encoder: Encoder, examples: Sequence[Example], mark: str, *, spaced: bool):
        self._items: list[list[tuple[str, int]]] = []
        told = list(pairs(examples))
        after_space = [spaced and f" {BLANK}" in context for context, _ in told]
        words = [
            (" " if s else "") + candidate.word
            for s, (_, candidate) in zip(after_space, told, strict=True)
        ]
        found = encoder.ids(words, specials=False)
        for (context, _), pieces in zip(told, found, strict=True):
            self._items.append(
                [
                    (context.replace(BLANK, _shown(encoder, pieces[:j]) + mark), piece)
                    for j, piece in enumerate(pieces)
                ]
            )
        targets: dict[str, dict[int, None]] = {}
        for items in self._items:
            for text, piece in items:
                targets.setdefault(text, {})[piece] = None
        self.texts = {text: tuple(asked) for text, asked in targets.items()}

    def scores(self, found: dict[str, dict[int, float]]) -> list[float | None]:
        """The mean probability of each candidate's pieces; None for a word without any."""
        return [
            math.fsum(math.exp(found[text][piece]) for text, piece in items) / len(items)
            if items
            else None
            for items in self._items
        ]


def _shown(encoder: Encoder, pieces: Sequence[int]) -> str:
    return encoder.text(pieces).strip() if pieces else ""


class MaskedWords:
    """BertLM, intrasentence: any model that fills masks. With several marks the first is read."""

    kinds = ("",)

    def __init__(self, loaded: Loaded, examples: Sequence[Example]) -> None:
        encoder = loaded.encoder
        self._loaded = loaded
        self._mask = encoder.tokenizer.mask_token_id
        if self._mask is None:
            text = f"{type(encoder.tokenizer).__name__} has no mask token, which BertLM needs"
            raise UsageError(text, help="leave --tokenizer-name out")
        spaced = not loaded.settings.like_original and encoder.marked(
            [c.word for _, c in pairs(examples[:20])]
        )
        self._gaps = Fillings(encoder, examples, encoder.tokenizer.mask_token, spaced=spaced)
        self.notes = (
            ["words after a space are encoded with it (--like-original: without)"] if spaced else []
        )
        encoded = encoder.ids(list(self._gaps.texts))
        self.units: Sequence[Hashable] = [
            Gap(ids, ids.index(self._mask) if self._mask in ids else -1, targets)
            for ids, targets in zip(encoded, self._gaps.texts.values(), strict=True)
        ]
        if any(cast("Gap", unit).at < 0 for unit in self.units):
            self.notes.append("where there is no BLANK, or it was cut off, there is no score")
        self.work = self
        with precision(loaded.settings):
            probe = torch.tensor([[7, self._mask, 11]], device=loaded.device)
            self._head = find_head(loaded.model, probe)
        self._body = body_of(loaded.model, self._head)

    def cost(self, unit: Hashable) -> int:
        """Tokens of the text."""
        return len(cast("Gap", unit).ids)

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        """For each text, the log-probabilities of its targets."""
        gaps = cast("Sequence[Gap]", units)
        device = self._loaded.device
        with precision(self._loaded.settings):
            states = self._body(**padded([gap.ids for gap in gaps], device))
            at = moved(np.array([max(gap.at, 0) for gap in gaps], np.int64), device)
            rows = states[torch.arange(len(gaps), device=device), at]
            return target_rows(torch.log_softmax(self._head.logits(rows), -1), gaps)

    def scores(self, rows: Sequence[Row]) -> dict[str, list[float | None]]:
        """The score of each candidate."""
        found: dict[str, dict[int, float]] = {}
        for text, unit, row in zip(self._gaps.texts, self.units, rows, strict=True):
            gap = cast("Gap", unit)
            lost = [math.nan] * len(row)
            found[text] = dict(zip(gap.targets, row if gap.at >= 0 else lost, strict=True))
        told = self._gaps.scores(found)
        return {"": [None if s is None or math.isnan(s) else s for s in told]}


def padded(rows: Sequence[Ids], device: torch.device, pad: int = 0) -> dict[str, torch.Tensor]:
    """Ids and mask of rows of different lengths."""
    width = max(map(len, rows))
    ids = np.full((len(rows), width), pad, np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return {
        "input_ids": moved(ids, device),
        "attention_mask": moved(mask, device),
    }


def target_rows(log_probs: torch.Tensor, gaps: Sequence[Gap]) -> Fetch:
    """What fetches the log-probabilities of each gap's targets, in one copy."""
    owner = np.repeat(np.arange(len(gaps)), [len(gap.targets) for gap in gaps])
    targets = np.concatenate([np.array(gap.targets, np.int64) for gap in gaps])
    device = log_probs.device
    chosen = log_probs[moved(owner, device), moved(targets, device)]

    def fetch() -> list[Row]:
        ends = np.cumsum([len(gap.targets) for gap in gaps])
        return [part.tolist() for part in np.split(chosen.double().cpu().numpy(), ends[:-1])]

    return fetch
