"""brat folders: a file of marks a document, with references to a knowledge base, both ways.

brat's ends are one past the last character; mentions here end on it. A reference is
`N1  Reference T1 Wikipedia:Title  text`; the name of the knowledge base `Wikipedia` is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from karat.model.problem import Problems
from karat.read.brat import NOTES, Notes, mark_line, read_notes, reference_line
from karat.read.place import Place
from karat.tasks.linking.annotations import NIL, Candidate, Mention, by_document
from karat.tasks.linking.carry import file_name

BASE = "Wikipedia:"


def read_folder(
    folder: Path, problems: Problems, eid: Callable[[str], str] = str
) -> Iterator[tuple[int, Mention]]:
    """(line, mention) of every .ann file, by name. Lines count on through the files.

    A mark without reference becomes a NIL of its own, so that its type is kept. As in neleval,
    texts are not looked at, nor folders in the folder.
    """
    before = 0
    for path in sorted(folder.glob(f"*{NOTES}")):
        notes = read_notes(path, problems)
        if notes is None:
            continue
        for line, mention in _mentions(notes, path.stem, eid):
            yield before + line, mention
        before += len(notes.lines)


def _mentions(notes: Notes, docid: str, eid: Callable[[str], str]) -> Iterator[tuple[int, Mention]]:
    marks = {mark.id: mark for mark in notes.marks()}
    links: dict[str, list[str]] = {}
    for line, key, reference in notes.references():
        links.setdefault(key, []).append(_named(reference))
        if key not in marks:
            place = Place(notes.problems, notes.file, line)
            place.add("reference-to-nothing", f"there is no mark {key}", key)
    for key, mark in marks.items():
        names = [eid(name) for name in links.get(key, ())] or [f"{NIL}_{docid}_{key}"]
        found = tuple(Candidate(name, 1.0, mark.type) for name in names)
        yield mark.line, Mention(docid, mark.start, mark.end - 1, found)


def _named(reference: str) -> str:
    """The id of a reference; percent signs are decoded where the base is Wikipedia."""
    if reference.startswith(BASE):
        return unquote(reference[len(BASE) :])
    return reference


def write_folder(mentions: Iterable[Mention], folder: Path) -> None:
    """Write an .ann file a document. Only the best candidate is kept; a NIL is a reference too."""
    folder.mkdir(parents=True, exist_ok=True)
    for docid, some in by_document(mentions).items():
        lines = []
        for number, one in enumerate(some, 1):
            best = one.candidates[0] if one.candidates else Candidate("", None, None)
            kind = "_".join((best.type or "Mention").split())
            lines.append(mark_line(number, kind, one.start, one.end + 1))
            if best.eid:
                lines.append(reference_line(number, f"{BASE}{quote(best.eid)}"))
        path = folder / f"{file_name(docid)}{NOTES}"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
