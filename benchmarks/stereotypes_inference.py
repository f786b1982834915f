"""karat against the plain way to score candidates: one batch after the other, all positions.

    python benchmarks/stereotypes_inference.py MODEL_FOLDER INTRASENTENCE INTERSENTENCE [--rows 100]

The folder lends its tokenizer; the weights are random, of a size given by --size, so that nothing
has to be downloaded and only the arithmetic counts. The plain way is what a straightforward script
does: batches in file order, padded to the longest, softmax over the whole vocabulary at every
position, one `.item()` a token. On an accelerator give `--device cuda`.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from karat.models.examples import Example, closed, spread
from karat.models.loading import Settings
from karat.models.paths import make
from karat.models.running import Pace, rows_of
from karat.run.predicting import Job, read_examples

SIZES = {"small": (256, 4), "base": (768, 12)}
CASES = ("orig", "b", "c", "d", "e", "f")
Clock = Callable[[], float]


def random_model(folder: str, size: str, target: str) -> int:
    """The vocabulary size of a GPT-2 with random weights and the folder's tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    width, layers = SIZES[size]
    torch.manual_seed(0)
    end = tokenizer.eos_token_id or 0
    config = transformers.GPT2Config(
        vocab_size=max(len(tokenizer), 50257), n_embd=width, n_layer=layers, n_head=width // 64,
        n_positions=512, bos_token_id=end, eos_token_id=end,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(target)
    tokenizer.save_pretrained(target)
    return int(config.vocab_size)


class Plain:
    """The plain way: the mean log-probability of texts, or of what follows a beginning."""

    def __init__(self, folder: str, device: str) -> None:
        self.device = device
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).to(device).eval()

    def texts(self, texts: list[str], starts: list[int], size: int) -> list[float]:
        """exp of the mean log-probability of each text from its start on."""
        found = []
        for at in range(0, len(texts), size):
            rows = [self.tokenizer(text)["input_ids"] for text in texts[at : at + size]]
            width = max(map(len, rows))
            ids = torch.tensor([row + [0] * (width - len(row)) for row in rows]).to(self.device)
            shown = torch.softmax(self.model(ids).logits, -1)
            for i, row in enumerate(rows):
                begin = max(starts[at + i], 1)
                told = [math.log(shown[i, k - 1, row[k]].item()) for k in range(begin, len(row))]
                found.append(math.exp(sum(told) / max(len(told), 1)))
        return found

    def sentences(self, examples: list[Example], size: int) -> list[float]:
        """The intrasentence test (but for first tokens)."""
        texts = [c.sentence for e in examples for c in e.candidates]
        return self.texts(texts, [0] * len(texts), size)

    def continuations(self, examples: list[Example], size: int) -> list[float]:
        """The intersentence test, case d."""
        texts = [f"{closed(e.context)} {c.sentence}" for e in examples for c in e.candidates]
        starts = [
            len(self.tokenizer(closed(e.context))["input_ids"])
            for e in examples
            for _ in e.candidates
        ]
        return self.texts(texts, starts, size)


def timed(device: str, work: Callable[[], Any]) -> tuple[float, Any]:
    """(seconds, result): processor seconds on a CPU, wall seconds on an accelerator."""
    clock: Clock = time.process_time if device == "cpu" else time.perf_counter
    began = clock()
    found = work()
    if device != "cpu":
        torch.cuda.synchronize()
    return clock() - began, found


def karat_way(
    settings: Settings, section: str, examples: list[Example], cases: tuple[str, ...]
) -> tuple[float, float, dict[str, list[float | None]]]:
    """(seconds of the model, seconds of encoding, scores); loading is left out of both."""
    make(settings, section, "GPT2LM", examples[:2], cases)
    before, _ = timed(
        settings.device, lambda: make(settings, section, "GPT2LM", examples[:2], cases)
    )
    whole, (path, identity, _) = timed(
        settings.device, lambda: make(settings, section, "GPT2LM", examples, cases)
    )
    seconds, (rows, _) = timed(
        settings.device,
        lambda: rows_of(path.work, identity, settings, Pace(), None, section),
    )
    assert rows is not None
    return seconds, max(whole - before, 0.0), path.scores(rows)


def main() -> None:
    """Print a table of seconds and ratios."""
    flags = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    flags.add_argument("folder")
    flags.add_argument("intrasentence")
    flags.add_argument("intersentence")
    flags.add_argument("--rows", type=int, default=100, help="examples of each test; 0 for all")
    flags.add_argument("--size", choices=SIZES, default="small")
    flags.add_argument("--device", default="cpu")
    flags.add_argument("--dtype", choices=["fp32", "tf32", "bf16"], default="fp32")
    flags.add_argument("--batches", type=int, nargs="*", default=[1, 16, 64])
    given = flags.parse_args()
    torch.set_num_threads(1)
    files = {"intrasentence": given.intrasentence, "intersentence": given.intersentence}
    data = read_examples(Job(files=files, paths={}))
    most = given.rows or max(map(len, data.values()))
    chosen = {section: spread(examples, most) for section, examples in data.items()}
    with tempfile.TemporaryDirectory() as folder:
        size = random_model(given.folder, given.size, folder)
        print(
            f"{given.size} model, vocabulary {size}, {most} examples, {given.device}, {given.dtype}"
        )
        compare(Settings(folder, given.device, given.dtype), chosen, given.batches)
    if given.device == "cpu":
        print("processor seconds on one thread; only the ratios carry over to other machines")


def compare(settings: Settings, chosen: dict[str, list[Example]], batches: list[int]) -> None:
    """Print each test's seconds."""
    plain = Plain(str(Path(settings.name)), settings.device)
    for section, way in (
        ("intrasentence", plain.sentences),
        ("intersentence", plain.continuations),
    ):
        seconds, encoding, found = karat_way(settings, section, chosen[section], ("d",))
        told = "d" if section == "intersentence" else ""
        print(f"{section:14} karat {seconds:8.2f} s (+ {encoding:.2f} s encoding)")
        for size in batches:
            spent, expected = timed(settings.device, partial(way, chosen[section], size))
            ratio = spent / seconds
            print(f"{'':14} plain {spent:8.2f} s at batch {size}: {ratio:.1f} times karat")
            if told:
                pairs = zip(found[told], expected, strict=True)
                worst = max(abs(a / b - 1) for a, b in pairs if a)
                print(f"{'':14} largest relative difference {worst:.1e}")
    seconds, encoding, _ = karat_way(settings, "intersentence", chosen["intersentence"], CASES)
    print(f"{'all six cases':14} karat {seconds:8.2f} s (+ {encoding:.2f} s encoding), one pass")


if __name__ == "__main__":
    main()
