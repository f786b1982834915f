"""Token tags to chunks, as each school reads them; in columns, over all sentences at once.

Sentences are laid end to end with an O before the first and after each. A school is two tables
over (prefix of the tag before, prefix of the tag here) that say where chunks start and end, and a
word on the types. Places of chunks count along this line, so chunks of different sentences never
meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from karat.model.pairs import BoolArray, CodeArray, IntArray
from karat.tasks.entities.records import Spans

SCHEMES = {
    "IOB1": ("IOB", "O>I I>I! B>I I>B= B>B=", "B>I= I>I=", "I>I! I>O I>B B>O B>I! B>B="),
    "IOE1": ("IOE", "O>I I>I! E>I E>E=", "I>I= I>E=", "I>I! I>O I>E! E>I= E>E="),
    "IOB2": ("IOB", "*>B", "B>I= I>I=", "I>O I>I! I>B B>O B>I! B>B"),
    "IOE2": ("IOE", "O>I O>E E>I E>E I>I! I>E!", "I>E= I>I=", "E>*"),
    "IOBES": ("IOBES", "*>B *>S", "B>I= B>E= I>I= I>E=", "S>* E>*"),
    "BILOU": ("BILOU", "*>B *>U", "B>I= B>L= I>I= I>L=", "U>* L>*"),
}
"""Scheme -> its prefixes, and where a chunk starts, goes on and has ended: `before>here`, with =
where the types must be equal and ! where they must differ."""

BLOCK = 1 << 18
"""So many tokens are looked at together: few enough to stay in the cache."""

_LETTERS = "OBIESUL.[]"
_OTHER = len(_LETTERS)
_SIZE = _OTHER + 1
_NO_TYPE = -1

_FREE = re.compile(r"O|[BIESLUM](?:-.*)?", re.DOTALL)
"""What karat itself takes for a tag."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a school makes of one tag: the class of its prefix, and its type."""

    prefix: int
    type: str


@dataclass(frozen=True, slots=True)
class Line:
    """All sentences of one side laid end to end, with an O between them.

    `prefix` and `kind` describe the tag at each place, `sentence` says whose it is.
    """

    prefix: CodeArray
    kind: CodeArray
    sentence: IntArray
    types: tuple[str, ...]

    @property
    def before(self) -> tuple[CodeArray, CodeArray]:
        """Prefix and type of the tag before each place; nothing has a type before the first."""
        return _shifted(self.prefix, 0), _shifted(self.kind, _NO_TYPE)


def _shifted(values: CodeArray, first: int) -> CodeArray:
    return np.concatenate([np.array([first], dtype=values.dtype), values[:-1]])


def places(lengths: IntArray) -> IntArray:
    """Where each sentence starts on the line."""
    return 1 + np.cumsum(lengths + 1) - (lengths + 1)


def chunks(names: Sequence[str], codes: CodeArray, lengths: IntArray, school: str) -> Spans:
    """The chunks of tagged sentences. `names` are the tags that the codes stand for.

    `school` is "" for karat's own reading, conlleval, seqeval, nervaluate, or a strict scheme.
    """
    read = _READERS.get(school, _read_strict)
    readings, outside = [read(name) for name in names], read("O")
    if not len(lengths):
        return Spans.empty()
    edges = [0, len(lengths)]
    if not _leaks(readings, outside, school):
        edges = _blocks(lengths)
    ends, starts = np.concatenate([[0], np.cumsum(lengths)]), places(lengths)
    parts = []
    for first, last in pairwise(edges):
        line = laid_out(readings, outside, codes[ends[first] : ends[last]], lengths[first:last])
        part = _decoded(line, last - first, school)
        shift = int(starts[first]) - 1
        parts.append((part.doc + first, part.start + shift, part.end + shift, part.kind))
    doc, start, end, kind = (np.concatenate(column) for column in zip(*parts, strict=True))
    types = tuple(dict.fromkeys([outside.type, *(r.type for r in readings)]))
    return Spans(len(lengths), doc, start, end, kind, np.arange(len(doc)), types)


def _leaks(readings: Sequence[Reading], outside: Reading, school: str) -> bool:
    """Whether a chunk may go on past the end of its sentence, as no rule ends it at an O."""
    if school in SCHEMES or school == "nervaluate":
        return False
    _, ends = _RULES.get(school, _SEQEVAL)
    return any(
        r != outside
        and not ends[r.prefix, outside.prefix]
        and (r.prefix in _SILENT or r.type == outside.type)
        for r in readings
    )


def _blocks(lengths: IntArray) -> list[int]:
    """Where to cut the sentences so that no block has many more tokens than BLOCK."""
    tokens = np.cumsum(lengths)
    total = int(tokens[-1]) if len(tokens) else 0
    cuts = np.searchsorted(tokens, np.arange(BLOCK, total, BLOCK)) + 1
    return [0, *dict.fromkeys(c for c in cuts.tolist() if c < len(lengths)), len(lengths)]


def _decoded(line: Line, sentences: int, school: str) -> Spans:
    """The chunks of one block of sentences."""
    if school in SCHEMES:
        return _strict(line, sentences, school)
    if school == "nervaluate":
        return _by_starts(line, sentences, *_runs(line))
    if school == "seqeval":
        # Before the first token it knows no type at all, elsewhere that of an O.
        line.kind[0] = _NO_TYPE
    started, ended = map(np.flatnonzero, turns(line, school))
    pair_up = _by_starts if school == "conlleval" else _by_ends
    return pair_up(line, sentences, started, ended)


def bad_tag(name: str, school: str) -> str | None:
    """Why a school cannot read a tag, None where it can."""
    if not name:
        return "the tag is empty"
    if school in SCHEMES:
        allowed = SCHEMES[school][0]
        if name[0] not in allowed:
            return f"'{name}' is no tag of {school}; its prefixes are {' '.join(allowed)}"
        return None
    if school == "" and not _FREE.fullmatch(name):
        return f"'{name}' is no tag; write O, or B-TYPE, I-TYPE (also E- S- L- U- M-)"
    return None


def bad_starts(names: Sequence[str], codes: CodeArray, lengths: IntArray) -> set[str]:
    """The tags with which nervaluate refuses to start a chunk, and which do start one."""
    line = laid_out([_read_third(name) for name in names], _read_third("O"), codes, lengths)
    starts, _ = _runs(line)
    at = np.zeros(len(line.prefix), dtype=np.int64)
    at[_token_places(lengths)] = codes
    return {names[i] for i in set(at[starts].tolist()) if not names[i].startswith(("B-", "I-"))}


# --- what a tag says ------------------------------------------------------------------------


def _prefix(letter: str) -> int:
    place = _LETTERS.find(letter) if len(letter) == 1 else -1
    return place if place >= 0 else _OTHER


def _read_free(name: str) -> Reading:
    """karat's reading: as seqeval, but L ends a chunk as E does, U is S and M is I."""
    letter = {"L": "E", "U": "S", "M": "I"}.get(name[0], name[0])
    return Reading(_prefix(letter), name[2:] or "_" if name != "O" else "_")


def _read_seqeval(name: str) -> Reading:
    """seqeval's reading: one character, then whatever follows the first dash."""
    return Reading(_prefix(name[0]), name[1:].split("-", maxsplit=1)[-1] or "_")


def read_conlleval(name: str) -> Reading:
    """conlleval's reading: what stands before the first dash, and what stands behind it."""
    letter, _, rest = name.partition("-")
    # To Perl, a type of 0 is none.
    return Reading(_prefix(letter), "" if rest == "0" else rest)


def _read_strict(name: str) -> Reading:
    """seqeval's reading in strict mode: the type loses dashes on both sides."""
    return Reading(_prefix(name[0]), name[1:].strip("-") or "_")


def _read_third(name: str) -> Reading:
    """nervaluate's reading: the type starts at the third character, O is O alone."""
    if name == "O":
        return Reading(0, "")
    return Reading(1 if name[:1] == "B" else _OTHER, name[2:])


_READERS: dict[str, Callable[[str], Reading]] = {
    "": _read_free,
    "seqeval": _read_seqeval,
    "conlleval": read_conlleval,
    "nervaluate": _read_third,
}


def laid_out(
    readings: Sequence[Reading], outside: Reading, codes: CodeArray, lengths: IntArray
) -> Line:
    """The tags laid end to end. `readings` say what the codes stand for, `outside` what an O is."""
    names = list(dict.fromkeys([outside.type, *(r.type for r in readings)]))
    number = {name: i for i, name in enumerate(names)}
    prefix = np.array([outside.prefix, *(r.prefix for r in readings)], dtype=np.int32)
    kind = np.array([0, *(number[r.type] for r in readings)], dtype=np.int32)
    at = np.zeros(1 + int(lengths.sum()) + len(lengths), dtype=np.int32)
    at[_token_places(lengths)] = codes + 1
    sentence = np.repeat(np.arange(len(lengths)), lengths + 1)
    owner = np.concatenate([np.zeros(1, dtype=np.int64), sentence])
    return Line(prefix[at], kind[at], owner, tuple(names))


def _token_places(lengths: IntArray) -> IntArray:
    """The place of each token on the line."""
    return np.arange(int(lengths.sum())) + np.repeat(np.arange(len(lengths)), lengths) + 1


# --- where chunks start and end ---------------------------------------------------------------


def _table(pairs: str) -> BoolArray:
    """(before, here): the pairs of letters as a table."""
    table = np.zeros((_SIZE, _SIZE), dtype=bool)
    for pair in pairs.split():
        table[_letters(pair[0]), _letters(pair[2])] = True
    return table


def _letters(letter: str) -> slice | int:
    return slice(None) if letter == "*" else _LETTERS.index(letter)


_SEQEVAL = (
    _table("*>B *>S E>E E>I S>E S>I O>E O>I"),
    _table("E>* S>* B>B B>S B>O I>B I>S I>O"),
)
_CONLLEVAL = (
    _table("B>B I>B O>B O>I E>E E>I O>E *>[ *>]"),
    _table("B>B B>O I>B I>O E>E E>I E>O [>* ]>*"),
)


_RULES = {"conlleval": _CONLLEVAL}
"""School -> its tables, where they are not seqeval's."""

_SILENT = (_LETTERS.index("O"), _LETTERS.index("."))
"""The prefixes of which a new type neither starts nor ends a chunk."""


def turns(line: Line, school: str) -> tuple[BoolArray, BoolArray]:
    """Where chunks start, and the places before which they end; a new type does both."""
    starts, ends = _RULES.get(school, _SEQEVAL)
    prefix, kind = line.before
    changed = kind != line.kind
    started = starts[prefix, line.prefix] | (changed & ~np.isin(line.prefix, _SILENT))
    ended = ends[prefix, line.prefix] | (changed & ~np.isin(prefix, _SILENT))
    started[0] = ended[0] = False
    return started, ended


def _runs(line: Line) -> tuple[IntArray, IntArray]:
    """The same for runs of tags other than O, cut where the type changes or a B stands."""
    prefix, kind = line.before
    here, there = line.prefix != 0, prefix != 0
    cut = (kind != line.kind) | (line.prefix == 1)
    return np.flatnonzero(here & (~there | cut)), np.flatnonzero(there & (~here | cut))


def _by_starts(line: Line, sentences: int, starts: IntArray, ends: IntArray) -> Spans:
    """A chunk for each start: up to the next end if there is one, of the type it starts with."""
    ends = np.append(ends, len(line.prefix))
    place = np.searchsorted(ends, starts, side="right")
    return _spans(line, sentences, starts, ends[place], line.kind[starts])


def _by_ends(line: Line, sentences: int, starts: IntArray, ends: IntArray) -> Spans:
    """A chunk for each end: from the last start, of the type it ends with."""
    place = np.searchsorted(starts, ends, side="left") - 1
    if not len(starts):
        return _spans(line, sentences, ends * 0 + 1, ends, line.kind[ends - 1])
    begin = np.where(place >= 0, starts[np.maximum(place, 0)], 1)
    return _spans(line, sentences, begin, ends, line.kind[ends - 1])


def _strict(line: Line, sentences: int, scheme: str) -> Spans:
    """The chunks that open, go on and close as the scheme says; nothing else is one."""
    _, opens, goes, closes = SCHEMES[scheme]
    start, inside, ended = (_matches(line, text) for text in (opens, goes, closes))
    start[0] = inside[0] = False
    # Whether a place lies in a chunk is settled at every start and wherever nothing goes on;
    # elsewhere it is as at the place before.
    settled = start | ~inside
    last = np.maximum.accumulate(np.where(settled, np.arange(len(start)), 0))
    within = start[last]
    # A tag that may both start a chunk and go on with one starts it only if none is open.
    begins = np.flatnonzero(start & ~(inside & _shifted_flags(within)))
    stops = np.flatnonzero(~inside)
    place = np.searchsorted(stops, begins, side="right")
    end = stops[np.minimum(place, len(stops) - 1)]
    good = ended[end]
    return _spans(line, sentences, begins[good], end[good], line.kind[begins[good]])


def _shifted_flags(flags: BoolArray) -> BoolArray:
    return np.concatenate([[False], flags[:-1]])


def _matches(line: Line, pairs: str) -> BoolArray:
    """Where one of the pairs of a scheme stands."""
    prefix, kind = line.before
    same = kind == line.kind
    found = np.zeros(len(same), dtype=bool)
    for mark, types in (("", None), ("=", same), ("!", ~same)):
        chosen = " ".join(p for p in pairs.split() if p[3:] == mark)
        here = _table(chosen)[prefix, line.prefix]
        found |= here if types is None else here & types
    return found


def _spans(line: Line, sentences: int, start: IntArray, end: IntArray, kind: CodeArray) -> Spans:
    return Spans(
        sentences, line.sentence[end - 1], start, end, kind, np.arange(len(start)), line.types
    )
