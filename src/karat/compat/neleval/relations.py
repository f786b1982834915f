"""compare-measures: how measures relate over systems, as a table or as pictures."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.compat.neleval import pictures
from karat.compat.neleval.evaluate import Late, add_measures, measures_of, opened
from karat.compat.neleval.systems import Evaluated, asked, read_evaluation, wanted

if TYPE_CHECKING:
    from karat.model.pairs import FloatArray


def add_compare(commands: Any) -> None:
    """The command `compare-measures`."""
    one = commands.add_parser(
        "compare-measures", help="Calculate statistics of measure distribution over systems"
    )
    one.add_argument("systems", metavar="SYSTEM", nargs="+", help="systems, or evaluations with -e")
    source = one.add_mutually_exclusive_group(required=True)
    source.add_argument("-g", "--gold", metavar="FILE", help="gold annotations")
    source.add_argument(
        "-e", "--evaluation-files", action="store_true", help="SYSTEMs are tables of evaluate"
    )
    one.add_argument("-f", "--fmt", choices=("tab", "json", "none", "plot"), default="tab")
    add_measures(one)
    one.add_argument("-s", "--sort-by", choices=("none", "name", "eigen", "mds"), default="none")
    pictures.add_picture_flags(one)
    one.set_defaults(run=_compare)


def _scores(chosen: argparse.Namespace) -> tuple[list[str], FloatArray]:
    """Names of the measures, and (systems, measures) F scores."""
    import numpy as np

    if chosen.evaluation_files:
        found = [read_evaluation(path) for path in chosen.systems]
        names = _in_all(chosen, found)
        rows = [[one[name][6] for name in names] for one in found]
    else:
        measures = measures_of(chosen.measure)
        names = [one.name for one in measures]
        rows = []
        for path in chosen.systems:
            counting, _ = opened(chosen.gold, path)
            rows.append([float(counting.four(one).numbers()["fscore"]) for one in measures])
    if not names:
        raise Late("no measure is left to compare")
    return names, np.array(rows, dtype=np.float64)


def _in_all(chosen: argparse.Namespace, found: Sequence[Evaluated]) -> list[str]:
    """The measures to compare: those asked for, which must be there, or what all files have."""
    if not chosen.measure:
        return wanted(None, [name for name in found[0] if all(name in one for one in found)])
    names = asked(chosen.measure)
    for path, one in zip(chosen.systems, found, strict=True):
        missing = [name for name in names if name not in one]
        if missing:
            raise Late(f"{path} has no measure named {missing[0]!r}")
    return names


def _compare(chosen: argparse.Namespace) -> str:
    names, scores = _scores(chosen)
    if chosen.fmt == "plot":
        order = _order(names, scores, chosen.sort_by)
        return pictures.comparison([names[i] for i in order], scores[:, order], chosen)
    rows = [_relation(names, scores, a, b) for a, b in itertools.combinations(range(len(names)), 2)]
    if chosen.fmt == "json":
        return json.dumps(rows, sort_keys=True, indent=4)
    if chosen.fmt == "none":
        return repr(rows)
    table = [["measure1", "measure2", *COLUMNS]]
    table += [
        [row["measure1"], row["measure2"], *(f"{row[n]:0.3f}" for n in COLUMNS)] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "\t".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in table
    )


COLUMNS = ("pearson-r", "spearman-r", "kendall-tau", "median-diff", "iqr-ratio")


def correlation(kind: str, x: FloatArray, y: FloatArray) -> float:
    """One correlation, NaN where a side does not vary."""
    import numpy as np
    from scipy import stats

    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    function = {
        "pearson-r": stats.pearsonr,
        "spearman-r": stats.spearmanr,
        "kendall-tau": stats.kendalltau,
    }[kind]
    return float(function(x, y)[0])


def _relation(names: list[str], scores: FloatArray, a: int, b: int) -> dict[str, Any]:
    """How two measures relate over the systems."""
    import numpy as np

    x, y = scores[:, a], scores[:, b]
    row: dict[str, Any] = {"measure1": names[a], "measure2": names[b]}
    row |= {kind: correlation(kind, x, y) for kind in COLUMNS[:3]}
    row["median-diff"] = float(np.median(x) - np.median(y))
    spread = [float(np.subtract(*np.percentile(v, [75, 25]))) for v in (x, y)]
    row["iqr-ratio"] = spread[0] / spread[1] if spread[1] else float("nan")
    return row


def _order(names: list[str], scores: FloatArray, by: str) -> list[int]:
    """The order of the measures in pictures: by name, or alike ones together."""
    import numpy as np

    if by == "none":
        return list(range(len(names)))
    if by == "name":
        return sorted(range(len(names)), key=names.__getitem__)
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = np.nan_to_num(np.corrcoef(scores.T)) if len(names) > 1 else np.ones((1, 1))
    if by == "mds":
        distance = np.square(1 - alike)
        centre = np.eye(len(names)) - 1 / len(names)
        alike = -centre @ distance @ centre / 2
    _, vectors = np.linalg.eigh(alike)
    order: list[int] = np.argsort(vectors[:, -1], kind="stable").tolist()
    return order
