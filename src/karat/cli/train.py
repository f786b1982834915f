"""`karat train nsp`: next-sentence fine-tuning of a causal or encoder-decoder model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from karat.cli.command import Command, speaker
from karat.cli.predict import silent
from karat.errors import UsageError
from karat.present.writing import spare_inputs


@click.command(cls=Command, name="train")
@click.argument("what", type=click.Choice(["nsp"]))
@click.argument("texts", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--pretrained-class", required=True, metavar="MODEL", help="Folder or hub name.")
@click.option("--tokenizer-name", help="A tokenizer class; the model's own when left out.")
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda, ...")
@click.option("--epochs", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--batch-size", type=click.IntRange(min=1), default=8, show_default=True)
@click.option(
    "--accumulation", type=click.IntRange(min=1), default=1, show_default=True,
    help="Batches to a step.",
)  # fmt: skip
@click.option("--core-lr", type=float, default=5e-6, show_default=True, help="Rate of the model.")
@click.option("--head-lr", type=float, default=1e-3, show_default=True, help="Rate of the head.")
@click.option(
    "--amp", type=click.Choice(["none", "bf16", "fp16"]), default="none", show_default=True,
    help="Mixed precision.",
)  # fmt: skip
@click.option("--seed", type=int, default=27, show_default=True)
@click.option("--longest", type=click.IntRange(min=8), default=256, show_default=True,
              help="Tokens of a pair at most.")  # fmt: skip
@click.option("--validation", type=click.FloatRange(0, 0.5), default=0.1, show_default=True,
              help="Share of documents held out.")  # fmt: skip
@click.option("--every", type=click.IntRange(min=0), default=0, metavar="N",
              help="Checkpoint every N batches, beside the target.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on from the checkpoint.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The weights, .safetensors or .pth.")  # fmt: skip
@click.option("--quiet", is_flag=True, help="No remarks.")
def command(texts: tuple[Path, ...], out: Path, quiet: bool, resume: bool, **given: Any) -> int:
    """Fine-tune a model to tell whether one sentence follows another.

    TEXTS are files with one document a line, or folders of .txt files. The result goes to
    `karat predict stereoset --intersentence-model ModelNSP --nsp-model-path FILE`.
    """
    from karat.run.predicting import need_models

    need_models()
    from karat.models.documents import make_pairs, read_documents, split
    from karat.models.loading import Settings
    from karat.models.training import Recipe, Trainer

    if out.suffix not in (".safetensors", ".pth", ".pt"):
        raise UsageError(f"--out {out}: .safetensors, .pth or .pt is needed")
    spare_inputs(out, texts)
    recipe = Recipe(
        given["epochs"],
        given["batch_size"],
        given["accumulation"],
        given["core_lr"],
        given["head_lr"],
        given["seed"],
        given["longest"],
        amp=given["amp"],
        every=given["every"],
    )
    training, held = split(read_documents(texts), given["validation"], recipe.seed)
    pairs = make_pairs(training, recipe.seed)
    settings = Settings(
        given["pretrained_class"], given["device"], tokenizer_name=given["tokenizer_name"]
    )
    say = speaker(quiet) or silent
    trainer = Trainer(settings, recipe, pairs)
    checkpoint = out.with_name(out.name + ".checkpoint")
    if resume and checkpoint.exists():
        trainer.restore(checkpoint)
        say(f"goes on at epoch {trainer.epoch + 1}, batch {trainer.batch}")
    say(f"{len(pairs)} pairs of {len(training)} documents, {trainer.steps} steps")
    out.parent.mkdir(parents=True, exist_ok=True)
    for _ in trainer.go(say, checkpoint):
        pass
    if held:
        say(f"held-out accuracy {trainer.accuracy(make_pairs(held, recipe.seed)):.3f}")
    trainer.finish(out)
    checkpoint.unlink(missing_ok=True)
    say(f"wrote {out}")
    return 0
