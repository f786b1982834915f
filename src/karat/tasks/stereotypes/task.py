"""Stereotypes, put together: read, measure, score, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.model.evidence import Evidence
from karat.model.metric import Metric
from karat.model.pairs import Which
from karat.model.problem import Problems
from karat.model.report import Curve, Example, Table
from karat.model.task import Card, Request
from karat.tasks.stereotypes import measure as m
from karat.tasks.stereotypes import metrics
from karat.tasks.stereotypes.examples import TIE_WORDS, StereoPairs, chosen
from karat.tasks.stereotypes.explain import worst
from karat.tasks.stereotypes.pair import read
from karat.tasks.stereotypes.views import curves, tables


class Stereotypes:
    """StereoSet in any language, and pairs of sentences."""

    def read(self, card: Card, request: Request, problems: Problems) -> StereoPairs | None:
        """Every example with the scores of its candidates."""
        return read(card, request, problems)

    def measure(self, pairs: StereoPairs, options: Mapping[str, Any]) -> Sequence[Evidence]:
        """Counts of examples, scores of target terms."""
        return m.measure(pairs, options)

    def metrics(self, pairs: StereoPairs, options: Mapping[str, Any]) -> Sequence[Metric]:
        """Every score for everything, each domain, each section, and each domain of a section."""
        return metrics.metrics(pairs)

    def official(
        self, pairs: StereoPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """The numbers as the original computes them."""
        return metrics.official(pairs, options.get("ties", "strict"))

    def subset(self, pairs: StereoPairs, which: Which) -> StereoPairs:
        """The chosen examples: scores over target terms are measured again in a slice."""
        return chosen(pairs, which)

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The choices that change a number."""
        return {
            "ties": options.get("ties", "strict"),
            "multi_class": "unweighted over target terms",
            "overall": "pooled examples of both tests",
        }

    def notes(self, pairs: StereoPairs, options: Mapping[str, Any]) -> list[str]:
        """What was left out, and what ties were counted as."""
        notes = list(pairs.gold.remarks)
        sections = pairs.gold.sections
        if len(sections) == 1 and pairs.gold.kinds == 3:
            notes.append(f"only the {sections[0]} test was scored")
        tied = int((pairs.pred.compared(0, 1) == 0).sum())
        if tied:
            rule = options.get("ties", "strict")
            notes.append(
                f"{tied:,} of {pairs.n:,} examples tie (stereotype and anti-stereotype score the "
                f"same); --ties {rule} counts them as {TIE_WORDS[rule]}"
            )
        return notes

    def views(
        self, pairs: StereoPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """Tables by domain and target, pictures of SS around 50 and of LM against SS."""
        ties = options.get("ties", "strict")
        values = metrics.official(pairs, ties)
        return tables(pairs, values, ties), curves(pairs, values, "model")

    def examples(
        self,
        pairs: StereoPairs,
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """Examples whose unrelated candidate wins, then the strongest stereotypes."""
        return worst(pairs, most)


TASK = Stereotypes()
