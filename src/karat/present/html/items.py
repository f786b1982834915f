"""The worst items with their stories: cards that a script filters and sorts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from karat.model.report import Example, Report
from karat.present.html.boxes import scene
from karat.present.html.markup import Content, Safe, element, joined
from karat.present.html.photos import photo
from karat.present.numbers import plural
from karat.present.tables import DRAWN

MOST_ITEMS = 200
MOST_TEXT = 1500
MOST_KINDS = 40
MOST_PHOTOS = 20


def item_section(report: Report, heading: str, prefix: str, images: Path | None) -> Safe:
    """A card an item, worst first, under the controls."""
    if not report.examples:
        return Safe("")
    shown = report.examples[:MOST_ITEMS]
    cards = [
        _card(one, at, photo(images, one.id) if at < MOST_PHOTOS else None)
        for at, one in enumerate(shown)
    ]
    more = len(report.examples) - len(shown)
    return joined(
        element(heading, f"Worst {plural(report.item, 2)}"),
        _controls(shown, prefix),
        element("ol", cards, class_="items", id=f"{prefix}items"),
        element("button", "Show all", type="button", data_more="", hidden=True),
        element("p", f"and {more} more in the file", class_="note") if more else None,
    )


def _controls(examples: list[Example], prefix: str) -> Safe:
    """Search, kind and order; hidden where no script makes them work."""
    kinds = sorted({example.kind for example in examples if example.kind})
    search = element(
        "label",
        "Search ",
        element("input", type="search", data_filter="text", autocomplete="off"),
    )
    choose = None
    if 1 < len(kinds) <= MOST_KINDS:
        options = [element("option", "all", value="")]
        options += [element("option", kind, value=kind) for kind in kinds]
        choose = element("label", "Kind ", element("select", options, data_filter="kind"))
    orders = (("worst", "worst first"), ("record", "as in the file"), ("kind", "by kind"))
    sort = element(
        "label",
        "Order ",
        element(
            "select",
            [element("option", word, value=value) for value, word in orders],
            data_order="",
        ),
    )
    shown = element("output", f"{len(examples)} shown", aria_live="polite")
    return element(
        "div",
        search,
        choose,
        sort,
        shown,
        class_="controls",
        data_for=f"{prefix}items",
        hidden=True,
    )


def _card(example: Example, at: int, image: str | None) -> Safe:
    place = f"line {example.line}" if example.line is not None else f"record {example.record}"
    facts = [element("span", place)]
    if example.score is not None:
        facts.append(element("span", f"score {example.score:.4g}".replace("-", "−")))
    if example.kind:
        facts.append(element("span", example.kind, class_="badge"))
    head = element("header", element("strong", example.id, dir="auto"), facts)
    boxes = scene(example, image)
    fields = [
        joined(element("dt", name), element("dd", _shown(value), dir="auto"))
        for name, value in example.fields.items()
        if not (boxes and name in DRAWN)
    ]
    return element(
        "li",
        head,
        element("p", example.why, dir="auto"),
        boxes,
        element("dl", fields) if fields else None,
        tabindex="-1",
        data_at=at,
        data_record=example.record,
        data_kind=example.kind,
    )


def _shown(value: Any) -> Content:
    """A field as text, cut where it is too long to read here; what is empty says so."""
    if value is None or value in ("", [], {}):
        return element("span", "–" if value is None else "(empty)", class_="dim")
    said = _said(value)
    return said if len(said) <= MOST_TEXT else said[:MOST_TEXT] + " …"


def _said(value: Any) -> str:
    """Text as it is, a flat object as `key: value`, a list of names with commas, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and not any(isinstance(v, dict | list) for v in value.values()):
        return " · ".join(f"{key}: {_said(one)}" for key, one in value.items())
    if isinstance(value, list) and all(isinstance(one, str) and "," not in one for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
