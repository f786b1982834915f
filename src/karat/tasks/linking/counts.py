"""The four numbers of every measure, for every group of mentions at once.

ptp, fp, rtp and fn are arrays with an entry a group; precision is ptp / (ptp + fp) and recall
rtp / (rtp + fn). What measures share (keys, clusterings, their crossing) is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.errors import UsageError
from karat.model.pairs import BoolArray, FloatArray, IntArray
from karat.tasks.linking.adjusted import for_precision, for_recall
from karat.tasks.linking.annotations import Annotations
from karat.tasks.linking.clusters import Clustering, Crossing, summed_in_order, summed_reals
from karat.tasks.linking.fields import Coded, Fields, densely
from karat.tasks.linking.measures import OVERLAPS, Measure
from karat.tasks.linking.overlap import credit, laid_out

NUMBERS = ("ptp", "fp", "rtp", "fn")


@dataclass(frozen=True, slots=True)
class Four:
    """The counts of one measure, one entry a group. `whole`: they are whole numbers."""

    ptp: Any
    fp: Any
    rtp: Any
    fn: Any
    whole: bool

    @classmethod
    def of(cls, counts: Iterable[Any], whole: bool) -> Four:
        """From ptp, fp, rtp and fn in this order."""
        ptp, fp, rtp, fn = counts
        return cls(ptp, fp, rtp, fn, whole)

    def total(self) -> Four:
        """The sums over the groups, of one entry."""
        return self.of((_total(getattr(self, name)) for name in NUMBERS), self.whole)

    def numbers(self, group: int = 0) -> dict[str, int | float]:
        """The counts of one group and what they score, in the official script's arithmetic."""
        kind = int if self.whole else float
        ptp, fp, rtp, fn = (kind(getattr(self, name)[group]) for name in NUMBERS)
        precision, recall = quotient(ptp, ptp + fp), quotient(rtp, rtp + fn)
        f = quotient(2 * precision * recall, precision + recall)
        return {
            "ptp": ptp,
            "fp": fp,
            "rtp": rtp,
            "fn": fn,
            "precision": precision,
            "recall": recall,
            "fscore": f,
        }


def quotient(a: float, b: float) -> float:
    """a / b, and 0 for a zero denominator, as the official script has it."""
    return a / b if b else 0.0


def _total(values: Any) -> Any:
    if values.dtype.kind == "i":
        return np.array([int(values.sum())])
    return summed_reals(np.zeros(len(values), dtype=np.int64), values, 1)


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each gold and each system mention, in range(size)."""

    gold: IntArray
    system: IntArray
    size: int


Weights = Mapping[tuple[str | None, str | None], float]


class Counting:
    """Both sides, ready to be counted under any measure."""

    def __init__(
        self,
        gold: Annotations,
        system: Annotations,
        groups: Groups | None = None,
        quirks: bool = False,
    ) -> None:
        self.gold, self.system, self.quirks = gold, system, quirks
        self.fields = Fields(gold, system, strict=quirks)
        self._groups = groups
        self._crossings: dict[Any, Crossing] = {}

    def grouped(self, groups: Groups | None) -> Counting:
        """The same sides cut by other groups; fields stay coded."""
        other = Counting(self.gold, self.system, groups, self.quirks)
        other.fields = self.fields
        return other

    @property
    def groups(self) -> Groups:
        """The groups; one for all where there are none."""
        if self._groups is None:
            parts = (np.zeros(len(side), dtype=np.int64) for side in (self.gold, self.system))
            self._groups = Groups(next(parts), next(parts), 1)
        return self._groups

    def four(self, measure: Measure, weights: Weights | None = None) -> Four:
        """The counts of a measure. `weights` give partial credit for pairs of types."""
        if weights is not None and measure.aggregate != "sets":
            raise UsageError(
                f"type weights work with measures of sets only, not with {measure.name}",
                help="name the measures, as in -m strong_typed_mention_match",
            )
        if measure.aggregate == "sets":
            return self._sets(measure) if weights is None else self._weighted(measure, weights)
        if measure.aggregate in OVERLAPS:
            return self._overlaps(measure)
        if measure.aggregate == "blanc":
            raise UsageError("blanc is a mean of two measures and has no counts of its own")
        four = self._adjusted(measure) if measure.adjusted else self._clusters(measure)
        return self._with_quirks(measure, four) if self.quirks else four

    def _clusters(self, measure: Measure) -> Four:
        """What clusters share, seen from both sides."""
        crossing = self.crossing(measure)
        return _both_ways(measure, crossing.swapped, crossing)

    def _with_quirks(self, measure: Measure, four: Four) -> Four:
        """The counts as neleval's own command line has them."""
        from karat.tasks.linking.quirks import CountedNothing

        if measure.aggregate == "b_cubed":
            return self._borrowing(measure, four)
        if measure.aggregate in ("entity_ceaf", "entity_cs_ceaf"):
            return CountedNothing.of((getattr(four, n) for n in NUMBERS), four.whole)
        return four

    def _borrowing(self, measure: Measure, four: Four) -> Four:
        """The counts of B-cubed with what neleval gives to mentions without candidate."""
        from karat.tasks.linking.quirks import borrowed

        crossing = self.crossing(measure)
        keep, coded = self._kept(measure)
        span = self._keyed(("span",))
        sides = list(
            zip(
                (coded.gold, coded.system),
                (span.gold, span.system),
                keep,
                (self.gold, self.system),
                strict=True,
            )
        )
        more = []
        for (items, spans, kept, _), (others, theirs, held, side), one in zip(
            sides, sides[::-1], (crossing, crossing.swapped), strict=True
        ):
            all_kept, all_held = (slice(None) if k is None else k for k in (kept, held))
            known = np.zeros(span.size, dtype=bool)
            known[theirs[all_held]] = True
            bare = others[all_held][side.top_eid[all_held] < 0]
            more.append(borrowed(one, np.unique(items[all_kept][known[spans[all_kept]]]), bare))
        recall, precision = more
        return Four(
            four.ptp + precision,
            four.fp - precision,
            four.rtp + recall,
            four.fn - recall,
            whole=False,
        )

    def crossing(self, measure: Measure) -> Crossing:
        """The clusterings that a measure compares, and their crossing."""
        key = measure.filter, measure.fields
        if key not in self._crossings:
            keep, coded = self._kept(measure)
            eid = self.fields.key(("eid",))
            gold = Clustering.of(
                *self._clustered(eid.gold, coded.gold, self.groups.gold, keep[0]), coded.size
            )
            system = Clustering.of(
                *self._clustered(eid.system, coded.system, self.groups.system, keep[1]), coded.size
            )
            self._crossings[key] = Crossing(gold, system, self.groups.size)
        return self._crossings[key]

    def forget(self) -> None:
        """Drop what was kept for further measures; the coded fields stay."""
        self._crossings.clear()

    def _clustered(
        self, entity: IntArray, item: IntArray, group: IntArray, keep: BoolArray | None
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Entity, item and group of the kept mentions; groups cut an entity."""
        if self.groups.size > 1:
            entity = entity * np.int64(self.groups.size) + group
        return (entity, item, group) if keep is None else (entity[keep], item[keep], group[keep])

    def _kept(self, measure: Measure) -> tuple[tuple[Any, Any], Coded]:
        """Which mentions pass the filter (None for all), and the key of every mention."""
        keep: tuple[Any, Any] = (None, None)
        if measure.filter is not None:
            keep = self.fields.keep(measure.filter)
        return keep, self._keyed(measure.fields)

    def _keyed(self, names: tuple[str, ...]) -> Coded:
        """The key of every mention; the same key in two groups is two keys."""
        coded = self.fields.key(names)
        if self.groups.size == 1:
            return coded
        gold = coded.gold * np.int64(self.groups.size) + self.groups.gold
        system = coded.system * np.int64(self.groups.size) + self.groups.system
        joint, size = densely(np.concatenate([gold, system]))
        return Coded(joint[: len(gold)], joint[len(gold) :], size)

    def present(self, measure: Measure) -> tuple[BoolArray, BoolArray, IntArray]:
        """Which keys gold and the system have, and the group of each key."""
        keep, coded = self._kept(measure)
        has_gold, has_system = np.zeros(coded.size, dtype=bool), np.zeros(coded.size, dtype=bool)
        has_gold[coded.gold if keep[0] is None else coded.gold[keep[0]]] = True
        has_system[coded.system if keep[1] is None else coded.system[keep[1]]] = True
        group = np.zeros(coded.size, dtype=np.int64)
        if self.groups.size > 1:
            group[coded.gold], group[coded.system] = self.groups.gold, self.groups.system
        return has_gold, has_system, group

    def _sets(self, measure: Measure) -> Four:
        """Keys on both sides, and on one alone."""
        gold, system, group = self.present(measure)
        sizes = [
            np.bincount(group[which], minlength=self.groups.size)
            for which in (gold & system, system & ~gold, gold & ~system)
        ]
        hit, fp, fn = (size.astype(np.int64) for size in sizes)
        return Four(hit, fp, hit, fn, whole=True)

    def _weighted(self, measure: Measure, weights: Weights) -> Four:
        """Sets with partial credit: keys without the type must match, types weigh."""
        rest = tuple(name for name in measure.fields if name != "type")
        keep, _ = self._kept(measure)
        coded = (
            self._keyed(rest)
            if rest
            else Coded(self.groups.gold, self.groups.system, self.groups.size)
        )
        if self.quirks:
            # neleval weighs nothing where a key repeats, not even measures without types.
            _apart(self.gold, coded.gold, keep[0], measure)
            _apart(self.system, coded.system, keep[1], measure)
        if "type" not in measure.fields:
            plain = self._sets(measure)
            return Four.of((getattr(plain, n).astype(np.float64) for n in NUMBERS), whole=False)
        kind, kinds = self.fields.key(("type",)), self.fields.values("type")
        held = [
            _one_type(side, codes, types, which, coded.size, measure)
            for side, codes, types, which in (
                (self.gold, coded.gold, kind.gold, keep[0]),
                (self.system, coded.system, kind.system, keep[1]),
            )
        ]
        group = np.zeros(coded.size, dtype=np.int64)
        group[coded.gold], group[coded.system] = self.groups.gold, self.groups.system

        def worth(keys: IntArray, a: IntArray, b: IntArray) -> FloatArray:
            """What pairs of types are worth, key after key."""
            keys = keys[(a[keys] >= 0) & (b[keys] >= 0)]
            pair, code = np.unique(a[keys] * len(kinds) + b[keys], return_inverse=True)
            table = [
                _weight(weights, kinds[p // len(kinds)], kinds[p % len(kinds)])
                for p in pair.tolist()
            ]
            worths = np.array(table, dtype=np.float64)[code]
            return summed_in_order(group[keys], worths, self.groups.size)

        gold, system = _met(coded.gold, keep[0]), _met(coded.system, keep[1])
        tp = worth(gold, held[0], held[1])
        fn, fp = worth(gold, held[0], held[0]) - tp, worth(system, held[1], held[1]) - tp
        return Four(tp, fp, tp, fn, whole=False)

    def overlaps(self, measure: Measure) -> tuple[FloatArray, FloatArray, Any, Any]:
        """The credit of each kept gold and system mention, and which mentions are kept."""
        keep = (None, None) if measure.filter is None else self.fields.keep(measure.filter)
        # Only mentions of one document can overlap, whatever the key says.
        others = tuple(n for n in measure.fields if n not in ("span", "docid", "start", "end"))
        coded = self._keyed(("docid", *others))
        sides: list[tuple[IntArray, IntArray, IntArray]] = []
        for side, codes, which in (
            (self.gold, coded.gold, keep[0]),
            (self.system, coded.system, keep[1]),
        ):
            kept = slice(None) if which is None else which
            sides.append((codes[kept], side.start[kept], side.end[kept]))
        if any(bool((end < start).any()) for _, start, end in sides):
            raise UsageError("a mention ends before it starts, so overlaps have no meaning")
        gold, system = laid_out(sides[0], sides[1])
        modes = measure.aggregate.removeprefix("overlap-")
        return credit(gold, system, modes[:3]), credit(system, gold, modes[3:]), *keep

    def _overlaps(self, measure: Measure) -> Four:
        recall, precision, keep_gold, keep_system = self.overlaps(measure)
        size = self.groups.size
        found = []
        for share, group, keep in (
            (precision, self.groups.system, keep_system),
            (recall, self.groups.gold, keep_gold),
        ):
            at = group if keep is None else group[keep]
            # The official script counts what is wrong, and takes the rest for right.
            wrong = np.bincount(at, minlength=size) - summed_in_order(at, share, size)
            found += [np.bincount(at, minlength=size) - wrong, wrong]
        return Four.of(found, whole=False)

    def _adjusted(self, measure: Measure) -> Four:
        """Cai and Strube's: sides are made comparable first, apart for precision and for recall."""
        crossing = self.crossing(measure)
        plain = Measure(
            measure.name, measure.aggregate.replace("cs_", ""), measure.filter, measure.fields
        )
        precise = _both_ways(plain, *_directions(for_precision(crossing)))
        recalled = _both_ways(plain, *_directions(for_recall(crossing)))
        return Four(precise.ptp, precise.fp, recalled.rtp, recalled.fn, measure.whole)


def _directions(crossing: Crossing) -> tuple[Crossing, Crossing]:
    return crossing.swapped, crossing


def _half(aggregate: str, crossing: Crossing) -> tuple[Any, Any]:
    """What is got, out of what, seen from the first side of a crossing."""
    if aggregate in ("mention_ceaf", "entity_ceaf"):
        return crossing.ceaf(entities=aggregate == "entity_ceaf")
    half: tuple[Any, Any] = getattr(crossing, aggregate)()
    return half


def _both_ways(measure: Measure, precision: Crossing, recall: Crossing) -> Four:
    """The counts of a measure of clusters: precision is recall with the sides exchanged."""
    rtp, gold = _half(measure.aggregate, recall)
    if measure.aggregate in ("mention_ceaf", "entity_ceaf"):
        # The alignment is one and the same: it is solved once.
        entities = measure.aggregate == "entity_ceaf"
        side = precision.gold
        full = np.ones(side.n, dtype=np.int64) if entities else side.size
        ptp, system = rtp, side.per_group(full, precision.groups)
    else:
        ptp, system = _half(measure.aggregate, precision)
    four = ptp, system - ptp, rtp, gold - rtp
    if measure.whole:
        return Four.of((np.rint(x).astype(np.int64) for x in four), whole=True)
    return Four.of((np.asarray(x, dtype=np.float64) for x in four), whole=False)


def _weight(weights: Weights, gold: Any, system: Any) -> float:
    return weights.get((gold, system), 1.0 if gold == system else 0.0)


def _one_type(
    side: Annotations, key: IntArray, kind: IntArray, keep: Any, size: int, measure: Measure
) -> IntArray:
    """The type of each key, -1 where this side lacks it; two types for one key are refused."""
    rows = np.arange(len(key)) if keep is None else np.flatnonzero(keep)
    out = np.full(size, -1, dtype=np.int64)
    out[key[rows]] = kind[rows]
    clash = rows[out[key[rows]] != kind[rows]]
    if len(clash):
        raise _ambiguous(side, int(clash[0]), "differs in type only from another one", measure)
    return out


def _met(key: IntArray, keep: Any) -> IntArray:
    """The keys of the kept mentions, each once, in the order in which they come up."""
    kept = key if keep is None else key[keep]
    _, first = np.unique(kept, return_index=True)
    return kept[np.sort(first)]


def _apart(side: Annotations, key: IntArray, keep: Any, measure: Measure) -> None:
    """Return if no two kept mentions have the same key."""
    rows = np.arange(len(key)) if keep is None else np.flatnonzero(keep)
    _, first = np.unique(key[rows], return_index=True)
    again = np.delete(rows, first)
    if len(again):
        raise _ambiguous(side, int(again[0]), "has the key of another one", measure)


def _ambiguous(side: Annotations, row: int, what: str, measure: Measure) -> UsageError:
    place = f"{side.name}:{int(side.line[row])}"
    return UsageError(f"{place}: this mention {what}, so {measure.name} cannot weigh types")
