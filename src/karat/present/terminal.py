"""A Report as a page of text, 80 columns wide, from its header to its signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from karat.model.direction import badness
from karat.model.report import Report, Score, Slice, SliceScore
from karat.present.comparison import comparison_lines
from karat.present.grid import Cell, grid
from karat.present.numbers import (
    SIGNIFICANT,
    count,
    decimals,
    duration,
    fixed,
    interval,
    interval_title,
    plural,
)
from karat.present.problems import brief
from karat.present.style import Style, news
from karat.present.suite import suite_lines
from karat.present.tables import example_lines, table_lines
from karat.present.widths import WIDTH, clean, elide, width, wrap

SHOWN_SLICES = 12
SHOWN_SCORES = 12


@dataclass(slots=True)
class Footnotes:
    """Reasons, numbered in the order in which the page refers to them."""

    texts: list[str] = field(default_factory=list)

    def mark(self, text: str) -> str:
        """`[2]` for a reason, the same for the same reason; nothing for none."""
        if not text:
            return ""
        if text not in self.texts:
            self.texts.append(text)
        return f"[{self.texts.index(text) + 1}]"

    def lines(self) -> list[str]:
        """The notes, to stand below the tables."""
        return [
            line
            for at, text in enumerate(self.texts, 1)
            for line in wrap(text, f"  [{at}] ", "      ")
        ]


def render(
    report: Report,
    *,
    style: Style | None = None,
    everything: bool = False,
    seconds: float | None = None,
) -> str:
    """The whole page. `everything` shows every score and slice and not only the main ones."""
    style = style or Style()
    notes = Footnotes()
    blocks = [
        _header(report, style),
        _scores(report, style, notes, everything),
        *_slices(report, style, notes, everything),
        *comparison_lines(report, style, everything),
        *suite_lines(report, style, everything),
        *(table_lines(table, style, everything) for table in report.tables),
        _notes(report, notes),
        *(example_lines(example, style) for example in report.examples),
        _gates(report, style),
        brief(report.problems, report.problem_counts, style),
        _footer(report, style, seconds),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def headline(report: Report) -> Score | None:
    """The score a report is named by: the first main one."""
    return next((s for s in report.scores if s.main), next(iter(report.scores), None))


def subject(report: Report) -> str:
    """What was scored: the files, or the name of the run, or how many systems."""
    if report.systems:
        return f"{len(report.systems)} systems"
    if not isinstance(report.run, msgspec.UnsetType) and report.run.name:
        return report.run.name
    names = [i.name for i in report.inputs if i.role != "gold"] or [i.name for i in report.inputs]
    return ", ".join(names)


def _header(report: Report, style: Style) -> list[str]:
    """Task, size, clusters and what was scored, on one line."""
    facts = [
        report.title or report.task,
        f"{count(report.n, style)} {plural(report.item, report.n)}",
    ]
    if report.clusters is not None:
        facts.append(f"{count(report.clusters, style)} {_cluster_name(report)}")
    if report.n_effective is not None:
        facts.append(f"effective n {count(round(report.n_effective), style)}")
    names = subject(report)
    between = f" {style.dot} "
    line = between.join(clean(fact) for fact in facts)
    room = WIDTH - width(line) - len(between)
    if names and room >= 8:
        line += between + elide(clean(names), room, style.cut)
    return [style.paint(elide(line, WIDTH, style.cut), "strong")]


def _cluster_name(report: Report) -> str:
    """What the clusters are: the last part of the field that says which items belong together."""
    noun = report.unit.rpartition(".")[2] if report.unit not in ("item", report.item) else "cluster"
    return plural(noun, report.clusters)


def _scores(report: Report, style: Style, notes: Footnotes, everything: bool) -> list[str]:
    """The table of scores, main ones first unless all are wanted."""
    main = [s for s in report.scores if s.main] or report.scores[:SHOWN_SCORES]
    shown = report.scores if everything else main
    if not shown:
        return []
    clustered = any(s.clusters is not None for s in shown)
    head = ["", "value", interval_title(report.level), "n"]
    head += ["clusters", "deff"] if clustered else []
    head.append("")
    rows = [_score_row(s, style, notes, clustered) for s in shown]
    if everything:
        rows = [[Cell(_short(s)), *row[1:]] for s, row in zip(shown, rows, strict=True)]
    lines = grid(head, rows, style, left=(0, len(head) - 1))
    if everything:
        lines = _with_groups(lines, shown, style)
    hidden = len(report.scores) - len(shown)
    if hidden:
        lines.append(style.paint(f"  and {hidden} more: --all shows them, --json has them", "dim"))
    if clustered:
        text = "deff: the design effect, how much the clusters widen the variance"
        lines.append(style.paint(f"  {text}", "dim"))
    return lines


def _score_row(score: Score, style: Style, notes: Footnotes, clustered: bool) -> list[Cell]:
    places = decimals(score.scale, score.value, score.low, score.high)
    between = interval(score.low, score.high, places, style)
    marks = notes.mark(score.reason if score.value is None else "")
    if score.value is not None and not between:
        marks += notes.mark(score.no_interval)
    if score.chance is not None:
        chance = fixed(score.chance, max(places, 3), style)
        marks += notes.mark(f"a perfectly calibrated model of this size gets {chance} by chance")
    row = [
        Cell(score.name),
        Cell(fixed(score.value, places, style), "strong", decimal=True),
        Cell(between),
        Cell(count(score.n, style)),
    ]
    if clustered:
        effect = score.design_effect
        row.append(Cell("" if score.clusters is None else count(score.clusters, style)))
        row.append(
            Cell("" if effect is None else fixed(effect, 2, style), decimal=effect is not None)
        )
    return [*row, Cell(marks, "dim")]


def _with_groups(lines: list[str], scores: Sequence[Score], style: Style) -> list[str]:
    """The lines with the name of each family above its first score, a gap below its last."""
    result, before = [lines[0]], ""
    for line, score in zip(lines[1:], scores, strict=True):
        if score.group and score.group != before:
            result.append(" " + style.paint(elide(clean(score.group), WIDTH - 1, style.cut), "dim"))
        elif before and not score.group:
            result.append("")
        before = score.group
        result.append(line)
    return result


def _short(score: Score) -> str:
    """The name without what the heading of its family says already."""
    family = score.group.partition(" ")[0]
    return score.name.removeprefix(f"{family}.").removesuffix(f".{family}") or score.name


def _slices(report: Report, style: Style, notes: Footnotes, everything: bool) -> list[list[str]]:
    """A table a field, by the headline score; a last block says what the star means."""
    score = headline(report)
    if score is None or not report.slices:
        return []
    fields = dict.fromkeys(s.field for s in report.slices)
    blocks = [
        _field(name, [s for s in report.slices if s.field == name], score, style, notes, everything)
        for name in fields
    ]
    if any(_starred(x) for s in report.slices for x in s.scores if x.name == score.name):
        text = f"* differs from the rest of the data, q < {SIGNIFICANT}, all slices taken together"
        blocks[-1].append(style.paint(f"  {text}", "dim"))
    return blocks


def _field(
    name: str, slices: list[Slice], score: Score, style: Style, notes: Footnotes, everything: bool
) -> list[str]:
    """The slices of one field, worst first."""
    found = [(s, next((x for x in s.scores if x.name == score.name), None)) for s in slices]
    pairs = [(s, x) for s, x in found if x is not None]
    pairs.sort(key=lambda pair: badness(pair[1].value, score.better, score.near))
    shown = pairs if everything else pairs[:SHOWN_SLICES]
    title = elide(f"by {clean(name)}", 36, style.cut)
    head = [title, score.name, "interval", "n", "to the rest", "", ""]
    lines = grid(head, [_slice_row(s, x, score, style, notes) for s, x in shown], style, indent=" ")
    if len(pairs) > len(shown):
        lines.append(style.paint(f"  and {len(pairs) - len(shown)} more", "dim"))
    return lines


def _starred(scored: SliceScore) -> bool:
    """Whether a slice surely differs from the rest."""
    return scored.q is not None and scored.q < SIGNIFICANT


def _slice_row(
    piece: Slice, scored: SliceScore, score: Score, style: Style, notes: Footnotes
) -> list[Cell]:
    places = decimals(score.scale, scored.value, scored.low, scored.high)
    gap = decimals(score.scale, scored.difference, scored.difference_low, scored.difference_high)
    star = _starred(scored)
    difference = (
        "" if scored.difference is None else fixed(scored.difference, gap, style, signed=True)
    )
    return [
        Cell(f" {piece.level if piece.level.strip() else repr(piece.level)}"),
        Cell(fixed(scored.value, places, style), decimal=True),
        Cell(interval(scored.low, scored.high, places, style)),
        Cell(count(piece.n, style)),
        Cell(difference, news(scored.difference, score.better) if star else None, bool(difference)),
        Cell("*" if star else ""),
        Cell(notes.mark(scored.reason if scored.value is None else ""), "dim"),
    ]


def _notes(report: Report, notes: Footnotes) -> list[str]:
    lines = notes.lines()
    for text in report.notes:
        lines += wrap(text, "  note: ")
    return lines


def _gates(report: Report, style: Style) -> list[str]:
    """A line a gate: how it went, the rule and the number it was judged by."""
    lines: list[str] = []
    for gate in report.gates:
        word, meaning = ("pass", "good") if gate.passed else ("FAIL", "bad")
        text = gate.text or fixed(gate.value, 4, style)
        text = text if gate.rule in text else f"{gate.rule}: {text}"
        first, *rest = wrap(text, "  ....  ", "        ")
        lines += [first.replace("....", style.paint(word, meaning), 1), *rest]  # type: ignore[arg-type]
    return lines


def _footer(report: Report, style: Style, seconds: float | None) -> list[str]:
    """The signature, then how long it took."""
    lines = wrap(report.signature.text, "signature ", breaks="|")
    if seconds is not None:
        speed = f"{count(round(report.n / max(seconds, 1e-9)), style)} {plural(report.item, 2)}/s"
        lines.append(f"{duration(seconds)} {style.dot} {speed}")
    return [style.paint(line, "dim") for line in lines]
