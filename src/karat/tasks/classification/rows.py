"""Everything a request names, read and checked: data, and the predictions that belong to it."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.problem import Problems
from karat.model.task import Request
from karat.tasks.classification.columns import Predictions
from karat.tasks.classification.data import Gold, read_gold
from karat.tasks.classification.vectors import inline_hashes, read_inline, read_predictions


@dataclass(frozen=True, slots=True)
class Side:
    """Data and predictions of one side; `predictions` is None where there are none to score."""

    gold: Gold
    predictions: Predictions | None
    prediction_file: str | None


def read_side(task: str, request: Request, problems: Problems, keep_scores: bool = True) -> Side:
    """Everything a request names, read and checked. Whether it is sound, `problems` says."""
    gold = read_gold(task, request, problems)
    cached = request.predictions[0] if request.predictions else None
    if cached is None and not gold.inline:
        if request.purpose == "score" and gold.n:
            text = "no predictions: give a prediction file, or 'probabilities' in the data rows"
            gold.reader.place().add("prediction-missing", text, "probabilities")
        return Side(gold, None, None)
    if cached is None:
        predictions = read_inline(gold, problems, keep_scores)
        return Side(gold, predictions, gold.reader.name)
    hashes = inline_hashes(gold) if gold.inline and gold.n else None
    predictions = read_predictions(cached, gold, problems, keep_scores, hashes)
    return Side(gold, predictions, cached.name)
