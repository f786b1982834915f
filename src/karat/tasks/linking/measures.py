"""The measures by name: how mentions are filtered, keyed and aggregated. Imports nothing heavy.

A measure is AGGREGATE:FILTER:FIELDS. FILTER keeps the mentions for which a field is true; FIELDS
joined with + make the key by which gold and system are compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from karat.errors import UsageError

OVERLAPS = ("overlap-maxmax", "overlap-maxsum", "overlap-summax", "overlap-sumsum")
CLUSTERINGS = ("b_cubed", "entity_ceaf", "mention_ceaf", "muc", "pairwise", "pairwise_negative")
ADJUSTED = ("cs_b_cubed", "entity_cs_ceaf", "mention_cs_ceaf")
LATER = ("lea", "blanc")
AGGREGATES = ("sets", *OVERLAPS, *CLUSTERINGS, *ADJUSTED, *LATER)

# Aggregates that count in whole numbers.
WHOLE = {"sets", "muc", "pairwise", "pairwise_negative", "mention_ceaf", "mention_cs_ceaf"}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure. `name` is how the user spelled it."""

    name: str
    aggregate: str
    filter: str | None
    fields: tuple[str, ...]

    @property
    def clusters(self) -> bool:
        """Whether it compares clusters."""
        return self.aggregate != "sets" and self.aggregate not in OVERLAPS

    @property
    def adjusted(self) -> bool:
        """Whether both sides are made comparable first."""
        return self.aggregate in ADJUSTED

    @property
    def whole(self) -> bool:
        """Whether its counts are whole numbers."""
        return self.aggregate in WHOLE

    @property
    def text(self) -> str:
        """The explicit form."""
        return f"{self.aggregate}:{self.filter}:{'+'.join(self.fields)}"


def _named(name: str, aggregate: str, filter: str | None, *fields: str) -> tuple[str, Measure]:
    return name, Measure(name, aggregate, filter, fields)


TAGGING = dict(
    [
        _named("strong_mention_match", "sets", None, "span"),
        _named("strong_typed_mention_match", "sets", None, "span", "type"),
        _named("strong_linked_mention_match", "sets", "is_linked", "span"),
        _named("strong_link_match", "sets", "is_linked", "span", "kbid"),
        _named("strong_nil_match", "sets", "is_nil", "span"),
        _named("strong_all_match", "sets", None, "span", "kbid"),
        _named("strong_typed_link_match", "sets", "is_linked", "span", "type", "kbid"),
        _named("strong_typed_nil_match", "sets", "is_nil", "span", "type"),
        _named("strong_typed_all_match", "sets", None, "span", "type", "kbid"),
        _named("entity_match", "sets", "is_linked", "docid", "kbid"),
    ]
)
COREF = dict(
    [
        _named("muc", "muc", None, "span"),
        _named("b_cubed", "b_cubed", None, "span"),
        _named("b_cubed_plus", "b_cubed", None, "span", "kbid"),
        _named("entity_ceaf", "entity_ceaf", None, "span"),
        _named("mention_ceaf", "mention_ceaf", None, "span"),
        _named("mention_ceaf_plus", "mention_ceaf", None, "span", "kbid"),
        _named("typed_mention_ceaf", "mention_ceaf", None, "span", "type"),
        _named("typed_mention_ceaf_plus", "mention_ceaf", None, "span", "type", "kbid"),
        _named("pairwise", "pairwise", None, "span"),
    ]
)
OFFICIAL = TAGGING | COREF
"""The measures of the official script."""

BEYOND = dict(
    [
        _named("typed_entity_ceaf", "entity_ceaf", None, "span", "type"),
        _named("pairwise_negative", "pairwise_negative", None, "span"),
        _named("lea", "lea", None, "span"),
        _named("blanc", "blanc", None, "span"),
    ]
)
"""Measures that the official script does not have."""

MEASURES = OFFICIAL | BEYOND

_CORNOLTI = ("strong_linked_mention_match", "strong_link_match", "entity_match")
_TAC09 = ("strong_link_match", "strong_nil_match", "strong_all_match")
_TAC11 = (*_TAC09, "b_cubed", "b_cubed_plus")

GROUPS: dict[str, tuple[str, ...]] = {
    "all": (*TAGGING, *COREF),
    "all-tagging": tuple(TAGGING),
    "all-coref": tuple(COREF),
    "cornolti": _CORNOLTI,
    "hachey": ("strong_mention_match", *_CORNOLTI),
    "luo": ("muc", "b_cubed", "mention_ceaf", "entity_ceaf"),
    "tac09": _TAC09,
    "tac11": _TAC11,
    "tac14": (
        *_TAC11,
        "strong_mention_match",
        "strong_typed_mention_match",
        "strong_typed_all_match",
        "mention_ceaf",
        "typed_mention_ceaf",
    ),
    "tmp": ("mention_ceaf", "entity_ceaf", "pairwise"),
}
CONLL = ("muc", "b_cubed", "entity_ceaf")
"""The three whose F scores the CoNLL-2012 shared task averages."""

MORE_GROUPS: dict[str, tuple[str, ...]] = {"conll": CONLL, "beyond": tuple(BEYOND)}


class UnknownAggregate(UsageError):
    """An explicit measure names an aggregate that does not exist."""


def resolve(names: Iterable[str], official: bool = False) -> list[Measure]:
    """The measures of names, groups and explicit forms; repeats are dropped, the first place kept.

    `official` knows only what the official script knows.
    """
    known = OFFICIAL if official else MEASURES
    groups = GROUPS if official else GROUPS | MORE_GROUPS
    found: dict[str, Measure] = {}
    for name in names:
        if name in groups:
            found.update({member: MEASURES[member] for member in groups[name]})
        elif name in known:
            found[name] = known[name]
        else:
            found[name] = parse(name, [*known, *groups])
    return list(found.values())


def parse(text: str, known: Iterable[str] = ()) -> Measure:
    """The measure that an explicit form AGGREGATE:FILTER:FIELDS spells."""
    parts = text.split(":")
    if len(parts) != 3:
        close = get_close_matches(text, list(known), n=3)
        hint = (
            f"did you mean {' or '.join(close)}?" if close else "an explicit one is sets:None:span"
        )
        raise UsageError(f"there is no measure named {text!r}", help=hint)
    aggregate = parts[0].removesuffix("-micro")
    if aggregate not in AGGREGATES:
        close = get_close_matches(aggregate, AGGREGATES, n=1)
        raise UnknownAggregate(
            f"there is no aggregate named {parts[0]!r}",
            help=f"did you mean {close[0]}?" if close else f"there are {', '.join(AGGREGATES)}",
        )
    fields = tuple(parts[2].split("+"))
    return Measure(text, aggregate, None if parts[1] in ("", "None") else parts[1], fields)


def groups_of(name: str) -> list[str]:
    """The official groups that a measure is in, by name."""
    return sorted(group for group, members in GROUPS.items() if name in members)
