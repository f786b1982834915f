"""Train the tiny language model that karat ships, on the texts of its own samples.

It is a GPT-2 of 147,000 weights with a byte-level tokenizer of 600 pieces: small enough for a
wheel, real enough to run every command that needs a causal model. It knows nothing of the world.

    python tools/train_tiny_model.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import transformers
from tokenizers import ByteLevelBPETokenizer

SAMPLES = Path(__file__).parents[1] / "src" / "karat" / "samples"
TARGET = SAMPLES / "tiny-model"
PIECES, WIDTH, LAYERS, HEADS, POSITIONS = 600, 64, 2, 4, 128
STEPS, ROWS, LENGTH, RATE, SEED = 1500, 16, 48, 3e-3, 7
END = "<|endoftext|>"


def texts() -> list[str]:
    """The sentences of the text samples."""
    found: list[str] = []
    for name in ("text-classification", "nli"):
        for line in (SAMPLES / name / "gold.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            found += [record[key] for key in ("text", "text_pair") if key in record]
    return list(dict.fromkeys(found))


def make_tokenizer(lines: list[str], folder: Path) -> transformers.PreTrainedTokenizerFast:
    """A tokenizer of the lines, written to the folder."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(lines, vocab_size=PIECES, special_tokens=[END], show_progress=False)
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,  # noqa: SLF001 - there is no public way
        eos_token=END,
        model_max_length=POSITIONS,
    )
    made.save_pretrained(folder)
    return made


def train(model: torch.nn.Module, stream: torch.Tensor) -> float:
    """The loss of the last steps."""
    source = torch.Generator().manual_seed(SEED)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS)
    last: list[float] = []
    for _ in range(STEPS):
        starts = torch.randint(len(stream) - LENGTH, (ROWS,), generator=source)
        rows = torch.stack([stream[i : i + LENGTH] for i in starts])
        loss = model(input_ids=rows, labels=rows).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        schedule.step()
        last = [*last[-49:], float(loss.detach())]
    return sum(last) / len(last)


def main(folder: Path) -> None:
    """Train, and write the model in half precision."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    lines = texts()
    tokenizer = make_tokenizer(lines, folder)
    end = tokenizer.eos_token_id
    stream = torch.tensor([i for line in lines for i in [end, *tokenizer(line)["input_ids"]]])
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=POSITIONS, n_embd=WIDTH, n_layer=LAYERS,
        n_head=HEADS, bos_token_id=end, eos_token_id=end, resid_pdrop=0.0, embd_pdrop=0.0,
        attn_pdrop=0.0,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config).train()
    print(f"{len(stream)} tokens, {model.num_parameters()} weights")
    print(f"loss {train(model, stream):.3f}")
    model.half().save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
