"""Distances of samples, against numbers from SciPy and from the published examples."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.covariance import LedoitWolf

from karat.suite import distance, permute

DATA = os.environ.get("KARAT_REFERENCE_DATA")
needs_data = pytest.mark.skipif(
    DATA is None, reason="KARAT_REFERENCE_DATA names no folder of reference data"
)


def caches() -> Path:
    return Path(DATA or "") / "prediction-caches"


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (caches() / name).read_text("utf-8").splitlines()]


def expected(task: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((caches() / "expected.json").read_text("utf-8"))[task]
    return found


def test_psi_of_a_published_example() -> None:
    """[100, 200] against [25, 150] is 0.20086 with 1 added to each bin."""
    value = distance.psi(np.array([100, 200]), np.array([25, 150]))
    assert float(value) == pytest.approx(0.20086, abs=5e-6)


def test_divergence_is_scipys_squared() -> None:
    """SciPy gives the root of the divergence."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 9, size=(2, 12))
        a[0] = b[0] = 1
        theirs = jensenshannon(a, b, base=2) ** 2
        assert float(distance.divergence(a, b)) == pytest.approx(theirs, abs=1e-12)


def test_an_empty_side_is_no_divergence() -> None:
    """Nothing can be said of no counts, and nothing warns."""
    assert float(distance.divergence(np.zeros(3), np.zeros(3))) == 0


def test_shrinkage_is_ledoit_and_wolfs() -> None:
    """The inverse used for few vectors is that of scikit-learn's estimate."""
    vectors = np.random.default_rng(1).normal(size=(20, 8)) * np.arange(1, 9)
    found = distance.cloud(vectors)
    theirs = LedoitWolf().fit(vectors)
    assert found.inverse == pytest.approx(np.linalg.inv(theirs.covariance_), rel=1e-8)


@needs_data
def test_numbers_and_labels_of_the_reference_set() -> None:
    """PSI, KS, Wasserstein of metadata, word counts and labels."""
    want = expected("text_classification")
    ref, other = records("text_classification/ref.jsonl"), records("text_classification/eval.jsonl")
    columns = {
        "meta_order_value_drift": [
            [r["meta"]["order_value"] for r in side] for side in (ref, other)
        ],
        "words": [[len(r["text"].split()) for r in side] for side in (ref, other)],
    }
    for name, (a, b) in columns.items():
        numbers = want["text"]["word_count_drift"] if name == "words" else want[name]
        found = distance.shift(np.array(a, dtype=float), np.array(b, dtype=float))
        assert found.ks == pytest.approx(numbers["ks"], abs=1e-6)
        assert found.p == pytest.approx(numbers["ks_p"], abs=1e-6)
        assert found.psi == pytest.approx(numbers["psi_10_ref_deciles"], abs=1e-6)
        assert found.wasserstein == pytest.approx(numbers["wasserstein_over_ref_std"], abs=1e-6)
    labels = want["label_drift"]
    counts = np.array(labels["ref"]), np.array(labels["eval"])
    assert float(distance.psi(*counts)) == pytest.approx(labels["psi"], abs=1e-6)
    assert float(distance.divergence(*counts)) == pytest.approx(labels["js_div_base2"], abs=1e-6)


@needs_data
def test_embeddings_of_the_reference_set() -> None:
    """Centroids, energy distance and outliers."""
    want = expected("text_classification")
    ref, other = (
        np.array([r["sentence_embedding"] for r in records(f"text_classification/{side}.jsonl")])
        for side in ("ref", "eval")
    )
    drift = want["embedding_drift"]
    centroids = distance.centroid_distance(ref, other)
    assert centroids == pytest.approx(drift["centroid_euclidean_of_unit_vectors"], abs=1e-6)
    value, test = permute.energy_test(ref, other, 42, "energy")
    assert value == pytest.approx(drift["energy_distance"], abs=1e-6)
    assert test.p == pytest.approx(drift["energy_permutation_p_999_seed42"], abs=0.02)
    cloud = distance.cloud(ref)
    odd = want["embedding_anomalies"]
    assert cloud.limit == pytest.approx(odd["mahalanobis_cut_995"], abs=1e-6)
    assert distance.beyond(other, cloud).tolist() == odd["rows"]
    values = np.array([r["meta"]["order_value"] for r in records("text_classification/ref.jsonl")])
    bounds = want["meta_order_value_outliers"]["iqr3_bounds"]
    assert list(distance.fence(values)) == pytest.approx(bounds, abs=1e-6)


@needs_data
def test_rows_are_shuffled_whole() -> None:
    """The p of labels, and of entity types where a row holds several."""
    want = expected("text_classification")["label_drift"]
    sides = [
        permute.Ragged(sum(c), np.arange(sum(c)), np.repeat(np.arange(3), c), 3)
        for c in (want["ref"], want["eval"])
    ]
    test = permute.rows_test(sides[0], sides[1], distance.psi, 42, "labels")
    assert test.p == pytest.approx(want["permutation_p_999_seed42"], abs=0.02)
    types = expected("ner")["entity_type_drift"]
    ragged = []
    for side in ("ref", "eval"):
        rows = records(f"ner/{side}.jsonl")
        found = [
            (i, types["types"].index(entity["type"]))
            for i, row in enumerate(rows)
            for entity in row["entities"]
            for _ in entity["mentions"]
        ]
        row, code = np.array(found).T
        ragged.append(permute.Ragged(len(rows), row, code, len(types["types"])))
    assert ragged[0].counts().tolist() == types["ref"]
    test = permute.rows_test(ragged[0], ragged[1], distance.psi, 42, "types")
    assert test.p == pytest.approx(types["row_permutation_p_999_seed42"], abs=0.02)


def test_no_drift_has_uniform_p() -> None:
    """Halves of one sample: small p as often as it says."""
    rng = np.random.default_rng(7)
    small = 0
    for i in range(200):
        sides = [permute.Ragged(40, np.arange(40), rng.integers(0, 4, 40), 4) for _ in range(2)]
        small += permute.rows_test(sides[0], sides[1], distance.psi, i, "null").p <= 0.1
    # Binomial(200, 0.1) lies within 8..34 with probability over 0.9995.
    assert 8 <= small <= 34


def test_thinning_keeps_rows_whole() -> None:
    """A chosen row brings all of its pieces."""
    side = permute.Ragged(3, np.array([0, 0, 1, 2]), np.array([1, 1, 0, 2]), 3)
    assert side.take(np.array([0, 2])).counts().tolist() == [0, 2, 1]
