"""rank-systems and compose-measures: tables that `evaluate` wrote, put together."""

from __future__ import annotations

import argparse
import gzip
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


def asked(names: Sequence[str] | None) -> list[str]:
    """The measures that are asked for, whatever they are called; neleval's own without a name."""
    return list(dict.fromkeys(n for name in names or ["all"] for n in GROUPS.get(name, (name,))))


def wanted(names: Sequence[str] | None, present: Sequence[str]) -> list[str]:
    """The measures that are asked for and are there."""
    return [name for name in asked(names) if name in present]


def _common(texts: Sequence[str]) -> str:
    """What all texts begin with."""
    # The first and the last in order share no more than any two.
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((i for i, (a, b) in pairs if a != b), min(len(first), len(last)))]


def short_names(paths: Sequence[str]) -> list[str]:
    """The paths without the folder, or else the beginning, and the end that all share."""
    start = _common(paths)
    if os.sep in start:
        start = start[: start.rindex(os.sep) + 1]
    end = _common([path[::-1] for path in paths])
    cut = [path[len(start) : max(len(path) - len(end), len(start))] for path in paths]
    # A name that is nothing but what all share keeps the name of its file.
    return [short or Path(path).name for short, path in zip(cut, paths, strict=True)]


def add_rank(commands: Any) -> None:
    """The command `rank-systems`."""
    one = commands.add_parser("rank-systems", help="Get the ranking of systems")
    one.add_argument("systems", metavar="EVALFILE", nargs="+", help="tables that evaluate wrote")
    add_measures(one)
    one.add_argument(
        "--metric", action="append", choices=METRICS, help="default fscore; repeatable"
    )
    one.add_argument(
        "--group-re", metavar="RE", type=expression, help="group systems by a match in the path"
    )
    one.add_argument("--short-names", action="store_true", help="leave out what all paths share")
    for name, where in (("group-", "inside a group"), ("", "of all")):
        limit = one.add_mutually_exclusive_group()
        limit.add_argument(f"--{name}limit", type=int, metavar="N", help=f"at most N rows {where}")
        limit.add_argument(f"--{name}max", type=int, metavar="N", help=f"ranks up to N {where}")
    one.set_defaults(run=_rank)


def expression(text: str) -> re.Pattern[str]:
    """The pattern of a flag."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from error


def _rank(chosen: argparse.Namespace) -> str:
    found = [read_evaluation(path) for path in chosen.systems]
    groups = [group_of(path, chosen.group_re) for path in chosen.systems]
    names = short_names(chosen.systems) if chosen.short_names else list(chosen.systems)
    measures = sorted(wanted(chosen.measure, list({m for one in found for m in one})))
    grouped = chosen.group_re is not None
    lines = ["\t".join(_HEAD_GROUPED if grouped else _HEAD)]
    for measure in measures:
        for metric in sorted(chosen.metric or ["fscore"]):
            scores = {
                i: one[measure][COLUMN[metric]] for i, one in enumerate(found) if measure in one
            }
            for place, rank, within in _ranked(scores, groups, chosen):
                cells = [measure, metric, str(rank), repr(scores[place]), names[place]]
                if grouped:
                    cells[3:4] = [str(within), repr(scores[place]), groups[place]]
                lines.append("\t".join(cells))
    return "\n".join(lines)


_HEAD = ["measure", "metric", "rank", "score", "system"]
_HEAD_GROUPED = ["measure", "metric", "rank", "group rank", "score", "group", "system"]


def group_of(path: str, pattern: re.Pattern[str] | None) -> str:
    """What a pattern finds in a path, where there is one. Raises Late if it finds nothing."""
    if pattern is None:
        return ""
    match = pattern.search(path)
    if match is None:
        raise Late(f"{pattern.pattern!r} does not occur in {path}", help="every path needs a group")
    return match[0]


@dataclass
class _Ranking:
    """A competition as it goes on: equal scores share a rank, which counts all better ones."""

    limit: int | None
    max: int | None
    rows: int = 0
    rank: int = 0
    score: float | None = None

    def place(self, score: float) -> int | None:
        """The rank of the next score, None past a limit."""
        self.rows += 1
        if self.limit is not None and self.rows > self.limit:
            return None
        if score != self.score:
            self.rank, self.score = self.rows, score
        return self.rank if self.max is None or self.rank <= self.max else None


def _ranked(
    scores: Mapping[int, float], groups: Sequence[str], chosen: argparse.Namespace
) -> Iterator[tuple[int, int, int]]:
    """(system, rank, rank in its group), best first; only what its group lets pass competes."""
    overall = _Ranking(chosen.limit, chosen.max)
    of_group: dict[str, _Ranking] = {}
    for i in sorted(scores, key=lambda i: -scores[i]):
        ranking = of_group.setdefault(groups[i], _Ranking(chosen.group_limit, chosen.group_max))
        within = ranking.place(scores[i])
        rank = None if within is None else overall.place(scores[i])
        if within is not None and rank is not None:
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
        if chosen.out_fmt is not None:
            raise UsageError("-o names files, and standard input goes to standard output")
        return _composed("-", chosen.ratio)
    for path in chosen.paths:
        text = _composed(path, chosen.ratio)
        target = path
        if chosen.out_fmt is not None:
            target = _named(chosen.out_fmt, Path(path))
        beside = Path(f"{target}.part")
        data = f"{text}\n".encode()
        beside.write_bytes(gzip.compress(data, mtime=0) if str(target).endswith(".gz") else data)
        beside.replace(target)
    return None


def _named(template: str, path: Path) -> str:
    """Where a table goes; {ext} begins with its dot, and is empty where there is none."""
    try:
        return template.format(dir=path.parent, base=path.stem, ext=path.suffix)
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
