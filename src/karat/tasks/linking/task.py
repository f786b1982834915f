"""Entity linking and coreference, put together: read, measure, score, show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from karat.errors import UsageError
from karat.model.evidence import Evidence
from karat.model.metric import Metric
from karat.model.pairs import BoolArray, IntArray, Pairs
from karat.model.problem import Problems
from karat.model.report import Curve, Example, Table
from karat.model.task import Card, Request
from karat.read.source import Source
from karat.tasks.linking import explain
from karat.tasks.linking import measure as m
from karat.tasks.linking.checks import check
from karat.tasks.linking.counts import Counting, Weights
from karat.tasks.linking.formats import read_sides
from karat.tasks.linking.grouping import SCORES, results
from karat.tasks.linking.measures import resolve
from karat.tasks.linking.metrics import all_metrics
from karat.tasks.linking.typeweights import read_weights

DEFAULT = ("all", "beyond")
MOST_ROWS = 500


class Linking:
    """Mentions, their entities and the clusters that entities make."""

    def read(self, card: Card, request: Request, problems: Problems) -> m.LinkPairs | None:
        """Both sides; every span that either side has is an item."""
        measures = tuple(resolve(request.options.get("measure") or DEFAULT))
        gold, system = read_sides(request.gold, request.predictions, request.options, problems)
        if not request.predictions and request.purpose == "score":
            raise UsageError("entity linking needs PREDICTIONS")
        if not request.predictions:
            # Gold checked alone is held against itself.
            system = gold
        if gold is None or system is None or problems.errors:
            return None
        texts = request.options.get("texts")
        if texts is not None and not Path(texts).is_dir():
            raise UsageError(f"--texts {texts} is not a folder")
        counting = Counting(gold.annotations, system.annotations)
        check(counting.fields, measures, problems)
        if request.weights is not None:
            raise UsageError(
                "mentions of entity linking carry no weights", help="see --type-weights"
            )
        weights = _weights(request.options, problems)
        if problems.count("error"):
            return None
        sides = m.Sides(
            counting,
            measures,
            request,
            weights,
            tuple(request.options.get("group_by") or ()),
            texts,
            (*gold.notes, *system.notes),
        )
        return _paired(sides, card.item)

    def subset(self, pairs: m.LinkPairs, which: BoolArray | IntArray) -> m.LinkPairs:
        """The pairs of some of the spans, to be measured again."""
        old = pairs.gold
        chosen = np.zeros(pairs.n, dtype=np.bool_)
        chosen[which] = True
        gold, system, _ = old.spans
        counting = Counting(old.gold.take(chosen[gold]), old.system.take(chosen[system]))
        return _paired(
            m.Sides(counting, old.measures, old.request, old.weights, old.group_by, old.texts),
            pairs.item,
        )

    def measure(self, pairs: m.LinkPairs, options: Mapping[str, Any]) -> Sequence[Evidence]:
        """By mention, by document, or the corpus as a whole."""
        return m.measure(pairs)

    def metrics(self, pairs: m.LinkPairs, options: Mapping[str, Any]) -> Sequence[Metric]:
        """Precision, recall and F of every measure."""
        return all_metrics(pairs.gold)

    def official(
        self, pairs: m.LinkPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> Mapping[str, float]:
        """The official script's arithmetic; where a denominator is 0 there is no score here."""
        out: dict[str, float] = {}
        for one in pairs.gold.measures:
            if one.aggregate == "blanc":
                continue
            found = pairs.gold.totals[one.name]
            system, gold = found["ptp"] + found["fp"], found["rtp"] + found["fn"]
            for score, base in zip(SCORES, (system, gold, system + gold), strict=True):
                if base:
                    out[f"{one.name}.{score}"] = float(found[score])
        return out

    def definitions(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The choices that change a number."""
        return {
            "nil": "ids that begin with NIL",
            "mention": "its best candidate only, ties in file order",
            "repeated span": "last cluster for muc and b_cubed",
        }

    def notes(self, pairs: m.LinkPairs, options: Mapping[str, Any]) -> list[str]:
        """What was decided while reading, and what the intervals rest on."""
        sides = pairs.gold
        found = list(sides.notes)
        clustered = any(one.clusters for one in sides.measures)
        if clustered and not sides.within_documents:
            found.append(
                "clusters reach across documents, so scores of clusters have no interval; "
                "--group-by docid scores each document on its own"
            )
        if sides.weights is not None and any(one.aggregate != "sets" for one in sides.measures):
            found.append("type weights count in measures of sets only")
        if any(one.aggregate == "blanc" for one in sides.measures) and sides.within_documents:
            found.append("blanc counts links inside documents, since no cluster leaves one")
        return found

    def views(
        self, pairs: m.LinkPairs, evidence: Sequence[Evidence], options: Mapping[str, Any]
    ) -> tuple[list[Table], list[Curve]]:
        """Counts, outcomes of mentions, split and merged clusters, and the groups asked for."""
        sides = pairs.gold
        tables = [_counts(sides), explain.outcomes(sides), explain.documents(sides, MOST_ROWS)]
        if any(one.clusters for one in sides.measures):
            tables.append(explain.clusters(sides))
        if sides.group_by:
            tables.append(_groups(sides))
        return tables, []

    def examples(
        self,
        pairs: m.LinkPairs,
        evidence: Sequence[Evidence],
        options: Mapping[str, Any],
        most: int,
    ) -> list[Example]:
        """Mentions that went wrong, with the text around them where there is a folder of texts."""
        return explain.examples(pairs.gold, m.SpanIds(pairs.gold), most)


def _paired(sides: m.Sides, item: str) -> m.LinkPairs:
    """The pairs of two sides: items are spans, clusters are documents unless asked otherwise."""
    request = sides.request
    return Pairs(
        n=sides.spans[2],
        gold=sides,
        pred=sides.system,
        ids=m.SpanIds(sides),
        item=item,
        facets=m.facets(sides, request.by),
        cluster=m.facets(sides, [request.cluster or "docid"]).popitem()[1],
    )


def _weights(options: Mapping[str, Any], problems: Problems) -> Weights | None:
    path = options.get("type_weights")
    return None if path is None else read_weights(Source.of(path), problems)


def _counts(sides: m.Sides) -> Table:
    """The four counts of every measure, which scores alone do not show."""
    columns = ["measure", "ptp", "fp", "rtp", "fn"]
    rows = [
        [name, *(found[c] for c in columns[1:])]
        for name, found in sides.totals.items()
        if not name.startswith("blanc.")
    ]
    return Table(name="counts", title="Counts", columns=columns, rows=rows)


def _groups(sides: m.Sides) -> Table:
    """Every measure in every group, with micro and macro averages."""
    wanted = [one for one in sides.measures if one.aggregate != "blanc"]
    found = results(sides.counting, wanted, sides.group_by, weights=sides.weights)
    names = sorted(found)
    rows = [
        [name, *(found[name][s] for s in ("ptp", "fp", "rtp", "fn", *SCORES))] for name in names
    ]
    if len(rows) > MOST_ROWS:
        # Too many groups to list: their averages stay.
        rows = [row for row in rows if "=<m" in str(row[0])]
    columns = ["group", "ptp", "fp", "rtp", "fn", "precision", "recall", "fscore"]
    return Table(name="groups", title=f"By {', '.join(sides.group_by)}", columns=columns, rows=rows)


TASK = Linking()
