"""What a run says of itself besides numbers."""

from __future__ import annotations

import pytest

import karat


@pytest.mark.parametrize(("clusters", "warned"), [(19, True), (20, False)])
def test_few_clusters_are_told(clusters: int, warned: bool) -> None:
    rows = [  # both labels in every cluster, so that every score rests on all of them
        {"text": f"t{i}", "label": i // clusters % 2, "meta": {"group": i % clusters}}
        for i in range(20 * 19)
    ]
    said = [{"probabilities": [0.9, 0.1] if i % 3 else [0.2, 0.8]} for i in range(len(rows))]
    report = karat.score(rows, said, task="text-classification", cluster="meta.group")
    told = [note for note in report.notes if "wide and rough" in note]
    assert bool(told) == warned
    assert all(f"{clusters} clusters (meta.group)" in note for note in told)
