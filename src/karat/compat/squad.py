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
from mmap import ACCESS_READ, mmap
from pathlib import Path

from karat.compat.ending import ended
from karat.errors import DataError
from karat.model.problem import Problems
from karat.read.collector import without_collector
from karat.tasks.answers import files, records
from karat.tasks.answers.reading import Content, Reading
from karat.tasks.answers.totals import Scores, official20

FAILED = 1
JSON_STARTS = b"{[ \t\r\n"


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


@without_collector()
def main(words: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 1 where the files cannot be scored."""
    words = sys.argv[1:] if words is None else words
    if not words:
        parser().print_help()
        return FAILED
    given = parser().parse_args(words)
    return ended(lambda: _evaluate(given), FAILED)


def _evaluate(given: argparse.Namespace) -> int:
    """Score; write the pictures and the file that are asked for; print."""
    problems = Problems()
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
        from karat.present.writing import write_atomically

        write_atomically(given.out_file, json.dumps(out).encode())
    print(json.dumps(out, indent=2))
    return 0


def read(given: argparse.Namespace, problems: Problems) -> Scores | None:
    """The scores of the files, None where they have errors."""
    choices = files.Choices(missing=given.missing)
    gold_file, said_file, chance_file = (
        opened(path, problems) for path in (given.data_file, given.pred_file, given.na_prob_file)
    )
    dataset = records.read_questions(gold_file)
    gold_file.release()
    said = records.read_predictions(said_file)
    chances = records.read_chances(chance_file) if given.na_prob_file else None
    gold = None if dataset is None else files.asked(dataset, said, gold_file, choices.version)
    if gold is None or said is None:
        return None
    del dataset
    gold, answers = files.paired(gold, said, said_file, choices.missing)
    if chances is not None:
        files.check_chances(gold, answers, chances, chance_file)
    return None if problems.errors else files.scored(gold, answers, choices, chances)


def opened(path: str, problems: Problems) -> Reading:
    """A file to be read; what the official script lets pass is a warning."""

    def fetch() -> Content:
        try:
            return content(path)
        except OSError as error:
            from karat.read.source import unreadable

            raise DataError([unreadable(Path(path), path, error)]) from None

    return Reading(fetch, path, problems, strict=False)


def content(path: str) -> Content:
    """What a file holds, mapped into memory where that is possible: it is not copied then."""
    found: Content
    with Path(path).open("rb") as file:
        try:
            found = mmap(file.fileno(), 0, access=ACCESS_READ)
        except (OSError, ValueError):
            found = file.read()  # a pipe, or an empty file
    if found[:1] in JSON_STARTS:
        return found
    from karat.read.source import Source

    return Source.of(found[:], path).data()  # a byte order mark, or compressed


def tell(problems: Problems) -> None:
    """Print the problems on stderr."""
    if not len(problems):
        return
    from karat.present.problems import problem_lines
    from karat.present.style import Style

    for line in problem_lines(problems, problems.hidden, Style.of(sys.stderr)):
        print(line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
