"""The page: one file, nothing from outside, and the reports themselves inside it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from karat.model.report import Report
from karat.present.html.about import about_section, gate_section, problem_section
from karat.present.html.compared import comparison_section
from karat.present.html.embedded import embedded
from karat.present.html.figures import main_scores, size
from karat.present.html.items import item_section
from karat.present.html.markup import Safe, breakable, element, joined
from karat.present.html.runs import names_of, shared_section
from karat.present.html.scores import score_section, score_table
from karat.present.html.slices import slice_section
from karat.present.html.suite import suite_section
from karat.present.html.verdict import sentences
from karat.present.html.views import view_section
from karat.present.numbers import plural
from karat.present.terminal import subject

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'%3E"
    "%3Crect width='9' height='9' rx='2' fill='%23a87b12'/%3E%3C/svg%3E"
)
GENERATOR = element("meta", name="generator", content="karat")
INDEX_SCORES = 3

Section: TypeAlias = tuple[str, str, Safe]


def render(report: Report) -> bytes:
    """The page of one run."""
    return render_all([report])


def render_all(reports: Sequence[Report], images: Path | None = None) -> bytes:
    """One page of several runs: a part each, first what they share.

    `images` is a folder with the images of the items, for tasks whose items are images.
    """
    names = names_of(reports)
    if len(reports) == 1:
        sections = sections_of(reports[0], 1, "r1-", images)
        links = [(f"#{place}", word) for place, word, _ in sections]
        body = part(reports[0], names[0], 1, "r1", sections)
        return document(names[0], body, reports, links)
    title = f"{len(reports)} runs"
    contents = [element("li", element("a", n, href=f"#r{i}")) for i, n in enumerate(names, 1)]
    parts = [
        part(r, n, 2, f"r{i}", sections_of(r, 2, f"r{i}-", images))
        for i, (r, n) in enumerate(zip(reports, names, strict=True), 1)
    ]
    body = joined(
        element("h1", title),
        element("nav", element("ul", contents, class_="contents"), aria_label="Runs"),
        shared_section(reports, names, "h2"),
        parts,
    )
    return document(title, body, reports)


def render_index(title: str, entries: Sequence[tuple[str, Report]]) -> bytes:
    """A page of links: (path of a run's page, the run), each with its verdict and main scores."""
    names = names_of([report for _, report in entries])
    blocks = []
    for name, (path, report) in zip(names, entries, strict=True):
        said = sentences(report) or [size(report)]
        scores = main_scores(report.scores)[:INDEX_SCORES]
        block = joined(
            element("h2", element("a", name, href=path)),
            element("p", " ".join(said)),
            score_table(report, scores, f"{name}: first scores") if scores else None,
        )
        blocks.append(element("section", block, class_="block"))
    return document(title, joined(element("h1", title), blocks), [])


def is_page(content: bytes) -> bool:
    """Whether these are the bytes of a page that karat wrote."""
    return GENERATOR.encode() in content[:4096]


def sections_of(report: Report, level: int, prefix: str, images: Path | None) -> list[Section]:
    """(id, short name, content) of everything that a run has to show, in the page's order."""
    heading, below = f"h{level + 1}", f"h{level + 2}"
    found = [
        ("Scores", score_section(report, heading)),
        ("Gates", gate_section(report, heading)),
        ("Comparison", comparison_section(report, heading, below)),
        ("Tests", suite_section(report, heading, below)),
        ("Slices", slice_section(report, heading, below)),
        ("A closer look", view_section(report, heading, below)),
        (f"Worst {plural(report.item, 2)}", item_section(report, heading, prefix, images)),
        ("Problems", problem_section(report, heading)),
        ("About", about_section(report, heading, prefix)),
    ]
    return [
        (prefix + word.lower().replace(" ", "-"), word, content)
        for word, content in found
        if content
    ]


def part(report: Report, name: str, level: int, place: str, sections: Sequence[Section]) -> Safe:
    """One run from its verdict to its signature."""
    first, *more = sentences(report) or [size(report)]
    verdict = element(
        "div",
        element("p", first, class_="verdict"),
        element("ul", [element("li", one) for one in more]) if more else None,
        class_="lead",
    )
    return element(
        "article",
        element("header", element(f"h{level}", name, id=place), _origin(report), verdict),
        [element("section", block, class_="block", id=own) for own, _, block in sections],
    )


def _origin(report: Report) -> Safe:
    """How much was weighed, and which file or run it was."""
    return element("p", joined(size(report), " · ", breakable(subject(report))), class_="origin")


def document(
    title: str, body: Safe, reports: Sequence[Report], links: Sequence[tuple[str, str]] = ()
) -> bytes:
    """The page around a body: its policy, its style and script, the line at the top, the data."""
    style, script = source("marks.css") + source("page.css"), source("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        GENERATOR,
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href=ICON),
        element("title", f"{title} – karat"),
        element("style", Safe(style)),
        element("script", Safe(script)),
    )
    toggle = element("button", "Dark", type="button", data_theme_toggle="", hidden=True)
    jumps = [element("a", word, href=place) for place, word in links]
    nav = element("nav", jumps, aria_label="Sections") if jumps else None
    top = element("header", element("span", "karat", class_="brand"), nav, toggle, class_="top")
    skip = element("a", "Skip to the report", href="#report", class_="skip")
    main = element("main", body, id="report", tabindex="-1")
    page = element("body", skip, top, main, [embedded(report) for report in reports])
    whole = element("html", head, page, lang="en", class_="karat")
    return f"<!doctype html>\n{whole}\n".encode()


def source(name: str) -> str:
    """A file that the page is made of."""
    return resources.files("karat.present.html").joinpath(name).read_text(encoding="utf-8")


def _hash(code: str) -> str:
    """What the page's policy knows its own style and script by."""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    return f"'sha256-{digest}'"
