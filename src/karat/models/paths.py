"""The paths of the benchmark by name, and which of them fit a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Protocol

from karat.errors import UsageError
from karat.models.batches import Row, Work
from karat.models.causal import CASES, Continuations, Sentences
from karat.models.checkpoints import load_checkpoint
from karat.models.examples import Example
from karat.models.following import BertNextSentence, TrainedCausal, TrainedSeq2Seq
from karat.models.loading import Kind, Settings, configuration, kind_of, load
from karat.models.masked import MaskedWords
from karat.models.seq2seq import SpanContinuations, SpanWords

INTRASENTENCE: Mapping[str, Kind] = {
    "BertLM": "masked",
    "GPT2LM": "causal",
    "T5LM": "seq2seq",
    "mT5LM": "seq2seq",
}
INTERSENTENCE: Mapping[str, Kind | None] = {
    "BertNextSentence": "masked",
    "ModelNSP": None,
    "GPT2LM": "causal",
    "T5LM": "seq2seq",
    "mT5LM": "seq2seq",
}


class Path(Protocol):
    """A way to score candidates."""

    @property
    def kinds(self) -> Sequence[str]:
        """The cases, or one unnamed set of scores."""

    @property
    def work(self) -> Work:
        """What is to be computed."""

    @property
    def notes(self) -> list[str]:
        """What the reader of the scores should know."""

    def scores(self, rows: Sequence[Row]) -> dict[str, list[float | None]]:
        """Kind -> the score of each candidate, None where there is nothing to score."""


def usual(kind: Kind, model_type: str, section: str, nsp: bool) -> str:
    """The path that fits a model of this kind; mT5's has another name and is the same."""
    if section == "intersentence" and nsp:
        return "ModelNSP"
    if kind == "masked":
        return "BertLM" if section == "intrasentence" else "BertNextSentence"
    if kind == "causal":
        return "GPT2LM"
    return "mT5LM" if model_type == "mt5" else "T5LM"


def check(name: str, section: str, kind: Kind, model_type: str, nsp: FilePath | None) -> None:
    """Return if the path fits the model; else a UsageError says which would."""
    known: Mapping[str, Kind | None] = (
        INTRASENTENCE if section == "intrasentence" else INTERSENTENCE
    )
    if name not in known:
        raise UsageError(f"--{section}-model {name}: one of {', '.join(known)} is needed")
    if name == "ModelNSP":
        if kind == "masked":
            raise UsageError(
                f"--intersentence-model ModelNSP does not fit a {model_type} model",
                help="it has its own next-sentence head: BertNextSentence",
            )
        if nsp is None:
            raise UsageError("--intersentence-model ModelNSP needs --nsp-model-path")
        if not nsp.is_file():
            raise UsageError(f"--nsp-model-path {nsp}: there is no such file")
        return
    if known[name] != kind:
        fits = " or ".join(p for p, k in known.items() if k == kind)
        raise UsageError(
            f"--{section}-model {name} does not fit: {model_type} is a {kind} model",
            help=f"{fits} fits it",
        )


def make(
    settings: Settings,
    section: str,
    name: str,
    examples: Sequence[Example],
    cases: Sequence[str] = ("d",),
    nsp: FilePath | None = None,
) -> tuple[Path, str, list[str]]:
    """(path, identity of its model, notes about it), the model loaded and everything encoded."""
    config = configuration(settings.name)
    check(name, section, kind_of(config), config.model_type, nsp)
    if name == "ModelNSP":
        assert nsp is not None
        loaded = load_checkpoint(settings, nsp)
        causal = kind_of(config) == "causal"
        path: Path = (TrainedCausal if causal else TrainedSeq2Seq)(loaded, examples)
    elif name == "BertNextSentence":
        loaded = load(settings, "next")
        path = BertNextSentence(loaded, examples)
    elif name == "BertLM":
        loaded = load(settings, "masked")
        path = MaskedWords(loaded, examples)
    elif name == "GPT2LM":
        loaded = load(settings, "causal")
        intra = section == "intrasentence"
        path = Sentences(loaded, examples) if intra else Continuations(loaded, examples, cases)
    else:
        loaded = load(settings, "seq2seq")
        path = (SpanWords if section == "intrasentence" else SpanContinuations)(loaded, examples)
    if loaded.encoder.truncated:
        path.notes.append(f"texts cut to {loaded.encoder.limit} tokens: {loaded.encoder.truncated}")
    return path, loaded.identity(), list(loaded.notes)


__all__ = ["CASES", "INTERSENTENCE", "INTRASENTENCE", "Path", "check", "make", "usual"]
