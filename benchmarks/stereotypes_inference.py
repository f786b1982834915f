"""karat against the plain way of `plain_inference.py`, a path of StereoSet at a time.

    python benchmarks/stereotypes_inference.py INTRASENTENCE INTERSENTENCE \
        --gpt2 FOLDER --bert FOLDER --t5 FOLDER [--rows 100] [--size base] [--device cuda]

The data are JSON lines (`karat convert` makes them from frames). Each folder lends its tokenizer;
the weights are random, of a size given by --size, so that nothing has to be downloaded and only the
arithmetic counts. A family without a folder is left out. Both ways get ids that are ready and a
model that is loaded and warm; what encoding costs stands beside. On a processor the seconds are
those of one thread, on an accelerator those of the clock.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

import plain_inference
from karat.models.examples import Example, from_rows, spread
from karat.models.loading import Settings
from karat.models.paths import CASES, make
from karat.models.running import Pace, flipped, rows_of

SIZES = {"small": (256, 4), "base": (768, 12)}


class Race(NamedTuple):
    """A path, its cases, and the peer that does the same work; None where there is none."""

    section: str
    path: str
    cases: tuple[str, ...]
    plain: type[plain_inference.Plain] | None


RACES = {
    "gpt2": (
        Race("intrasentence", "GPT2LM", ("d",), plain_inference.Sentences),
        Race("intersentence", "GPT2LM", ("d",), plain_inference.Continuations),
        Race("intersentence", "GPT2LM", CASES, None),
    ),
    "bert": (
        Race("intrasentence", "BertLM", ("d",), plain_inference.MaskedWords),
        Race("intersentence", "BertNextSentence", ("d",), plain_inference.NextSentences),
    ),
    "t5": (
        Race("intrasentence", "T5LM", ("d",), None),
        Race("intersentence", "T5LM", ("d",), plain_inference.SpanContinuations),
    ),
}


def read(path: Path) -> list[Example]:
    """The examples of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        return from_rows(map(json.loads, file))


def random_model(family: str, folder: str, size: str, target: str) -> None:
    """Write a model with random weights and the folder's tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    width, layers = SIZES[size]
    heads = width // 64
    torch.manual_seed(0)
    if family == "gpt2":
        end = tokenizer.eos_token_id or 0
        model: Any = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=max(len(tokenizer), 50257), n_embd=width, n_layer=layers, n_head=heads,
                n_positions=512, bos_token_id=end, eos_token_id=end,
            )
        )  # fmt: skip
    elif family == "bert":
        model = transformers.BertForPreTraining(
            transformers.BertConfig(
                vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=layers,
                num_attention_heads=heads, intermediate_size=4 * width,
            )
        )  # fmt: skip
    else:
        model = transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=max(len(tokenizer), 32128), d_model=width, d_kv=64, d_ff=4 * width,
                num_layers=layers, num_heads=heads, decoder_start_token_id=0,
            )
        )  # fmt: skip
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def timed(device: str, work: Callable[[], Any], rounds: int = 1) -> tuple[float, Any]:
    """(least seconds, result): processor seconds on a CPU, wall seconds on an accelerator."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    least, found = float("inf"), None
    for _ in range(rounds):
        began = clock()
        found = work()
        if device != "cpu":
            torch.cuda.synchronize()
        least = min(least, clock() - began)
    return least, found


def race(settings: Settings, one: Race, examples: list[Example], given: argparse.Namespace) -> None:
    """Print the seconds of a path, and of its peer."""
    device = settings.device

    def making(settings: Settings, examples: Sequence[Example]) -> Any:
        return make(settings, one.section, one.path, examples, one.cases)

    making(settings, examples[:2])
    loading, _ = timed(device, partial(making, settings, examples[:2]))
    whole, (path, identity, _) = timed(device, partial(making, settings, examples))
    running = partial(rows_of, path.work, identity, settings, Pace(), None, "")
    running()
    seconds, (rows, _) = timed(device, running, given.rounds)
    told = ", all six cases" if len(one.cases) > 1 else ""
    tokens = sum(map(path.work.cost, path.work.units))
    print(f"{one.section} {one.path}{told}: {len(path.work.units)} rows, {tokens} tokens")
    print(f"  karat          {seconds:8.2f} s  (+ {max(whole - loading, 0):.2f} s encoding)")
    if settings.dtype != "fp32":
        turned, total = flipped(making, settings, examples)
        print(f"  {settings.dtype} turned {turned} of {total} orderings of a sample")
    elif one.plain is not None and given.batches:
        against(one.plain, settings, examples, given.batches, seconds, path.scores(rows))


def against(
    plain: type[plain_inference.Plain],
    settings: Settings,
    examples: list[Example],
    batches: list[int],
    seconds: float,
    scores: dict[str, list[float | None]],
) -> None:
    """Print the seconds of the plain way and how far its scores are from karat's."""
    peer = plain(settings.name, settings.device)
    items = peer.encoded(examples)
    peer.scores(items[:3], 1)
    found: list[float] = []
    for size in batches:
        spent, found = timed(settings.device, partial(peer.scores, items, size))
        print(f"  plain, batch {size:3d}{spent:7.2f} s  {spent / seconds:.1f} times karat")
    if plain.comparable:
        [own] = scores.values()
        worst = max(abs(a / b - 1) for a, b in zip(own, found, strict=True) if a)
        print(f"  largest relative difference {worst:.1e}")


def main() -> None:
    """Print a block a path."""
    flags = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    flags.add_argument("intrasentence", type=Path)
    flags.add_argument("intersentence", type=Path)
    for family in RACES:
        flags.add_argument(f"--{family}", metavar="FOLDER")
    flags.add_argument("--rows", type=int, default=100, help="examples of each test; 0 for all")
    flags.add_argument("--size", choices=SIZES, default="small")
    flags.add_argument("--device", default="cpu")
    flags.add_argument("--dtype", nargs="*", choices=["fp32", "tf32", "bf16"], default=["fp32"])
    flags.add_argument("--batches", type=int, nargs="*", default=[1, 16, 64])
    flags.add_argument("--rounds", type=int, default=3, help="of karat; the least counts")
    given = flags.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    data = {s: read(getattr(given, s)) for s in ("intrasentence", "intersentence")}
    most = given.rows or max(map(len, data.values()))
    chosen = {section: spread(examples, most) for section, examples in data.items()}
    for family, races in RACES.items():
        if getattr(given, family) is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            random_model(family, getattr(given, family), given.size, folder)
            for dtype in given.dtype:
                print(f"\n{family}, {given.size}, {most} examples, {given.device}, {dtype}")
                for one in races:
                    settings = Settings(folder, given.device, dtype)
                    race(settings, one, chosen[one.section], given)
    if given.device == "cpu":
        print("processor seconds on one thread; only the ratios carry over to other machines")


if __name__ == "__main__":
    main()
