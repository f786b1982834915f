"""The documented command line of StereoSet inference: the same flags and defaults, karat's scores.

`python -m karat.compat.stereoset_inference --pretrained-class gpt2 ...`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from karat.cli import failures

INTERRUPTED = 130


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
    add("--out", default=None, type=Path, help="karat: write here, not to results/predictions")
    return flags


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 good, 2 for anything that was wrong with the call or the files."""
    given = vars(parser().parse_args(arguments))
    out = given.pop("out")
    given |= {
        "dtype": "fp32",
        "end_tokens": "score",
        "like_original": False,
        "shard": None,
        "resume": False,
        "batch_size": max(given["batch_size"], 1),
    }
    try:
        from karat.cli.predict import stereoset
        from karat.run.predicting import need_models

        need_models()
        for section in ("intrasentence", "intersentence"):
            if given[f"skip_{section}"]:
                continue
            if given[f"{section}_df_file"] is None:
                from karat.errors import UsageError

                raise UsageError(
                    f"--{section}-df-file is missing", help=f"or leave it out: --skip-{section}"
                )
        return stereoset(given, data=(), out=out, quiet=False)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - users never meet a traceback
        return failures.show(error, as_json=False, debug=False)


if __name__ == "__main__":
    sys.exit(main())
