"""rank-systems and compose-measures: tables that `evaluate` wrote, put together."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from karat.compat.neleval.evaluate import HEADER, Late, add_measures
from karat.errors import DataError, UsageError
from karat.model.problem import Problem
from karat.read.source import Source
from karat.tasks.linking.measures import GROUPS

METRICS = ("precision", "recall", "fscore")
COLUMN = {"ptp": 0, "fp": 1, "rtp": 2, "fn": 3, "precision": 4, "recall": 5, "fscore": 6}
TINY = 1e-10

Evaluated = dict[str, list[float]]


def read_evaluation(path: str) -> Evaluated:
    """measure -> its seven printed numbers."""
    return evaluation_of(Source.of(path))


def evaluation_of(source: Source) -> Evaluated:
    """The same of a source."""
    lines = source.data().decode("utf-8", "replace").splitlines()
    if not lines or tuple(lines[0].split("\t")) != HEADER:
        text = "the first line is not the header of an evaluation"
        raise DataError(
            [
                Problem(
                    "header-wrong", "error", text, source.name, 1, help=f"it is {' '.join(HEADER)}"
                )
            ]
        )
    found: Evaluated = {}
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if not line:
            continue
        try:
            found[cells[7]] = [float(cell) for cell in cells[:7]]
        except (IndexError, ValueError) as error:
            text = "a row is seven numbers and a measure between tabs"
            raise DataError([Problem("row-broken", "error", text, source.name, number)]) from error
    return found


def wanted(names: Sequence[str] | None, present: Sequence[str]) -> list[str]:
    """The measures that are asked for and are there; all of them where none is asked for."""
    if not names:
        return list(present)
    asked = dict.fromkeys(n for name in names for n in GROUPS.get(name, (name,)))
    return [name for name in asked if name in present]


def _common(texts: Sequence[str]) -> int:
    """How many characters all texts begin with together."""
    same = 0
    for letters in zip(*texts, strict=False):
        if len(set(letters)) > 1:
            break
        same += 1
    return same


def short_names(paths: Sequence[str]) -> list[str]:
    """The paths without the beginning and the end that all share; never empty."""
    if len(paths) < 2:
        return [Path(path).name for path in paths]
    start = _common(paths)
    end = _common([path[::-1] for path in paths])
    cut = [path[start : len(path) - end] for path in paths]
    if all(cut):
        return cut
    # A name that is nothing but what all share keeps the name of its file.
    return [Path(path).name for path in paths]


def add_rank(commands: Any) -> None:
    """The command `rank-systems`."""
    one = commands.add_parser("rank-systems", help="Get the ranking of systems")
    one.add_argument("systems", metavar="EVALFILE", nargs="+", help="tables that evaluate wrote")
    add_measures(one)
    one.add_argument(
        "--metric", action="append", choices=METRICS, help="default fscore; repeatable"
    )
    one.add_argument(
        "--group-re", metavar="RE", type=_expression, help="group systems by a match in the path"
    )
    one.add_argument("--short-names", action="store_true", help="leave out what all paths share")
    for name, where in (("group-", "inside a group"), ("", "of all")):
        limit = one.add_mutually_exclusive_group()
        limit.add_argument(f"--{name}limit", type=int, metavar="N", help=f"at most N rows {where}")
        limit.add_argument(f"--{name}max", type=int, metavar="N", help=f"ranks up to N {where}")
    one.set_defaults(run=_rank)


def _expression(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from error


def _rank(chosen: argparse.Namespace) -> str:
    found = [read_evaluation(path) for path in chosen.systems]
    groups = [_group(path, chosen.group_re) for path in chosen.systems]
    names = short_names(chosen.systems) if chosen.short_names else list(chosen.systems)
    measures = sorted(wanted(chosen.measure, list(dict.fromkeys(m for one in found for m in one))))
    head = ["measure", "metric", "rank", "score", "system"]
    lines = ["\t".join(_HEAD_GROUPED if chosen.group_re is not None else head)]
    for measure in measures:
        for metric in sorted(chosen.metric or ["fscore"]):
            scores = [one[measure][COLUMN[metric]] if measure in one else None for one in found]
            for row in _ranked(scores, groups, chosen):
                place, rank, within = row
                cells = [measure, metric, str(rank)]
                if chosen.group_re is not None:
                    cells[2:] = [str(rank), str(within), groups[place]]
                lines.append("\t".join([*cells, repr(scores[place]), names[place]]))
    return "\n".join(lines)


_HEAD_GROUPED = ["measure", "metric", "rank", "group rank", "group", "score", "system"]


def _group(path: str, pattern: re.Pattern[str] | None) -> str:
    if pattern is None:
        return ""
    match = pattern.search(path)
    if match is None:
        raise Late(f"{pattern.pattern!r} does not occur in {path}", help="every path needs a group")
    return match[0]


def _ranked(
    scores: Sequence[float | None], groups: Sequence[str], chosen: argparse.Namespace
) -> Iterator[tuple[int, int, int]]:
    """(system, rank, rank in its group), best first, as far as the limits go."""
    order = sorted(
        (i for i, s in enumerate(scores) if s is not None), key=lambda i: -(scores[i] or 0.0)
    )
    shown: dict[str, int] = {}
    everywhere = 0
    for i in order:
        better = [j for j in order if (scores[j] or 0.0) > (scores[i] or 0.0)]
        rank = 1 + len(better)
        within = 1 + sum(groups[j] == groups[i] for j in better)
        if chosen.limit is not None and everywhere >= chosen.limit:
            return
        if chosen.max is not None and rank > chosen.max:
            return
        if chosen.group_limit is not None and shown.get(groups[i], 0) >= chosen.group_limit:
            continue
        if chosen.group_max is not None and within > chosen.group_max:
            continue
        everywhere += 1
        shown[groups[i]] = shown.get(groups[i], 0) + 1
        yield i, rank, within


def add_compose(commands: Any) -> None:
    """The command `compose-measures`."""
    one = commands.add_parser(
        "compose-measures", help="Adds composite measures rows to evaluation output"
    )
    one.add_argument("paths", metavar="EVALFILE", nargs="*", help="- or nothing: stdin to stdout")
    one.add_argument(
        "-o", "--out-fmt", metavar="TEMPLATE", help="with {dir}, {base} and {ext}; else overwrites"
    )
    one.add_argument("-r", "--ratio", nargs=2, action="append", metavar=("M1", "M2"), default=[])
    one.set_defaults(run=_compose)


def _compose(chosen: argparse.Namespace) -> str | None:
    if not chosen.paths or chosen.paths == ["-"]:
        return _composed("-", chosen.ratio)
    for path in chosen.paths:
        text = _composed(path, chosen.ratio)
        target = path
        if chosen.out_fmt is not None:
            target = _named(chosen.out_fmt, Path(path))
        beside = Path(f"{target}.part")
        beside.write_text(f"{text}\n", encoding="utf-8")
        beside.replace(target)
    return None


def _named(template: str, path: Path) -> str:
    """Where a table goes; a name without an extension has an empty one."""
    try:
        return template.format(dir=path.parent, base=path.stem, ext=path.suffix.removeprefix("."))
    except (KeyError, IndexError, ValueError) as error:
        raise UsageError(f"-o {template}: use {{dir}}, {{base}} and {{ext}}") from error


def _composed(path: str, ratios: Sequence[tuple[str, str]]) -> str:
    """The table with a row for each ratio; a row of that name is replaced."""
    source = Source.of(path)
    text = source.data().decode("utf-8")
    found = evaluation_of(Source.of(text.encode(), source.name))
    rows = {line.split("\t")[-1]: line for line in text.splitlines()[1:] if line}
    for first, second in ratios:
        for name in (first, second):
            if name not in found:
                raise Late(f"{source.name} has no measure named {name!r}")
        name = f"{first}/{second}"
        rows.pop(name, None)
        quotients = [_divided(a, b) for a, b in zip(found[first], found[second], strict=True)]
        rows[name] = "\t".join([*quotients, name])
    return "\n".join(["\t".join(HEADER), *rows.values()])


def _divided(a: float, b: float) -> str:
    return "nan" if abs(b) < TINY else f"{a / b:0.3f}"
