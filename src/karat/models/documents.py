"""Pairs of sentences from plain text: those that follow each other, and those that do not."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from karat.errors import UsageError

_END = re.compile(r"(?<=[.!?…。！？])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[¿¡]*[^\W\d_a-z])")


class Pair(NamedTuple):
    """Two sentences; label 1 where the second follows the first."""

    first: str
    second: str
    label: int


def sentences(text: str) -> list[str]:
    """The sentences of a text: cut behind . ! ? where what follows does not begin small."""
    return [one for one in (part.strip() for part in _END.split(text)) if one]


def read_documents(paths: Sequence[Path]) -> list[list[str]]:
    """The sentences of each document: a line of a file, or a file of a folder."""
    texts: list[str] = []
    for path in paths:
        if path.is_dir():
            texts += [
                file.read_text(encoding="utf-8", errors="replace").replace("\n", " ")
                for file in sorted(path.rglob("*.txt"))
            ]
        elif path.is_file():
            texts += path.read_text(encoding="utf-8", errors="replace").splitlines()
        else:
            raise UsageError(f"{path}: there is no such file or folder")
    found = [sentences(text) for text in texts]
    return [document for document in found if document]


def make_pairs(documents: Sequence[Sequence[str]], seed: int) -> list[Pair]:
    """As many unrelated pairs as sentences, and all neighbours, shuffled by the seed.

    The second sentence of an unrelated pair comes from another document.
    """
    if len(documents) < 2:
        raise UsageError(
            "next-sentence pairs need at least two documents",
            help="give a file with one document a line, or a folder of .txt files",
        )
    chance = random.Random(seed)  # noqa: S311 - for data, not for secrets
    flat = [(d, sentence) for d, document in enumerate(documents) for sentence in document]
    pairs = [Pair(a, b, 1) for document in documents for a, b in pairwise(document)]
    for d, sentence in flat:
        other, second = flat[chance.randrange(len(flat))]
        while other == d:
            other, second = flat[chance.randrange(len(flat))]
        pairs.append(Pair(sentence, second, 0))
    chance.shuffle(pairs)
    return pairs


def split(
    documents: list[list[str]], share: float, seed: int
) -> tuple[list[list[str]], list[list[str]]]:
    """(training, validation) documents: no sentence of one is in the other."""
    order = list(range(len(documents)))
    random.Random(seed + 1).shuffle(order)  # noqa: S311
    held = max(2, round(len(order) * share)) if share and len(order) >= 4 else 0
    return [documents[i] for i in order[held:]], [documents[i] for i in order[:held]]
