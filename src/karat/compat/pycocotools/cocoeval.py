"""COCOeval for boxes, in the members of pycocotools' COCOeval."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from karat.compat.pycocotools.coco import COCO, Record
from karat.errors import UsageError

if TYPE_CHECKING:
    from karat.tasks.detection.boxes import Rules
    from karat.tasks.detection.evaluate import Accumulated, Evaluated

ONLY_BOXES = "only boxes are: COCOeval(gold, found, 'bbox')"


class Params:
    """What is evaluated, in the names of the original."""

    def __init__(self, iouType: str = "segm") -> None:
        import numpy as np

        if iouType != "bbox":
            raise UsageError(f"iouType {iouType!r} is not supported", help=ONLY_BOXES)
        self.iouType = iouType
        self.useSegm: Any = None
        self.imgIds: Any = []
        self.catIds: Any = []
        self.iouThrs: Any = np.linspace(0.5, 0.95, 10)
        self.recThrs: Any = np.linspace(0.0, 1.0, 101)
        self.maxDets: Any = [1, 10, 100]
        self.areaRng: Any = [[0, 1e10], [0, 32**2], [32**2, 96**2], [96**2, 1e10]]
        self.areaRngLbl: Any = ["all", "small", "medium", "large"]
        self.useCats: Any = 1


@dataclass(frozen=True, slots=True)
class Matching:
    """What was matched under which parameters, and the dicts that it was made from."""

    found: Evaluated
    params: Params
    truths: Sequence[Record]
    detections: Sequence[Record]


class COCOeval:
    """Evaluates detections against annotations: evaluate, accumulate, summarize."""

    def __init__(
        self, cocoGt: COCO | None = None, cocoDt: COCO | None = None, iouType: str = "segm"
    ) -> None:
        self.cocoGt, self.cocoDt = cocoGt, cocoDt
        self.params = Params(iouType)
        self.eval: Record = {}
        self.stats: Any = []
        self.ious: Record = {}
        self._paramsEval: Any = {}
        self._matching: Matching | None = None
        self._images: Sequence[Record | None] | None = None
        if cocoGt is not None:
            self.params.imgIds = sorted(cocoGt.getImgIds())
            self.params.catIds = sorted(cocoGt.getCatIds())

    # --- evaluate --------------------------------------------------------------------------------

    def evaluate(self) -> None:
        """Match every image and category."""
        import numpy as np

        p = self.params
        if p.iouType != "bbox" or p.useSegm:
            raise UsageError(f"iouType {p.iouType!r} is not supported", help=ONLY_BOXES)
        p.imgIds = list(np.unique(p.imgIds))
        if p.useCats:
            p.catIds = list(np.unique(p.catIds))
        p.maxDets = sorted(p.maxDets)
        self._prepare()
        self._paramsEval = copy.deepcopy(p)

    def _prepare(self) -> None:
        """Match what the parameters ask for."""
        import numpy as np

        from karat.tasks.detection.dicts import Places, detections_of, doubts, truths_of
        from karat.tasks.detection.evaluate import evaluate

        if self.cocoGt is None or self.cocoDt is None:
            raise UsageError("annotations and detections are needed: COCOeval(gold, found, 'bbox')")
        p = self.params
        k = len(p.catIds) if p.useCats else 1
        notes, boxes = self._chosen(self.cocoGt), self._chosen(self.cocoDt)
        places = Places(
            {one: place for place, one in enumerate(p.imgIds)},
            {one: place if p.useCats else 0 for place, one in enumerate(p.catIds)},
        )
        truths, detections = truths_of(notes, places), detections_of(boxes, places)
        for doubt in doubts(truths, detections, np.array([note["id"] for note in notes])):
            warnings.warn(doubt, stacklevel=3)
        found = evaluate(truths, detections, len(p.imgIds), k, _rules(p))
        self._matching = Matching(found, copy.deepcopy(p), notes, boxes)
        self._images = None
        self.eval = {}

    def _chosen(self, coco: COCO, image: Any = None) -> list[Record]:
        """The annotations to evaluate; categories that are not told apart follow each other."""
        p = self.params
        images = p.imgIds if image is None else [image]
        places = {one: place for place, one in enumerate(p.catIds)}
        notes = [
            note
            for one in images
            for note in coco.imgToAnns.get(one, ())
            if note["category_id"] in places
        ]
        return notes if p.useCats else sorted(notes, key=lambda n: places[n["category_id"]])

    @property
    def evalImgs(self) -> Sequence[Record | None]:
        """What became of each category, range of area and image; may be set, to accumulate it."""
        if self._images is None and self._matching is not None:
            from karat.tasks.detection.perimage import per_image

            made = self._matching
            ids = [note["id"] for note in made.truths], [box["id"] for box in made.detections]
            self._images = per_image(made.found, made.params, *ids)
        return [] if self._images is None else self._images

    @evalImgs.setter
    def evalImgs(self, images: Sequence[Record | None]) -> None:
        self._images, self._matching = images, None

    def evaluateImg(self, imgId: Any, catId: Any, aRng: Any, maxDet: int) -> Record | None:
        """What became of one image, category and range of area."""
        from karat.tasks.detection.perimage import categories_of

        p = self._matching.params if self._matching else self._paramsEval
        if not p or maxDet != p.maxDets[-1]:
            raise UsageError("evaluate with this as the last of params.maxDets first")
        place = categories_of(p).index(catId) * len(p.areaRng) + list(p.areaRng).index(aRng)
        return self.evalImgs[place * len(p.imgIds) + list(p.imgIds).index(imgId)]

    def computeIoU(self, imgId: Any, catId: Any) -> Any:
        """The overlaps of an image's detections, best first, with its annotations; [] for none."""
        import numpy as np

        from karat.tasks.detection.dicts import overlaps

        if self.cocoGt is None or self.cocoDt is None:
            raise UsageError("annotations and detections are needed: COCOeval(gold, found, 'bbox')")
        notes, boxes = (
            [n for n in self._chosen(coco, imgId) if catId in (n["category_id"], -1)]
            for coco in (self.cocoGt, self.cocoDt)
        )
        order = np.argsort([-box["score"] for box in boxes], kind="stable")
        best = [boxes[i] for i in order[: self.params.maxDets[-1]]]
        return overlaps(best, notes) if best and notes else []

    # --- accumulate ------------------------------------------------------------------------------

    def accumulate(self, p: Params | None = None) -> None:
        """Fill `eval` with the arrays of precision, recall and scores."""
        import datetime as dt

        p = p or self.params
        arrays = self._accumulated(p)
        now = dt.datetime.now()  # noqa: DTZ005  # the original writes local time
        self.eval = {
            "params": p,
            "counts": list(arrays.precision.shape),
            "date": now.strftime("%Y-%m-%d %H:%M:%S"),
            "precision": arrays.precision,
            "recall": arrays.recall,
            "scores": arrays.scores,
        }

    def _accumulated(self, p: Params) -> Accumulated:
        """The arrays, from the matching where it is of the same; else from the images' dicts."""
        made = self._matching
        if made is not None and _same(p, made.params):
            from karat.tasks.detection.evaluate import accumulate

            return accumulate(replace(made.found, rules=_rules(p)))
        if made is None and (self._images is None or not self._paramsEval):
            raise UsageError("please run evaluate() first")
        from karat.tasks.detection.perimage import accumulated

        evaluated = made.params if made else self._paramsEval
        if len(p.iouThrs) != len(evaluated.iouThrs):
            raise UsageError("params.iouThrs changed: please run evaluate() again")
        return accumulated(self.evalImgs, p, evaluated)

    # --- summarize -------------------------------------------------------------------------------

    def summarize(self) -> None:
        """Print the twelve lines and keep their numbers in `stats`."""
        import numpy as np

        if not self.eval:
            raise UsageError("please run accumulate() first")
        most = self.params.maxDets
        if len(most) < 3:
            raise UsageError(
                "the twelve lines need three params.maxDets",
                help="eval['precision'] and eval['recall'] hold what was asked for",
            )
        rows: list[tuple[bool, float | None, str, int]] = [
            (True, None, "all", 100),
            (True, 0.5, "all", most[2]),
            (True, 0.75, "all", most[2]),
            *((True, None, area, most[2]) for area in ("small", "medium", "large")),
            *((False, None, "all", limit) for limit in most[:3]),
            *((False, None, area, most[2]) for area in ("small", "medium", "large")),
        ]
        self.stats = np.array([self._line(*row) for row in rows])

    def _line(self, precision: bool, overlap: float | None, area: str, most: int) -> float:
        import numpy as np

        p = self.params
        areas = [i for i, name in enumerate(p.areaRngLbl) if name == area]
        limits = [i for i, limit in enumerate(p.maxDets) if limit == most]
        table = self.eval["precision" if precision else "recall"]
        if overlap is not None:
            table = table[np.flatnonzero(overlap == np.asarray(p.iouThrs))]
        table = table[..., areas, :][..., limits]
        known = table[table > -1]
        value = float(np.mean(known)) if len(known) else -1.0
        kind = "Average Precision  (AP)" if precision else "Average Recall     (AR)"
        span = f"{p.iouThrs[0]:0.2f}:{p.iouThrs[-1]:0.2f}" if overlap is None else f"{overlap:0.2f}"
        sys.stdout.write(
            f" {kind} @[ IoU={span:<9} | area={area:>6s} | maxDets={most:>3d} ] = {value:0.3f}\n"
        )
        return value

    def __str__(self) -> str:
        self.summarize()
        return ""


def _same(p: Params, made: Params) -> bool:
    """Whether all but the recalls are what was evaluated."""
    import numpy as np

    names = ("imgIds", "catIds", "iouThrs", "maxDets", "areaRng", "useCats")
    return all(np.array_equal(getattr(p, name), getattr(made, name)) for name in names)


def _rules(p: Params) -> Rules:
    import numpy as np

    from karat.tasks.detection.boxes import Rules

    return Rules(
        np.asarray(p.iouThrs, dtype=np.float64),
        np.asarray(p.recThrs, dtype=np.float64),
        tuple((float(low), float(high)) for low, high in p.areaRng),
        tuple(p.areaRngLbl),
        tuple(p.maxDets),
    )
