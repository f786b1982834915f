"""`karat predict`: a model's predictions, in the file that `karat score` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli.command import Command, speaker
from karat.errors import DataError, UsageError
from karat.present.progress import meter
from karat.present.writing import spare_inputs, write_atomically

if TYPE_CHECKING:
    from karat.models.loading import Settings
    from karat.models.running import Pace

WHAT = ("stereoset", "text-classification", "nli", "ner")
ONLY_SOME_PATHS = ("case_no", "nsp_model_path", "end_tokens")
ONLY_STEREOSET = (
    "intrasentence_df_file",
    "intersentence_df_file",
    "skip_intrasentence",
    "skip_intersentence",
    "intrasentence_model",
    "intersentence_model",
    *ONLY_SOME_PATHS,
)


@click.command(cls=Command, name="predict")
@click.argument("what", type=click.Choice(WHAT))
@click.argument("data", type=click.Path(), required=False)
@click.option(
    "--pretrained-class",
    required=True,
    metavar="MODEL",
    help="A model folder, a hub name, smollm2 (extra smollm2), or tiny (comes with karat).",
)
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda, cuda:1, ...")
@click.option(
    "--dtype",
    type=click.Choice(["fp32", "tf32", "bf16", "fp64"]),
    default="fp32",
    show_default=True,
    help="Type of the weights; the faster ones say how many orderings they turned.",
)
@click.option("--intrasentence-df-file", type=click.Path(), help="The intrasentence data.")
@click.option("--intersentence-df-file", type=click.Path(), help="The intersentence data.")
@click.option("--skip-intrasentence", is_flag=True, help="Leave the intrasentence test out.")
@click.option("--skip-intersentence", is_flag=True, help="Leave the intersentence test out.")
@click.option(
    "--intrasentence-model",
    type=click.Choice(["BertLM", "GPT2LM", "T5LM", "mT5LM"]),
    help="How candidates are scored; what fits the model when left out.",
)
@click.option(
    "--intersentence-model",
    type=click.Choice(["BertNextSentence", "ModelNSP", "GPT2LM", "T5LM", "mT5LM"]),
    help="The same for the intersentence test.",
)
@click.option(
    "--nsp-model-path", type=click.Path(path_type=Path), help="A next-sentence checkpoint."
)
@click.option("--tokenizer-name", help="A tokenizer class; the model's own when left out.")
@click.option(
    "--case-no",
    type=click.Choice(["orig", "b", "c", "d", "e", "f", "all"]),
    help="How causal models score a continuation, d when left out; all writes a file a case from "
    "one pass.",
)
@click.option(
    "--end-tokens",
    type=click.Choice(["score", "skip"]),
    help="End tokens that a tokenizer adds: scored as in the original unless skip leaves them out.",
)
@click.option(
    "--like-original", is_flag=True, help="Take over what the original did wrong in published runs."
)
@click.option(
    "--batch-size", type=click.IntRange(min=1), help="Rows in a batch at most; automatic."
)
@click.option("--num-workers", type=click.IntRange(min=0), hidden=True)
@click.option("--shard", metavar="I/N", help="Do the i-th of n parts, for several devices.")
@click.option("--resume", is_flag=True, help="Go on where a stopped run was; merge shards.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write.")
@click.option("--quiet", is_flag=True, help="No remarks, no progress.")
def command(what: str, data: str | None, out: Path | None, quiet: bool, **given: Any) -> int:
    """Run a model over DATA and write its predictions.

    WHAT is stereoset (data also by the two df-file flags; results/predictions/ when --out is left
    out) or a task with prediction caches: text-classification, nli, ner. Needs the extra models.
    """
    from karat.run import predicting

    predicting.need_models()
    try:
        if what == "stereoset":
            return stereoset(given, data=_files(data), out=out, quiet=quiet)
        return cache(given, what, data, out, quiet=quiet)
    except DataError as error:
        error.outcome = "nothing was predicted"
        raise


def cache(
    given: dict[str, Any], what: str, data: str | None, out: Path | None, *, quiet: bool
) -> int:
    """The exit status, after the prediction cache of a task was written."""
    from karat.run.caching import predict_cache

    if data is None or out is None:
        raise UsageError(f"karat predict {what} needs DATA and --out FILE")
    for name in ONLY_STEREOSET:
        if given[name]:
            raise UsageError(f"--{name.replace('_', '-')} belongs to karat predict stereoset")
    spare_inputs(out, [data])
    say = speaker(quiet) or silent
    written = predict_cache(
        settings_of(given),
        what,
        data,
        out,
        pace_of(given, quiet),
        resume=given["resume"],
        say=say,
        write=write_atomically,
    )
    return tell(written, say)


def _files(data: str | None) -> tuple[str, ...]:
    """The data files: several have commas between them."""
    if not data:
        return ()
    return (data,) if Path(data).exists() else tuple(data.split(","))


def silent(text: str) -> None:
    """Nothing: what takes remarks when nobody wants them."""


def stereoset(
    given: dict[str, Any], *, data: tuple[str, ...], out: Path | None, quiet: bool
) -> int:
    """The exit status, after the predictions of StereoSet were written."""
    from karat.run.predicting import SECTIONS, Job, predict

    files: dict[str, str | None] = {}
    for section in SECTIONS:
        files[section] = None if given[f"skip_{section}"] else given[f"{section}_df_file"]
        if data and given[f"skip_{section}"]:
            raise UsageError(f"--skip-{section} goes with the df-file flags, not with DATA")
    if data and any(files.values()):
        raise UsageError("the data are named twice", help="give DATA or the df-file flags")
    if out is not None:
        spare_inputs(out, [*data, *files.values(), given["nsp_model_path"]])
    job = Job(
        files=files,
        paths={section: given[f"{section}_model"] for section in SECTIONS},
        case=given["case_no"] or "d",
        nsp=given["nsp_model_path"],
        out=out,
        resume=given["resume"],
        data=data,
        asked=tuple(
            f"--{name.replace('_', '-')}" for name in ONLY_SOME_PATHS if given[name] is not None
        ),
    )
    say = speaker(quiet) or silent
    written = predict(settings_of(given), job, pace_of(given, quiet), say, write_atomically)
    return tell(written, say)


def settings_of(given: dict[str, Any]) -> Settings:
    """How the model is run."""
    from karat.models.loading import Settings

    return Settings(
        given["pretrained_class"],
        given["device"],
        given["dtype"],
        given["tokenizer_name"],
        given["like_original"],
        given["end_tokens"] != "skip",
    )


def pace_of(given: dict[str, Any], quiet: bool) -> Pace:
    """How the work is cut and watched."""
    from karat.models.journal import parse_shard
    from karat.models.running import Pace

    shard = None
    if given["shard"]:
        shard = parse_shard(given["shard"])
        if shard is None:
            raise UsageError(f"--shard {given['shard']}: i/n is needed, as in 1/2")
    return Pace(batch_size=given["batch_size"], shard=shard, meter=_rows_meter(quiet))


def _rows_meter(quiet: bool) -> Any:
    """A meter that counts batches, where someone is watching."""
    drawn = meter(quiet)
    if drawn is None:
        return None
    shown = {"at": -1}

    def tick(name: str, done: int, total: int | None) -> None:
        part = 100 * done // (total or 1)
        if part != shown["at"]:
            shown["at"] = part
            click.echo(f"\r{name}  {part:3d} %", err=True, nl=done == total)

    return tick


def tell(written: list[Path], say: Any) -> int:
    """Exit status 0, after the files were named."""
    for path in written:
        say(f"wrote {path}")
    return 0
