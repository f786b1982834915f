"""significance and confidence, as neleval defines them: by document, one-sided, percentile."""

from __future__ import annotations

import argparse
import itertools
import json
from typing import TYPE_CHECKING, Any

from karat.compat.neleval.evaluate import (
    Late,
    add_format,
    add_gold,
    add_measures,
    additive,
    read,
    weights_of,
)
from karat.errors import UsageError

if TYPE_CHECKING:
    from karat.model.pairs import FloatArray
    from karat.tasks.linking.annotations import Annotations
    from karat.tasks.linking.counts import Weights
    from karat.tasks.linking.measures import Measure

COUNTS = ("ptp", "fp", "rtp", "fn")
# In the order in which neleval shows them in its own data structures.
ALL = ("precision", "recall", "fscore", *COUNTS)
SEED = 12345

Stats = dict[str, dict[str, Any]]


def _add(commands: Any, name: str, help: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = commands.add_parser(name, help=help)
    add_gold(one)
    one.add_argument("-n", "--trials", type=int, default=2500, help="default 2500")
    one.add_argument(
        "-j", "--n_jobs", type=int, default=1, help="accepted; the answer does not depend on it"
    )
    add_format(one)
    add_measures(one)
    one.add_argument("--metrics", default="precision,recall,fscore", help="of " + ",".join(ALL))
    one.add_argument("--type-weights", metavar="FILE", help="gold TAB system TAB weight")
    one.add_argument("--seed", type=int, default=SEED, help=f"default {SEED}")
    return one


def add_significance(commands: Any) -> None:
    """The command `significance`."""
    one = _add(commands, "significance", "Test for pairwise significance between systems")
    one.add_argument("systems", metavar="SYSTEM", nargs="+", help="two or more systems")
    method = one.add_mutually_exclusive_group()
    method.add_argument(
        "--permute", dest="method", action="store_const", const="permute", default="permute"
    )
    method.add_argument("--bootstrap", dest="method", action="store_const", const="bootstrap")
    one.set_defaults(run=_significance)


def add_confidence(commands: Any) -> None:
    """The command `confidence`."""
    one = _add(
        commands, "confidence", "Calculate percentile bootstrap confidence intervals for a system"
    )
    one.add_argument("system", metavar="SYSTEM", help="system annotations")
    one.add_argument("-p", "--percentiles", default="90,95,99", help="default 90,95,99")
    one.set_defaults(run=_confidence)


def _metrics(chosen: argparse.Namespace) -> list[str]:
    wanted: list[str] = chosen.metrics.split(",")
    unknown = [name for name in wanted if name not in ALL]
    if unknown:
        raise Late(f"there is no metric named {unknown[0]!r}", help=f"there are {', '.join(ALL)}")
    return wanted


def _by_document(
    gold: Annotations, systems: list[Annotations], measures: list[Measure], weights: Weights | None
) -> list[FloatArray]:
    """For each system, (measures, documents, 4) counts, over the documents of all sides.

    The counts of a measure that counts whole things are whole numbers.
    """
    import numpy as np

    from karat.tasks.linking.counts import NUMBERS, Counting
    from karat.tasks.linking.grouping import cut_by

    names = sorted(
        {one.docs[code] for one in [gold, *systems] for code in np.unique(one.doc).tolist()}
    )
    place = {name: i for i, name in enumerate(names)}
    found = []
    for system in systems:
        cut, values = cut_by(Counting(gold, system, quirks=True), ("docid",))
        out = np.zeros((len(measures), len(names), 4))
        at = [place[name] for name in values[0]]
        for i, measure in enumerate(measures):
            four = cut.four(measure, weights)
            out[i, at] = np.stack([getattr(four, n) for n in NUMBERS], axis=1)
        found.append(out)
    return found


def _scored(sums: FloatArray) -> FloatArray:
    """(..., 7): scores and counts of (..., 4) counts, 0 for a zero denominator."""
    import numpy as np

    ptp, fp, rtp, fn = np.moveaxis(sums, -1, 0)
    precision, recall = _quotient(ptp, ptp + fp), _quotient(rtp, rtp + fn)
    f = _quotient(2 * precision * recall, precision + recall)
    return np.stack([precision, recall, f, ptp, fp, rtp, fn], axis=-1)


def _quotient(a: FloatArray, b: FloatArray) -> FloatArray:
    import numpy as np

    return np.asarray(np.where(b != 0, a / np.where(b != 0, b, 1.0), 0.0))


def _whole(measure: Measure, weights: Weights | None) -> bool:
    """Whether the counts of a measure are shown as whole numbers."""
    return measure.whole and weights is None


def _number(value: float, name: str, whole: bool) -> int | float:
    """A number as neleval has it: counts of whole things are integers."""
    return int(value) if whole and name in COUNTS else float(value)


def _significance(chosen: argparse.Namespace) -> str:
    measures = additive(chosen.measure, "strong_all_match")
    if chosen.method == "bootstrap":
        raise UsageError(
            "--bootstrap is not offered for significance", help="use --permute, or confidence"
        )
    if len(chosen.systems) < 2:
        raise UsageError("significance compares two systems or more")
    if chosen.trials < 0:
        raise Late("trials cannot be fewer than none")
    gold, systems = read(chosen.gold), [read(path) for path in chosen.systems]
    weights = weights_of(chosen.type_weights)
    counts = _by_document(gold, systems, measures, weights)
    found = []
    for a, b in itertools.combinations(range(len(systems)), 2):
        for i, measure in enumerate(measures):
            stats = _randomised(
                counts[a][i], counts[b][i], chosen.trials, chosen.seed, _whole(measure, weights)
            )
            names = {"sys1": chosen.systems[a], "sys2": chosen.systems[b], "measure": measure.name}
            found.append({**names, "stats": stats})
    if chosen.fmt == "none":
        return repr(found)
    if chosen.fmt == "json":
        return json.dumps(found, sort_keys=True, indent=4)
    return _significance_table(found, _metrics(chosen))


def _randomised(a: FloatArray, b: FloatArray, trials: int, seed: int, whole: bool) -> Stats:
    """metric -> difference and p: the share of random swaps at least as far in its direction."""
    import numpy as np

    from karat.stats.weights import swaps

    base = _scored(a.sum(axis=0)) - _scored(b.sum(axis=0))
    beyond = np.zeros(len(ALL), dtype=np.int64)
    difference = a - b
    total = a.sum(axis=0), b.sum(axis=0)
    count = np.ones(len(a), dtype=np.int64)
    for block in swaps(count, trials, seed, "neleval significance"):
        moved = block.astype(np.float64) @ difference
        drawn = _scored(total[0] - moved) - _scored(total[1] + moved)
        slack = 1e-12 * np.maximum(np.abs(base), 1.0)
        beyond += np.where(base < 0, drawn <= base + slack, drawn >= base - slack).sum(axis=0)
    p = (beyond + 1) / (trials + 1)
    return {
        name: {"diff": _number(base[i], name, whole), "p": float(p[i])}
        for i, name in enumerate(ALL)
    }


def _significance_table(found: list[dict[str, Any]], metrics: list[str]) -> str:
    head = ("sys1", "sys2", "measure")
    wide = max(4, *(len(row[name]) for row in found for name in head[:2]))
    widths = wide, wide, max(5, *(len(row["measure"]) for row in found))
    lines = [[name.ljust(w) for name, w in zip(head, widths, strict=True)]]
    for name in metrics:
        lines[0] += [f"Δ-{name[:6]}", f"p-{name[:6]}"]
    for row in found:
        line = [row[name].ljust(w) for name, w in zip(head, widths, strict=True)]
        for name in metrics:
            line += [f"{row['stats'][name]['diff']:+8.3f}", f"{row['stats'][name]['p']:8.3f}"]
        lines.append(line)
    return "\n".join("\t".join(line) for line in lines)


def _confidence(chosen: argparse.Namespace) -> str:
    measures = additive(chosen.measure, "strong_all_match")
    levels, metrics = _percentiles(chosen.percentiles), _metrics(chosen)
    if chosen.trials < 1:
        raise Late("confidence needs at least one trial")
    weights = weights_of(chosen.type_weights)
    counts = _by_document(read(chosen.gold), [read(chosen.system)], measures, weights)[0]
    found = []
    for i, measure in enumerate(measures):
        whole = _whole(measure, weights)
        overall = _scored(counts[i].sum(axis=0)).tolist()
        row = {name: _number(overall[k], name, whole) for k, name in enumerate(ALL)}
        found.append(
            {
                "measure": measure.name,
                "overall": {name: value for name, value in row.items() if name in metrics},
                "intervals": _bounds(counts[i], chosen, metrics, levels, whole),
            }
        )
    if chosen.fmt == "none":
        return repr(found)
    if chosen.fmt == "json":
        return json.dumps(found, sort_keys=True, indent=4)
    return _confidence_table(found, metrics, sorted(levels))


def _percentiles(text: str) -> list[int]:
    try:
        levels = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"percentiles are integers with commas between, not {text!r}") from error
    if not all(0 <= level <= 100 for level in levels):
        raise UsageError(f"percentiles lie between 0 and 100, unlike {text!r}")
    return levels


def _bounds(
    counts: FloatArray,
    chosen: argparse.Namespace,
    metrics: list[str],
    levels: list[int],
    whole: bool,
) -> dict[str, dict[int, tuple[float, float]]]:
    """metric -> level -> lower and upper bound, from documents drawn again."""
    import numpy as np

    from karat.stats.weights import resamples

    ones = np.ones(len(counts), dtype=np.int64)
    blocks = list(resamples(ones, chosen.trials, chosen.seed, "neleval confidence"))
    if not blocks:  # there is no document to draw
        blocks = [ones[None, :]]
    drawn = np.concatenate([_scored(block.astype(np.float64) @ counts) for block in blocks])
    drawn.sort(axis=0)
    bounds: dict[str, dict[int, tuple[float, float]]] = {}
    for name in metrics:
        ordered = [_number(x, name, whole) for x in drawn[:, ALL.index(name)].tolist()]
        bounds[name] = {
            p: (_percentile(ordered, (100 - p) / 2), _percentile(ordered, 100 - (100 - p) / 2))
            for p in levels
        }
    return bounds


def _percentile(ordered: list[int | float], q: float) -> float:
    """The value at position q / 100 * (N + 1), between neighbours in proportion."""
    place = q / 100 * (len(ordered) + 1)
    k = int(place)
    if k <= 0:
        return ordered[0]
    if k >= len(ordered):
        return ordered[-1]
    low, high = ordered[k - 1], ordered[k]
    return low + (place - k) * (high - low)


def _confidence_table(found: list[dict[str, Any]], metrics: list[str], levels: list[int]) -> str:
    # Only what stands below the first line is measured, as in neleval.
    wide = max(len(row["measure"]) for row in found)
    broad = max(len(name) for name in metrics)
    falling = levels[::-1]
    head = ["measure".ljust(wide), "metric".ljust(broad), *(f"{p}%(" for p in falling), "score"]
    lines = ["\t".join([*head, *(f"){p}%" for p in levels)])]
    for row in found:
        for name in metrics:
            bounds = row["intervals"][name]
            values = [bounds[p][0] for p in falling] + [row["overall"][name]]
            values += [bounds[p][1] for p in levels]
            cells = [row["measure"].ljust(wide), name.ljust(broad), *(f"{v:.3f}" for v in values)]
            lines.append("\t".join(cells))
    return "\n".join(lines)
