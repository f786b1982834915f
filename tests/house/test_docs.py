"""The docs say what the program does: every command, option and name in them exists."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest
from sources import PACKAGE, ROOT

import make_docs
from karat.tasks import cards

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
SESSION = re.compile(r"^\s*\$ (karat\b.*)$", re.MULTILINE)
CODE = re.compile(r"\"([a-z]+(?:-[a-z0-9]+)+)\"")
MAKE = re.compile(r"(?:^\s*\$ |^ {4}|`)make ([a-z-]+)", re.MULTILINE)


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def sessions() -> list[tuple[str, str]]:
    """Every command line of karat that a page shows."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        found += [(page_id(page), line) for line in SESSION.findall(text)]
    return found


@cache
def flags(command: str) -> set[str]:
    group = make_docs.group()
    one = group.get_command(click.Context(group), command)
    assert one is not None, f"there is no command {command}"
    return {flag for param in one.params for flag in (*param.opts, *param.secondary_opts)}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_pages_show_commands() -> None:
    assert {page for page, _ in sessions()} >= {"README.md", "docs/tutorial.md"}


@pytest.mark.parametrize(("page", "line"), sessions())
def test_every_shown_command_exists(page: str, line: str) -> None:
    words = shlex.split(re.split(r"\s[|>]|\s2>", line)[0], comments=True)[1:]
    if words and not words[0].startswith("-"):
        shown = {w.split("=")[0] for w in words[1:] if w.startswith("--")}
        assert shown - flags(words[0]) - {"--help", "--debug"} == set(), page


def test_every_shown_make_target_exists() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in PAGES:
        assert set(MAKE.findall(page.read_text(encoding="utf-8"))) <= set(targets), page


def test_the_reference_is_fresh() -> None:
    for name, content in make_docs.pages():
        path = ROOT / "docs" / "reference" / name
        assert path.is_file(), f"{name} is missing: run `make docs`"
        assert path.read_text(encoding="utf-8") == content, f"{name} is stale: run `make docs`"


def test_the_reference_names_every_command() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    group = make_docs.group()
    for name in group.list_commands(click.Context(group)):
        assert f"## karat {name}\n" in page


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.name)
def test_every_task_has_a_page_and_a_sample(card: object) -> None:
    name, module, sample = card.name, card.module, card.sample  # type: ignore[attr-defined]
    folder = module.split(".")[2]
    page = (ROOT / "docs" / "tasks" / f"{folder}.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page
    for file in sample[1:3]:
        assert (PACKAGE / "samples" / sample[0] / file).is_file()


# Quoted words with hyphens in the readers and tasks that are not codes of problems.
NOT_CODES = {
    "utf-8",
    "utf-8-sig",
    "karat-hash",
    "scikit-learn",
    *(card.name for card in cards()),
    *(one.source for card in cards() for one in card.converters),
}


def test_every_problem_code_is_explained() -> None:
    """A code that the sources hold stands in a page of docs/."""
    quoted: set[str] = set()
    for folder in ("read", "tasks", "run"):
        for path in (PACKAGE / folder).rglob("*.py"):
            quoted |= set(CODE.findall(path.read_text(encoding="utf-8")))
    assert "count-mismatch" in quoted
    written = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert {code for code in quoted - NOT_CODES if f"`{code}`" not in written} == set()
