"""Question answering, put together: read, measure, score, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat.model.evidence import Evidence
from karat.model.metric import Metric
from karat.model.problem import Problems
from karat.model.report import Curve, Example, Series, Table
from karat.model.task import Card, Request
from karat.tasks.answers import explain, metrics
from karat.tasks.answers import measure as m
from karat.tasks.answers.pair import AnswerPairs, read
from karat.tasks.answers.totals import official11, official20, precision_recall, walk

MOST_POINTS = 200
BINS = 20


class QuestionAnswering:
    """SQuAD in one of its two versions: they differ in the rule for a question, and in names."""

    def __init__(self, version: str) -> None:
        self.version = version

    def read(self, card: Card, request: Request, problems: Problems) -> AnswerPairs | None:
        """Paired questions and answers, with their raw scores."""
        return read(card, request, problems)

    def measure(self, pairs: AnswerPairs, options: Mapping[str, Any]) -> Sequence[Evidence]:
        """Scores of the questions, and their order by no-answer probability."""
        return m.measure(pairs, options)

    def metrics(self, pairs: AnswerPairs, options: Mapping[str, Any]) -> Sequence[Metric]:
        """The numbers of the script of this version."""
        if self.version == "1.1":
            return metrics.metrics11()
        return metrics.metrics20(pairs.pred.chances is not None)

    def official(
        self, pairs: AnswerPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """The script's own sums; nothing where questions have importance weights."""
        if pairs.weights is not None:
            return {}
        scores = pairs.pred
        if self.version == "1.1":
            return official11(scores.exact, scores.f1)
        return official20(scores, m.threshold(options), curves=scores.chances is not None)

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The choices that change a number."""
        found = {"normalizer": options.get("normalizer") or "squad"}
        if found["normalizer"] == "mlqa":
            found["language"] = options.get("language") or "en"
        found["missing"] = options.get("missing") or "error"
        if options.get("na_probs"):
            from karat.read.source import Source

            found["na_probs"] = Source.of(options["na_probs"]).digest()[:12]
        return found

    def notes(self, pairs: AnswerPairs, options: Mapping[str, Any]) -> list[str]:
        """What was decided for missing predictions and for the normal form."""
        found = []
        missing = sum(text is None for text in pairs.pred.said)
        if missing:
            found.append(f"without a prediction and counted as wrong: {missing:,} (--missing zero)")
        if pairs.gold.skipped:
            text = f"without a prediction and left out: {pairs.gold.skipped:,} (--missing skip)"
            found.append(f"{text}; not the official score of the data set")
        if pairs.gold.choices.normalizer != "squad":
            name = pairs.gold.choices.normalizer
            found.append(f"texts are compared by the {name} normal form, not by the official one")
        if options.get("language") not in (None, "en") and pairs.gold.choices.normalizer != "mlqa":
            found.append("--language without --normalizer mlqa changes nothing")
        if m.threshold(options) != 1.0 and pairs.pred.chances is None and self.version == "2.0":
            found.append("--na-prob-threshold without --na-probs: every probability is taken as 0")
        return found

    def views(
        self, pairs: AnswerPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """Precision and recall at every threshold, and the probabilities of both kinds."""
        if pairs.pred.chances is None:
            return [], []
        silence = next(one for one in evidence if isinstance(one, m.Silence))
        return [], [*_recall_curves(pairs, m.threshold(options)), _histogram(silence)]

    def examples(
        self,
        pairs: AnswerPairs,
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """The questions with the lowest F1."""
        return explain.worst(pairs, m.threshold(options), most)


def _recall_curves(pairs: AnswerPairs, cut: float) -> list[Curve]:
    """The three curves, thinned for display, each marked where the given threshold cuts."""
    way = walk(pairs.pred)
    at = sum(way.chances[n - 1] <= cut for n in way.cuts)
    series = []
    for name, curve in precision_recall(pairs.pred, way).items():
        recalls, precisions = curve.recalls, curve.precisions
        kept = sorted(set(np.linspace(0, len(recalls) - 1, MOST_POINTS).round().astype(int)))
        x, y = [recalls[i] for i in kept], [precisions[i] for i in kept]
        mark = [recalls[at], precisions[at]] if 0 < at < len(recalls) else []
        series.append(Series(name=name, x=x, y=y, mark=mark))
    if not series:
        return []
    return [
        Curve(
            name="precision_recall",
            title="Precision and recall over no-answer thresholds",
            x="recall",
            y="precision",
            series=series,
            kind="step",
            note=f"The ring is what the threshold {cut:g} reaches.",
        )
    ]


def _histogram(silence: m.Silence) -> Curve:
    """The share of questions by no-answer probability, in bins over [0, 1]."""
    edges = np.linspace(0, 1, BINS + 1)
    middle = ((edges[1:] + edges[:-1]) / 2).tolist()
    series = []
    for name, chosen in (("HasAns", silence.answerable), ("NoAns", ~silence.answerable)):
        count, _ = np.histogram(silence.chance[chosen], edges)
        share = (count / max(int(chosen.sum()), 1)).tolist()
        series.append(Series(name=name, x=middle, y=share, size=count.astype(float).tolist()))
    return Curve(
        name="no_answer_probability",
        title="No-answer probability",
        x="model probability of no answer",
        y="share of the questions",
        series=series,
        kind="histogram",
    )


TASK = QuestionAnswering("2.0")
TASK11 = QuestionAnswering("1.1")
