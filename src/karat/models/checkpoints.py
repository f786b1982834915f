"""Checkpoints of next-sentence models: weights only, nothing in the file is run."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from karat.errors import UsageError
from karat.models.loading import Loaded, Settings, configuration, encoder, kind_of, ready

HIDDEN = 300
_OLD_BUFFERS = re.compile(r"\.attn\.(masked_)?bias$")


class NextSentence(nn.Module):
    """A language model with three linear layers on the mean of its hidden states.

    There is nothing between the layers: that is the architecture of the published checkpoints.
    Encoder-decoder models answer with the word 0 or 1 instead; their three layers lie idle.
    """

    def __init__(self, core: nn.Module, width: int) -> None:
        super().__init__()
        self.core_model = core
        layers = (nn.Linear(width, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 2))
        self.nsp_head = nn.Sequential(*layers)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """(n, 2) logits of the mean over the tokens that are there, never over padding."""
        states = self.core_model(input_ids=input_ids, attention_mask=attention_mask)[0]
        weight = attention_mask[..., None].to(states.dtype)
        logits: Tensor = self.nsp_head((states * weight).sum(1) / weight.sum(1))
        return logits


def open_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a checkpoint by name. A file that wants to run code is refused."""
    if not path.is_file():
        raise UsageError(f"--nsp-model-path {path}: there is no such file")
    if path.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise UsageError(f"{path} is no safetensors file: {error}") from error
    told = open_state(path)
    inner = told.get("model_state_dict", told)
    if not isinstance(inner, dict) or not all(isinstance(v, Tensor) for v in inner.values()):
        raise UsageError(f"{path} holds no weights", help="a state dict of tensors is needed")
    return inner


def open_state(path: Path) -> dict[str, Any]:
    """What a .pt or .pth file holds, if it is data alone."""
    try:
        # It remarks on odd protocols before it refuses them.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        # A broken file can raise anything at all; the one that wants to run code has a name.
        if type(error).__name__ != "UnpicklingError":
            raise UsageError(f"{path} is no checkpoint, or a damaged one") from error
        found = re.search(r"(?:GLOBAL|global|class) ([\w.]+)", str(error))
        what = f" ({found[1]})" if found else ""
        raise UsageError(
            f"{path} holds more than weights{what}; it was refused and nothing of it was run",
            help="save the state dict alone, best as safetensors",
        ) from None
    if not isinstance(told, dict):
        raise UsageError(f"{path} holds no state dict")
    return told


def build(config: Any, rows: int | None = None) -> NextSentence:
    """The architecture for a configuration; `rows` is the size of the embedding."""
    if rows:
        config.vocab_size = rows
    if kind_of(config) == "seq2seq":
        core = transformers.AutoModelForSeq2SeqLM.from_config(config)
    else:
        core = transformers.AutoModel.from_config(config)
    return NextSentence(core, config.hidden_size)


def load_checkpoint(settings: Settings, path: Path) -> Loaded:
    """The next-sentence model of a checkpoint, on the configuration and tokenizer of its base."""
    weights = {_plain(key): value for key, value in open_weights(path).items()}
    weights = {key: value for key, value in weights.items() if not _OLD_BUFFERS.search(key)}
    config = configuration(settings.name)
    if kind_of(config) == "masked":
        raise UsageError(
            f"a {config.model_type} model has its own next-sentence head",
            help="--intersentence-model BertNextSentence",
        )
    model = build(config, _embedding_rows(weights))
    _untie(model.core_model, weights)
    try:
        missing, unexpected = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        first = str(error).split("\n")[1:2] or [str(error)]
        raise UsageError(f"{path} does not fit {settings.name}: {first[0].strip()}") from error
    tied = set(getattr(model.core_model, "_tied_weights_keys", None) or ())
    gone = [k for k in missing if not any(k.endswith(t) for t in tied)]
    if gone or unexpected:
        told = f"missing {gone[:3]}, not expected {unexpected[:3]}"
        raise UsageError(f"{path} does not fit {settings.name}: {told}")
    return Loaded(ready(model, settings), encoder(settings, config), settings)


def _untie(core: Any, weights: dict[str, Tensor]) -> None:
    """Give the output its own weights where the checkpoint has other ones than for the input.

    A bare configuration of mT5 ties them, whatever its checkpoints hold.
    """
    top = core.get_output_embeddings() if hasattr(core, "lm_head") else None
    shared, own = weights.get("core_model.shared.weight"), weights.get("core_model.lm_head.weight")
    if top is not None and shared is not None and own is not None and not torch.equal(shared, own):
        top.weight = nn.Parameter(top.weight.detach().clone())


def _plain(key: str) -> str:
    """The key without the prefix that parallel training put before it."""
    return key.removeprefix("module.")


def _embedding_rows(weights: dict[str, Tensor]) -> int | None:
    """How many rows the input embedding of the checkpoint has."""
    for key, value in weights.items():
        if re.search(r"\b(wte|shared|embed_tokens)\.weight$", key):
            return len(value)
    return None
