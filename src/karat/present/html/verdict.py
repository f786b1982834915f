"""The sentence a report begins with, made from the numbers that stand below it."""

from __future__ import annotations

from karat.model.direction import badness
from karat.model.report import Report, Score, Slice, SliceScore
from karat.present.html.figures import (
    interval_of,
    signed,
    size,
    value_of,
)
from karat.present.numbers import SIGNIFICANT, chance, interval_title
from karat.present.problems import counted
from karat.present.style import news
from karat.present.suite import counts_of, tests_of
from karat.present.terminal import headline


def sentences(report: Report) -> list[str]:
    """What was found, most important first."""
    said = [one.sentence for one in report.comparisons if one.sentence]
    if report.kind == "stress":
        said += _tests(report)
    score = headline(report)
    if not said and score is not None:
        said.append(_main(report, score))
    if score is not None and report.slices:
        said.append(_weakest(report, score))
    # The gate of a stress run says only what its tests say.
    said += [_gates(report) if report.kind != "stress" else "", _problems(report)]
    return [one for one in said if one]


def _tests(report: Report) -> list[str]:
    """How many tests stand where, and which of them fail."""
    tests = tests_of(report)
    said = [f"Of {len(tests)} tests over {size(report)}: {counts_of(report)}."]
    failed = [test.title for test in tests if test.status == "fail"]
    return [*said, f"What fails: {'; '.join(failed)}."] if failed else said


def _main(report: Report, score: Score) -> str:
    """The headline score with its interval and size."""
    if score.value is None:
        why = f": {score.reason}" if score.reason else ""
        return f"{score.name} is undefined over {size(report)}{why}."
    span = interval_of(score.scale, score.value, score.low, score.high)
    told = f" ({interval_title(report.level)} {span})" if span else ""
    value = value_of(score.scale, score.value, score.low, score.high)
    return f"{score.name} is {value}{told} over {size(report)}."


def _weakest(report: Report, score: Score) -> str:
    """The slice that is surely worse than the rest, or that there is none."""
    found = [
        (piece, one)
        for piece in report.slices
        for one in piece.scores
        if one.name == score.name
        and one.q is not None
        and one.q < SIGNIFICANT
        and news(one.difference, score.better) == "bad"
    ]
    if not found:
        return f"No slice is surely worse than the rest in {score.name}."
    found.sort(key=lambda pair: badness(pair[1].value, score.better, score.near))
    piece, one = found[0]
    more = f"; {len(found) - 1} more are surely worse" if len(found) > 1 else ""
    return f"{_slice(piece, one, score)}{more}."


def _slice(piece: Slice, one: SliceScore, score: Score) -> str:
    value = value_of(score.scale, one.value, one.low, one.high)
    gap = signed(score.scale, one.difference, one.difference_low, one.difference_high)
    sure = chance(one.q)
    sure = f"q {sure}" if sure.startswith("<") else f"q = {sure}"
    return f"Weakest where {piece.field} is {piece.level}: {value}, {gap} to the rest ({sure})"


def _gates(report: Report) -> str:
    if not report.gates:
        return ""
    failed = [gate.rule for gate in report.gates if not gate.passed]
    many = len(report.gates)
    if not failed:
        return f"{'The gate is' if many == 1 else f'All {many} gates are'} passed."
    count = "The gate" if many == 1 else f"{len(failed)} of {many} gates"
    return f"{count} failed: {', '.join(failed)}."


def _problems(report: Report) -> str:
    counts = {k: n for k, n in report.problem_counts.items() if k != "note"}
    if not any(counts.values()):
        return ""
    return f"The input has {counted(counts)}."
