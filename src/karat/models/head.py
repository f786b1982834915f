"""Log-probabilities at the positions that are read, and nowhere else.

The projection onto the vocabulary is the dearest part of a small language model. Here the hidden
states of the wanted positions are gathered first, then projected in chunks. Whether a model is
built so that this is right (a body, then one module on top, perhaps a scale) is found out by trying
it on a short input; a model built otherwise gets its logits whole, and its scores just the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_CHUNK = {"cpu": 1 << 23, "cuda": 1 << 28}
"""Logits at once: what stays in the cache of a processor, what is little on an accelerator."""
_ALIKE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.1}


def alike(a: Tensor, b: Tensor) -> bool:
    """Whether two results of the same type are equal up to the rounding of that type."""
    if a.shape != b.shape:
        return False
    scale = float(b.abs().max()) or 1.0
    return float((a - b).abs().max()) <= _ALIKE.get(b.dtype, 1e-4) * max(scale, 1.0)


class Head:
    """The projection of hidden states onto the vocabulary; None where logits come whole."""

    def __init__(self, project: Callable[[Tensor], Tensor] | None) -> None:
        self.project = project

    def log_probs(self, states: Tensor, targets: Tensor) -> Tensor:
        """(R,): the log-probability of each target, given the states (or logits) of its row."""
        width = self._width(states)
        step = max(1, _CHUNK.get(states.device.type, 1 << 24) // max(width, 1))
        parts = [
            self._part(states[i : i + step], targets[i : i + step])
            for i in range(0, len(targets), step)
        ]
        return torch.cat(parts) if parts else states.new_zeros(0)

    def logits(self, states: Tensor) -> Tensor:
        """The logits of each row, at least in fp32."""
        out = states if self.project is None else self.project(states)
        return out if out.dtype == torch.float64 else out.float()

    def _width(self, states: Tensor) -> int:
        return int(states.shape[-1]) if self.project is None else 1 << 16

    def _part(self, states: Tensor, targets: Tensor) -> Tensor:
        logits = self.logits(states)
        chosen = logits.gather(-1, targets[:, None])[:, 0]
        return chosen - torch.logsumexp(logits, dim=-1)


def find_head(model: Any, ids: Tensor) -> Head:
    """The head of a masked or causal model, by trial on the ids (1, L)."""
    mask = torch.ones_like(ids)
    whole = model(input_ids=ids, attention_mask=mask).logits
    body = model.base_model
    if body is model:
        return Head(None)
    states = body(input_ids=ids, attention_mask=mask)[0]
    for child in model.children():
        if child is body:
            continue
        try:
            tried = child(states)
        except (TypeError, RuntimeError, ValueError, AttributeError):
            continue
        if isinstance(tried, Tensor) and alike(tried, whole):
            return Head(child)
    return Head(None)


def body_of(model: Any, head: Head) -> Callable[..., Tensor]:
    """What gives the rows that the head reads: hidden states, or logits where they come whole."""
    if head.project is None:
        return lambda **inputs: model(**inputs).logits
    return lambda **inputs: model.base_model(**inputs)[0]
