"""evaluate and list-measures, and what other commands share with them: reading and resolving."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.errors import DataError, UsageError
from karat.model.problem import Problems
from karat.read.source import Source
from karat.tasks.linking.measures import Measure, UnknownAggregate, groups_of, resolve

if TYPE_CHECKING:
    from karat.tasks.linking.annotations import Annotations
    from karat.tasks.linking.counts import Counting, Weights

HEADER = ("ptp", "fp", "rtp", "fn", "precis", "recall", "fscore", "measure")
NUMBERS = ("ptp", "fp", "rtp", "fn", "precision", "recall", "fscore")
SHOWN = ("precision", "recall", "fscore", "ptp", "fp", "rtp", "fn")
"""The same in the order in which neleval keeps them."""


class Late(UsageError):
    """What neleval notices only while it runs."""


Commands = Any


def add_measures(one: argparse.ArgumentParser) -> None:
    """The flag that names measures."""
    one.add_argument(
        "-m", "--measure", action="append", metavar="NAME", help="a measure or group; repeatable"
    )


def add_gold(one: argparse.ArgumentParser) -> None:
    """The flag that names the gold file."""
    one.add_argument(
        "-g", "--gold", required=True, metavar="FILE", help="gold annotations; - is stdin"
    )


def add_format(one: argparse.ArgumentParser, *more: str) -> None:
    """The flag that chooses the output."""
    one.add_argument("-f", "--fmt", choices=("tab", "json", "none", *more), default="tab")


def add_evaluate(commands: Commands) -> None:
    """The command `evaluate`."""
    one = commands.add_parser("evaluate", help="Evaluate system output")
    one.add_argument("system", metavar="SYSTEM", help="system annotations; - is stdin")
    add_gold(one)
    add_format(one)
    add_measures(one)
    one.add_argument(
        "-b", "--group-by", action="append", metavar="FIELD", help="score each value apart"
    )
    one.add_argument(
        "--by-doc", dest="group_by", action="append_const", const="docid", help="as -b docid"
    )
    one.add_argument(
        "--by-type", dest="group_by", action="append_const", const="type", help="as -b type"
    )
    one.add_argument("--overall", action="store_true", help="only micro and macro averages")
    one.add_argument("--type-weights", metavar="FILE", help="gold TAB system TAB weight")
    one.set_defaults(run=_evaluate)


def _evaluate(chosen: argparse.Namespace) -> str:
    from karat.tasks.linking.grouping import results

    measures = measures_of(chosen.measure)
    counting, weights = opened(chosen.gold, chosen.system, chosen.type_weights)
    try:
        found = results(counting, measures, chosen.group_by or (), chosen.overall, weights)
    except UsageError as error:
        raise Late(error.message, error.help) from error
    if any(not row["precision"] + row["recall"] for row in found.values()):
        print(
            "WARNING\tsome denominators are zero, and their scores were set to 0", file=sys.stderr
        )
    return rendered(found, chosen.fmt)


def measures_of(names: Sequence[str] | None, default: str = "all") -> list[Measure]:
    """neleval's measures of these names; explicit ones may have any aggregate."""
    try:
        return resolve(names or [default], official=True)
    except UnknownAggregate as error:
        raise Late(error.message, error.help) from error


def rendered(found: Mapping[str, Mapping[str, Any]], fmt: str) -> str:
    """Results as text."""
    if fmt == "json":
        return json.dumps(found, sort_keys=True, indent=4)
    if fmt == "none":
        # Written out, since Python changed how it shows an ordered dictionary.
        rows = (f"({name!r}, { {n: row[n] for n in SHOWN}!r})" for name, row in found.items())
        return f"OrderedDict([{', '.join(rows)}])"
    lines = ["\t".join(HEADER)]
    lines += [
        "\t".join([*(shown(found[name][n], i > 3) for i, n in enumerate(NUMBERS)), name])
        for name in sorted(found)
    ]
    return "\n".join(lines)


def shown(value: Any, real: bool = False) -> str:
    """A number: whole ones as they are, all others with three decimals."""
    return str(value) if isinstance(value, int) and not real else f"{value:.3f}"


def read(path: str) -> Annotations:
    """The mentions of an annotation table. Raises DataError with all that is wrong in it."""
    from karat.tasks.linking.checks import check_types
    from karat.tasks.linking.tsv import read_table

    problems = Problems()
    found = read_table(Source.of(path), problems)
    check_types(found, problems)
    if problems.errors:
        raise DataError(problems)
    return found


def opened(gold: str, system: str, weights: str | None = None) -> tuple[Counting, Weights | None]:
    """Both sides, ready to be counted, and the type weights."""
    from karat.tasks.linking.counts import Counting

    return Counting(read(gold), read(system), quirks=True), weights_of(weights)


def weights_of(path: str | None) -> Weights | None:
    """The type weights of a file."""
    from karat.tasks.linking.typeweights import read_weights

    if path is None:
        return None
    problems = Problems()
    found = read_weights(Source.of(path), problems)
    if problems.errors:
        raise DataError(problems)
    return found


def add_list_measures(commands: Commands) -> None:
    """The command `list-measures`."""
    one = commands.add_parser(
        "list-measures", help="List measures schemes available for evaluation"
    )
    add_measures(one)
    one.set_defaults(run=_list_measures)


_INTRO = """\
The following lists possible values for --measure (-m) in evaluate,
confidence and significance. The name from each row or the name of a
group may be used.
"""
_OUTRO = """
Default evaluation group: all

In all measures, a set of tuples corresponding to Key Fields is
produced from annotations matching Filter. Aggregation with `sets'
compares gold and predicted tuple sets directly; coreference
aggregates compare tuples clustered by their assigned entity ID.

A measure may be specified explicitly. Thus:
  strong_all_match
may be entered as
  sets:None:span+kbid

Available aggregates are:
- non-clustering: overlap-maxmax, overlap-maxsum, overlap-summax, overlap-sumsum, sets
- clustering: b_cubed, entity_ceaf, mention_ceaf, muc, pairwise, pairwise_negative

Available filter and key fields: candidates, docid, eid, end,
is_first, is_linked, is_nil, kbid, link, score, span, start, type.

More fields can be stored dynamically by entering a candidate's type
as a JSON key-value mapping."""


def _list_measures(chosen: argparse.Namespace) -> str:
    try:
        measures = measures_of(chosen.measure)
    except UsageError as error:
        raise Late(error.message, error.help) from error
    rows = [_listed(one) for one in sorted(measures, key=lambda m: m.name)]
    head = ["Name", "Aggregate", "Filter", "Key Fields", "In groups"]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [head, ["=" * width for width in widths], *rows]
    table = "\n".join(
        "\t".join([*(cell.ljust(w) for cell, w in zip(line[:-1], widths, strict=False)), line[-1]])
        for line in lines
    )
    return f"{_INTRO}\n{table}\n{_OUTRO}"


def _listed(one: Measure) -> list[str]:
    groups = ", ".join(groups_of(one.name))
    return [one.name, one.aggregate, str(one.filter), "+".join(one.fields), groups]


def additive(names: Sequence[str] | None, default: str) -> list[Measure]:
    """The measures that add up over documents; those of clusters are dropped from groups."""
    found = [one for one in measures_of(names, default) if not one.clusters]
    if not found:
        raise UsageError(
            f"{', '.join(names or [default])}: no measure is left; those of clusters are excluded",
            help="they do not add up over documents",
        )
    return found
