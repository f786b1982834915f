"""Sentences of tagged tokens on both sides, whatever file they came from, and their pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat.model.pairs import CodeArray, Facet, FloatArray, IntArray, LineIds, Pairs
from karat.model.problem import Problems
from karat.model.task import Request
from karat.read.facets import Column, crossed, factors
from karat.read.fields import Selected
from karat.read.place import Place
from karat.tasks.entities.checks import check_known
from karat.tasks.entities.chunks import bad_starts, bad_tag, chunks, places
from karat.tasks.entities.conlleval import right_chunks, same_tags
from karat.tasks.entities.pair import Document, EntityPairs, Gold, Lookup, Predicted, Tokens
from karat.tasks.entities.records import same_types

LENIENT = "leniently: a chunk that does not open or close well still counts"

Words = Callable[[Sequence[int]], Mapping[int, tuple[int | None, list[str]]]]
"""Gives (line, tokens) of sentences by number."""


@dataclass(frozen=True, slots=True)
class Tags:
    """One side: the tag of every token as a number of `names`, and the tokens of each sentence.

    `place(i)` is where sentence i stands in its file, `token(t)` the place and the key of token t,
    counted over all sentences. `key` names the tags in a record.
    """

    names: tuple[str, ...]
    codes: CodeArray
    lengths: IntArray
    place: Callable[[int | None], Place]
    token: Callable[[int], tuple[Place, str | None]]
    key: str | None = None

    def among(self, names: Sequence[str]) -> CodeArray:
        """The codes as numbers of another list of names that has all of these."""
        number = {name: i for i, name in enumerate(names)}
        lookup = np.array([number[name] for name in self.names], dtype=np.int32)
        return lookup[self.codes] if len(lookup) else self.codes


@dataclass(frozen=True, slots=True)
class Tagged:
    """Both sides of the same sentences, and what else is known of them.

    `pred` is None where gold is looked at alone.
    """

    gold: Tags
    pred: Tags | None
    words: Words
    selected: Selected = field(default_factory=lambda: Selected({}, None, None))


def school_of(options: Mapping[str, Any]) -> str:
    """The school of chunks that --like asks for: "" for karat's own, else a tool or a scheme."""
    like = str(options.get("like") or "")
    return like.partition(":")[2] or like


def pair_tags(found: Tagged, item: str, request: Request, problems: Problems) -> EntityPairs | None:
    """The pairs of tagged sentences; None where the sides do not fit or a tag cannot be read."""
    school = school_of(request.options)
    before = problems.errors
    gold, pred = found.gold, found.pred
    _check_tags(gold, school)
    if pred is None:
        return None
    _check_tags(pred, school)
    if len(gold.lengths) != len(pred.lengths):
        message = f"{len(pred.lengths)} sentences, but gold has {len(gold.lengths)}"
        pred.place(None).add("sentence-count", message, pred.key)
    check_lengths(gold.lengths, pred.lengths, pred.place, pred.key)
    if problems.errors > before:
        return None
    names = tuple(dict.fromkeys((*gold.names, *pred.names)))
    first, second = gold.among(names), pred.among(names)
    expected = chunks(names, first, gold.lengths, school)
    said = chunks(names, second, gold.lengths, school)
    check_known(expected.occurring, said.types, said.kind, pred.place(None), pred.key)
    expected, said = same_types(expected, said)
    right = None
    if school == "conlleval":
        right = right_chunks(names, first, second, gold.lengths)
    n = len(gold.lengths)
    equal = _same_tags(names, school)
    agree = np.concatenate([[0], np.cumsum(equal[first] == equal[second], dtype=np.int32)])
    ends = np.cumsum(gold.lengths)
    same = agree[ends] - agree[ends - gold.lengths]
    notes = [] if school else _notes(names)
    chosen = found.selected
    return Pairs(
        n=n,
        gold=Gold(
            expected,
            _lookup(found),
            np.arange(n),
            Tokens(gold.lengths, same.astype(np.int64)),
            notes=tuple(notes),
        ),
        pred=Predicted(said, right),
        ids=LineIds(n),
        item=item,
        facets=chosen.facets,
        cluster=chosen.cluster,
        weights=chosen.weights,
    )


def _same_tags(names: Sequence[str], school: str) -> CodeArray:
    """A number for each tag, equal where two of them are the same to the school."""
    return same_tags(names) if school == "conlleval" else np.arange(len(names), dtype=np.int32)


def _notes(names: Sequence[str]) -> list[str]:
    """How tags were read."""
    letters = {name[0] for name in names if name != "O"}
    if letters & set("LU"):
        return [f"tags were read as BILOU, {LENIENT}"]
    if letters & set("ES"):
        return [f"tags were read as IOBES, {LENIENT}"]
    return ["tags were read as IOB, leniently: an I that follows no chunk of its type opens one"]


def check_lengths(
    gold: IntArray, pred: IntArray, place: Callable[[int | None], Place], key: str | None
) -> bool:
    """Whether sentences have as many tags on both sides; where they do not is reported."""
    both = min(len(gold), len(pred))
    wrong = np.flatnonzero(gold[:both] != pred[:both]).tolist()
    for i in wrong:
        message = f"{pred[i]} tags for the {gold[i]} tokens of the sentence in gold"
        place(i).add("sentence-length", message, key)
    return not wrong


def _check_tags(side: Tags, school: str) -> None:
    """Report tags that the school cannot read, each at the token that has it first."""
    wrong = {name: why for name in side.names if (why := bad_tag(name, school))}
    if school == "nervaluate" and not wrong:
        for name in sorted(bad_starts(side.names, side.codes, side.lengths)):
            wrong[name] = f"'{name}' starts a span; nervaluate reads B- and I- only"
    for name, why in wrong.items():
        at = np.flatnonzero(side.codes == side.names.index(name))
        place, key = side.token(int(at[0]))
        times = f" ({len(at)}x)" if len(at) > 1 else ""
        advice = "numbers need names: --tag-names O,B-PER,I-PER,..." if name.isdigit() else ""
        place.add("tag-unreadable", f"{why}{times}", key, help=advice)


def _lookup(found: Tagged) -> Lookup:
    """Sentences as examples show them."""
    starts = places(found.gold.lengths)

    def find(documents: Sequence[int]) -> Mapping[int, Document]:
        out = {}
        for d, (line, words) in found.words(documents).items():
            out[d] = Document(line, {"text": " ".join(words)}, _cutter(words, int(starts[d])))
        return out

    return find


def _cutter(words: list[str], first: int) -> Callable[[int, int], str]:
    return lambda start, end: " ".join(words[max(start - first, 0) : end - first])


def select(request: Request, known: Mapping[str, Facet | FloatArray], place: Place) -> Selected:
    """The facets, clusters and weights asked for, of files that have no fields but these."""
    asked = [part for name in request.by for part in factors(name)]
    asked += [name for name in (request.cluster, request.weights) if name]
    missing = {name for name in asked if name not in known}
    for name in dict.fromkeys(name for name in asked if name in missing):
        text, names = f"no record has a field '{name}'", ", ".join(known) or "none"
        place.add("field-missing", text, name, help=f"there are {names}")
    facets = {}
    for name in request.by:
        if missing.isdisjoint(factors(name)):
            parts = [_facet(part, known[part]) for part in factors(name)]
            facets[name] = parts[0] if len(parts) == 1 else crossed(name, parts)
    cluster = known.get(request.cluster or "document")
    if cluster is not None and not isinstance(cluster, Facet):
        cluster = _facet(request.cluster or "", cluster, bins=False)
    weights = known.get(request.weights or "")
    if isinstance(weights, Facet) or (weights is not None and not weights.any()):
        place.add("weight-type", "weights must be numbers above 0", request.weights)
        weights = None
    return Selected(facets, cluster, weights)


def _facet(name: str, value: Facet | FloatArray, bins: bool = True) -> Facet:
    if isinstance(value, Facet):
        return value
    column = Column(name)
    column.add_numbers(value)
    return column.facet(bins)
