"""Comparisons as text: the systems' scores side by side, then each one against the baseline.

A superscript names a system that is surely beaten. The same facts serve Markdown and LaTeX.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Comparison, Difference, Report, Score, SliceDifference, System
from karat.present.grid import Cell, grid
from karat.present.numbers import (
    SIGNIFICANT,
    chance,
    count,
    decimals,
    fixed,
    interval,
    interval_title,
)
from karat.present.style import Style, news
from karat.present.widths import WIDTH, clean, elide, wrap

SHOWN = 12
MOST_ABREAST = 5
"""More systems than this have no room beside each other and stand below each other."""

_RAISED = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))


def comparison_lines(report: Report, style: Style, everything: bool = False) -> list[list[str]]:
    """The blocks of a comparison, empty for other reports."""
    if not report.comparisons:
        return []
    blocks = [side_by_side(report, style, everything)]
    for one in report.comparisons:
        blocks.append([*wrap(one.sentence), *_differences(report, one, style, everything)])
        blocks += _slices(one, style, everything)
    blocks.append([line for text in explained(report) for line in wrap(text, "  ")])
    return blocks


def shown_names(report: Report, everything: bool = False) -> list[str]:
    """The scores that a short table shows: the main ones, else the first few."""
    every = list(dict.fromkeys(s.name for one in report.systems for s in one.scores))
    if everything:
        return every
    main = {s.name for one in report.systems for s in one.scores if s.main}
    return [name for name in every if name in main] or every[:SHOWN]


def score_of(system: System, name: str) -> Score | None:
    """The system's score of that name."""
    return next((score for score in system.scores if score.name == name), None)


def beaten(report: Report, system: System, name: str) -> list[str]:
    """The letters of the systems that this one surely beats by that score."""
    losers = set(system.beats.get(name, ()))
    return [other.letter for other in report.systems if other.name in losers]


def explained(report: Report) -> list[str]:
    """What the tables mean: the tests, the corrections, what was counted."""
    every = [one for part in report.comparisons for one in part.differences]
    found = [f"p: {tests_told(report)}"]
    if any(one.beats for one in report.systems):
        level = 1 - (report.level or 0.95)
        found.append(f"raised letters: the systems that are surely beaten (p < {level:.3g})")
    if any(one.smallest_seen is not None for one in every):
        found.append("sees: the difference that a test on this data finds four times out of five")
    if any(one.wins is not None for one in every):
        found.append("w/t/l: items on which the system is better, level and worse")
    return found


def tests_told(report: Report) -> str:
    """Which tests were made, and how many systems they are adjusted for."""
    every = [one for part in report.comparisons for one in part.differences]
    tests = dict.fromkeys(one.test for one in every if one.test)
    if not tests:
        return "no test was possible"
    names = " or ".join("exact McNemar" if test == "mcnemar" else test for test in tests)
    over = len(report.comparisons)
    return f"two-sided, {names}" + (
        f"; adjusted by Holm's method over {over} systems" if over > 1 else ""
    )


def side_by_side(report: Report, style: Style, everything: bool = False) -> list[str]:
    """A row a score, a column a system, the baseline first; many systems have a row each."""
    names = shown_names(report, everything)
    if len(report.systems) > MOST_ABREAST:
        return _below_each_other(report, names, style)
    room = max((WIDTH - 24) // max(len(report.systems), 1) - 2, 6)
    head = ["", *(elide(f"{s.letter} {clean(s.name)}", room, style.cut) for s in report.systems)]
    rows = []
    for name in names:
        values = [_value(report, system, name, style) for system in report.systems]
        rows.append([Cell(name), *values])
    return grid(head, rows, style)


def _below_each_other(report: Report, names: Sequence[str], style: Style) -> list[str]:
    """A row a system, with the first scores that there is room for."""
    room = WIDTH - 26
    shown: list[str] = []
    for name in names:
        room -= max(len(name), 9) + 2
        if room < 0 and shown:
            break
        shown.append(name)
    rows = [
        [
            Cell(elide(f"{system.letter} {clean(system.name)}", 24, style.cut)),
            *(_value(report, system, name, style) for name in shown),
        ]
        for system in report.systems
    ]
    lines = grid(["", *shown], rows, style)
    hidden = len(names) - len(shown)
    if hidden:
        lines.append(style.paint(f"  and {hidden} more scores: --json has them", "dim"))
    return lines


def _value(report: Report, system: System, name: str, style: Style) -> Cell:
    score = score_of(system, name)
    if score is None or score.value is None:
        return Cell(style.undefined)
    places = decimals(score.scale, score.value, score.low, score.high)
    raised = beaten(report, system, name)
    text = "".join(_RAISED.get(c, c) for c in raised) if style.unicode else ",".join(raised)
    mark = text if style.unicode or not text else f"^{text}"
    return Cell(fixed(score.value, places, style) + mark, "strong", decimal=True)


def _differences(
    report: Report, comparison: Comparison, style: Style, everything: bool
) -> list[str]:
    """A row a score: how much better, how sure, what could have been seen."""
    names = set(shown_names(report, everything))
    shown = [one for one in comparison.differences if one.name in names]
    adjusted = len(report.comparisons) > 1
    title = elide(f"{clean(comparison.system)} - {clean(comparison.baseline)}", 24, style.cut)
    head = [
        title,
        "diff",
        interval_title(report.level),
        "Holm p" if adjusted else "p",
        "sees",
        "w/t/l",
    ]
    lines = grid(head, [_row(one, style) for one in shown], style)
    hidden = len(comparison.differences) - len(shown)
    if hidden:
        lines.append(style.paint(f"  and {hidden} more: --all shows them, --json has them", "dim"))
    for text in remarks(shown):
        lines += [style.paint(line, "dim") for line in wrap(text, "  ", "    ")]
    return lines


def remarks(differences: Sequence[Difference]) -> list[str]:
    """Why there is no difference or no interval, each reason once behind the scores it is for."""
    names: dict[str, list[str]] = {}
    for one in differences:
        why = one.reason or one.no_interval
        if why:
            names.setdefault(why, []).append(one.name)
    return [f"{', '.join(named)}: {why}" for why, named in names.items()]


def _row(one: Difference, style: Style) -> list[Cell]:
    places = decimals(one.scale, one.value, one.low, one.high)
    between = interval(one.low, one.high, places, style)
    p = one.p if one.adjusted_p is None else one.adjusted_p
    sure = p is not None and p < SIGNIFICANT
    seen = "" if one.smallest_seen is None else fixed(one.smallest_seen, places, style)
    counted = ""
    if one.wins is not None:
        counted = "/".join(count(c, style) for c in (one.wins, one.ties, one.losses))
    value = fixed(one.value, places, style, signed=True)
    return [
        Cell(one.name),
        Cell(value, news(one.value, one.better) if sure else None, decimal=True),
        Cell(between),
        Cell(chance(p)),
        Cell(seen, decimal=bool(seen)),
        Cell(counted),
    ]


def _slices(comparison: Comparison, style: Style, everything: bool) -> list[list[str]]:
    """A table a field, by the first main score with a direction, worst for the system first."""
    blocks = []
    for name in dict.fromkeys(one.field for one in comparison.slices):
        parts = [(s, lead(s.differences)) for s in comparison.slices if s.field == name]
        pairs = sorted(((s, d) for s, d in parts if d is not None), key=lambda pair: _loss(pair[1]))
        shown = pairs if everything else pairs[:SHOWN]
        if not shown:
            continue
        title = elide(f"by {clean(name)}", 24, style.cut)
        head = [title, shown[0][1].name, "interval", "n", "q", ""]
        lines = grid(head, [_slice_row(s, d, style) for s, d in shown], style, indent=" ")
        if len(pairs) > len(shown):
            lines.append(style.paint(f"  and {len(pairs) - len(shown)} more", "dim"))
        blocks.append(lines)
    return blocks


def lead(differences: Sequence[Difference]) -> Difference | None:
    """The difference a slice is shown by: the first with a direction, else the first."""
    directed = (one for one in differences if one.better in ("higher", "lower"))
    return next(directed, next(iter(differences), None))


def _loss(one: Difference) -> tuple[bool, float]:
    """Sorts by what the system loses, undefined last."""
    if one.value is None:
        return True, 0.0
    return False, -one.value if one.better == "lower" else one.value


def _slice_row(part: SliceDifference, one: Difference, style: Style) -> list[Cell]:
    places = decimals(one.scale, one.value, one.low, one.high)
    star = one.q is not None and one.q < SIGNIFICANT
    return [
        Cell(f" {part.level}"),
        Cell(
            fixed(one.value, places, style, signed=True),
            news(one.value, one.better) if star else None,
            decimal=True,
        ),
        Cell(interval(one.low, one.high, places, style)),
        Cell(count(part.n, style)),
        Cell(chance(one.q)),
        Cell("*" if star else ""),
    ]
