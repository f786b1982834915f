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

    A segment is a threshold and a category. An entry is a hit, or a matched detection that was
    counted among those inside the area. `hit` are the entries that are hits; `hit_before` is how
    many detections inside the area come before each, `first` the same where each segment's
    category starts. Images are numbered in 64 bits, because arrays are indexed in those.
    """

    inside: IntArray
    image: IntArray
    counted: BoolArray
    edges: IntArray
    first: IntArray
    hit: IntArray
    hit_image: IntArray
    hit_before: IntArray
    hit_edges: IntArray
    segment: IntArray
    category: IntArray
    rank: CodeArray
    truth_image: CodeArray
    truth_category: CodeArray
    thresholds: int
    categories: int


@dataclass(frozen=True, slots=True)
class Curves:
    """What the weights make of one layer: values by hit, sums by threshold and category."""

    truths: FloatArray
    hits: FloatArray
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
    counted = within[place]
    kept = hit | counted
    place, hit, segment, counted = place[kept], hit[kept], segment[kept], counted[kept]
    running = np.r_[0, np.cumsum(within)]
    only = np.flatnonzero(hit)
    edges = np.searchsorted(segment, np.arange(size * k + 1))
    image = found.image.astype(np.int64)
    return Layer(
        inside=image[within],
        image=image[place],
        counted=counted,
        edges=edges,
        first=np.tile(running[starts[:-1]], size),
        hit=only,
        hit_image=image[place[only]],
        hit_before=running[place[only]],
        hit_edges=np.searchsorted(only, edges),
        segment=segment[only],
        category=segment[only] % k,
        rank=found.rank[place[only]],
        truth_image=found.truths.image[truths],
        truth_category=found.truths.category[truths],
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
    matched = np.zeros(len(layer.image) + 1)
    np.cumsum(weights[layer.image] * layer.counted, out=matched[1:])
    segment, edges = layer.segment, layer.hit_edges
    up = np.zeros(len(layer.hit) + 1)
    np.cumsum(weights[layer.hit_image], out=up[1:])
    # What lies before a segment is taken from all of its running sums at once.
    sizes = np.diff(edges)
    tp = up[1:] - np.repeat(up[edges[:-1]], sizes)
    start = prefix[layer.first] - matched[layer.edges[:-1]]
    fp = prefix[layer.hit_before] - matched[layer.hit] - np.repeat(start, sizes)
    np.maximum(fp, 0, out=fp)
    precision = tp / (fp + tp + EPSILON)
    envelope = _highest_after(precision, segment, size * k)
    # Without a truth there is no hit that weighs anything, and no recall.
    recall = tp / np.where(truths > 0, truths, np.inf)[layer.category]
    share = _shares(recall, edges, recalls, rule)
    total = np.bincount(segment, share * envelope, size * k).astype(np.float64)
    average = total.reshape(size, k)
    average[:, truths <= 0] = np.nan
    hits = (up[edges[1:]] - up[edges[:-1]]).reshape(size, k)
    return Curves(truths, hits, tp, precision, envelope, recall, share, average)


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
    guess = np.minimum((recall * last).astype(np.int64), last)
    after = np.r_[recalls, np.inf]
    guess += after[guess + 1] <= recall
    return guess + (recalls[np.minimum(guess, last)] <= recall)


def averages(layer: Layer, weights: FloatArray, found: Curves, limit: int | None) -> FloatArray:
    """(thresholds, categories): the recall with at most `limit` boxes an image and category."""
    size, k = layer.thresholds, layer.categories
    hits = found.hits
    if limit is not None:
        # Few hits stand past a limit: they are taken away.
        far = np.flatnonzero(layer.rank >= limit)
        weight = weights[layer.hit_image[far]]
        hits = hits - np.bincount(layer.segment[far], weight, size * k).reshape(size, k)
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
    level = np.zeros(len(layer.inside) + 1)
    np.add.at(level, layer.hit_before, falls)
    category = _category_of(layer)
    down = np.cumsum(level[::-1])[::-1]
    bounds = np.r_[layer.first[:k], len(layer.inside)]
    down = down[:-1] - down[bounds[1:]][category] if len(category) else down[:0]
    _scatter(out, category, layer.inside, -down * weights[layer.inside])
    # ... which is taken back for those that were matched, and hits push them up.
    nearest = np.searchsorted(hit, np.arange(len(weight)))
    owner = _owner(layer)
    ends = layer.hit_edges[1:][owner]
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
    weight = weights[layer.hit_image]
    if limit is not None:
        weight = weight * (layer.rank < limit)
    k, size, category = layer.categories, layer.thresholds, layer.category
    truths = np.where(found.truths > 0, found.truths, np.inf)
    out = np.zeros((k, images))
    _scatter(out, category, layer.hit_image, weight / truths[category] / size)
    mean = np.bincount(category, weight, k) / truths / size
    minus = -(mean / truths)[layer.truth_category] * weights[layer.truth_image]
    _scatter(out, layer.truth_category, layer.truth_image, minus)
    return out


def _category_of(layer: Layer) -> IntArray:
    """The category of each detection inside the area."""
    bounds = np.r_[layer.first[: layer.categories], len(layer.inside)]
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
