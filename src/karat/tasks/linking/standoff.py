"""brat folders: a file of marks a document, with references to a knowledge base, both ways.

brat's ends are one past the last character; mentions here end on it. A reference is
`N1  Reference T1 Wikipedia:Title  text`; the name of the knowledge base `Wikipedia` is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from karat.model.problem import Problems
from karat.read.source import Source
from karat.read.table import text_lines
from karat.tasks.linking.annotations import NIL, Candidate, Mention

BASE = "Wikipedia:"


def read_folder(
    folder: Path, problems: Problems, eid: Callable[[str], str] = str, fallback: bool = True
) -> Iterator[tuple[int, Mention]]:
    """(line, mention) of every .ann file, by name. Lines count on through the files.

    A mark without reference has no candidate, but for its type: with `fallback` it becomes a NIL of
    its own, so that the type is kept.
    """
    before = 0
    for path in sorted(folder.glob("*.ann")):
        lines = 0
        for line, mention in _read_file(path, problems, eid, fallback):
            lines = max(lines, line)
            yield before + line, mention
        before += lines


def _read_file(
    path: Path, problems: Problems, eid: Callable[[str], str], fallback: bool
) -> Iterator[tuple[int, Mention]]:
    marks: dict[str, tuple[int, str, int, int]] = {}
    links: dict[str, list[str]] = {}
    for line, text in text_lines(Source.of(path)):
        cells = text.split("\t")
        if text.startswith("T"):
            mark = _mark(cells, line, str(path), problems)
            if mark is not None:
                marks[cells[0]] = line, *mark
        elif text.startswith("N"):
            words = (cells[1] if len(cells) > 1 else "").split(" ", 2)
            if len(words) < 3 or words[0] != "Reference":
                problems.add(
                    "reference-broken",
                    "a reference is `N1 TAB Reference T1 BASE:ID`",
                    file=str(path),
                    line=line,
                )
                continue
            links.setdefault(words[1], []).append(_named(words[2]))
    for key in links.keys() - marks.keys():
        problems.add("reference-to-nothing", f"there is no mark {key}", file=str(path), key=key)
    for key, (line, kind, start, end) in marks.items():
        found = tuple(Candidate(eid(name), 1.0, kind) for name in links.get(key, ()))
        if not found and fallback:
            found = (Candidate(f"{NIL}_{path.stem}_{key}", 1.0, kind),)
        yield line, Mention(path.stem, start, end - 1, found)


def _mark(
    cells: list[str], line: int, file: str, problems: Problems
) -> tuple[str, int, int] | None:
    """Type, start and exclusive end; a span in pieces reaches from the first to the last."""
    words = (cells[1] if len(cells) > 1 else "").replace(";", " ").split()
    try:
        numbers = [int(word) for word in words[1:]]
    except ValueError:
        numbers = []
    if len(numbers) < 2 or len(numbers) % 2:
        problems.add(
            "mark-broken", "a mark is `T1 TAB TYPE START END TAB text`", file=file, line=line
        )
        return None
    if len(numbers) > 2:
        problems.add(
            "mark-in-pieces",
            "a mark in several pieces is taken from its first to its last character",
            file=file,
            line=line,
            severity="warning",
        )
    return words[0], numbers[0], numbers[-1]


def _named(reference: str) -> str:
    """The id of a reference; percent signs are decoded where the base is Wikipedia."""
    if reference.startswith(BASE):
        return unquote(reference[len(BASE) :])
    return reference


def write_folder(mentions: Iterable[Mention], folder: Path) -> None:
    """Write an .ann file a document. Only the best candidate is kept; a NIL is a reference too."""
    by_doc: dict[str, list[Mention]] = {}
    for one in mentions:
        by_doc.setdefault(one.docid, []).append(one)
    folder.mkdir(parents=True, exist_ok=True)
    for docid, some in by_doc.items():
        lines = []
        for number, one in enumerate(some, 1):
            best = one.candidates[0] if one.candidates else Candidate("", None, None)
            kind = "_".join((best.type or "Mention").split())
            lines.append(f"T{number}\t{kind} {one.start} {one.end + 1}\t")
            if best.eid:
                lines.append(f"N{number}\tReference T{number} {BASE}{quote(best.eid)}\t")
        path = folder / f"{docid.replace('/', '_')}.ann"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
