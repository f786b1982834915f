"""A Report as Markdown: what fits into a pull request or a model card."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.report import Comparison, Difference, Report, Slice
from karat.model.suite import Case, Test
from karat.present.comparison import beaten, explained, remarks, score_of, shown_names
from karat.present.numbers import chance, count, decimals, fixed, interval, interval_title, plural
from karat.present.style import Style
from karat.present.suite import changes_of, counts_of, numbers_of, place_of, tests_of
from karat.present.widths import clean

_STYLE = Style(unicode=True)
MOST_CASES = 10


def render(report: Report) -> bytes:
    """The whole page."""
    size = f"{count(report.n, _STYLE)} {plural(report.item, report.n)}"
    if report.clusters is not None:
        size += f" in {count(report.clusters, _STYLE)} clusters"
    blocks = [f"# {_text(report.title or report.task)}", size + "."]
    if report.kind == "stress":
        blocks += _suite(report)
    else:
        blocks += _comparisons(report) if report.comparisons else [_scores(report)]
    blocks += [_field(report, name) for name in dict.fromkeys(s.field for s in report.slices)]
    if report.gates:
        rows = [
            (_text(g.rule), "pass" if g.passed else "**FAIL**", _text(g.text)) for g in report.gates
        ]
        blocks.append(_table(("gate", "", ""), rows, numbers=3))
    blocks += [_text(note) for note in report.notes]
    blocks.append(f"Signature: `{clean(report.signature.text).replace('`', '')}`")
    return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def _suite(report: Report) -> list[str]:
    """The tests, worst first: a table of all, then what warns and fails, then the metrics."""
    tests = tests_of(report)
    rows = [
        (
            f"**{t.status}**" if t.status == "fail" else t.status,
            _text(t.title),
            f"`{t.name}`",
            _worst(t),
        )
        for t in tests
    ]
    blocks = [f"{counts_of(report)}.", _table(("", "test", "name", "worst case"), rows, numbers=4)]
    for test in tests:
        told = [case for case in test.cases if case.status in ("fail", "warning")]
        if told:
            lines = [_case(case) for case in told[:MOST_CASES]]
            more = len(told) - len(lines)
            lines += [f"- and {more} more"] if more > 0 else []
            blocks += [f"## {_text(test.title)}: {test.status}", "\n".join(lines)]
    changes = [
        (
            _text(name),
            *(fixed(x, 3, _STYLE) for x in (one.ref, one.eval)),
            fixed(one.change, 3, _STYLE, signed=True),
            interval(one.low, one.high, 3, _STYLE),
        )
        for name, one in changes_of(report).items()
    ]
    head = ("metric", "reference", "evaluation", "change", "95 % interval")
    return [*blocks, _table(head, changes) if changes else ""]


def _worst(test: Test) -> str:
    if test.status == "skip" or not test.cases:
        return _text(test.reason)
    return _text(f"{test.cases[0].subject}: {test.cases[0].text}")


def _case(case: Case) -> str:
    parts = [f"**{_text(case.subject)}**: {_text(case.text)}", _text(numbers_of(case))]
    return "- " + "; ".join([*parts, *([_text(place_of(case))] if case.rows else [])])


def _scores(report: Report) -> str:
    rows, reasons = [], []
    for score in report.scores:
        places = decimals(score.scale, score.value, score.low, score.high)
        value = fixed(score.value, places, _STYLE)
        between = interval(score.low, score.high, places, _STYLE)
        rows.append((_text(score.name), value, between, count(score.n, _STYLE)))
        reason = score.reason if score.value is None else "" if between else score.no_interval
        if reason:
            reasons.append(f"- {_text(score.name)}: {_text(reason)}")
    table = _table(("score", "value", interval_title(report.level), "n"), rows)
    return table + ("\n\n" + "\n".join(reasons) if reasons else "")


def _comparisons(report: Report) -> list[str]:
    """The systems side by side, then each one against the baseline."""
    head = ("", *(f"{one.letter}: {_text(one.name)}" for one in report.systems))
    rows = []
    for name in shown_names(report, everything=True):
        row = [_text(name)]
        for system in report.systems:
            score = score_of(system, name)
            places = (
                0 if score is None else decimals(score.scale, score.value, score.low, score.high)
            )
            value = fixed(None if score is None else score.value, places, _STYLE)
            raised = ",".join(beaten(report, system, name))
            row.append(value + (f"<sup>{raised}</sup>" if raised else ""))
        rows.append(row)
    blocks = [_table(head, rows)]
    for one in report.comparisons:
        blocks.append(f"## {_text(one.system)} against {_text(one.baseline)}")
        blocks += [
            _text(one.sentence),
            _table(_DIFFERENCES, [_difference(d) for d in one.differences]),
            "\n".join(f"- {_text(told)}" for told in remarks(one.differences)),
        ]
        blocks += [_sliced(one, name) for name in dict.fromkeys(s.field for s in one.slices)]
    return [*blocks, "\n".join(f"- {_text(told)}" for told in explained(report))]


_DIFFERENCES = ("score", "difference", "interval", "p", "Holm p", "sees", "w/t/l")


def _difference(found: Difference) -> Sequence[str]:
    places = decimals(found.scale, found.value, found.low, found.high)
    counted = (found.wins, found.ties, found.losses)
    return (
        _text(found.name),
        fixed(found.value, places, _STYLE, signed=True),
        interval(found.low, found.high, places, _STYLE),
        _text(chance(found.p)),
        _text(chance(found.adjusted_p)),
        "" if found.smallest_seen is None else fixed(found.smallest_seen, places, _STYLE),
        "" if found.wins is None else "/".join(count(c, _STYLE) for c in counted),
    )


def _sliced(comparison: Comparison, name: str) -> str:
    """The differences in the slices of one field."""
    rows = []
    for part in comparison.slices:
        if part.field != name:
            continue
        for found in part.differences:
            places = decimals(found.scale, found.value, found.low, found.high)
            rows.append(
                (
                    _text(part.level),
                    _text(found.name),
                    fixed(found.value, places, _STYLE, signed=True),
                    interval(found.low, found.high, places, _STYLE),
                    count(part.n, _STYLE),
                    _text(chance(found.q)),
                )
            )
    head = (_text(name), "score", "difference", "interval", "n", "q")
    return _table(head, rows, numbers=2)


def _field(report: Report, name: str) -> str:
    scale = {score.name: score.scale for score in report.scores}
    main = {score.name for score in report.scores if score.main} or set(list(scale)[:1])
    rows = [
        row
        for piece in report.slices
        if piece.field == name
        for row in _slice_rows(piece, scale, main)
    ]
    head = (_text(name), "score", "value", "interval", "n", "to the rest", "q")
    return f"## By {_text(name)}\n\n" + _table(head, rows, numbers=2)


def _slice_rows(piece: Slice, scale: dict[str, str], main: set[str]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for s in piece.scores:
        if s.name not in main:
            continue
        kind = scale.get(s.name, "fraction")
        places = decimals(kind, s.value, s.low, s.high)
        gap = decimals(kind, s.difference, s.difference_low, s.difference_high)
        rows.append(
            (
                _text(piece.level),
                _text(s.name),
                fixed(s.value, places, _STYLE),
                interval(s.low, s.high, places, _STYLE),
                count(piece.n, _STYLE),
                fixed(s.difference, gap, _STYLE, signed=True),
                "" if s.q is None else f"{s.q:.2g}",
            )
        )
    return rows


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 1) -> str:
    """A pipe table; columns from `numbers` on are right-aligned."""
    rule = [":--" if at < numbers else "--:" for at in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def _text(text: str) -> str:
    """Text from data as text: nothing in it is markup, nothing ends the cell."""
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;")
    return "".join("\\" + c if c in "\\`*_[]|#!" else c for c in text)
