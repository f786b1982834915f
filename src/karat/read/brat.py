"""brat standoff: `.ann` files of notes, and folders that hold each beside a `.txt` of its name.

Text-bound annotations (`T1<tab>PER 0 11<tab>Ada Lovelace`) are read with their fragments,
`*<tab>Equiv T1 T2` lines, which say that annotations mean the same thing, and references to a
knowledge base (`N1<tab>Reference T1 Wikipedia:Ada<tab>Ada`); everything else is left alone.
Offsets count characters and ends are exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from karat.model.problem import Problems
from karat.read.place import Place, show

TEXT, NOTES = ".txt", ".ann"
FURTHEST = 2**31 - 2
"""No offset lies farther, be its text known or not."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One text-bound annotation. `group` is equal for annotations that are equivalent.

    `covered` is its text as the notes have it, "" where they have none or it is in pieces.
    """

    id: str
    type: str
    start: int
    end: int
    group: int
    line: int
    covered: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what is annotated in it; `marks` is None where there is no file of them."""

    name: str
    text: str | None
    marks: list[Mark] | None
    file: str


@dataclass(frozen=True, slots=True)
class Notes:
    """The lines of an `.ann` file, to be looked through for what a task needs."""

    file: str
    lines: list[str]
    problems: Problems

    def marks(self) -> list[Mark]:
        """The text-bound annotations in their order; what is wrong with a line is reported."""
        found: list[tuple[str, str, int, int, int, str]] = []
        same: list[list[str]] = []
        for number, line in enumerate(self.lines, 1):
            if line.startswith("T"):
                mark = _mark(line, Place(self.problems, self.file, number))
                if mark is not None:
                    name, kind, start, end, covered = mark
                    found.append((name, kind, start, end, number, covered))
            elif line.startswith("*"):
                words = line.split()
                same += [words[2:]] if len(words) > 2 and words[1] == "Equiv" else []
        groups = _groups([name for name, *_ in found], same)
        return [
            Mark(name, kind, start, end, groups[name], line, covered)
            for name, kind, start, end, line, covered in found
        ]

    def references(self) -> Iterator[tuple[int, str, str]]:
        """(line, id of the annotation, what it refers to); broken lines are reported."""
        for number, line in enumerate(self.lines, 1):
            if not line.startswith("N"):
                continue
            words = f"{line}\t".split("\t")[1].split(" ", 2)
            if len(words) == 3 and words[0] == "Reference":
                yield number, words[1], words[2]
            else:
                message = "a reference is `N1 TAB Reference T1 BASE:ID`"
                Place(self.problems, self.file, number).add("reference-broken", message)


def read_folder(
    folder: Path, problems: Problems, texts: Mapping[str, str] | None = None
) -> list[Document]:
    """The documents of a folder by name, those of folders in it too; what is wrong is reported.

    `texts` are those of documents that have none in the folder.
    """
    names = sorted(
        {
            path.relative_to(folder).with_suffix("").as_posix()
            for path in folder.rglob("*")
            if path.suffix in (TEXT, NOTES)
        }
    )
    if not names:
        Place(problems, str(folder)).add("file-empty", "the folder holds no .ann and no .txt file")
    return [_document(folder, name, problems, texts or {}) for name in names]


def _document(folder: Path, name: str, problems: Problems, texts: Mapping[str, str]) -> Document:
    text = _content(folder / f"{name}{TEXT}", problems)
    text = texts.get(name) if text is None else text
    path = folder / f"{name}{NOTES}"
    notes = read_notes(path, problems)
    marks = None
    if notes is not None:
        marks = [
            mark
            for mark in notes.marks()
            if _fits(mark, text, Place(problems, notes.file, mark.line))
        ]
    return Document(name, text, marks, str(path))


def read_notes(path: Path, problems: Problems) -> Notes | None:
    """The notes of an `.ann` file, None where there is none."""
    content = _content(path, problems)
    if content is None:
        return None
    lines = [line.rstrip("\r") for line in content.removesuffix("\n").split("\n")]
    return Notes(str(path), lines, problems)


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


def _mark(line: str, place: Place) -> tuple[str, str, int, int, str] | None:
    """(id, type, start, end, text) of a line; None where it is broken, which is reported."""
    cells = line.split("\t", 2)
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
    covered = cells[2] if len(cells) > 2 else ""
    if len(fragments) > 1:
        message = f"{cells[0]} has {len(fragments)} fragments; the span around all of them is taken"
        place.add("span-discontinuous", message, severity="warning")
        covered = ""
    return cells[0], head[0], min(fragments)[0], max(end for _, end in fragments), covered


def _fits(mark: Mark, text: str | None, place: Place) -> bool:
    """Whether an annotation has characters of the text; what is odd about it is reported."""
    start, end = mark.start, mark.end
    if start < 0 or end < start:
        place.add("offset-order", f"{mark.id} runs from {start} to {end}")
    elif end == start:
        place.add("offset-empty", f"span [{start}, {end}) is empty")
    elif text is not None and end > len(text):
        message = f"end {end} lies past the text, which has {len(text)} characters"
        place.add("offset-range", message)
    elif end > FURTHEST:
        place.add("offset-range", f"{show(end)} is too large for an offset")
    else:
        if text is not None and mark.covered not in ("", _on_a_line(text[start:end])):
            message = (
                f"{mark.id} is {show(mark.covered)}, "
                f"but the text has {show(_on_a_line(text[start:end]))} there"
            )
            place.add("offset-text", message, severity="warning")
        return True
    return False


def _on_a_line(covered: str) -> str:
    """A piece of text as notes write it, without line ends."""
    return covered.replace("\r", " ").replace("\n", " ")


def _groups(names: Sequence[str], same: Iterable[Sequence[str]]) -> dict[str, int]:
    """Number of the group of each annotation; equivalent ones share it."""
    group = {name: i for i, name in enumerate(names)}
    for words in same:
        known = [group[name] for name in words if name in group]
        for name, number in list(group.items()):
            if number in known:
                group[name] = min(known)
    return group


def mark_line(number: int, kind: str, start: int, end: int, covered: str = "") -> str:
    """The line of a text-bound annotation; the end is exclusive."""
    return f"T{number}\t{kind} {start} {end}\t{_on_a_line(covered)}"


def reference_line(number: int, target: str) -> str:
    """The line that says what the annotation of that number refers to, as `BASE:ID`."""
    return f"N{number}\tReference T{number} {target}\t"


def write_document(
    folder: Path, name: str, text: str, marks: Sequence[tuple[str, int, int, int]]
) -> None:
    """Write one document; marks are (type, start, end, group), ends exclusive."""
    lines = []
    members: dict[int, list[str]] = {}
    for i, (kind, start, end, group) in enumerate(marks, 1):
        lines.append(mark_line(i, kind, start, end, text[start:end]))
        members.setdefault(group, []).append(f"T{i}")
    lines += [f"*\tEquiv {' '.join(ids)}" for ids in members.values() if len(ids) > 1]
    target = folder / f"{name}{TEXT}"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode("utf-8", "surrogatepass"))
    notes = "".join(f"{line}\n" for line in lines)
    (folder / f"{name}{NOTES}").write_bytes(notes.encode("utf-8", "surrogatepass"))
