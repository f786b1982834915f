"""What no schema can see: predictions that fit far better when they are read another way.

Each look is over a sample of images, whatever the classes, so that it costs milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from karat.model.pairs import CodeArray, FloatArray, IntArray
from karat.read.chance import beyond_chance
from karat.read.checks import one_based, report_count, report_silence
from karat.read.place import Place
from karat.tasks.detection.boxes import Detections, Truths
from karat.tasks.detection.cache import Data
from karat.tasks.detection.checks import PIXELS
from karat.tasks.detection.predictions import Predicted
from karat.tasks.detection.ranking import rank_detections
from karat.tasks.detection.readings import better_reading, nearest
from karat.tasks.detection.records import BOXES
from karat.tasks.detection.scene import Found, Scene

GAIN = 0.25
"""So much must be won by another reading before it is suspicious."""

LAYOUT = "COCO wants x, y, width, height"
BEYOND = 0.1
"""So large a part of an image's side may lie between it and a box's end."""

STRAY = 0.01
"""So few of a detector's boxes may lie anywhere."""

HARDLY = 0.01
FEWEST = 20
MOST = 40_000
SAME_PLACE = 0.95
OVERLAP = 0.5

Where = Callable[[int], tuple[Place, str]]
"""The place of a detection or a truth, and its key."""


def rows_agree(data: Data, predicted: Predicted, background: str) -> bool:
    """Whether every row of data has its row of predictions; what is wrong is reported.

    `background` is the slot of the vectors that is no class: "none", "first" or "last".
    """
    rows, others = data.reader.count, predicted.reader.count
    if not rows or not others:
        return False
    if data.reader is not predicted.reader:
        report_count(predicted.reader.place(), others, rows, BOXES)
    usual = predicted.width
    nothing = {"first": 0, "last": usual - 1}.get(background, -1)
    odd = np.flatnonzero((data.classes >= usual) | (data.classes == nothing))
    if not usual:
        odd = odd[:0]
    records = data.row[odd]
    indices = odd - np.searchsorted(data.row, records)
    hint = one_based(data.classes, usual)
    for wrong, record, index in zip(
        data.classes[odd].tolist(), records.tolist(), indices.tolist(), strict=True
    ):
        text = f"{wrong} but predictions have {usual} classes (0..{usual - 1})"
        if wrong == nothing:
            text = f"{nothing} is the slot of the background (--background {background})"
        key = f"label[{index}].class_id"
        data.reader.place(record).add("label-range", text, key, help=hint)
    return rows == others and predicted.reader.sound


def same_everywhere(data: Data, predicted: Predicted) -> None:
    """Warn where no row has a box, or all rows have the same ones."""
    place, rows, most = (
        predicted.reader.place(),
        len(predicted.count),
        predicted.count.max(initial=0),
    )
    if not most:
        report_silence(place, BOXES, rows, len(data.classes))
    elif rows > 1 and predicted.count.min() == most:
        vectors = np.stack([predicted.top, predicted.confidence, predicted.squares], axis=1)
        numbers = np.concatenate([predicted.corners, vectors], axis=1).reshape(rows, -1)
        if (numbers == numbers[0]).all():
            text = "every row has the same boxes; was the model run?"
            place.add("predictions-constant", text, BOXES, severity="warning")


def look(scene: Scene, found: Found, file: Place, where: Where, gold: Where) -> None:
    """Report boxes and classes that seem to be meant otherwise; `file` is the predictions'.

    `where` names a detection, `gold` a truth.
    """
    truths, detections = scene.truths, found.detections
    if not truths.n or not detections.n:
        return
    chosen = _sample(detections, scene.n)
    sample = detections.take(chosen)
    _duplicates(scene, sample, lambda place: where(int(chosen[place])), sample.n == detections.n)
    if scene.format == "coco" and _units(scene, detections, file, where):
        return
    _outside(scene, truths.image, truths.box, gold, 1)
    _outside(scene, sample.image, sample.box, lambda i: where(int(chosen[i])), STRAY * sample.n)
    sure = _surest(sample, truths)
    if sure.n < FEWEST:
        return
    plain = nearest(truths, sure.image, sure.box, scene.n)
    now = float(plain[0].mean())
    if scene.format == "coco" and _layout(truths, sure, scene.n, now, where, gold):
        return
    if _rows(scene, sure, now, file):
        return
    if (plain[0] >= OVERLAP).mean() < HARDLY and truths.n >= FEWEST:
        text = (
            f"the surest {sure.n} boxes lie on no true boxes: their mean overlap with the nearest "
            f"one is {now:.2f}; are image ids, the size of the image and its origin the same?"
        )
        file.add("boxes-elsewhere", text, severity="warning")
        return
    _classes(scene, sure, plain, file)


def _surest(sample: Detections, truths: Truths) -> Detections:
    """As many detections as there are truths in their images, the best first.

    Detectors list many boxes of low score, which lie anywhere.
    """
    there = int(np.count_nonzero(truths.image <= sample.image.max()))
    return sample.take(np.argsort(-sample.score, kind="stable")[: max(there, FEWEST)])


def _sample(found: Detections, images: int) -> IntArray:
    """The detections of the first images, as many as hold about `MOST` of them."""
    if found.n <= MOST:
        return np.arange(found.n)
    total = np.cumsum(np.bincount(found.image, minlength=images))
    return np.flatnonzero(found.image <= np.searchsorted(total, MOST))


def _units(scene: Scene, found: Detections, file: Place, where: Where) -> bool:
    """Whether one of two COCO files is in fractions; that is an error.

    A few tiny boxes in images of unknown size prove nothing.
    """
    mine, theirs = float(np.abs(found.box).max()), float(np.abs(scene.truths.box).max())
    if found.n < FEWEST and not scene.sized:
        return False
    hint = "COCO boxes are in pixels: multiply fractions by the width and height of the image"
    if mine <= PIXELS < theirs / 2:
        text = (
            f"largest coordinate is {mine:g}, but the annotations are in pixels (up to {theirs:g})"
        )
        place, key = where(0)
        place.add("coordinate-mixed", text, key, help=hint)
    elif theirs <= PIXELS < mine / 2:
        text = f"boxes go up to {mine:g}, but the annotations only up to {theirs:g}: fractions?"
        file.add("coordinate-mixed", text, "bbox", help=hint)
    elif max(mine, theirs) <= PIXELS and scene.sized and scene.width.min() > 2 * PIXELS:
        text = "boxes are fractions; areas in pixels would all be small"
        file.add("coordinate-fractions", text, "bbox", help=hint)
    else:
        return False
    return True


def _outside(scene: Scene, image: CodeArray, box: FloatArray, where: Where, least: float) -> None:
    """Warn of boxes in pixels that reach far beyond their image, if there are as many."""
    if scene.unit != "pixels" or not scene.sized:
        return
    size = np.stack([scene.width, scene.height], axis=1)[image]
    far = (box[:, :2] < -BEYOND * size) | (box[:, :2] + box[:, 2:] > (1 + BEYOND) * size)
    odd = np.flatnonzero(far.any(axis=1))
    if not len(odd) or len(odd) < least:
        return
    first = int(odd[0])
    end = box[first, :2] + box[first, 2:]
    text = (
        f"{len(odd)} of {len(box)} boxes reach far beyond their image, the first from "
        f"({box[first, 0]:g}, {box[first, 1]:g}) to ({end[0]:g}, {end[1]:g}) in "
        f"{size[first, 0]:g} x {size[first, 1]:g}"
    )
    place, key = where(first)
    hint = LAYOUT if scene.format == "coco" else ""
    place.add("box-outside", text, key, severity="warning", help=hint)


def _layout(
    truths: Truths, found: Detections, images: int, now: float, where: Where, gold: Where
) -> bool:
    """Whether the boxes of one side fit far better when they are read another way."""
    best = better_reading(truths, found, images)
    if best is None or best[0] - now <= GAIN:
        return False
    gain, reading, of_truths = best
    text = (
        f"the mean overlap with the nearest true box is {now:.2f}, but {gain:.2f} if the four "
        f"numbers {'here ' if of_truths else ''}are read as {reading.meaning}"
    )
    place, key = gold(0) if of_truths else where(0)
    place.add(reading.code, text, key, severity="warning", help=LAYOUT)
    return True


def _rows(scene: Scene, found: Detections, now: float, file: Place) -> bool:
    """Whether boxes fit far better when the predictions move by one image."""
    what = "row" if scene.format == "cache" else "image id"
    for step in (1, -1):
        image = np.clip(found.image + step, 0, scene.n - 1)
        moved = float(nearest(scene.truths, image, found.box, scene.n)[0].mean())
        if moved - now > GAIN:
            text = (
                f"the mean overlap with the nearest true box is {now:.2f}, but {moved:.2f} if "
                f"predictions move by {step:+d} {what}; check the order of the {what}s"
            )
            key = BOXES if scene.format == "cache" else "image_id"
            file.add("rows-shifted", text, key, severity="warning")
            return True
    return False


def _classes(
    scene: Scene, found: Detections, plain: tuple[FloatArray, IntArray], file: Place
) -> None:
    """Warn where the classes agree far better when they are renamed."""
    sure = np.flatnonzero(plain[0] >= OVERLAP)
    if len(sure) < FEWEST:
        return
    k = len(scene.classes)
    mine = found.category[sure].astype(np.int64)
    gold = scene.truths.category[plain[1][sure]].astype(np.int64)
    now = float((mine == gold).mean())
    if now > 1 - GAIN:
        return
    ids = scene.classes
    for step in (1, -1):
        # Ids that no class has are one more class.
        said = np.where(np.isin(ids + step, ids), np.searchsorted(ids, ids + step), k)[mine]
        better = float((said == gold).mean())
        if better - now > GAIN and beyond_chance(gold, said, k + 1, math.log(2)):
            text = (
                f"{now:.0%} of the boxes that lie on a true box have its class, but {better:.0%} "
                f"if {step:+d} is added to their class ids; off by one?"
            )
            file.add("classes-permuted", text, severity="warning")
            return
    table = np.bincount(mine * k + gold, minlength=k * k).reshape(k, k)
    if table.max(axis=1).sum() / len(sure) - now <= GAIN or len(sure) < 5 * k:
        return
    from scipy.optimize import linear_sum_assignment

    rows, renamed = linear_sum_assignment(-table)
    best = float(table[rows, renamed].sum() / len(sure))
    if best - now > GAIN and beyond_chance(gold, renamed[mine], k, math.lgamma(k + 1)):
        moved = {int(ids[a]): int(ids[b]) for a, b in zip(rows, renamed, strict=True) if a != b}
        text = (
            f"{now:.0%} of the boxes that lie on a true box have its class, but {best:.0%} if "
            f"classes are renamed {dict(list(moved.items())[:8])}; check the class order"
        )
        file.add("classes-permuted", text, severity="warning")


def _duplicates(scene: Scene, found: Detections, where: Where, every: bool) -> None:
    """Warn of boxes that lie where a better one of the same class and image does.

    `every` says that these are all there are, not a sample.
    """
    k = len(scene.classes)
    order = rank_detections(found.image, found.category, found.score, scene.n, k, found.n).inside
    image, category, box = found.image[order], found.category[order], found.box[order]
    later: set[int] = set()
    first: dict[int, int] = {}
    for step in (1, 2, 3):
        same = (image[step:] == image[:-step]) & (category[step:] == category[:-step])
        near = np.flatnonzero(same)
        near = near[_overlap(box[near + step], box[near]) >= SAME_PLACE]
        for place in near.tolist():
            later.add(place + step)
            first.setdefault(place + step, place)
    if not later or (len(later) > FEWEST and len(later) < 0.01 * found.n):
        return
    at = min(later, key=lambda place: int(order[place]))
    mine, key = where(int(order[at]))
    better, other = where(int(order[first[at]]))
    number = other.removeprefix(f"{BOXES}[").removesuffix("]")
    name = f"box {number}" if other != key else f"record {better.record}"
    text = f"covers the same place and class as {name}; run non-maximum suppression"
    if len(later) > 1:
        text += f" ({'' if every else 'at least '}{len(later)} boxes do)"
    mine.add("box-duplicate", text, key, severity="warning")


def _overlap(a: FloatArray, b: FloatArray) -> FloatArray:
    """Intersection over union of boxes, pair by pair."""
    wide = np.minimum(a[:, 0] + a[:, 2], b[:, 0] + b[:, 2]) - np.maximum(a[:, 0], b[:, 0])
    high = np.minimum(a[:, 1] + a[:, 3], b[:, 1] + b[:, 3]) - np.maximum(a[:, 1], b[:, 1])
    common = np.maximum(wide, 0) * np.maximum(high, 0)
    union = a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3] - common
    return np.asarray(common / np.where(union > 0, union, 1.0))
