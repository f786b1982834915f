"""Entity linking at size: every measure, against the official script where it can be run.

    python benchmarks/linking.py [MENTIONS] [--kind local|global] [--official COMMAND] [-m MEASURE]

Seeded data: 20 mentions a document, 5 types, 70 % in the knowledge base, entities by Zipf's law,
NIL clusters of about 3. "local": wrong links stay among neighbouring ids; "global": they go
anywhere, so that one giant connected part arises.
"""

from __future__ import annotations

import argparse
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TYPES = np.array(["PER", "ORG", "GPE", "LOC", "FAC"])


def make(n: int, kind: str, folder: Path) -> tuple[Path, Path]:
    """Gold and system files of n mentions."""
    rng = np.random.default_rng(7)
    entities = max(n // 10, 10)
    share = 1 / np.arange(1, entities + 1) ** 0.9
    eid = rng.choice(entities, size=n, p=share / share.sum())
    nil = rng.random(n) < 0.3
    cluster = rng.integers(0, max(n // 10, 1), size=n)
    start = np.tile(np.arange(20) * 50, n // 20 + 1)[:n]
    kinds = TYPES[rng.integers(0, 5, size=n)]
    wrong = rng.random(n) < 0.2
    if kind == "local":
        answer = np.where(wrong, eid // 5 * 5 + rng.integers(0, 5, size=n), eid)
        group = np.where(wrong, cluster // 5 * 5 + rng.integers(0, 5, size=n), cluster)
    else:
        answer = np.where(wrong, rng.choice(entities, size=n, p=share / share.sum()), eid)
        group = np.where(wrong, rng.integers(0, max(n // 10, 1), size=n), cluster)
    answered = np.where(rng.random(n) < 0.05, ~nil, nil)
    paths = folder / "gold.tsv", folder / "system.tsv"
    sides = (
        (eid, cluster, nil, kinds),
        (answer, group, answered, np.where(rng.random(n) < 0.9, kinds, "PER")),
    )
    for path, (ids, groups, nils, types) in zip(paths, sides, strict=True):
        kept = rng.random(n) < (1.0 if path is paths[0] else 0.95)
        with path.open("w", encoding="utf-8") as file:
            for i in np.flatnonzero(kept).tolist():
                # A mention that is wrongly called unknown stays in the neighbourhood of its entity.
                unknown = f"NIL{groups[i]}" if nil[i] or kind == "global" else f"NILE{eid[i] // 5}"
                name = unknown if nils[i] else f"E{ids[i]}"
                file.write(f"doc{i // 20}\t{start[i]}\t{start[i] + 9}\t{name}\t1.0\t{types[i]}\n")
    return paths


def timed(command: list[str]) -> tuple[float, float]:
    """CPU seconds and peak memory (MB) of a child process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, after.ru_maxrss / 1024


def main() -> None:
    """Print CPU seconds, memory and ratios."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("mentions", type=int, nargs="?", default=10_000)
    options.add_argument("--kind", choices=("local", "global"), default="local")
    options.add_argument(
        "--official", help="command of the official script, as 'python -m neleval'"
    )
    options.add_argument("-m", "--measure", action="append")
    options.add_argument("--repeat", type=int, default=1)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        gold, system = make(chosen.mentions, chosen.kind, Path(folder))
        took = time.perf_counter() - began
        print(f"{chosen.mentions:,} mentions ({chosen.kind}) made in {took:.1f} s")
        names = [word for name in chosen.measure or ["all"] for word in ("-m", name)]
        tail = ["evaluate", *names, "-g", str(gold), str(system)]
        ours = [sys.executable, "-m", "karat.compat.neleval", *tail]
        theirs = None if chosen.official is None else [*shlex.split(chosen.official), *tail]
        for _ in range(chosen.repeat):
            cpu, memory = timed(ours)
            print(f"karat     {cpu:8.2f} CPU s  {memory:8.0f} MB (peak of children)")
            if theirs is not None:
                slow, memory = timed(theirs)
                print(f"official  {slow:8.2f} CPU s  {memory:8.0f} MB   ratio {slow / cpu:.1f}")


if __name__ == "__main__":
    main()
