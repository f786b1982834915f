"""Files of tagged tokens: CoNLL columns, and JSON records of tokens and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from karat.model.pairs import BoolArray, CodeArray, Facet, IntArray
from karat.model.problem import Problems
from karat.model.task import Peek, Request, Source
from karat.read.checks import found, report_count
from karat.read.conll import Columns, read_columns, sentences
from karat.read.fields import Fields
from karat.read.numbering import Numbering
from karat.read.pick import pick
from karat.read.place import Place, kind, show
from karat.read.records import Records, read_records
from karat.read.source import CACHE_EXTENSIONS
from karat.tasks.entities import GOLD_TAGS, PREDICTED_TAGS, tagged_share
from karat.tasks.entities.tagged import Tagged, Tags, check_lengths, school_of, select

FEWEST_TAGS = 0.05
"""A column of words may hold an I or an A; in one of tags, no fewer cells than these are tags."""

IGNORED = -100
"""What Hugging Face writes for tokens that are not scored."""


# --- columns ------------------------------------------------------------------------------


def read_conll(request: Request, problems: Problems) -> Tagged | None:
    """Gold and predicted tags in the last two columns of one file, or in the last of two files.

    The predictions are missing where a single file has tags in its last column only.
    """
    source, alone = request.gold[0], not request.predictions
    marks = school_of(request.options) == "conlleval"
    # What conlleval reads is such a file, whatever its cells look like.
    both = alone and (marks or tagged_share(source.peek(), -2) >= FEWEST_TAGS)
    gold = read_columns(source, 2 if both else 1, problems, marks)
    pred = gold if both else None
    if not alone:
        pred = read_columns(request.predictions[0], 1, problems, marks)
    elif not both and request.purpose == "score":
        message = "no predictions: the last two columns of a single file are gold and predicted"
        Place(problems, source.name).add("prediction-missing", message)
    if gold is None:
        return None
    known: dict[str, Any] = {"tokens": gold.lengths.astype(np.float64)}
    if gold.documents > 1:
        names = tuple(f"{i + 1:06d}" for i in range(gold.documents))
        known["document"] = Facet("document", gold.document.astype(np.int32), names)
    chosen = select(request, known, Place(problems, source.name))
    first = _tags(gold, 0, problems)
    second = None if pred is None else _tags(pred, -1, problems)
    return Tagged(first, second, _columns_words(source, marks), chosen)


def _tags(columns: Columns, which: int, problems: Problems) -> Tags:
    used, codes = _used(columns.codes[which], len(columns.names))

    def place(sentence: int | None) -> Place:
        line = None if sentence is None else int(columns.line[sentence])
        return Place(problems, columns.name, line, sentence)

    def token(t: int) -> tuple[Place, None]:
        sentence, within = located(columns.lengths, t)
        line = int(columns.line[sentence]) + within
        return Place(problems, columns.name, line, sentence), None

    names = tuple(columns.names[i] for i in used.tolist())
    return Tags(names, codes, columns.lengths, place, token)


def located(lengths: IntArray, token: int) -> tuple[int, int]:
    """(sentence, place in it) of a token counted over all sentences."""
    ends = np.cumsum(lengths)
    sentence = int(np.searchsorted(ends, token, side="right"))
    return sentence, token - int(ends[sentence] - lengths[sentence])


def _used(codes: CodeArray, size: int) -> tuple[IntArray, CodeArray]:
    """(the codes that occur, the codes as places among those)."""
    used = np.flatnonzero(np.bincount(codes, minlength=size))
    lookup = np.zeros(max(size, 1), dtype=np.int32)
    lookup[used] = np.arange(len(used), dtype=np.int32)
    return used, lookup[codes]


def _columns_words(source: Source, marks: bool) -> Any:
    def find(wanted: Sequence[int]) -> Mapping[int, tuple[int | None, list[str]]]:
        chosen, out = set(wanted), {}
        for i, (line, rows) in enumerate(sentences(source, marks) if chosen else ()):
            if i in chosen:
                out[i] = (line, [cells[0] for cells in rows])
                if len(out) == len(chosen):
                    break
        return out

    return find


# --- records ------------------------------------------------------------------------------


def tag_key(peek: Peek, keys: Sequence[str]) -> str | None:
    """The first of the keys under which a record has a list."""
    first = peek.first if isinstance(peek.first, dict) else {}
    return next(
        (key for key in keys if isinstance(first.get(key), (list, type(None))) and key in first),
        None,
    )


def read_tag_records(request: Request, problems: Problems) -> Tagged | None:
    """Records of tokens and tags; predictions in a file of their own or beside the gold tags."""
    source = request.gold[0]
    gold_key = tag_key(source.peek(), GOLD_TAGS) or GOLD_TAGS[0]
    names = [n.strip() for n in str(request.options.get("tag_names") or "").split(",") if n.strip()]
    fields = Fields(request.by, request.cluster, request.weights, {"tokens": _count_tokens})
    gold = _Reader(source, gold_key, names, problems, fields)
    pred = _predicted(request, names, problems)
    if gold.broken or (pred is not None and pred.broken):
        return None
    kept = _kept(gold)
    words = _record_words(source, gold_key)
    chosen = fields.finish(problems, source.name, gold.reader.audit.seen)
    if pred is None:
        return Tagged(gold.tags(kept), None, words, chosen)
    report_count(pred.reader.place(), len(pred.lengths), len(gold.lengths), pred.key)
    if len(pred.lengths) != len(gold.lengths) or not check_lengths(
        gold.lengths, pred.lengths, pred.reader.place, pred.key
    ):
        return None
    return Tagged(gold.tags(kept), pred.tags(kept), words, chosen)


def _predicted(request: Request, names: list[str], problems: Problems) -> _Reader | None:
    """The predicted tags, None where there are none."""
    source = (request.predictions or request.gold)[0]
    keys = PREDICTED_TAGS + (GOLD_TAGS if request.predictions else ())
    key = tag_key(source.peek(), keys)
    if key is None and not request.predictions:
        if request.purpose == "score":
            message = f"no predictions: give a prediction file, or '{keys[0]}' in the records"
            Place(problems, source.name).add("prediction-missing", message, keys[0])
        return None
    return _Reader(source, key or keys[0], names, problems, None)


def _count_tokens(rows: list[Any]) -> Any:
    return np.fromiter((len(row.field_0) for row in rows), np.float64, len(rows))


def _kept(gold: _Reader) -> BoolArray | None:
    """Which tokens are scored: all but those that gold marks as ignored. None for all."""
    ignored = gold.number.get(IGNORED)
    return None if ignored is None else np.asarray(gold.codes != ignored)


class _Reader:
    """The tags of one file of records."""

    def __init__(
        self, source: Source, key: str, names: list[str], problems: Problems, fields: Fields | None
    ) -> None:
        self.key, self.names = key, names
        item = list[str | int]
        base: dict[str, tuple[Any, Any]] = {key: (item, msgspec.NODEFAULT)}
        self._fields = fields or Fields()
        schema = self._fields.schema("Tagged", base)
        self.reader: Records[Any] = read_records(
            source, schema, problems, self._diagnose, CACHE_EXTENSIONS
        )
        self.number: Numbering[str | int] = Numbering()
        codes: list[CodeArray] = []
        lengths: list[Any] = []
        before = problems.errors
        for batch in self.reader:
            rows = [row.field_0 for row in batch.rows]
            lengths.append(np.fromiter(map(len, rows), np.int64, len(rows)))
            codes.append(self.number.codes(list(chain.from_iterable(rows))))
            self._fields.add(batch.rows, batch.place)
        self.broken = problems.errors > before or not lengths
        self.lengths = np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int64)
        self.codes = np.concatenate(codes) if codes else np.zeros(0, dtype=np.int32)

    def tags(self, kept: BoolArray | None) -> Tags:
        """The side as columns; numbers are named where there are names for them."""
        codes, lengths = self.codes, self.lengths
        if kept is not None:
            owner = np.repeat(np.arange(len(lengths)), lengths)[kept]
            codes, lengths = codes[kept], np.bincount(owner, minlength=len(lengths))

        def token(t: int) -> tuple[Place, str]:
            written = t if kept is None else int(np.flatnonzero(kept)[t])
            record, within = located(self.lengths, written)
            return self.reader.place(record), f"{self.key}[{within}]"

        used, codes = _used(codes, len(self.number))
        raw = list(self.number)
        names = [self._name(raw[i]) for i in used.tolist()]
        distinct = list(dict.fromkeys(names))
        lookup = np.array([distinct.index(name) for name in names], dtype=np.int32)
        codes = lookup[codes] if len(lookup) else codes
        return Tags(tuple(distinct), codes, lengths, self.reader.place, token, self.key)

    def _name(self, tag: str | int) -> str:
        if isinstance(tag, int) and 0 <= tag < len(self.names):
            return self.names[tag]
        return str(tag)

    def _diagnose(self, record: dict[str, Any], place: Place) -> None:
        check_tags(record, self.key, place)


def check_tags(record: Mapping[str, Any], key: str, place: Place) -> None:
    """Report what is wrong with the tags of a record."""
    value = record.get(key)
    if key not in record:
        place.add("tags-missing", f"required key '{key}' is missing{found(record, key)}", key)
    elif not isinstance(value, list):
        what = "null" if value is None else f"a {kind(value)}"
        place.add("tags-type", f"value is {what}; a list of tags is required", key)
    else:
        for i, tag in enumerate(value):
            if kind(tag) not in ("string", "integer"):
                message = f"{show(tag)} is a {kind(tag)}; a tag is a string or a number"
                place.add("tags-type", message, f"{key}[{i}]")


def _record_words(source: Source, key: str) -> Any:
    def find(wanted: Sequence[int]) -> Mapping[int, tuple[int | None, list[str]]]:
        out = {}
        for i, (line, record) in pick(source, wanted).items():
            tags = record.get(key, [])
            words = record.get("tokens") or record.get("words") or tags
            scored = (word for word, tag in zip(words, tags, strict=False) if tag != IGNORED)
            out[i] = (line, list(map(str, scored)))
        return out

    return find
