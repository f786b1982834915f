"""How often stress tests cry wolf, and how often they miss.

Seeded pairs with nothing changed, and pairs with one planted change.

    python benchmarks/stress_calibration.py --pairs 500 --planted 100
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import Any

import numpy as np

import karat
from karat.model.report import Report
from karat.present.suite import tests_of

CLASSES = 4
ACCURACY = 0.85
LOUD = ("drift", "subsets", "subset degradation")
"""The kinds of tests that may fail in at most 5 % of the runs without any change."""


def rows(
    n: int,
    rng: np.random.Generator,
    *,
    drop: float = 0.0,
    shares: np.ndarray | None = None,
    weak: float = 0.0,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(data, predictions): texts with five columns of metadata, a calibrated model of 0.85.

    `drop` lowers its accuracy everywhere, `weak` in the tenth of the rows of region r0; `shares`
    are those of the labels.
    """
    label = rng.choice(CLASSES, n, p=shares)
    region, channel = rng.integers(0, 10, n), rng.choice(3, n, p=[0.5, 0.3, 0.2])
    device, age, price = rng.integers(0, 4, n), rng.normal(40, 12, n), rng.lognormal(3, 0.6, n)
    confidence = 0.5 + 0.5 * rng.beta(5.6, 2.4, n)
    chance = np.where(region == 0, confidence - drop - weak, confidence - drop)
    right = rng.random(n) < chance
    top = np.where(right, label, (label + rng.integers(1, CLASSES, n)) % CLASSES)
    words = rng.zipf(1.3, (n, 12)) % 2000
    lengths = 4 + rng.binomial(8, 0.5, n)
    data, predictions = [], []
    for i in range(n):
        text = " ".join(f"w{word}" for word in words[i, : lengths[i]])
        meta = {
            "region": f"r{region[i]}",
            "channel": f"c{channel[i]}",
            "device": f"d{device[i]}",
            "age": float(age[i]),
            "price": float(price[i]),
        }
        data.append(
            {"text": f"{text} {rng.integers(1 << 60)}", "label": int(label[i]), "meta": meta}
        )
        vector = np.full(CLASSES, (1 - confidence[i]) / (CLASSES - 1))
        vector[top[i]] = confidence[i]
        predictions.append({"probabilities": vector.tolist()})
    return data, predictions


def run(n: int, seed: int, **change: Any) -> Report:
    """The stress run of one pair."""
    rng = np.random.default_rng(seed)
    ref, ref_predictions = rows(n, rng)
    other, eval_predictions = rows(n, rng, **change)
    return karat.stress(
        task="text-classification",
        ref=ref,
        ref_predictions=ref_predictions,
        evaluation=other,
        eval_predictions=eval_predictions,
        numeric=("age", "price"),
        categorical=("region", "channel", "device"),
        seed=seed,
    )


def quiet(n: int, pairs: int, start: int) -> str:
    """A line of the table: runs without any change."""
    failed, warned, elsewhere, which = 0, 0, 0, Counter[str]()
    for seed in range(start, start + pairs):
        every = tests_of(run(n, seed))
        tests = [test for test in every if test.category in LOUD]
        elsewhere += any(t.status == "fail" for t in every if t.category not in LOUD)
        failed += any(test.status == "fail" for test in tests)
        warned += any(test.status in ("fail", "warning") for test in tests)
        which.update(test.name for test in tests if test.status in ("fail", "warning"))
        if (seed - start) % 50 == 49:
            print(
                f"# {seed - start + 1} of {pairs}: {failed} failed, {warned} warned",
                file=sys.stderr,
            )
    said = ", ".join(f"{name} {count}" for name, count in which.most_common(4)) or "none"
    shares = " | ".join(f"{count / pairs:.1%}" for count in (failed, warned, elsewhere))
    return f"| no change | {n:,} | {pairs} | {shares} | {said} |"


def with_psi(wanted: float) -> np.ndarray:
    """Shares of the classes that are that far from even ones."""
    low, high = 0.25, 0.99
    shares = np.full(CLASSES, 0.25)
    for _ in range(60):
        middle = (low + high) / 2
        shares = np.array([middle, *[(1 - middle) / 3] * 3])
        psi = float(((shares - 0.25) * np.log(shares / 0.25)).sum())
        low, high = (middle, high) if psi < wanted else (low, middle)
    return shares


PLANTED: dict[str, tuple[str, dict[str, Any]]] = {
    "accuracy -0.10": ("overall_metrics", {"drop": 0.10}),
    "label PSI 0.6": ("label_drift", {"shares": with_psi(0.6)}),
    "a tenth of the rows at -0.15": ("subset_performance", {"weak": 0.15}),
    "the same, against reference": ("subset_degradation", {"weak": 0.15}),
}


def planted(name: str, n: int, pairs: int) -> str:
    """A line of the table: runs with one change, and how often its test saw it."""
    test_name, change = PLANTED[name]
    status = Counter[str]()
    for seed in range(10_000, 10_000 + pairs):
        report = run(n, seed, **change)
        (test,) = [test for test in tests_of(report) if test.name == test_name]
        status[test.status] += 1
    found = (status["warning"] + status["fail"]) / pairs
    return (
        f"| {name} | {n:,} | {pairs} | {found:.0%} | {status['fail'] / pairs:.0%} | {test_name} |"
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 2000])
    parser.add_argument("--planted", type=int, default=100)
    parser.add_argument("--size", type=int, default=2000)
    given = parser.parse_args()
    began = time.process_time()
    print(
        "| pairs with | rows a side | pairs | a failure | a warning or failure "
        "| another test fails | most often |"
    )
    print("|---|---:|---:|---:|---:|---:|---|")
    for n in given.sizes if given.pairs else ():
        print(quiet(n, given.pairs // len(given.sizes), 1_000 * n), flush=True)
    print("\n| planted | rows a side | pairs | found | as a failure | by |")
    print("|---|---:|---:|---:|---:|---|")
    for name in PLANTED if given.planted else ():
        print(planted(name, given.size, given.planted), flush=True)
    print(f"\n{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
