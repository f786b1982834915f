"""Average precision and recall under any weights of the images, from matches sorted once.

Matching does not depend on weights: an image drawn twice has its boxes matched the same way twice.
So the hits of all thresholds, areas and categories are laid out once, segment by segment, and a
resample costs a few running sums over them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from karat.model.pairs import BoolArray, CodeArray, FloatArray, IntArray
from karat.tasks.detection.curves import EPSILON, bit_hits, category_starts
from karat.tasks.detection.evaluate import Evaluated

Rule = str
"""How the points of a curve are averaged: "coco", "voc07" or "voc10"."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One area: its curves (a threshold and a category each) as matched entries in a row.

    A segment is a threshold and a category. `before` is how many detections inside the area come
    before each entry, `first` the same where each segment's category starts.
    """

    inside: CodeArray
    image: CodeArray
    hit: IntArray
    counted: BoolArray
    before: IntArray
    edges: IntArray
    segment: IntArray
    first: IntArray
    truth_image: CodeArray
    truth_category: CodeArray
    rank: CodeArray
    ranked: IntArray
    place: IntArray
    thresholds: int
    categories: int


@dataclass(frozen=True, slots=True)
class Curves:
    """What the weights make of one layer: values by hit, averages by threshold and category."""

    truths: FloatArray
    tp: FloatArray
    precision: FloatArray
    envelope: FloatArray
    recall: FloatArray
    share: FloatArray
    average: FloatArray


def layers(found: Evaluated) -> list[Layer]:
    """The layers of all areas."""
    return [_layer(found, area) for area in range(len(found.rules.areas))]


def _layer(found: Evaluated, area: int) -> Layer:
    k, size = found.categories, len(found.rules.overlaps)
    starts = category_starts(found.category, k)
    places: list[IntArray] = []
    hits: list[BoolArray] = []
    segments: list[IntArray] = []
    block, bit = found.block_of(0, area)
    within = (block.inside & np.uint64(1 << bit)) != 0
    truths = (block.truth_regular & np.uint64(1 << bit)) != 0
    for threshold in range(size):
        block, bit = found.block_of(threshold, area)
        touched = np.flatnonzero(block.regular | block.ignored)
        mine = bit_hits(block.regular[touched], block.ignored[touched], touched, bit)
        places.append(mine.place)
        hits.append(mine.hit)
        segments.append(threshold * k + found.category[mine.place].astype(np.int64))
    place, hit, segment = np.concatenate(places), np.concatenate(hits), np.concatenate(segments)
    running = np.r_[0, np.cumsum(within)]
    only = np.flatnonzero(hit)
    return Layer(
        inside=found.image[within],
        image=found.image[place],
        hit=only,
        counted=within[place],
        before=running[place],
        edges=np.searchsorted(segment, np.arange(size * k + 1)),
        segment=segment[only],
        first=np.tile(running[starts[:-1]], size),
        truth_image=found.truths.image[truths],
        truth_category=found.truths.category[truths],
        rank=found.rank[place[only]],
        ranked=np.flatnonzero(within),
        place=place,
        thresholds=size,
        categories=k,
    )


def truths_of(layer: Layer, weights: FloatArray) -> FloatArray:
    """(categories,): the weight of the regular truths."""
    weight = weights[layer.truth_image]
    return np.bincount(layer.truth_category, weight, layer.categories).astype(np.float64)


def curves(layer: Layer, weights: FloatArray, recalls: FloatArray, rule: Rule) -> Curves:
    """The curves of one layer under weights of the images."""
    truths = truths_of(layer, weights)
    size, k = layer.thresholds, layer.categories
    prefix = np.zeros(len(layer.inside) + 1)
    np.cumsum(weights[layer.inside], out=prefix[1:])
    weight = weights[layer.image]
    matched = np.zeros(len(weight) + 1)
    np.cumsum(weight * layer.counted, out=matched[1:])
    hit, segment = layer.hit, layer.segment
    up = np.cumsum(weight[hit])
    edges = np.searchsorted(hit, layer.edges)
    base = np.r_[0.0, up][edges[:-1]]
    tp = up - base[segment]
    start = prefix[layer.first] - matched[layer.edges[:-1]]
    fp = prefix[layer.before[hit]] - matched[hit] - start[segment]
    np.maximum(fp, 0, out=fp)
    precision = tp / (fp + tp + EPSILON)
    envelope = _highest_after(precision, segment, size * k)
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = tp / truths[segment % k]
    share = _shares(recall, edges, recalls, rule)
    total = np.bincount(segment, share * envelope, size * k).astype(np.float64)
    average = total.reshape(size, k)
    average[:, truths <= 0] = np.nan
    return Curves(truths, tp, precision, envelope, recall, share, average)


def _highest_after(values: FloatArray, segment: IntArray, segments: int) -> FloatArray:
    """The largest value from each place to the end of its segment.

    Segments are lifted over each other so that one running maximum serves all; that costs a few
    units in the thirteenth place, which the official path does not pay.
    """
    lift = (segments - segment) * 2.0
    raised = values + lift
    # From the end, earlier segments stand higher, so nothing is carried over into them.
    highest = np.maximum.accumulate(raised[::-1])[::-1]
    return np.asarray(highest - lift)


def _shares(recall: FloatArray, edges: IntArray, recalls: FloatArray, rule: Rule) -> FloatArray:
    """How much of the average each hit stands for."""
    firsts = edges[:-1][edges[1:] > edges[:-1]]
    if rule == "voc10":
        before = np.r_[0.0, recall[:-1]] if len(recall) else recall
        before[firsts] = 0.0
        return np.asarray(recall - before)
    reached = _reached(recall, recalls)
    share = np.diff(reached, prepend=0).astype(np.float64)
    share[firsts] = reached[firsts]
    return share / len(recalls)


def _reached(recall: FloatArray, recalls: FloatArray) -> IntArray:
    """How many of the (evenly spread) thresholds each recall reaches."""
    last = len(recalls) - 1
    known = np.nan_to_num(recall, nan=0.0, posinf=0.0)
    guess = np.minimum((known * last).astype(np.int64), last)
    after = np.r_[recalls, np.inf]
    guess += after[guess + 1] <= known
    return guess + (recalls[np.minimum(guess, last)] <= known)


def averages(layer: Layer, weights: FloatArray, found: Curves, limit: int | None) -> FloatArray:
    """(thresholds, categories): the recall with at most `limit` boxes an image and category."""
    weight = weights[layer.image[layer.hit]]
    if limit is not None:
        weight = weight * (layer.rank < limit)
    size, k = layer.thresholds, layer.categories
    hits = np.bincount(layer.segment, weight, size * k).reshape(size, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(found.truths > 0, hits / found.truths, np.nan)


def slopes(
    layer: Layer, weights: FloatArray, found: Curves, chosen: IntArray, images: int
) -> FloatArray:
    """(categories, images): weight times derivative of a category's mean over `chosen` thresholds.

    The curve is taken as if it were averaged over its hits: sampled at fixed recalls it has steps
    for a derivative. Row by row this is the infinitesimal jackknife.
    """
    k = layer.categories
    wanted = np.isin(np.arange(layer.thresholds), chosen)
    hit, segment = layer.hit, layer.segment
    take = wanted[segment // k]
    weight = weights[layer.image]
    with np.errstate(divide="ignore", invalid="ignore"):
        portion = np.where(take, weight[hit] / found.truths[segment % k], 0.0)
        size = np.where(found.precision > 0, found.tp / found.precision, 1.0)
    at = _achieved(found.precision, found.envelope)
    rises = np.bincount(at, portion / size[at], len(hit)).astype(np.float64)
    falls = np.bincount(at, portion * found.envelope / size[at], len(hit)).astype(np.float64)
    rise, fall = _after(rises, segment), _after(falls, segment)
    out = np.zeros((k, images))
    # Every detection inside pushes the precisions after it down, as if it were no hit...
    level = np.zeros(len(layer.ranked) + 1)
    np.add.at(level, layer.before[hit], falls)
    category = _category_of(layer)
    down = np.cumsum(level[::-1])[::-1]
    bounds = np.r_[layer.first[:k], len(layer.ranked)]
    down = down[:-1] - down[bounds[1:]][category] if len(category) else down[:0]
    _scatter(out, category, layer.inside, -down * weights[layer.inside])
    # ... which is taken back for those that were matched, and hits push them up.
    nearest = np.searchsorted(hit, np.arange(len(weight)))
    owner = _owner(layer)
    ends = np.searchsorted(hit, layer.edges[1:])[owner]
    known = (nearest < ends) & wanted[owner // k]
    back = np.zeros(len(weight))
    back[known] = fall[nearest[known]]
    back *= layer.counted
    with np.errstate(divide="ignore", invalid="ignore"):
        own = found.envelope / found.truths[segment % k]
    back[hit] += np.where(take, rise - fall + own, 0.0)
    _scatter(out, owner % k, layer.image, back * weight)
    total = np.bincount(segment % k, portion * found.envelope, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        per_truth = np.where(found.truths > 0, total / found.truths, 0.0)
    truth_weight = -per_truth[layer.truth_category] * weights[layer.truth_image]
    _scatter(out, layer.truth_category, layer.truth_image, truth_weight)
    return out / max(len(chosen), 1)


def recall_slopes(
    layer: Layer, weights: FloatArray, found: Curves, limit: int | None, images: int
) -> FloatArray:
    """(categories, images): weight times derivative of each category's mean recall."""
    weight = weights[layer.image[layer.hit]]
    if limit is not None:
        weight = weight * (layer.rank < limit)
    k, size = layer.categories, layer.thresholds
    category = layer.segment % k
    truths = np.where(found.truths > 0, found.truths, np.inf)
    out = np.zeros((k, images))
    _scatter(out, category, layer.image[layer.hit], weight / truths[category] / size)
    mean = np.bincount(category, weight, k) / truths / size
    minus = -(mean / truths)[layer.truth_category] * weights[layer.truth_image]
    _scatter(out, layer.truth_category, layer.truth_image, minus)
    return out


def _category_of(layer: Layer) -> IntArray:
    """The category of each detection inside the area."""
    bounds = np.r_[layer.first[: layer.categories], len(layer.ranked)]
    return np.repeat(np.arange(layer.categories), np.diff(bounds))


def _owner(layer: Layer) -> IntArray:
    """The segment of each entry."""
    return np.repeat(np.arange(len(layer.edges) - 1), np.diff(layer.edges))


def _achieved(precision: FloatArray, envelope: FloatArray) -> IntArray:
    """For each hit the place whose precision is its envelope: the nearest one at or after it."""
    n = len(precision)
    reached = precision >= envelope - 1e-9
    place = np.where(reached, np.arange(n), n)
    return np.minimum(np.minimum.accumulate(place[::-1])[::-1], n - 1) if n else place


def _after(values: FloatArray, segment: IntArray) -> FloatArray:
    """Sums from each place to the end of its segment."""
    total = np.cumsum(values[::-1])[::-1]
    if not len(values):
        return total
    last = np.flatnonzero(np.r_[segment[1:] != segment[:-1], True])
    beyond = np.r_[total, 0.0][last + 1]
    sizes = np.diff(np.r_[-1, last])
    return np.asarray(total - np.repeat(beyond, sizes))


def _scatter(
    out: npt.NDArray[np.float64],
    row: npt.NDArray[np.integer],
    column: npt.NDArray[np.integer],
    value: FloatArray,
) -> None:
    """Add values to a matrix by row and column."""
    key = row.astype(np.int64) * out.shape[1] + column
    out += np.bincount(key, value, out.size).reshape(out.shape)
