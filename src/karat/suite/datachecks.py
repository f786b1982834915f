"""Checks of the data itself: content, repeats, labels, spans and boxes.

Each is a function from (reference, evaluation, limit) to cases; an empty list means that the data
has nothing to look at.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from karat.model.pairs import IntArray
from karat.model.seen import Boxes, Spans
from karat.model.suite import ORDER, Status
from karat.stats.intervals import wilson
from karat.suite.judge import ALPHA, Found, bars, judged, percent, points, share_case, skipped
from karat.suite.limits import Limit
from karat.suite.observed import Observed
from karat.suite.pieces import shared

NEAR_DUPLICATE = 0.95
TINY_AREA = 1e-4


def more_than(hits: int, n: int, rate: float) -> float:
    """How likely that many of n would be hit if each were with this rate (binomial, upper)."""
    from scipy import stats

    if rate <= 0:
        return 0.0 if hits else 1.0
    return float(stats.binomtest(hits, n, min(rate, 1.0), alternative="greater").pvalue)


def oftener(hits: int, n: int, before: int, of: int) -> float:
    """How likely that many of n if `before` of `of` in reference were hit at the same rate.

    Fisher's exact test, one-sided: a rate that reference only estimates is no certain one.
    """
    from scipy import stats

    return float(stats.hypergeom.sf(hits - 1, n + of, hits + before, n))


def empty_text(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Blank texts; one is worth a look unless reference has them too."""
    found = []
    for key, texts in other.texts.items():
        rows = np.array([i for i, text in enumerate(texts) if not text.strip()], dtype=np.int64)
        usual = sum(not text.strip() for text in ref.texts.get(key, ()))
        rate = usual / max(ref.n, 1)
        text = f"{len(rows)} of {other.n} rows have a blank {key}; reference has {usual}"
        case = share_case(limit, key, rows, other, text, usual=rate)
        if usual:
            doubt(case, oftener(len(rows), other.n, usual, ref.n))
        found.append(case)
    return found


def unseen_words(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Words that reference never had, beyond what its own rare words make likely.

    Good and Turing: the share of words seen once in reference is the chance that the next word
    there would have been new.
    """
    found = []
    for key in other.telling:
        known, mine = shared(ref.telling[key], other.telling[key])
        total, tokens = len(known.code), len(mine.code)
        if not total or not tokens:
            found.append(skipped(key, "a side has no words"))
            continue
        seen = np.bincount(known.code, minlength=len(mine.names))
        new = seen[mine.code] == 0
        times = np.bincount(mine.code[new], minlength=len(mine.names))
        rate, usual = float(new.mean()), float((seen == 1).sum() / total)
        p = more_than(int(new.sum()), tokens, usual)
        # Both a clear addition and a multiple of the usual: +1 point and twice, +5 and four times.
        excess = rate - usual
        multiple = rate / usual if usual > 0 else float("inf")
        value = excess if multiple >= 2 else 0.0
        if limit.fail is not None and value >= limit.fail and multiple < 4:
            value = min(value, limit.fail * (1 - 1e-9))
        common = np.argsort(-times, kind="stable")[:8]
        words = ", ".join(mine.names[i] for i in common.tolist() if times[i])
        text = (
            f"{percent(rate)} of the words in {key} are new, where {percent(usual)} would be usual"
            + (f": {words}" if words else "")
        )
        concerned = np.unique(mine.row[new])
        found.append(
            judged(
                limit,
                key,
                max(value, 0.0),
                "share of new words beyond the usual",
                text,
                believed=p < ALPHA,
                side=other,
                rows=concerned,
                p=p,
                table={"new share": rate, "usual share": usual},
                plot=points([("usual", usual, None, None), ("found", rate, *wilson(rate, tokens))]),
            )
        )
    return found


def duplicate_rows(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Inputs that occur more than once in the evaluation data."""
    if not other.inputs:
        return []
    again, usual = _repeats(other), len(_repeats(ref)) / max(ref.n, 1)
    text = f"{len(again)} of {other.n} rows repeat an earlier one; in reference {percent(usual)} do"
    return [share_case(limit, "inputs", again, other, text, usual=usual)]


def _repeats(side: Observed) -> list[int]:
    """The rows whose input an earlier row has."""
    first: dict[str, int] = {}
    return [i for i, text in enumerate(side.inputs) if first.setdefault(text, i) != i]


def ref_eval_overlap(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Evaluation inputs that reference has too: what was learned is not tested."""
    if not other.inputs or not ref.inputs:
        return []
    known = set(ref.inputs)
    rows = [i for i, text in enumerate(other.inputs) if text in known]
    text = f"{len(rows)} of {other.n} evaluation inputs also stand in reference"
    return [share_case(limit, "inputs", rows, other, text)]


def label_flips(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """The same input, labelled otherwise in reference."""
    if ref.labels is None or other.labels is None or not other.inputs:
        return []
    labels = _labels_by_input(ref)
    mine = zip(other.inputs, other.labels.tolist(), strict=True)
    rows = [i for i, (t, y) in enumerate(mine) if y >= 0 and t in labels and y not in labels[t]]
    text = f"{len(rows)} of {other.n} rows have another label than the same input in reference"
    return [share_case(limit, "labels", rows, other, text)]


def conflicting_labels(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """The same input with two labels in one file."""
    found = []
    for side, name in ((ref, "reference"), (other, "evaluation")):
        if side.labels is None or not side.inputs:
            continue
        labels = _labels_by_input(side)
        rows = [i for i, text in enumerate(side.inputs) if len(labels.get(text, ())) > 1]
        text = f"{len(rows)} of {side.n} rows of {name} share their input with another label"
        found.append(share_case(limit, name, rows, side, text))
    return found


def _labels_by_input(side: Observed) -> dict[str, set[int]]:
    """Input -> the labels it has, where it has any."""
    assert side.labels is not None
    found: dict[str, set[int]] = defaultdict(set)
    for text, label in zip(side.inputs, side.labels.tolist(), strict=True):
        if label >= 0:
            found[text].add(label)
    return found


def label_imbalance(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """How far the largest class outweighs an even share: 0 even, 1 alone."""
    found = []
    for side, name in ((ref, "reference"), (other, "evaluation")):
        counts = _counted(side)
        if counts is None:
            continue
        k, n, nothing = len(counts), int(counts.sum()), np.zeros(len(counts))
        share = float(counts.max() / n)
        low, high = wilson(share, n)
        value, low, high = ((x - 1 / k) / (1 - 1 / k) for x in (share, max(low, 1 / k), high))
        top = side.classes[int(counts.argmax())]
        text = f"{top} has {percent(share)} of the {n} labels of {name}"
        plot = bars(side.classes, *((counts, nothing) if side is ref else (nothing, counts)))
        statistic = "(largest - 1/k) / (1 - 1/k)"
        found.append(judged(limit, name, value, statistic, text, low=low, high=high, plot=plot))
    return found


def _counted(side: Observed) -> IntArray | None:
    """How many rows have each class, None where there are no labels or is no choice of them."""
    if side.known is None or side.labels is None or len(side.classes) < 2:
        return None
    return np.bincount(side.labels[side.known], minlength=len(side.classes))


def unseen_labels(ref: Observed, other: Observed, limit: Limit) -> list[Found]:
    """Classes or types that evaluation has and reference has not."""
    sides = [_labels_of(side) for side in (ref, other)]
    if sides[0] is None or sides[1] is None:
        return []
    new = sorted(set(sides[1]) - set(sides[0]))
    rows = sorted({i for name in new for i in sides[1][name]})
    text = f"evaluation has {len(new)} classes that reference lacks" + (
        f": {', '.join(new[:8])}" if new else ""
    )
    index = np.array(rows, dtype=np.int64)
    names = sorted({*sides[0], *sides[1]})
    counts = [[len(side.get(name, ())) for name in names] for side in (sides[0], sides[1])]
    plot, value = bars(names, counts[0], counts[1]), float(len(new))
    return [judged(limit, "labels", value, "classes", text, side=other, rows=index, plot=plot)]


def _labels_of(side: Observed) -> dict[str, list[int]] | None:
    """Class or type -> the rows that have it."""
    found: dict[str, list[int]] = defaultdict(list)
    if side.spans is not None:
        for row, type_ in zip(side.spans.row.tolist(), side.spans.type, strict=True):
            found[type_].append(row)
    elif side.boxes is not None:
        for row, label in zip(side.boxes.row.tolist(), side.boxes.label.tolist(), strict=True):
            found[_class_name(side, label)].append(row)
    elif side.known is not None and side.labels is not None:
        for row in np.flatnonzero(side.known).tolist():
            found[_class_name(side, int(side.labels[row]))].append(row)
    else:
        return None
    return found


def _class_name(side: Observed, label: int) -> str:
    return side.classes[label] if label < len(side.classes) else str(label)


def doubt(found: Found, p: float, leaving: Status = "pass") -> None:
    """Give a case its p; where chance alone explains it, no more than `leaving` is left of it."""
    found.case.p = p
    if p >= ALPHA:
        found.case.status = min(found.case.status, leaving, key=ORDER.index)


def span_quality(other: Observed, limit: Limit) -> list[Found]:
    """Mentions that repeat or overlap another one, or begin or end in white space."""
    found = []
    for spans, what in ((other.spans, "labels"), (other.predicted_spans, "predictions")):
        if spans is None or not len(spans.row):
            continue
        odd = sorted(_odd_spans(spans, other))
        n, rows = len(spans.row), np.unique(spans.row[odd])
        text = f"{len(odd)} of {n} mentions in {what} overlap, repeat or are loose"
        found.append(
            share_case(
                limit, what, rows, other, text, of=n, hits=len(odd), statistic="share of mentions"
            )
        )
    return found


def _odd_spans(spans: Spans, side: Observed) -> set[int]:
    """The places of mentions that something is wrong with."""
    odd: set[int] = set()
    order = np.lexsort((spans.end, spans.start, spans.row))
    reach, owner, row = -1, -1, -1
    for place in order.tolist():
        if int(spans.row[place]) != row:
            reach, row = -1, int(spans.row[place])
        if int(spans.start[place]) < reach:
            odd.update((place, owner))
        if int(spans.end[place]) > reach:
            reach, owner = int(spans.end[place]), place
    texts = side.texts.get("text")
    if texts is not None:
        for place in range(len(spans.row)):
            piece = texts[int(spans.row[place])][int(spans.start[place]) : int(spans.end[place])]
            if piece != piece.strip():
                odd.add(place)
    return odd


def box_quality(other: Observed, limit: Limit) -> list[Found]:
    """Boxes that repeat another one, are tiny, or stick out of their image."""
    found = []
    for boxes, what in ((other.boxes, "labels"), (other.predicted_boxes, "predictions")):
        if boxes is None or not len(boxes.row):
            continue
        odd = boxes.area() < TINY_AREA
        if boxes.clipped is not None:
            odd |= boxes.clipped
        odd[_twins(boxes)] = True
        n, hits, rows = len(boxes.row), int(odd.sum()), np.unique(boxes.row[odd])
        text = f"{hits} of {n} boxes in {what} repeat, are tiny or stick out"
        found.append(
            share_case(limit, what, rows, other, text, of=n, hits=hits, statistic="share of boxes")
        )
    return found


def _twins(boxes: Boxes) -> IntArray:
    """Boxes that cover an earlier one of the same image and class almost wholly."""
    twins = []
    order = np.lexsort((boxes.label, boxes.row))
    keys = boxes.row[order] * (int(boxes.label.max()) + 1) + boxes.label[order]
    for group in np.split(order, np.flatnonzero(np.diff(keys)) + 1):
        if len(group) < 2:
            continue
        x0, y0, x1, y1 = boxes.corners[group].T
        width = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0)
        height = np.minimum.outer(y1, y1) - np.maximum.outer(y0, y0)
        both = np.maximum(width, 0) * np.maximum(height, 0)
        area = (x1 - x0) * (y1 - y0)
        union = area[:, None] + area[None, :] - both
        near = np.triu(both > NEAR_DUPLICATE * union, k=1)
        twins.extend(group[near.any(axis=0)].tolist())
    return np.array(twins, dtype=np.int64)
