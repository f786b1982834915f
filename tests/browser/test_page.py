"""The page in a browser: silent, offline, usable with a mouse, a keyboard and a screen reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import Browser

# Every test starts a browser.
pytestmark = pytest.mark.slow

KINDS = ["run", "compare", "several", "hostile", "history"]
TABLE = "document.querySelector('table.sheet')"
HEADS = f"{TABLE}.tHead.rows[0].cells"
VISIBLE = "[...document.querySelectorAll('.items > li')].filter(i => !i.hidden)"


@pytest.mark.parametrize("kind", KINDS)
def test_it_opens_without_a_word_and_asks_for_nothing(
    browser: Browser, pages: dict[str, Path], kind: str
) -> None:
    browser.open(pages[kind])
    assert browser.run("document.querySelectorAll('h1').length") == 1
    assert browser.errors == []
    outside = [url for url in browser.requests if not url.startswith("data:")]
    assert outside == [pages[kind].resolve().as_uri()]


def test_hostile_text_stays_text(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"])
    assert browser.run("document.title") == "Text classification – karat"
    assert browser.run("document.images.length") == 0
    assert "onerror=" in browser.run("document.querySelector('main').textContent")


@pytest.mark.parametrize("wide", [1280, 390])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_sticks_out(browser: Browser, pages: dict[str, Path], kind: str, wide: int) -> None:
    browser.open(pages[kind], wide)
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.run("document.documentElement.scrollWidth") <= wide


def column(browser: Browser, at: int) -> list[str]:
    """What the first table has in one column, from top to bottom."""
    cell = f"(row.cells[{at}].dataset.key ?? row.cells[{at}].textContent)"
    found: list[str] = browser.run(f"[...{TABLE}.tBodies[0].rows].map(row => {cell})")
    return found


def choose(browser: Browser, what: str, value: str) -> None:
    """Put a value into a control, as somebody at the keyboard would."""
    one = f"document.querySelector('{what}')"
    browser.run(f"{one}.value = {json.dumps(value)}")
    for event in ("input", "change"):
        browser.run(f"{one}.dispatchEvent(new Event('{event}'))")


def test_columns_sort_both_ways(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["run"])
    names = column(browser, 0)
    browser.run(f"{HEADS}[0].querySelector('button').click()")
    assert browser.run(f"{HEADS}[0].getAttribute('aria-sort')") == "ascending"
    assert column(browser, 0) == sorted(names) != names
    browser.run(f"{HEADS}[1].querySelector('button').click()")
    rising = [float(text) for text in column(browser, 1)]
    assert rising == sorted(rising)
    browser.run(f"{HEADS}[1].querySelector('button').click()")
    assert [float(text) for text in column(browser, 1)] == sorted(rising, reverse=True)
    assert browser.run(f"{HEADS}[1].getAttribute('aria-sort')") == "descending"
    assert browser.run(f"{HEADS}[0].getAttribute('aria-sort')") is None


def test_items_are_filtered_by_text_and_kind(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["run"])
    total = browser.run("document.querySelectorAll('.items > li').length")
    assert browser.run(f"{VISIBLE}.length") == 20 < total
    word = browser.run("document.querySelector('.items dd:last-of-type').textContent")[:12]
    choose(browser, "[data-filter=text]", word.upper())
    shown = browser.run(f"{VISIBLE}.map(item => item.textContent.toLowerCase())")
    assert 0 < len(shown) < total
    assert all(word.lower() in text for text in shown)
    told = browser.run("document.querySelector('output').textContent")
    assert told == f"{len(shown)} of {total} shown"
    choose(browser, "[data-filter=text]", "")
    kind = browser.run("document.querySelector('[data-filter=kind]').options[1].value")
    choose(browser, "[data-filter=kind]", kind)
    assert set(browser.run(f"{VISIBLE}.map(item => item.dataset.kind)")) == {kind}


def test_items_are_sorted_and_all_can_be_seen(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["run"])
    browser.run("document.querySelector('[data-more]').click()")
    total = browser.run("document.querySelectorAll('.items > li').length")
    choose(browser, "[data-order]", "record")
    records = browser.run(f"{VISIBLE}.map(item => Number(item.dataset.record))")
    assert records == sorted(records)
    assert len(set(records)) == total


@pytest.mark.parametrize("media", ["light", "dark"])
def test_night_follows_the_system_and_the_button(
    browser: Browser, pages: dict[str, Path], media: str
) -> None:
    browser.open(pages["run"], media=media)
    browser.run("localStorage.clear()")
    browser.open(pages["run"], media=media)
    back = "getComputedStyle(document.documentElement).backgroundColor"
    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}
    assert browser.run(back) == colours[media]
    browser.run("document.querySelector('[data-theme-toggle]').click()")
    assert browser.run(back) == colours["dark" if media == "light" else "light"]
    browser.run("localStorage.clear()")


def test_the_keyboard_reaches_and_works_everything(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["run"])
    browser.run("document.body.focus()")
    browser.key("Tab")
    assert browser.run("document.activeElement.textContent") == "Skip to the report"
    links = browser.run("[...document.querySelectorAll('.top nav a')].map(a => a.textContent)")
    assert links == ["Scores", "Gates", "Slices", "A closer look", "Worst texts", "About"]
    for word in links:
        browser.key("Tab")
        assert browser.run("document.activeElement.textContent") == word
        target = "document.querySelector(document.activeElement.getAttribute('href'))"
        assert word.split()[-1].lower() in browser.run(f"{target}.textContent.toLowerCase()")
    browser.key("Tab")
    assert browser.run("document.activeElement.hasAttribute('data-theme-toggle')")
    browser.run("document.querySelector('th[data-sort] button').focus()")
    browser.key("Enter")
    assert (
        browser.run("document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"
    )
    browser.run("document.querySelector('summary').focus()")
    browser.key("Space")
    assert browser.run("document.querySelector('details').open")


def test_the_signature_is_copied_or_selected(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["run"])
    browser.run("document.querySelector('[data-copy]').click()")
    browser.run("new Promise(done => setTimeout(done, 200))")
    assert browser.run("document.querySelector('[data-copy]').textContent") in (
        "Copied",
        "Selected",
    )


def test_paper_gets_what_is_folded_away(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["run"])
    folded = "document.querySelectorAll('details:not([open])').length"
    before = browser.run(folded)
    assert before > 0
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(folded) == 0
    browser.call("Emulation.setEmulatedMedia", media="print")
    heads = "[...document.querySelectorAll('th[data-sort]')].filter(one => !one.innerText.trim())"
    assert browser.run(f"{heads}.length") == 0
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(folded) == before


def test_without_a_script_everything_is_there(browser: Browser, pages: dict[str, Path]) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["run"])
        found = browser.call("Runtime.evaluate", expression=f"{VISIBLE}.length", returnByValue=True)
        assert found["result"]["value"] > 20
        buttons = "[...document.querySelectorAll('button')].filter(b => b.checkVisibility()).length"
        assert browser.run(buttons) == 0
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize(
    ("kind", "wide", "media"),
    [
        ("run", 1280, "light"),
        ("run", 390, "dark"),
        ("compare", 390, "light"),
        ("compare", 1280, "dark"),
        ("several", 1280, "light"),
        ("history", 1280, "dark"),
    ],
)
def test_axe_finds_no_violation(
    browser: Browser, pages: dict[str, Path], axe: str, kind: str, wide: int, media: str
) -> None:
    browser.open(pages[kind], wide, media=media)
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    browser.run(f"{axe};0")
    told = "one => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`"
    found = browser.run(f"axe.run().then(all => [all.violations.map({told}), all.passes.length])")
    assert found[0] == []
    assert found[1] > 20
