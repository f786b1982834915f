"""Systems against the baseline: what each scores, and every difference with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.model.report import Comparison, Difference, Report, SliceDifference, System
from karat.present.comparison import lead
from karat.present.html import svg
from karat.present.html.figures import (
    SIGNIFICANT,
    chance,
    interval_of,
    main_scores,
    meaning,
    signed,
    value_of,
    whole,
)
from karat.present.html.markup import Content, Safe, breakable, element, joined
from karat.present.html.scale import Scale, spanning
from karat.present.html.sheet import Cell, Column, sheet

MOST_SLICES = 60
MOST_ROWS = 200


def comparison_section(report: Report, heading: str, below: str) -> Safe:
    """The systems side by side, then each against the baseline.

    What each comparison comes to, in a sentence, stands at the top of the page.
    """
    if not report.comparisons:
        return Safe("")
    parts = [element(heading, "Comparison"), _systems(report.systems)]
    for one in report.comparisons:
        title = element(below, f"{one.system} against {one.baseline}")
        parts += [title, _differences(one), _slices(one)]
    return joined(parts)


def _systems(systems: list[System]) -> Safe:
    """A row a metric, a column a system, with the letters of the systems that it surely beats."""
    letters = {one.name: one.letter or one.name for one in systems}
    names = dict.fromkeys(s.name for one in systems for s in main_scores(one.scores))
    rows: list[list[Cell | Content]] = [
        [breakable(name), *(_score(one, name, letters) for one in systems)] for name in names
    ]
    if not rows:
        return Safe("")
    titles = [_lettered(one) for one in systems]
    columns = [Column("score"), *(Column(title, numeric=True) for title in titles)]
    table = sheet("Scores of each system", columns, rows, kind="full systems")
    if not any(one.beats for one in systems):
        return table
    note = "Raised letters: the systems that this one surely beats in this score."
    return joined(table, element("p", note, class_="note"))


def _lettered(system: System) -> Safe:
    """The name of a system behind the letter that stands for it."""
    letter = element("span", system.letter, class_="letter") if system.letter else None
    return joined(letter, " " if letter else None, breakable(system.name))


def _score(system: System, name: str, letters: Mapping[str, str]) -> Cell:
    """What one system has in one metric, its interval below."""
    score = next((s for s in system.scores if s.name == name), None)
    if score is None:
        return Cell("")
    value = value_of(score.scale, score.value, score.low, score.high)
    span = interval_of(score.scale, score.value, score.low, score.high)
    beaten = ",".join(letters.get(one, one) for one in system.beats.get(name, []))
    shown = joined(
        element("strong", value),
        element("sup", beaten) if beaten else None,
        element("small", span, class_="remark extra") if span else None,
    )
    return Cell(shown, score.value)


def _differences(one: Comparison) -> Safe:
    """The main differences; all of them folded below."""
    main = [d for d in one.differences if d.main] or one.differences[:12]
    caption = f"{one.system} minus {one.baseline}"
    if not main:
        return Safe("")
    table = _forest(caption, [(d.name, None, d) for d in main], "metric")
    if len(main) == len(one.differences):
        return table
    rows = [(d.name, None, d) for d in one.differences[:MOST_ROWS]]
    word = f"All {len(one.differences)} differences: {caption}"
    if len(rows) < len(one.differences):
        word = f"The first {MOST_ROWS} of {len(one.differences)} differences: {caption}"
    all_of_them = _forest(word, rows, "metric", drawn=False)
    return joined(table, element("details", element("summary", word), all_of_them))


def _slices(one: Comparison) -> Safe:
    """The difference that leads, in every slice, worst first."""
    leads = [(piece, lead(piece.differences)) for piece in one.slices]
    found = [(piece, d) for piece, d in leads if d is not None and d.value is not None]
    if not found:
        return Safe("")
    name = found[0][1].name
    found = [(piece, d) for piece, d in found if d.name == name]
    sign = -1 if found and found[0][1].better == "lower" else 1
    found.sort(key=lambda pair: sign * (pair[1].value or 0.0))
    rows = [(_level(piece), piece.n, d) for piece, d in found[:MOST_SLICES]]
    word = f"{name} by slice: {one.system} minus {one.baseline}"
    return element("details", element("summary", word), _forest(word, rows, "slice"), open=True)


def _level(piece: SliceDifference) -> str:
    return f"{piece.field} = {piece.level}"


def _forest(
    caption: str,
    rows: Sequence[tuple[str, int | None, Difference]],
    first: str,
    drawn: bool = True,
) -> Safe:
    """Differences around the line of none; a scale other than the first one's has no picture.

    What has an interval decides how wide the axis is, so that one large difference without any
    does not press the others together.
    """
    axis = _axis_of(rows[0][2])
    alike = [d for _, _, d in rows if _axis_of(d) == axis]
    spread = [d for d in alike if d.low is not None] or alike
    scale = svg.across(*spanning([0.0, *(v for d in spread for v in (d.value, d.low, d.high))]))
    sized = any(n is not None for _, n, _ in rows)
    columns = [
        Column(first),
        Column("difference", numeric=True),
        Column("interval", numeric=True, extra=True),
        Column("", sortable=False),
        Column("n" if sized else "win / tie / loss", numeric=True, extra=True),
        Column("p", numeric=True, extra=True),
        Column("q" if sized else "Holm p", numeric=True),
        Column("detectable", numeric=True, extra=True),
    ]
    body = [
        _row(name, n, d, scale if drawn and _axis_of(d) == axis else None) for name, n, d in rows
    ]
    foot: list[Content] = ["", "", "", svg.axis(scale), "", "", "", ""]
    return sheet(caption, columns, body, foot=foot if drawn else None, kind="full forest")


def _axis_of(one: Difference) -> str:
    """Fractions and correlations share an axis."""
    return "fraction" if one.scale == "signed" else one.scale


def _row(name: str, n: int | None, one: Difference, scale: Scale | None) -> list[Cell | Content]:
    gap = signed(one.scale, one.value, one.low, one.high)
    span = interval_of(one.scale, one.value, one.low, one.high)
    judged = one.q if n is not None else one.p if one.adjusted_p is None else one.adjusted_p
    sure = judged is not None and judged < SIGNIFICANT
    kind = meaning(one.value, one.better, sure)
    picture: Content = element("small", one.reason or one.no_interval, class_="remark")
    if one.value is not None and scale is not None and scale.low <= one.value <= scale.high:
        label = f"{name}: {gap}" + (f", interval {span}" if span else "")
        picture = svg.interval(
            one.value, one.low, one.high, scale, label, reference=0.0, meaning=kind
        )
    record = whole(n)
    if n is None and one.wins is not None:
        record = f"{whole(one.wins)} / {whole(one.ties)} / {whole(one.losses)}"
    seen = one.smallest_seen
    return [
        breakable(name),
        Cell(joined(element("strong", gap or "–"), " *" if sure else ""), one.value, kind),
        Cell(span, one.low),
        picture,
        Cell(record, n if n is not None else one.wins),
        Cell(chance(one.p), one.p),
        Cell(chance(judged), judged),
        Cell("" if seen is None else value_of(one.scale, seen, one.low, one.high), seen),
    ]
