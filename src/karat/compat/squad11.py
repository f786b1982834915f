"""The command line of SQuAD 1.1's evaluation script, over karat's kernel.

    python -m karat.compat.squad11 dataset_file prediction_file

One line with exact_match and f1. A question without a prediction is named on stderr and counts as
wrong, as in the original.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from karat.compat.ending import ended
from karat.compat.squad import FAILED, opened, tell
from karat.model.problem import Problems
from karat.present.widths import clean
from karat.read.collector import without_collector
from karat.tasks.answers import files, records
from karat.tasks.answers.checks import check_extra
from karat.tasks.answers.totals import official11

EXPECTED = "1.1"


@without_collector()
def main(words: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 1 where the files cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="squad11", description="Official evaluation of SQuAD version 1.1, by karat."
    )
    parser.add_argument("dataset_file", help="gold data")
    parser.add_argument("prediction_file", help="model predictions")
    given = parser.parse_args(words)
    return ended(lambda: _evaluate(given), FAILED)


def _evaluate(given: argparse.Namespace) -> int:
    """Score and print."""
    problems = Problems()
    out = scored(given, problems)
    tell(problems)
    if out is None:
        return FAILED
    print(json.dumps(out))
    return 0


def scored(given: argparse.Namespace, problems: Problems) -> dict[str, int | float] | None:
    """The two numbers, None where the files have errors."""
    choices = files.Choices(version="1.1", missing="zero")
    gold_file, said_file = (
        opened(path, problems) for path in (given.dataset_file, given.prediction_file)
    )
    dataset = records.read_questions(gold_file)
    gold_file.release()
    said = records.read_predictions(said_file)
    gold = None if dataset is None else files.asked(dataset, said, gold_file, choices.version)
    if gold is None or said is None:
        return None
    if dataset.version != EXPECTED:
        text = f"Evaluation expects v-{EXPECTED}, but got dataset with v-{dataset.version}"
        print(text, file=sys.stderr)
    for key in gold.ids:
        if key not in said:
            print(f"Unanswered question {clean(key)} will receive score 0.", file=sys.stderr)
    check_extra(gold.ids, said, "predictions", said_file)
    said_file.tell()
    scores = files.scored(gold, list(map(said.get, gold.ids)), choices)
    return official11(scores.exact, scores.f1)


if __name__ == "__main__":
    sys.exit(main())
