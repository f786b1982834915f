"""Folders of brat standoff: for each document a `.txt` and an `.ann` of the same name.

Text-bound annotations (`T1<tab>PER 0 11<tab>Ada Lovelace`) are read with their fragments, and
`*<tab>Equiv T1 T2` lines, which say that annotations mean the same thing; everything else is left
alone. Offsets count characters and ends are exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from karat.model.problem import Problems
from karat.read.place import Place, show

TEXT, NOTES = ".txt", ".ann"


@dataclass(frozen=True, slots=True)
class Mark:
    """One text-bound annotation. `group` is equal for annotations that are equivalent."""

    id: str
    type: str
    start: int
    end: int
    group: int
    line: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what is annotated in it; `marks` is None where there is no file of them."""

    name: str
    text: str | None
    marks: list[Mark] | None
    file: str


def read_folder(folder: Path, problems: Problems) -> list[Document]:
    """The documents of a folder by name, those of folders in it too; what is wrong is reported."""
    names = sorted(
        {
            path.relative_to(folder).with_suffix("").as_posix()
            for path in folder.rglob("*")
            if path.suffix in (TEXT, NOTES)
        }
    )
    if not names:
        Place(problems, str(folder)).add("file-empty", "the folder holds no .ann and no .txt file")
    return [_document(folder, name, problems) for name in names]


def _document(folder: Path, name: str, problems: Problems) -> Document:
    text = _content(folder / f"{name}{TEXT}", problems)
    notes = folder / f"{name}{NOTES}"
    content = _content(notes, problems)
    marks = None if content is None else _marks(content, text, str(notes), problems)
    return Document(name, text, marks, str(notes))


def _content(path: Path, problems: Problems) -> str | None:
    """The text of a file, None where there is none. Line ends stay: offsets count them."""
    if not path.is_file():
        return None
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; re-save the file as UTF-8"
        Place(problems, str(path), line).add("encoding", message)
        return data.decode("utf-8", "replace")


def _marks(content: str, text: str | None, file: str, problems: Problems) -> list[Mark]:
    found: list[tuple[str, str, int, int, int]] = []
    same: list[list[str]] = []
    for number, line in enumerate(content.split("\n"), 1):
        place = Place(problems, file, number)
        if line.startswith("T"):
            mark = _mark(line.rstrip("\r"), text, place)
            if mark is not None:
                found.append((*mark, number))
        elif line.startswith("*"):
            words = line.split()
            same += [words[2:]] if len(words) > 2 and words[1] == "Equiv" else []
    groups = _groups([name for name, *_ in found], same)
    return [
        Mark(name, kind, start, end, groups[name], line) for name, kind, start, end, line in found
    ]


def _mark(line: str, text: str | None, place: Place) -> tuple[str, str, int, int] | None:
    """(id, type, start, end) of a line; None where it is broken, which is reported."""
    cells = line.split("\t")
    head = cells[1].split(" ", 1) if len(cells) > 1 else []
    fragments = []
    try:
        for part in head[1].split(";"):
            start, end = map(int, part.split())
            fragments.append((start, end))
    except (IndexError, ValueError):
        message = f"{show(line)} is no text-bound annotation (T1<tab>TYPE START END<tab>text)"
        place.add("brat-line", message)
        return None
    if len(fragments) > 1:
        message = f"{cells[0]} has {len(fragments)} fragments; the span around all of them is taken"
        place.add("span-discontinuous", message, severity="warning")
    start, end = min(fragments)[0], max(end for _, end in fragments)
    if start < 0 or end < start:
        place.add("offset-order", f"{cells[0]} runs from {start} to {end}")
        return None
    if end == start:
        place.add("offset-empty", f"span [{start}, {end}) is empty")
        return None
    if text is None:
        return cells[0], head[0], start, end
    if end > len(text):
        message = f"end {end} lies past the text, which has {len(text)} characters"
        place.add("offset-range", message)
        return None
    if len(fragments) == 1 and len(cells) > 2:
        covered = text[start:end].replace("\r", " ").replace("\n", " ")
        if cells[2] and cells[2] != covered:
            message = f"{cells[0]} is {show(cells[2])}, but the text has {show(covered)} there"
            place.add("offset-text", message, severity="warning")
    return cells[0], head[0], start, end


def _groups(names: Sequence[str], same: Iterable[Sequence[str]]) -> dict[str, int]:
    """Number of the group of each annotation; equivalent ones share it."""
    group = {name: i for i, name in enumerate(names)}
    for words in same:
        known = [group[name] for name in words if name in group]
        for name, number in list(group.items()):
            if number in known:
                group[name] = min(known)
    return group


def write_document(
    folder: Path, name: str, text: str, marks: Sequence[tuple[str, int, int, int]]
) -> None:
    """Write one document; marks are (type, start, end, group), ends exclusive."""
    lines = []
    members: dict[int, list[str]] = {}
    for i, (kind, start, end, group) in enumerate(marks, 1):
        covered = text[start:end].replace("\n", " ").replace("\r", " ")
        lines.append(f"T{i}\t{kind} {start} {end}\t{covered}")
        members.setdefault(group, []).append(f"T{i}")
    lines += [f"*\tEquiv {' '.join(ids)}" for ids in members.values() if len(ids) > 1]
    target = folder / f"{name}{TEXT}"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode("utf-8", "surrogatepass"))
    notes = "".join(f"{line}\n" for line in lines)
    (folder / f"{name}{NOTES}").write_bytes(notes.encode("utf-8", "surrogatepass"))
