"""What the texts of the examples show: BLANKs, equal candidates, annotators; pairs of sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, compress
from typing import Any

from karat.model.problem import Problems
from karat.read.place import kind
from karat.tasks.stereotypes import SECTIONS
from karat.tasks.stereotypes.examples import StereoPairs
from karat.tasks.stereotypes.records import CANDIDATES, Sheet


def computed(pairs: StereoPairs, name: str) -> list[Any]:
    """The values of a computed field, one for each example."""
    gold = pairs.gold
    if name == "section":
        return [gold.sections[s] for s in gold.section.tolist()]
    if name == "target":
        if gold.whole is None:
            return [None] * pairs.n
        return [gold.whole.names[t] for t in gold.whole.codes.tolist()]
    if name == "tie":
        return [bool(tie) for tie in (pairs.pred.compared(0, 1) == 0).tolist()]
    by_sheet = [_OF_SHEET[name](sheet) for sheet in gold.sheets]
    return [by_sheet[s][r] for s, r in zip(gold.sheet.tolist(), gold.row.tolist(), strict=True)]


def blanks(sheet: Sheet) -> list[Any]:
    """How many BLANKs each context has; None where there is no gap to fill."""
    if sheet.section != SECTIONS[0]:
        return [None] * sheet.n
    return [text.count("BLANK") for text in sheet.columns["context"]]


def same_words(sheet: Sheet) -> list[Any]:
    """Whether two candidates of an example are the same text, so that no score can tell them."""
    if sheet.section not in SECTIONS:
        pairs = zip(sheet.columns["sent_more"], sheet.columns["sent_less"], strict=True)
        return [more == less for more, less in pairs]
    words = all(f"c{i}_word" in sheet.columns for i in CANDIDATES)
    part = "word" if words and sheet.section == SECTIONS[0] else "sentence"
    columns = (sheet.columns[f"c{i}_{part}"] for i in CANDIDATES)
    return [a in (b, c) or b == c for a, b, c in zip(*columns, strict=True)]


def equal_texts(sheet: Sheet, known: Mapping[str, float]) -> tuple[int, int]:
    """(pairs of candidates of an example with equal texts, how many of them score apart).

    Apart is more than a hundredth: batches and their padding move a score by far less.
    """
    alike = apart = 0
    texts = [sheet.columns[f"c{i}_sentence"] for i in CANDIDATES]
    ids = [sheet.columns[f"c{i}_id"] for i in CANDIDATES]
    for row in compress(range(sheet.n), same_words(sheet)):
        for a, b in combinations(range(len(CANDIDATES)), 2):
            first, second = known.get(ids[a][row]), known.get(ids[b][row])
            if texts[a][row] == texts[b][row] and first is not None and second is not None:
                alike += 1
                apart += not math.isclose(first, second, rel_tol=0.01)
    return alike, apart


def agreement(sheet: Sheet) -> list[Any]:
    """The share of annotators that gave the candidates' gold labels, None where none is named."""
    found: list[Any] = []
    for row in range(sheet.n):
        asked = right = 0
        for i in CANDIDATES:
            told = sheet.columns.get(f"c{i}_labels", [None] * sheet.n)[row]
            if isinstance(told, list):
                labels = [one.get("label") for one in told if isinstance(one, Mapping)]
                asked += len(labels)
                right += labels.count(sheet.columns[f"c{i}_gold_label"][row])
        found.append(right / asked if asked else None)
    return found


_OF_SHEET = {"blanks": blanks, "same_words": same_words, "agreement": agreement}


def check_pairs(sheet: Sheet, problems: Problems) -> bool:
    """Whether all pairs of sentences are sound; the defects of the others are reported."""
    before = problems.errors
    for key in ("sent_more", "sent_less", "bias_type"):
        column = sheet.columns.get(key)
        if column is None:
            problems.add("column-missing", f"there is no column {key}", file=sheet.file)
            continue
        for row, value in enumerate(column):
            if not isinstance(value, str) or not value:
                text = (
                    f"value is a {kind(value)}; a text is required" if value != "" else "is empty"
                )
                sheet.place(row, problems).add("field-type", text, key)
    return problems.errors == before
