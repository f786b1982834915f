"""Next-sentence fine-tuning of GPT-2, T5 and mT5: the architecture and rates of the original.

A checkpoint holds everything the run depends on (weights, optimiser, schedule, place, random
states), so a run that was stopped ends with the same weights as one that was not.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from karat.errors import UsageError
from karat.models.checkpoints import NextSentence, open_state
from karat.models.documents import Pair
from karat.models.following import PREFIX
from karat.models.loading import Settings, configuration, encoder, kind_of, quiet, where
from karat.models.masked import padded

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. The learning rates, the clip and the schedule are those of the original."""

    epochs: int = 1
    batch_size: int = 8
    accumulation: int = 1
    core_rate: float = 5e-6
    head_rate: float = 1e-3
    seed: int = 27
    longest: int = 256
    clip: float = 1.0
    amp: str = "none"
    every: int = 0


@dataclass(slots=True)
class _Told:
    """What an epoch has shown so far."""

    seen: int = 0
    right: int = 0
    loss: float = 0.0

    def add(self, loss: float, right: int, seen: int) -> None:
        """Count a batch, whose loss is a mean."""
        self.loss += loss * seen
        self.right += right
        self.seen += seen

    def shown(self) -> str:
        """Mean loss and accuracy."""
        return f"loss {self.loss / self.seen:.4f}, accuracy {self.right / self.seen:.3f}"


class Trainer:
    """A model in training. `go` runs to the end; `save` and `restore` make it stop and go on."""

    def __init__(self, settings: Settings, recipe: Recipe, pairs: Sequence[Pair]) -> None:
        if not pairs:
            raise UsageError("there are no pairs to train on")
        self.recipe, self.pairs = recipe, pairs
        torch.manual_seed(recipe.seed)
        config = configuration(settings.name)
        self._answers = kind_of(config) == "seq2seq"
        if kind_of(config) == "masked":
            raise UsageError(f"a {config.model_type} model has its own next-sentence head")
        auto = transformers.AutoModelForSeq2SeqLM if self._answers else transformers.AutoModel
        with quiet():
            core = auto.from_pretrained(**where(settings.name))
        self.model = NextSentence(core, config.hidden_size).to(settings.device).float()
        self.encoder = encoder(settings, config)
        limit = self.encoder.limit or recipe.longest
        self.encoder.limit = min(limit, recipe.longest)
        self._prefix = PREFIX if config.model_type == "t5" else ""
        self._device = torch.device(settings.device)
        groups = [{"params": list(core.parameters()), "lr": recipe.core_rate}]
        if not self._answers:
            head = {"params": list(self.model.nsp_head.parameters()), "lr": recipe.head_rate}
            groups.append(head)
        self.optimiser = torch.optim.AdamW(groups, weight_decay=0.0)
        batches = math.ceil(len(pairs) / recipe.batch_size)
        self.steps = max(1, math.ceil(batches / recipe.accumulation)) * recipe.epochs
        self._warm = self.steps // 100 + 1
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimiser, self._rate)
        self.scaler = torch.amp.GradScaler(self._device.type, enabled=recipe.amp == "fp16")
        self.epoch = self.batch = 0
        self._told = _Told()
        self.settings = settings

    def _rate(self, step: int) -> float:
        """Linear warm-up, then half a cosine down to 0."""
        if step < self._warm:
            return step / self._warm
        done = (step - self._warm) / max(1, self.steps - self._warm)
        return 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))

    def _order(self, epoch: int) -> list[int]:
        """The order of the pairs in an epoch: the first as given, later ones shuffled anew."""
        if epoch == 0:
            return list(range(len(self.pairs)))
        source = torch.Generator().manual_seed(self.recipe.seed + epoch)
        return [int(i) for i in torch.randperm(len(self.pairs), generator=source)]

    def _batches(self, epoch: int) -> list[list[Pair]]:
        order, size = self._order(epoch), self.recipe.batch_size
        return [
            [self.pairs[i] for i in order[start : start + size]]
            for start in range(0, len(order), size)
        ]

    def _inputs(self, batch: Sequence[Pair]) -> tuple[dict[str, Tensor], Tensor]:
        first = [self._prefix + pair.first for pair in batch]
        encoded = self.encoder.pairs(first, [pair.second for pair in batch])
        labels = torch.tensor([pair.label for pair in batch], device=self._device)
        return padded([ids for ids, _ in encoded], self._device), labels

    def _logits(self, inputs: dict[str, Tensor]) -> Tensor:
        """(n, 2): for not following and following."""
        if not self._answers:
            found: Tensor = self.model(**inputs)
            return found
        core: Any = self.model.core_model
        start = core.config.decoder_start_token_id
        first = torch.full((len(inputs["input_ids"]), 1), start, device=self._device)
        logits: Tensor = core(**inputs, decoder_input_ids=first).logits[:, 0]
        return logits

    def _loss(self, inputs: dict[str, Tensor], labels: Tensor) -> tuple[Tensor, int]:
        """(loss, how many were right). T5 learns to answer with the word 0 or 1."""
        logits = self._logits(inputs).float()
        if self._answers:
            digits = torch.tensor([self.encoder.token("0"), self.encoder.token("1")])
            digits = digits.to(self._device)
            loss = torch.nn.functional.cross_entropy(logits, digits[labels])
            logits = logits[:, digits]
        else:
            loss = torch.nn.functional.cross_entropy(logits, labels)
        return loss, int((logits.argmax(-1) == labels).sum())

    def go(self, tell: Told, checkpoint: Path | None = None) -> Iterator[tuple[int, int]]:
        """(epoch, batch) after each batch, until the end. Stopping the iteration stops training."""
        self.model.train()
        told = self._told
        amp = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(self.recipe.amp)
        due = False
        while self.epoch < self.recipe.epochs:
            batches = self._batches(self.epoch)
            while self.batch < len(batches):
                inputs, labels = self._inputs(batches[self.batch])
                with torch.autocast(self._device.type, amp, enabled=amp is not None):
                    loss, hits = self._loss(inputs, labels)
                self.scaler.scale(loss / self.recipe.accumulation).backward()
                self.batch += 1
                if self.batch % self.recipe.accumulation == 0 or self.batch == len(batches):
                    self._step()
                told.add(float(loss.detach()), hits, len(labels))
                # Gradients that are not yet applied are not stored: a checkpoint waits for a step.
                stepped = self.batch % self.recipe.accumulation == 0
                due |= bool(self.recipe.every) and self.batch % self.recipe.every == 0
                if checkpoint and due and stepped:
                    self.save(checkpoint)
                    due = False
                yield self.epoch, self.batch
            tell(f"epoch {self.epoch + 1}: {told.shown()}")
            self.epoch, self.batch = self.epoch + 1, 0
            told = self._told = _Told()

    def _step(self) -> None:
        self.scaler.unscale_(self.optimiser)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.optimiser.zero_grad(set_to_none=True)
        self.schedule.step()

    def accuracy(self, pairs: Sequence[Pair]) -> float:
        """The share of pairs that are told apart rightly."""
        self.model.eval()
        right, size = 0, self.recipe.batch_size
        with torch.inference_mode():
            for start in range(0, len(pairs), size):
                right += self._loss(*self._inputs(pairs[start : start + size]))[1]
        self.model.train()
        return right / len(pairs)

    def save(self, path: Path) -> None:
        """Write all that a later run needs to go on."""
        schedule = self.schedule.state_dict()
        schedule.pop("lr_lambdas", None)
        state: dict[str, Any] = {
            "model_state_dict": self.model.state_dict(),
            "optimizer_state_dict": self.optimiser.state_dict(),
            "schedule": schedule,
            "scaler": self.scaler.state_dict(),
            "epoch": self.epoch,
            "batch": self.batch,
            "random": torch.get_rng_state(),
            "run": self._run(),
            "told": asdict(self._told),
        }
        if self._device.type == "cuda":
            state["device_random"] = torch.cuda.get_rng_state(self._device)
        beside = path.with_name(path.name + ".part")
        torch.save(state, beside)
        beside.replace(path)

    def _run(self) -> str:
        """A digest of what decides where a run goes: shapes of the weights, recipe and pairs."""
        shapes = [(name, *weight.shape) for name, weight in self.model.state_dict().items()]
        told = (shapes, replace(self.recipe, every=0), *self.pairs)
        return hashlib.sha256(repr(told).encode()).hexdigest()

    def restore(self, path: Path) -> None:
        """Take over a checkpoint of the same run."""
        state = open_state(path)
        if state.get("run") != self._run() or "optimizer_state_dict" not in state:
            text = f"{path} is no checkpoint of this run"
            hint = "model, texts and options must be the same; without --resume it starts anew"
            raise UsageError(text, help=hint)
        self.model.load_state_dict(state["model_state_dict"])
        self.optimiser.load_state_dict(state["optimizer_state_dict"])
        self.schedule.load_state_dict(
            {**state["schedule"], "lr_lambdas": [None] * len(self.optimiser.param_groups)}
        )
        self.scaler.load_state_dict(state["scaler"])
        self.epoch, self.batch = state["epoch"], state["batch"]
        self._told = _Told(**state["told"])
        torch.set_rng_state(state["random"])
        if "device_random" in state and self._device.type == "cuda":
            torch.cuda.set_rng_state(state["device_random"], self._device)

    def finish(self, path: Path) -> None:
        """Write the weights alone, as `karat predict --nsp-model-path` opens them."""
        beside = path.with_name(path.name + ".part")
        if path.suffix == ".safetensors":
            from safetensors.torch import save_file

            save_file(
                {k: v.contiguous().clone() for k, v in self.model.state_dict().items()}, beside
            )
        else:
            torch.save({"model_state_dict": self.model.state_dict()}, beside)
        beside.replace(path)
