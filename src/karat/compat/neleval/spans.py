"""validate-spans and analyze: mentions of one side against each other, and of both sides."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from karat.compat.neleval.evaluate import Late, add_gold, opened, read
from karat.model.problem import Problems

if TYPE_CHECKING:
    from karat.tasks.linking.annotations import Annotations

LEVELS = ("ignore", "warn", "error")
Pair = tuple[int, int]


def add_validate(commands: Any) -> None:
    """The command `validate-spans`."""
    one = commands.add_parser(
        "validate-spans", help="Check mentions for duplicates, crossing and nesting"
    )
    one.add_argument(
        "system", metavar="FILE", nargs="?", default="-", help="- is stdin, the default"
    )
    for name, default in (("duplicate", "error"), ("crossing", "warn"), ("nested", "ignore")):
        one.add_argument(f"--{name}", choices=LEVELS, default=default)
    one.set_defaults(run=_validate)


def _validate(chosen: argparse.Namespace) -> None:
    side = read(chosen.system)
    problems = Problems()
    for kind in ("nested", "crossing", "duplicate"):
        level = getattr(chosen, kind)
        if level == "ignore":
            continue
        for first, second in _found(side, kind):
            doc = side.docs[side.doc[second]]
            a, b = (f"{int(side.start[i])}-{int(side.end[i])}" for i in (first, second))
            problems.add(
                f"span-{kind}",
                f"{doc}: mention {b} is {_WORDS[kind]} {a} of line {int(side.line[first])}",
                file=side.name,
                line=int(side.line[second]),
                severity="error" if level == "error" else "warning",
            )
    checked = any(getattr(chosen, kind) != "ignore" for kind in _TESTS)
    for row in (side.end < side.start).nonzero()[0].tolist() if checked else ():
        text = f"mention ends at {int(side.end[row])}, before it starts at {int(side.start[row])}"
        problems.add("span-reversed", text, file=side.name, line=int(side.line[row]))
    for problem in problems:
        if problem.severity == "warning" and not chosen.quiet:
            print(f"WARNING {problem.text}", file=sys.stderr)
    if problems.errors:
        raise Late("\n".join(p.text for p in problems if p.severity == "error"))


_WORDS = {"nested": "nested with", "crossing": "crossing", "duplicate": "the same as"}


def _found(side: Annotations, kind: str) -> Iterator[Pair]:
    """The pairs of mentions of one document that stand so to each other."""
    test: Callable[[int, int, int, int], bool] = _TESTS[kind]
    active: list[int] = []
    doc = -1
    # Mentions come by document, then start, longer first: those that may still touch stay active.
    for i, (d, start, end) in enumerate(
        zip(side.doc.tolist(), side.start.tolist(), side.end.tolist(), strict=True)
    ):
        if d != doc:
            doc, active = d, []
        active = [j for j in active if int(side.end[j]) >= start]
        for j in active:
            if test(int(side.start[j]), int(side.end[j]), start, end):
                yield j, i
        active.append(i)


_TESTS: dict[str, Callable[[int, int, int, int], bool]] = {
    "duplicate": lambda a, b, c, d: (a, b) == (c, d),
    "nested": lambda a, b, c, d: (a, b) != (c, d) and ((a <= c and d <= b) or (c <= a and b <= d)),
    "crossing": lambda a, b, c, d: not ((a <= c and d <= b) or (c <= a and b <= d)),
}


def add_analyze(commands: Any) -> None:
    """The command `analyze`."""
    one = commands.add_parser("analyze", help="Analyze errors")
    one.add_argument("system", metavar="SYSTEM", help="system annotations")
    add_gold(one)
    one.add_argument(
        "-u", "--unique", action="store_true", help="drop repeats of document, gold and system"
    )
    one.add_argument("-s", "--summary", action="store_true", help="count the labels")
    one.add_argument(
        "-c", "--with-correct", action="store_true", help="correct ones are always shown"
    )
    one.set_defaults(run=_analyze)


def _analyze(chosen: argparse.Namespace) -> str:
    from karat.model.task import Request
    from karat.tasks.linking.explain import LABELS, labels
    from karat.tasks.linking.measure import Sides

    counting, _ = opened(chosen.gold, chosen.system)
    found, gold, system = labels(Sides(counting, (), Request(())))
    lines = []
    for label, g, s in zip(found.tolist(), gold.tolist(), system.tolist(), strict=True):
        side, row = (counting.gold, g) if g >= 0 else (counting.system, s)
        document = side.docs[side.doc[row]]
        sides = _side("g", counting.gold, g), _side("s", counting.system, s)
        lines.append((LABELS[label], document, *sides))
    if chosen.unique:
        lines = list(dict.fromkeys(lines))
    if chosen.summary:
        count = Counter(line[0] for line in lines)
        return "\n".join(f"{n}\t{label}" for label, n in count.most_common())
    return "\n".join("\t".join(line) for line in lines)


def _side(letter: str, side: Annotations, row: int) -> str:
    """How one side of a line is written."""
    if row < 0:
        return ""
    return f'{letter}"{side.ids[side.top_eid[row]]}"' if side.is_linked[row] else f"{letter}NIL"
