"""Pictures as SVG: SS by domain around 50, and LM against SS over contours of ICAT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from karat.errors import UsageError
from karat.model.report import Report
from karat.tasks.stereotypes.results import OVERALL, Nested, by_model, models

WIDTH, LEFT, RIGHT, ROW, TOP = 720.0, 220.0, 24.0, 22.0, 64.0
PLANE = 360.0
COLOURS = ("#0b6e99", "#c2410c", "#4d7c0f", "#7c3aed", "#b91c1c", "#0f766e", "#a16207", "#475569")
CONTOURS = (40, 50, 60, 70, 80, 90)
TICKS = 5


def write(report: Report, options: Mapping[str, Any]) -> str:
    """What was drawn: the models of this report, and of a JSON file of scores if one is named."""
    path = str(options["plot"])
    if not path.lower().endswith(".svg"):
        raise UsageError(
            f"{path}: pictures are written as .svg", help="name a file that ends in .svg"
        )
    told = str(options.get("output_file") or "")
    shown = models(told) if told.lower().endswith(".json") else {}
    shown |= by_model(report)
    try:
        Path(path).write_text(picture(shown), "utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    return f"drew {len(shown)} model{'s' if len(shown) > 1 else ''} in {path}"


def picture(shown: Mapping[str, Nested]) -> str:
    """The whole SVG of one or many models."""
    scores = {name: _widest(numbers) for name, numbers in shown.items()}
    scores = {name: domains for name, domains in scores.items() if domains}
    domains = list(dict.fromkeys(d for told in scores.values() for d in told if d != OVERALL))
    upper = _around(scores, domains)
    height = TOP + ROW * max(len(scores), 1) + 56
    parts = list(upper)
    whole = {n: told.get(OVERALL, {}) for n, told in scores.items()}
    plane = {n: (told.get("SS Score"), told.get("LM Score")) for n, told in whole.items()}
    points = {n: (x, y) for n, (x, y) in plane.items() if x is not None and y is not None}
    if points:
        parts += _plane(points, height)
        height += PLANE + 96
    body = "\n".join(parts)
    size = f'viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        'font-family="Helvetica, sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _widest(numbers: Nested) -> dict[str, dict[str, float | None]]:
    """The scores by domain of both tests together, or of the one that ran."""
    return numbers.get(OVERALL) or next(iter(numbers.values()), {})


def _around(scores: Mapping[str, Any], domains: Sequence[str]) -> Iterator[str]:
    """A line a model, a dot a domain, 50 in the middle; the axis is wide enough for every dot."""
    found = [told.get("SS Score") for d in scores.values() for told in d.values()]
    reach = max([10.0, *(abs(x - 50.0) for x in found if x is not None)])
    reach = min(50.0, 5.0 * (int(reach / 5.0) + 1))

    def across(x: float) -> float:
        return LEFT + (x - 50.0 + reach) / (2 * reach) * (WIDTH - LEFT - RIGHT)

    yield _text(LEFT, 20, "Preference for the stereotype (SS); 50 is none", bold=True)
    for i, domain in enumerate(domains):
        yield _dot(LEFT + 6 + i * 110, 40, COLOURS[i % len(COLOURS)], domain)
        yield _text(LEFT + 16 + i * 110, 44, domain)
    bottom = TOP + ROW * max(len(scores), 1)
    for i in range(TICKS):
        x = 50.0 - reach + i * reach / 2
        middle = x == 50.0
        yield _line(across(x), TOP - 8, across(x), bottom, "#333" if middle else "#ddd")
        yield _text(across(x), bottom + 18, f"{x:g}", "middle")
    for row, (name, told) in enumerate(scores.items()):
        y = TOP + ROW * row + ROW / 2
        yield _text(
            LEFT - 10, y + 4, name if len(name) <= 34 else name[:33] + "…", "end", full=name
        )
        for i, domain in enumerate(domains):
            value = told.get(domain, {}).get("SS Score")
            if value is not None:
                label = f"{name}, {domain}: {value:.2f}"
                yield _dot(across(value), y, COLOURS[i % len(COLOURS)], label)


def _plane(points: Mapping[str, tuple[float, float]], above: float) -> Iterator[str]:
    """LM upwards, SS across, and lines of equal ICAT, which bend at 50."""
    right, top = WIDTH - RIGHT, above + 40

    def at(ss: float, lm: float) -> tuple[float, float]:
        return LEFT + ss / 100 * (right - LEFT), top + (100 - lm) / 100 * PLANE

    yield _text(
        LEFT, above + 20, "Language model score (LM) against SS; lines of equal ICAT", bold=True
    )
    size = f'width="{right - LEFT:g}" height="{PLANE:g}"'
    yield f'<rect x="{LEFT:g}" y="{top:g}" {size} fill="none" stroke="#999"/>'
    for icat in CONTOURS:
        line = [at(ss, icat * 50 / min(ss, 100 - ss)) for ss in _steps(icat)]
        dots = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        yield f'<polyline points="{dots}" fill="none" stroke="#bbb" stroke-dasharray="3 3"/>'
        x, y = at(50, icat)
        yield _text(x, y + 13, str(icat), "middle", colour="#888")
    for tick in (0, 25, 50, 75, 100):
        yield _text(at(tick, 0)[0], top + PLANE + 18, str(tick), "middle")
        yield _text(LEFT - 8, at(0, tick)[1] + 4, str(tick), "end")
    for i, (name, (ss, lm)) in enumerate(points.items()):
        x, y = at(ss, lm)
        yield _dot(x, y, COLOURS[i % len(COLOURS)], f"{name}: SS {ss:.2f}, LM {lm:.2f}")
        if len(points) <= 12:
            yield _text(x + 8, y + 4, name if len(name) <= 30 else name[:29] + "…")


def _steps(icat: float) -> list[float]:
    """The SS values at which LM need not pass 100 for this ICAT."""
    low = icat / 2
    return [low + i * (100 - 2 * low) / 60 for i in range(61)]


def _dot(x: float, y: float, colour: str, label: str) -> str:
    title = f"<title>{escape(label)}</title>"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}">{title}</circle>'


def _line(x: float, y: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    *,
    bold: bool = False,
    colour: str = "#222",
    full: str = "",
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    title = f"<title>{escape(full)}</title>" if full else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>'
        f"{escape(text)}{title}</text>"
    )
