"""What the formats of entity linking look like at first sight. Imports nothing heavy."""

from __future__ import annotations

import re
from pathlib import Path

from karat.model.task import Peek

NAMES = {
    "tsv": "annotation table",
    "edl": "TAC 2015 table",
    "tac": "TAC queries",
    "links": "TAC links",
    "coref": "CoNLL coreference",
    "aida": "AIDA-CoNLL",
    "brat": "brat folder with references",
}
_PLACE = re.compile(r"^\S+:\s?\d+\s?[-–]\s?\d+$")
_AIDA = re.compile(rb"\t[BI]\t[^\t\n]*\t(?:--NME--|[^\t\n]+)")


def format_of(peek: Peek) -> str:
    """The name of the format, "" where it is none of ours. An empty file is an annotation table."""
    head = peek.head.lstrip()
    if peek.shape == "folder":
        return "brat" if _has_references(Path(peek.name)) else ""
    if peek.shape == "xml":
        return "tac" if b"<query" in head else ""
    if head.startswith(b"#begin document"):
        return "coref"
    if head.startswith(b"-DOCSTART-"):
        return "aida" if _AIDA.search(head) else ""
    if not head:
        return "tsv"
    return _table(head.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r\t").split("\t"))


def _table(cells: list[str]) -> str:
    """Which table a first line belongs to."""
    if len(cells) >= 8 and _PLACE.match(cells[3]):
        return "edl"
    if len(cells) >= 3 and _is_integer(cells[1]) and _is_integer(cells[2]):
        return "tsv"
    if len(cells) in (3, 4) and (cells[0] == "query_id" or " " not in cells[0]):
        return "links"
    return ""


def _is_integer(cell: str) -> bool:
    return cell.strip().lstrip("+-").replace("_", "").isdigit()


def _has_references(folder: Path) -> bool:
    """Whether a folder holds marks that refer to a knowledge base."""
    for path in sorted(folder.glob("*.ann"))[:50]:
        with path.open("rb") as file:
            if any(
                line.startswith(b"N") and b"\tReference " in line
                for line in file.read(1 << 16).split(b"\n")
            ):
                return True
    return False


def is_convertible(kind: str, peek: Peek) -> bool:
    """Whether `karat convert` may read an input as this format."""
    seen = format_of(peek)
    return seen == kind or (kind == "tac" and seen == "links")


def recognise(gold: Peek, predictions: Peek | None) -> str | None:
    """What is seen where both sides are mentions; links alone are not enough for gold."""
    seen = format_of(gold)
    if seen in ("", "links") or (seen == "tsv" and not gold.head.strip()):
        return None
    if predictions is not None:
        other = format_of(predictions)
        # Formats may differ; links alone take the mentions of gold's XML.
        if other not in NAMES or (other == "links" and seen != "tac"):
            return None
    return NAMES[seen]
