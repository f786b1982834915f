"""The documented command line of StereoSet inference: the same flags and defaults, karat's scores.

`python -m karat.compat.stereoset_inference --pretrained-class gpt2 ...`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from karat.compat.ending import ended
from karat.errors import UsageError
from karat.present.writing import write_atomically
from karat.run.predicting import SECTIONS, Job, need_models, predict

FAILED = 2


def parser() -> argparse.ArgumentParser:
    """The flags of the original, and where karat needs one more, it is said."""
    flags = argparse.ArgumentParser(prog="stereoset_inference", description=__doc__.split("\n")[0])
    add = flags.add_argument
    add("--pretrained-class", default="bert-base-cased", help="a model folder or a hub name")
    add("--device", default="cpu")
    add("--intrasentence-df-file", default=None)
    add("--intersentence-df-file", default=None)
    add("--skip-intrasentence", action="store_true")
    add("--skip-intersentence", action="store_true")
    add("--intrasentence-model", default="BertLM", choices=["BertLM", "GPT2LM", "T5LM", "mT5LM"])
    add(
        "--intersentence-model",
        default="BertNextSentence",
        choices=["BertNextSentence", "ModelNSP", "GPT2LM", "T5LM", "mT5LM"],
    )
    add("--nsp-model-path", default=None, type=Path)
    add("--tokenizer-name", default="BertTokenizer")
    add("--batch-size", type=int, default=1)
    add("--num-workers", type=int, default=1, help="accepted; there is nothing to distribute")
    add("--case-no", default="d", choices=["orig", "b", "c", "d", "e", "f", "all"])
    add("--resume", action="store_true", help="karat: go on where a stopped run was")
    add("--out", default=None, type=Path, help="karat: write here, not to results/predictions")
    return flags


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 good, 2 for anything that was wrong with the call or the files."""
    given = parser().parse_args(arguments)
    return ended(lambda: _predict(given), FAILED)


def _predict(given: argparse.Namespace) -> int:
    """Run the model and name the files that were written."""
    for path in run(given):
        tell(f"wrote {path}")
    return 0


def run(given: argparse.Namespace) -> list[Path]:
    """The files that were written."""
    need_models()
    from karat.models.loading import Settings
    from karat.models.running import Pace

    files: dict[str, str | None] = {}
    for section in SECTIONS:
        skipped = getattr(given, f"skip_{section}")
        files[section] = None if skipped else getattr(given, f"{section}_df_file")
        if files[section] is None and not skipped:
            text = f"--{section}-df-file is missing"
            raise UsageError(text, help=f"or leave the test out: --skip-{section}")
    job = Job(
        files=files,
        paths={section: getattr(given, f"{section}_model") for section in SECTIONS},
        case=given.case_no,
        nsp=given.nsp_model_path,
        out=given.out,
        resume=given.resume,
    )
    settings = Settings(given.pretrained_class, given.device, tokenizer_name=given.tokenizer_name)
    return predict(settings, job, Pace(max(given.batch_size, 1)), tell, write_atomically)


def tell(text: str) -> None:
    """Say it on stderr."""
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
