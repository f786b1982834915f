"""Offsets checked against the texts, once it is decided how ends were written.

Both sides come in as they were written and leave as `Spans` with exclusive ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat.model.pairs import BoolArray, IntArray
from karat.model.problem import Severity
from karat.model.task import Source
from karat.read.pick import pick
from karat.read.place import Place, show
from karat.tasks.entities.checks import BIO_TAG, check_known, misplaced
from karat.tasks.entities.columns import Written
from karat.tasks.entities.ends import (
    SPACE,
    Convention,
    Texts,
    Verdict,
    decide,
)
from karat.tasks.entities.match import first_of_equals, match, span_keys
from karat.tasks.entities.records import SPACY_KEY, Spans
from karat.tasks.entities.units import check_units

DEFAULT: Convention = "exclusive"
"""What is taken where nothing says how ends were written."""

FEWEST_SHARED = 3
"""So many spans must share a start before their ends alone say anything."""

PEAK, NEARLY_NONE = 0.5, 0.02
"""A share of spans that is a peak, and one that is next to nothing."""

FEWEST_IN_ORDER, GAIN = 10, 0.25
"""With so many spans a side, and so much F1 to gain, rows are taken to be out of order."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The convention of one side and a clause that says where it comes from.

    `told` says that the side itself shows it, `forced` that the user did; `leaning` is what the
    side would say for itself, if anything.
    """

    convention: Convention
    why: str
    told: bool = False
    forced: bool = False
    leaning: Convention | None = None

    def unless_told(self, convention: Convention, why: str) -> Ending:
        """The same where the side shows its convention, else another one."""
        if self.told:
            return self
        return replace(self, convention=convention, why=f"{why}; {self.why}")

    @property
    def text(self) -> str:
        """For the report: `exclusive (217 to 0 spans stop at the edge of a word)`."""
        return f"{self.convention} ({self.why})"


def endings(
    texts: Texts, gold: Written, pred: Written | None, options: Mapping[str, Any]
) -> tuple[Ending, Ending]:
    """The conventions of both sides; a side that does not say is taken to be like the other."""
    first = _ending(texts, gold, options.get("gold_end") or options.get("end"), "gold")
    if pred is None:
        first = first.unless_told(DEFAULT, "the default")
        return first, first
    wanted = options.get("predictions_end") or options.get("end")
    second = _ending(texts, pred, wanted, "predictions")
    if first.told:
        return first, second.unless_told(first.convention, "as in gold")
    if second.told:
        return first.unless_told(second.convention, "as in predictions"), second
    return first.unless_told(DEFAULT, "the default"), second.unless_told(DEFAULT, "the default")


def _ending(texts: Texts, side: Written, wanted: str | None, noun: str) -> Ending:
    if wanted in ("exclusive", "inclusive"):
        given: Convention = "inclusive" if wanted == "inclusive" else "exclusive"
        return Ending(given, "as given", told=True, forced=True, leaning=given)
    if side.key == SPACY_KEY:
        return Ending("exclusive", "spaCy's format", told=True, leaning="exclusive")
    sound = _sound(side, texts)
    found: Verdict = decide(texts, side.doc[sound], side.start[sound], side.end[sound])
    if found.mixed:
        message = f"inclusive and exclusive ends are mixed: {found.why}"
        advice = f"say which with --{noun}-end inclusive or --{noun}-end exclusive"
        side.reader.place().add("end-mixed", message, side.key, help=advice)
    told = found.convention is not None
    leaning = found.convention or found.leaning
    return Ending(found.convention or DEFAULT, found.why, told=told, leaning=leaning)


def _sound(side: Written, texts: Texts) -> BoolArray:
    """Spans that can be looked up: not negative, not reversed, in a document, not far behind it."""
    length = _lengths(side, texts)
    return np.asarray((side.start >= 0) & (side.end >= side.start) & (side.end <= length))


def _lengths(side: Written, texts: Texts) -> IntArray:
    """The length of the text of each span, -1 where it is not known."""
    known = side.doc < len(texts.length)
    if not len(texts.length):
        return np.full(len(side.doc), -1, dtype=np.int64)
    return np.where(known, texts.length[np.where(known, side.doc, 0)], -1)


def check_agreement(gold: Written, pred: Written, first: Ending, second: Ending) -> None:
    """Stop a pair of files whose ends mean different things, unless the user said what they mean.

    Where they were said for both sides, ends that still look like it are warned of only.
    """
    place = pred.reader.place()
    advice = "say what each side means with --gold-end and --predictions-end"
    if first.convention != second.convention and not (first.forced or second.forced):
        message = (
            f"ends are {second.text}, but in {gold.reader.name} they are {first.text}; "
            "scored as they are, hardly any span would match"
        )
        place.add("end-conventions-differ", message, pred.key, help=advice)
        return
    expected, said = spans(gold, first), spans(pred, second)
    sure = first.forced and second.forced
    opposed = first.leaning and second.leaning and first.leaning != second.leaning
    fewest = 1 if opposed and not sure else FEWEST_SHARED
    hits = int(match(expected, said, typed=False).pred_hit.sum())
    found = shifted(expected, said, fewest) if hits <= NEARLY_NONE * len(said) else None
    if found is None:
        _check_order(expected, said, hits, place, pred.key)
        return
    step, count = found
    message = (
        f"predicted spans that start where a gold span does end {step:+d} from it ({count}x), "
        "and hardly any with it: one side's ends are inclusive, the other's exclusive"
    )
    severity: Severity = "warning" if sure else "error"
    place.add("end-conventions-differ", message, pred.key, severity=severity, help=advice)


def shifted(gold: Spans, pred: Spans, fewest: int) -> tuple[int, int] | None:
    """(step, spans) where most of the spans that start alike end one step apart.

    None where that is not so, or where fewer than `fewest` spans start alike.
    """
    if not len(gold):
        return None
    width = 1 + max(int(gold.start.max()), int(pred.start.max(initial=0)))
    keys, at = np.unique(gold.doc * width + gold.start, return_index=True)
    starts = pred.doc * width + pred.start
    place = np.minimum(np.searchsorted(keys, starts), len(keys) - 1)
    shared = keys[place] == starts
    steps = pred.end[shared] - gold.end[at[place[shared]]]
    if len(steps) < fewest:
        return None
    for step in (1, -1):
        count = int((steps == step).sum())
        if count > PEAK * len(steps):
            return step, count
    return None


def _check_order(gold: Spans, pred: Spans, hits: int, place: Place, key: str) -> None:
    """Warn where the spans fit far better when the predictions move by one row.

    `hits` are the predicted spans that are gold spans as the rows stand.
    """
    size = len(gold) + len(pred)
    if min(len(gold), len(pred)) < FEWEST_IN_ORDER or 2 * hits > (1 - GAIN) * size:
        return
    for step in (1, -1):
        moved = replace(pred, doc=pred.doc - step)
        inside = moved.take((moved.doc >= 0) & (moved.doc < gold.n))
        better = int(match(gold, inside, typed=False).pred_hit.sum())
        if 2 * (better - hits) > GAIN * size:
            message = (
                f"F1 of bare spans is {2 * hits / size:.2f}, but {2 * better / size:.2f} if "
                f"predictions move by {step:+d} row; check the row order"
            )
            advice = f"row i would take the prediction that now stands in row i{step:+d}"
            place.add("rows-shifted", message, key, severity="warning", help=advice)


def exclusive_ends(side: Written, ending: Ending) -> IntArray:
    """The place after the last character of each mention."""
    return side.end + 1 if ending.convention == "inclusive" else side.end


def check_offsets(side: Written, texts: Texts, ending: Ending, gold: Source | None) -> None:
    """Report spans that lie outside of the text, are empty, or hold white space at an end.

    `gold` is where the texts can be read again to be quoted, None where they cannot.
    """
    inclusive = ending.convention == "inclusive"
    length = _lengths(side, texts)
    known = length >= 0
    exclusive_end = exclusive_ends(side, ending)
    basic = (side.start < 0) | (side.end < side.start)
    past = known & ~basic & (exclusive_end > length)
    empty = ~basic & (exclusive_end == side.start)
    for i in np.flatnonzero(basic | past | empty).tolist():
        _report(side, i, int(length[i]), inclusive)
    good = known & ~basic & ~past & ~empty
    _check_spaces(side, texts, good, exclusive_end, gold)
    if gold is not None:
        check_units(side, texts, good | past, exclusive_end, gold)


def _report(side: Written, i: int, length: int, inclusive: bool) -> None:
    first, last = int(side.start[i]), int(side.end[i])
    names = ("start", "end") if side.key == SPACY_KEY else ("start_offset", "end_offset")
    found = misplaced(first, last, *names)
    if found is None and 0 <= length < last + inclusive:
        kind = " and ends are inclusive here" if last == length else ""
        text = f"{names[1]} {last} lies past the text, which has {length} characters{kind}"
        found = ("offset-range", text)
    if found is None:
        found = ("offset-empty", f"span [{first}, {last}) is empty")
    side.reader.place(int(side.doc[i])).add(*found, side.path(i))


def _check_spaces(
    side: Written, texts: Texts, good: BoolArray, end: IntArray, gold: Source | None
) -> None:
    """Warn of spans that start or end with white space."""
    at = np.flatnonzero(good)
    doc = side.doc[at]
    first, last = texts.of(doc, side.start[at]), texts.of(doc, end[at] - 1)
    odd = at[(first == SPACE) | (last == SPACE)]
    if not len(odd):
        return
    shown = odd[:20].tolist() if gold is not None else []
    records = pick(gold, [int(side.doc[i]) for i in shown]) if gold is not None else {}
    for i in odd.tolist():
        span = "a span"
        if i in shown:
            text = records[int(side.doc[i])][1].get("text", "")
            span = f"span {show(text[int(side.start[i]) : int(end[i])])}"
        message = f"{span} starts or ends with white space"
        place = side.reader.place(int(side.doc[i]))
        place.add("offset-space", message, side.path(i), severity="warning")


def check_twins(side: Written) -> int:
    """How many mentions repeat an earlier one of their document; each is warned of."""
    columns = Spans(side.n, side.doc, side.start, side.end, side.kind, side.entity, side.types)
    sound = np.flatnonzero((side.start >= 0) & (side.end >= side.start))
    keys, _ = span_keys(columns.take(sound), columns.take(np.zeros(0, dtype=np.int64)), True)
    first = first_of_equals(keys)
    later = np.flatnonzero(~first)
    if not len(later):
        return 0
    place = {key: i for i, key in reversed(list(enumerate(keys.tolist()))) if first[i]}
    for again in later.tolist():
        i, twin = int(sound[again]), side.path(int(sound[place[int(keys[again])]]))
        message = f"the same span and type appears twice (also {twin})"
        at = side.reader.place(int(side.doc[i]))
        at.add("mention-duplicate", message, side.path(i), severity="warning")
    return len(later)


def check_types(gold: Written, pred: Written | None) -> None:
    """Warn of types that look like token tags, and of predicted types that gold never has."""
    for side in (gold, pred):
        for code, name in enumerate(side.types if side is not None else ()):
            assert side is not None
            tag = BIO_TAG.fullmatch(name)
            at = np.flatnonzero(side.kind == code)
            if tag and len(at):
                i = int(at[0])
                key = side.path(i).split(".")[0] + (".label" if side.key == SPACY_KEY else ".type")
                message = f"'{name}' looks like a token tag; write '{tag[1]}'"
                place = side.reader.place(int(side.doc[i]))
                place.add("entity-bio-tag", message, key, severity="warning")
    if pred is not None:
        check_known(gold.types, pred.types, pred.kind, pred.reader.place(), pred.key)


def spans(side: Written, ending: Ending) -> Spans:
    """The mentions with exclusive ends."""
    end = exclusive_ends(side, ending)
    return Spans(side.n, side.doc, side.start, end, side.kind, side.entity, side.types)
