"""A translation table laid over rows: id, field, text. Sentences are rebuilt from their words."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.model.problem import Problems
from karat.read.place import show
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.records import CANDIDATES

WORDS = ("context", "target", *(f"c{i}_word" for i in CANDIDATES))
SENTENCES = ("context", "target", *(f"c{i}_sentence" for i in CANDIDATES))
"""What is translated in each test: words where a sentence is a context with a word in it."""

_GERMAN_BLANKS = ("LEERES", "LEER")


def read_table(path: Path, problems: Problems) -> dict[tuple[str, str], str]:
    """(id, field) -> text, of a CSV or TSV file with these three columns."""
    name = str(path)
    try:
        text = path.read_text("utf_8_sig")
    except (OSError, UnicodeDecodeError) as error:
        problems.add("file-unreadable", f"cannot be read: {error}", file=name)
        return {}
    tab = "\t" if "\t" in text.split("\n", 1)[0] else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=tab)
    if not {"id", "field", "text"} <= set(reader.fieldnames or ()):
        told = ", ".join(reader.fieldnames or ())
        text = f"columns id, field and text are needed; there are {told}"
        problems.add("column-missing", text, file=name)
        return {}
    found: dict[tuple[str, str], str] = {}
    for record, row in enumerate(reader):
        key = (row["id"], row["field"])
        if not all(isinstance(row[k], str) and row[k] for k in ("id", "field", "text")):
            text = "id, field and text are all needed"
            problems.add("translation-empty", text, file=name, line=reader.line_num, record=record)
        elif found.get(key, row["text"]) != row["text"]:
            text = f"{show(key[1])} of {show(key[0])} is translated twice, differently"
            problems.add(
                "translation-repeated", text, file=name, line=reader.line_num, record=record
            )
        else:
            found[key] = row["text"]
    return found


def translated(
    columns: Mapping[str, list[Any]],
    section: str,
    table: Mapping[tuple[str, str], str],
    name: str,
    problems: Problems,
) -> dict[str, list[Any]]:
    """The columns in the new language, the English targets kept as `target_original`.

    Every BLANK of the context is replaced by the word. Translations that belong to no field are
    errors; fields without one keep their text, and are counted in a warning.
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
        _rebuild(out, problems, name)
    return out


def _blank(text: str) -> str:
    """The context with its gap as BLANK, also where a translator took it for a word."""
    if "BLANK" in text:
        return text
    for word in _GERMAN_BLANKS:
        if word in text:
            return text.replace(word, "BLANK")
    return text


def _rebuild(out: dict[str, list[Any]], problems: Problems, name: str) -> None:
    """Make the sentences anew from contexts and words."""
    for row, context in enumerate(out["context"]):
        if "BLANK" not in context:
            said = f"the context of {show(out['id'][row])} has no BLANK"
            problems.add("blank-missing", said, file=name, record=row, key="context")
        for i in CANDIDATES:
            out[f"c{i}_sentence"][row] = context.replace("BLANK", out[f"c{i}_word"][row])
