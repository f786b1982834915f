"""What no schema can see: predictions that fit far better when they are read another way.

Each look is over a sample of images, whatever the classes, so that it costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.model.pairs import CodeArray, FloatArray, IntArray
from karat.read.checks import report_count
from karat.read.place import Place
from karat.tasks.detection.boxes import Detections, Truths
from karat.tasks.detection.cache import Data, Predicted
from karat.tasks.detection.checks import PIXELS
from karat.tasks.detection.overlaps import candidates
from karat.tasks.detection.ranking import rank_detections
from karat.tasks.detection.records import BOXES
from karat.tasks.detection.scene import Found, Scene

GAIN = 0.25
"""So much must be won by another reading before it is suspicious."""

FEWEST = 20
MOST = 40_000
SAME_PLACE = 0.95
OVERLAP = 0.5

Where = Callable[[int], tuple[Place, str]]
"""The place of a detection, and its key."""


def rows_agree(data: Data, predicted: Predicted) -> bool:
    """Whether every row of data has its row of predictions; what is wrong is reported."""
    rows, others = data.reader.count, predicted.reader.count
    if not rows or not others:
        return False
    if data.reader is not predicted.reader:
        report_count(predicted.reader.place(), others, rows, BOXES)
    usual = predicted.width
    for place in np.flatnonzero(data.classes >= usual).tolist() if usual else []:
        record = int(data.row[place])
        index = place - int((data.row < record).sum())
        text = f"{data.classes[place]} but predictions have {usual} classes (0..{usual - 1})"
        data.reader.place(record).add("label-range", text, f"label[{index}].class_id")
    return rows == others and predicted.reader.sound


def look(scene: Scene, found: Found, file: Place, where: Where) -> None:
    """Report boxes and classes that seem to be meant otherwise; `file` is the predictions'."""
    truths, detections = scene.truths, found.detections
    if not truths.n or not detections.n:
        return
    chosen = _sample(detections, scene.n)
    sample = detections.take(chosen)
    _duplicates(scene, sample, lambda place: where(int(chosen[place])), sample.n == detections.n)
    if scene.format == "coco" and _units(scene, detections, file, where):
        return
    plain = nearest(truths, sample.image, sample.box, scene.n)
    if _corners(truths, sample, scene.n, plain, where):
        return
    if scene.format == "cache" and _rows(truths, sample, scene.n, plain, file):
        return
    _classes(scene, sample, plain, file)


def _sample(found: Detections, images: int) -> IntArray:
    """The detections of the first images, as many as hold about `MOST` of them."""
    if found.n <= MOST:
        return np.arange(found.n)
    total = np.cumsum(np.bincount(found.image, minlength=images))
    return np.flatnonzero(found.image <= np.searchsorted(total, MOST))


def nearest(
    truths: Truths, image: CodeArray, box: FloatArray, images: int
) -> tuple[FloatArray, IntArray]:
    """For each box the largest overlap with any truth of its image, and that truth (-1: none)."""
    order = np.argsort(truths.image, kind="stable")
    edges = np.searchsorted(truths.image[order], np.arange(images + 1))
    pairs = candidates(
        box,
        truths.box[order],
        truths.crowd[order],
        edges[image],
        edges[image + 1] - edges[image],
        1e-9,
    )
    overlap, truth = np.zeros(len(box)), np.full(len(box), -1, dtype=np.int64)
    rising = np.lexsort((pairs.overlap, pairs.detection))
    overlap[pairs.detection[rising]] = pairs.overlap[rising]
    truth[pairs.detection[rising]] = order[pairs.truth[rising]]
    return overlap, truth


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


def _corners(
    truths: Truths,
    found: Detections,
    images: int,
    plain: tuple[FloatArray, IntArray],
    where: Where,
) -> bool:
    """Whether boxes fit far better when read as two corners."""
    if found.n < FEWEST:
        return False
    now = float(plain[0].mean())
    box = found.box.copy()
    box[:, 2:] -= box[:, :2]
    gain = 0.0
    if (box[:, 2:] > 0).all(axis=1).mean() > 0.9:
        gain = float(nearest(truths, found.image, box, images)[0].mean())
    if gain - now > GAIN:
        text = (
            f"the mean overlap with the nearest true box is {now:.2f}, but {gain:.2f} if the four "
            "numbers are read as x_min, y_min, x_max, y_max"
        )
        place, key = where(0)
        hint = "COCO wants x, y, width, height"
        place.add("box-corners", text, key, severity="warning", help=hint)
        return True
    return False


def _rows(
    truths: Truths, found: Detections, images: int, plain: tuple[FloatArray, IntArray], file: Place
) -> bool:
    """Whether boxes fit far better when the predictions move by one row."""
    if found.n < FEWEST:
        return False
    now = float(plain[0].mean())
    for step in (1, -1):
        image = np.clip(found.image + step, 0, images - 1)
        moved = float(nearest(truths, image, found.box, images)[0].mean())
        if moved - now > GAIN:
            text = (
                f"the mean overlap with the nearest true box is {now:.2f}, but {moved:.2f} if "
                f"predictions move by {step:+d} row; check the row order"
            )
            file.add("rows-shifted", text, BOXES, severity="warning")
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
        better = float((ids[mine] + step == ids[gold]).mean())
        if better - now > GAIN:
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
    if best - now > GAIN:
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
