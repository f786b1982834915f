"""The command line of SQuAD 2.0's evaluation script, over karat's kernel.

    python score.py data_file prediction_file [--out-file F] [--na-prob-file F]
        [--na-prob-thresh T] [--out-image-dir D] [--verbose]

Same keys, order, numbers and indentation. Neither NumPy nor the engine is loaded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from karat.errors import KaratError
from karat.model.problem import Problems
from karat.read.collector import without_collector
from karat.tasks.answers import files, records
from karat.tasks.answers.records import Reading
from karat.tasks.answers.totals import Scores, official20

FAILED = 1


def parser() -> argparse.ArgumentParser:
    """The documented arguments."""
    made = argparse.ArgumentParser(
        prog="score.py", description="Official evaluation of SQuAD version 2.0, by karat."
    )
    made.add_argument("data_file", metavar="data.json", help="gold data")
    made.add_argument("pred_file", metavar="pred.json", help="model predictions")
    made.add_argument(
        "--out-file", "-o", metavar="eval.json", help="also write the metrics here, on one line"
    )
    made.add_argument(
        "--na-prob-file", "-n", metavar="na_prob.json", help="probability of no answer by question"
    )
    made.add_argument(
        "--na-prob-thresh",
        "-t",
        type=float,
        default=1.0,
        help='predict "" where the probability of no answer exceeds this (default: 1.0)',
    )
    made.add_argument(
        "--out-image-dir", "-p", metavar="out_images", help="write precision-recall curves here"
    )
    made.add_argument("--verbose", "-v", action="store_true", help="accepted, without effect")
    made.add_argument(
        "--missing",
        choices=("error", "zero", "skip"),
        default="error",
        help="questions without a prediction: fail, count as wrong, or leave out (default: error)",
    )
    return made


def main(words: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 1 where the files cannot be scored."""
    words = sys.argv[1:] if words is None else words
    if not words:
        parser().print_help()
        return FAILED
    given = parser().parse_args(words)
    problems = Problems()
    try:
        with without_collector():
            scores = read(given, problems)
        tell(problems)
        if scores is None:
            return FAILED
        pictures = given.out_image_dir if given.na_prob_file else None
        out = official20(scores, given.na_prob_thresh, curves=pictures is not None)
        if pictures is not None:
            from karat.compat.squad_pictures import draw

            draw(scores, Path(pictures))
        if given.out_file:
            Path(given.out_file).write_text(json.dumps(out), encoding="utf-8")
    except (KaratError, OSError) as error:
        print(error, file=sys.stderr)
        if isinstance(error, KaratError) and error.help:
            print(f"  help: {error.help}", file=sys.stderr)
        return FAILED
    print(json.dumps(out, indent=2))
    return 0


def read(given: argparse.Namespace, problems: Problems) -> Scores | None:
    """The scores of the files, None where they have errors."""
    choices = files.Choices(missing=given.missing)
    reading = opened(given.data_file, problems)
    dataset = records.read_questions(reading)
    reading.data = b""  # most of the memory, and no longer needed
    gold = None if dataset is None else files.asked(dataset, reading, "2.0")
    del reading, dataset
    reading = opened(given.pred_file, problems)
    said = records.read_predictions(reading)
    if gold is None or said is None:
        return None
    gold, answers = files.paired(gold, said, reading, choices)
    chances = None
    if given.na_prob_file:
        reading = opened(given.na_prob_file, problems)
        chances = records.read_chances(reading)
        if chances is not None:
            files.checked_chances(gold, answers, chances, reading)
    return None if problems.errors else files.scored(gold, answers, choices, chances)


def opened(path: str, problems: Problems) -> Reading:
    """A file as bytes; what the official script lets pass is a warning."""
    return Reading(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"), path, problems, False)


def tell(problems: Problems) -> None:
    """Print the problems on stderr."""
    for problem in problems:
        print(problem.text, file=sys.stderr)
        if problem.help:
            print(f"  help: {problem.help}", file=sys.stderr)
    for (code, file), more in problems.hidden().items():
        print(f"{file}: {code}: {more:,} more", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
