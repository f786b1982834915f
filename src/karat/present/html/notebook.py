"""A report in a notebook: the same tables and pictures as on the page, without any script."""

from __future__ import annotations

from karat.model.report import Report
from karat.present.html.compared import comparison_section
from karat.present.html.figures import main_scores
from karat.present.html.markup import Safe, element
from karat.present.html.page import source
from karat.present.html.scores import score_table
from karat.present.html.slices import forest
from karat.present.html.verdict import sentences
from karat.present.terminal import headline


def fragment(report: Report) -> str:
    """The verdict (of each system), the main scores, the comparison, and the slices."""
    first = headline(report)
    said = sentences(report)
    return element(
        "div",
        element("style", Safe(source("marks.css"))),
        [element("p", element("strong", one)) for one in said[: len(report.comparisons) or 1]],
        score_table(report, main_scores(report.scores), "Scores") if report.scores else None,
        comparison_section(report, "h4", "h5"),
        forest(report, first) if first is not None and report.slices else None,
        element("p", element("small", element("code", report.signature.text))),
        class_="karat",
    )
