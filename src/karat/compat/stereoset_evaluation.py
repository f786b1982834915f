"""The command line of the multilingual StereoSet evaluation, over karat's engine.

    python -m karat.compat.stereoset_evaluation --predictions-file P
        --intrasentence-df-file A --intersentence-df-file B
        [--skip-intrasentence] [--skip-intersentence] [--output-file F]

The same numbers, nested the same way. A workbook gets a row each run; a JSON file has one entry a
model. The output file is the path as it is given.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from karat.compat.ending import ended
from karat.present.process import start_no_threads

FAILED = 1


def parser() -> argparse.ArgumentParser:
    """The documented arguments."""
    made = argparse.ArgumentParser(
        prog="stereoset_evaluation", description="StereoSet scores of a prediction file, by karat."
    )
    made.add_argument("--predictions-file", "--predictions", required=True, metavar="FILE")
    made.add_argument("--intrasentence-df-file", metavar="FILE", help="the intrasentence data")
    made.add_argument("--intersentence-df-file", metavar="FILE", help="the intersentence data")
    made.add_argument("--skip-intrasentence", action="store_true", help="leave that test out")
    made.add_argument("--skip-intersentence", action="store_true", help="leave that test out")
    made.add_argument(
        "--output-file", metavar="FILE", help="also add the scores here: .json, .xlsx or .xlsm"
    )
    return made


def main(words: Sequence[str] | None = None) -> int:
    """The exit status: 0, 1 where the files cannot be scored, 2 where the call is wrong."""
    start_no_threads()
    made = parser()
    told = made.parse_args(words)
    wanted: dict[str, Any] = {}
    for section in ("intrasentence", "intersentence"):
        path, skipped = getattr(told, f"{section}_df_file"), getattr(told, f"skip_{section}")
        if not skipped and path is None:
            made.error(f"--{section}-df-file is needed unless --skip-{section} is given")
        wanted[f"skip_{section}"] = skipped
        if not skipped:
            wanted[f"{section}_df_file"] = path
    return ended(lambda: _evaluate(told, wanted), FAILED)


def _evaluate(told: argparse.Namespace, wanted: Mapping[str, Any]) -> int:
    """Score, print, add to the output file."""
    if told.skip_intrasentence and told.skip_intersentence:
        return 0
    from karat import api
    from karat.tasks.stereotypes import results

    report = api.score(told.predictions_file, task="stereotypes", confidence=None, **wanted)
    for problem in report.problems:
        print(problem.text, file=sys.stderr)
    numbers = results.nested(report)
    if told.output_file is not None:
        name = results.model_name(report)
        print(results.add(told.output_file, name, numbers, replace=False), file=sys.stderr)
    print("\n".join(lines(numbers)))
    return 0


def lines(tree: Mapping[str, Any], depth: int = 0) -> list[str]:
    """The nested numbers as text, a tab a level."""
    found: list[str] = []
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found += ["\t" * depth + name, *lines(value, depth + 1)]
        else:
            found.append("\t" * depth + f"{name}: {value}")
    return found


if __name__ == "__main__":
    sys.exit(main())
