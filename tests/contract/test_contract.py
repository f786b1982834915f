"""What holds for every metric of every task: a metric is a function of weighted evidence."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract.cases import perfect
from contract.samples import exempt, measured, sample_files

from karat import Report, score
from karat.model.evidence import Counts, Evidence
from karat.model.metric import Events, Metric
from karat.model.pairs import Facet
from karat.model.problem import Problems
from karat.model.state import Sums, Tally, from_bytes, merged
from karat.model.task import Card, Request
from karat.read.source import Source
from karat.run import pipeline
from karat.run.pipeline import Measured
from karat.stats import compare, intervals
from karat.stats.points import points
from karat.stats.units import fold, unfold

TOLERANCE = 1e-12


def values(metrics: list[Metric] | Any, evidence: list[Evidence] | Any) -> dict[str, float]:
    """Every score by name, NaN where undefined."""
    found = points(metrics, evidence, {})
    return {e.name: float("nan") if e.value is None else e.value for e in found}


def weighted(evidence: Any, weights: np.ndarray) -> Any:
    return dataclasses.replace(evidence, weights=weights)


def same(ours: dict[str, float], theirs: dict[str, float]) -> None:
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, rel=1e-9, abs=TOLERANCE, nan_ok=True), name


def test_every_metric_reads_evidence_that_exists(run: Measured) -> None:
    """Names are unique, and nothing reads what was not measured."""
    names = [name for metric in run.metrics for name in metric.names]
    assert len(names) == len(set(names))
    assert {metric.reads for metric in run.metrics} <= {e.name for e in run.evidence}
    assert any(metric.about.main for metric in run.metrics)
    assert all(metric.about.formula for metric in run.metrics)


def test_weights_are_repetition(card: Card, run: Measured) -> None:
    """An item of weight 2 counts as two items."""
    exempt(card, "repetition")
    rng = np.random.default_rng(1)
    for evidence in run.evidence:
        metrics = [m for m in run.metrics if m.reads == evidence.name]
        w = rng.integers(1, 4, size=evidence.n)
        repeated = evidence.take(np.repeat(np.arange(evidence.n), w))
        same(values(metrics, [weighted(evidence, w.astype(float))]), values(metrics, [repeated]))


def test_zero_weight_is_removal(card: Card, run: Measured) -> None:
    """An item of weight 0 is not there."""
    exempt(card, "removal")
    rng = np.random.default_rng(2)
    for evidence in run.evidence:
        metrics = [m for m in run.metrics if m.reads == evidence.name]
        keep = rng.random(evidence.n) < 0.7
        kept = evidence.take(keep)
        same(values(metrics, [weighted(evidence, keep.astype(float))]), values(metrics, [kept]))


def test_order_does_not_matter(card: Card, run: Measured) -> None:
    """Shuffled items give the same scores."""
    exempt(card, "order")
    rng = np.random.default_rng(3)
    shuffled = [e.take(rng.permutation(e.n)) for e in run.evidence]
    same(values(run.metrics, shuffled), values(run.metrics, run.evidence))


def test_weighted_totals_agree_with_the_official_numbers(run: Measured) -> None:
    """What intervals and slices stand on is the number that is shown."""
    found = values(run.metrics, run.evidence)
    assert run.official.keys() <= found.keys()
    for name, value in run.official.items():
        assert found[name] == pytest.approx(value, rel=TOLERANCE, abs=TOLERANCE, nan_ok=True), name


def test_slices_add_up(run: Measured) -> None:
    """Totals of a partition add up to those of the whole, exactly where they are integers."""
    rng = np.random.default_rng(4)
    for evidence in run.evidence:
        if not isinstance(evidence, Counts):
            continue
        part = rng.integers(0, 3, size=evidence.n)
        parts = sum(fold(evidence.take(part == p)).totals().sums for p in range(3))
        whole = fold(evidence).totals().sums
        assert parts == pytest.approx(whole, rel=TOLERANCE, abs=TOLERANCE)
        if evidence.exact:
            assert np.array_equal(parts, whole)


def test_any_chunks_merge_to_the_whole(run: Measured) -> None:
    """Folded chunk by chunk, sent as bytes and merged in any order: the same bytes and scores."""
    rng = np.random.default_rng(5)
    for evidence in run.evidence:
        if not isinstance(evidence, Counts):
            continue
        chunk = rng.integers(0, 4, size=evidence.n)
        sent = [folded(evidence, np.flatnonzero(chunk == c)).to_bytes() for c in rng.permutation(4)]
        state = merged([from_bytes(one) for one in sent])
        assert state.to_bytes() == folded(evidence, np.arange(evidence.n)).to_bytes()
        assert state.n == evidence.n
        totals, whole = unfold(state).totals(), fold(evidence).totals()
        assert totals.sums == pytest.approx(whole.sums, rel=TOLERANCE, abs=TOLERANCE)
        if evidence.exact:
            assert np.array_equal(totals.sums, whole.sums)


def folded(evidence: Counts, which: np.ndarray) -> Any:
    """The state of some items: distinct rows of whole numbers, or sums of reals by bucket."""
    if evidence.exact and evidence.weights is None:
        return Tally.of(evidence.take(which))
    names = [f"{bucket:02d}" for bucket in range(16)]
    return Sums.of(evidence.take(which), (which % 16).astype(np.int32), names)


def test_computed_fields_are_facets_alone_and_crossed(card: Card) -> None:
    """`a*b` holds the combinations of a and b, missing where one of them is."""
    names = tuple(card.computed)[:2]
    if not names:
        pytest.skip(f"{card.name} computes no fields")
    cross = "*".join((names * 2)[:2])
    gold, predictions = map(Source.of, sample_files(card))
    request = Request((gold,), (predictions,), by=(*names, cross))
    facets = pipeline.measure(card, request, Problems()).pairs.facets
    assert list(facets) == [*names, cross]
    named = [level_of_items(facets[name]) for name in ((names * 2)[:2])]
    expected = [
        None if a is None or b is None else f"{a} * {b}" for a, b in zip(*named, strict=True)
    ]
    assert level_of_items(facets[cross]) == expected


def level_of_items(facet: Facet) -> list[str | None]:
    return [None if code < 0 else facet.levels[code] for code in facet.codes]


def test_a_system_equals_itself(run: Measured) -> None:
    """p(A, A) = 1 and the difference is 0."""
    for metric in run.metrics:
        evidence = next(e for e in run.evidence if e.name == metric.reads)
        if isinstance(metric, Events) and metric.no_interval:
            continue
        settings = intervals.Settings(permutations=200)
        for found in compare.paired(metric, evidence, evidence, settings):
            if found.difference is not None:
                assert found.difference == 0
                assert found.p == 1


def test_identical_predictions_are_perfect(card: Card, tmp_path: Path) -> None:
    """Every main metric with an upper end reaches it when the predictions are the gold."""
    exempt(card, "perfect")
    gold, _ = sample_files(card)
    run = measured(card, gold, perfect(card, gold, tmp_path))
    found = values(run.metrics, run.evidence)
    top = {"fraction": 1.0, "signed": 1.0, "percent": 100.0}
    checked = 0
    for metric in run.metrics:
        if metric.about.better == "higher" and metric.about.scale in top:
            for name in metric.names:
                if not np.isnan(found[name]):
                    expected = top[metric.about.scale]
                    assert found[name] == pytest.approx(expected, abs=1e-9), name
                    checked += 1
    assert checked


def test_intervals_hold_their_value(card: Card) -> None:
    """low <= value <= high, and a reason stands where there is none."""
    report = score(*map(str, sample_files(card)), task=card.name)
    assert report.scores
    for one in report.scores:
        if one.value is None:
            assert one.reason, one.name
        elif one.low is None or one.high is None:
            assert one.no_interval, one.name
        else:
            assert one.low <= one.value <= one.high, one.name


def test_the_report_survives_json(card: Card) -> None:
    """What is written can be read again, whole, and nothing in it is NaN."""
    report = score(*map(str, sample_files(card)), task=card.name, examples=5)
    text = report.to_json()
    assert "NaN" not in text
    assert Report.from_json(text).to_json() == text


def test_same_inputs_same_bits(card: Card) -> None:
    """Two runs write the same document, resamples included."""
    files = list(map(str, sample_files(card)))
    first = score(*files, task=card.name, bootstrap=50)
    assert score(*files, task=card.name, bootstrap=50).to_json() == first.to_json()
