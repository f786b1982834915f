"""A translation table laid over rows: id, field, text. Sentences are rebuilt from their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from karat.model.problem import Problems
from karat.read.place import Place, show
from karat.read.source import Source
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.formats import rows_of
from karat.tasks.stereotypes.records import CANDIDATES

COLUMNS = ("id", "field", "text")
WORDS = ("context", "target", *(f"c{i}_word" for i in CANDIDATES))
SENTENCES = ("context", "target", *(f"c{i}_sentence" for i in CANDIDATES))
"""What is translated in each test: words where a sentence is a context with a word in it."""

_GERMAN_BLANKS = ("LEERES", "LEER")


def read_table(path: Path, problems: Problems) -> dict[tuple[str, str], str]:
    """(id, field) -> text, of a file of rows with these three: CSV, TSV, JSON lines, parquet."""
    source = Source.of(path)
    problems.take_all(source.check())
    if problems.errors:
        return {}
    columns, lines = rows_of(source, problems)
    if not set(COLUMNS) <= set(columns):
        text = f"columns {', '.join(COLUMNS)} are needed; there are {', '.join(columns) or 'none'}"
        problems.add("column-missing", text, file=source.name)
        return {}
    found: dict[tuple[str, str], str] = {}
    rows = zip(*(columns[name] for name in COLUMNS), strict=True)
    for record, (one, key, text) in enumerate(rows):
        place = Place(problems, source.name, lines[record] if lines else None, record)
        if not all(isinstance(cell, str) and cell for cell in (one, key, text)):
            place.add("translation-empty", "id, field and text are all needed")
        elif found.get((one, key), text) != text:
            said = f"{show(key)} of {show(one)} is translated twice, differently"
            place.add("translation-repeated", said)
        else:
            found[one, key] = text
    return found


def translated(
    columns: Mapping[str, list[Any]],
    section: str,
    table: Mapping[tuple[str, str], str],
    name: str,
    problems: Problems,
) -> dict[str, list[Any]]:
    """The columns in the new language, the English targets kept as `target_original`.

    Where anything was translated, every BLANK of the context is replaced by the word. Translations
    that belong to no field are errors; fields without one keep their text, and are counted in a
    warning.
    """
    fields = WORDS if section == SECTIONS[0] else SENTENCES
    out = {key: list(column) for key, column in columns.items()}
    out.setdefault("target_original", list(columns["target"]))
    place = {one: row for row, one in enumerate(columns["id"])}
    used: set[tuple[str, str]] = set()
    for (one, key), text in table.items():
        if one in place and key in fields and key in out:
            used.add((one, key))
            out[key][place[one]] = _blank(text) if key == "context" else text
        elif one in place:
            said = f"field {show(key)} of {show(one)} is not translated in {section} data"
            problems.add(
                "translation-field", said, file=name, help=f"fields are {', '.join(fields)}"
            )
    left = len(place) * len(fields) - len(used)
    if left:
        said = f"{left:,} fields of the {section} data have no translation and stay as they are"
        problems.add("translation-missing", said, file=name, severity="warning")
    if section == SECTIONS[0]:
        _rebuild(out, sorted({place[one] for one, _ in used}), problems, name)
    return out


def _blank(text: str) -> str:
    """The context with its gap as BLANK, also where a translator took it for a word."""
    if "BLANK" in text:
        return text
    for word in _GERMAN_BLANKS:
        if word in text:
            return text.replace(word, "BLANK")
    return text


def _rebuild(out: dict[str, list[Any]], rows: Iterable[int], problems: Problems, name: str) -> None:
    """Make the sentences of these rows anew from contexts and words."""
    for row in rows:
        context = out["context"][row]
        if "BLANK" not in context:
            said = f"the context of {show(out['id'][row])} has no BLANK"
            problems.add("blank-missing", said, file=name, record=row, key="context")
        for i in CANDIDATES:
            out[f"c{i}_sentence"][row] = context.replace("BLANK", out[f"c{i}_word"][row])
