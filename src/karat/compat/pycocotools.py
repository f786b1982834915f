"""COCO and COCOeval for boxes, as training code uses them: a switch of one import.

`from karat.compat.pycocotools import COCO, COCOeval` gives the same arrays and the same printed
summary. Masks and keypoints are refused, `evalImgs` is not filled, and an annotation of id 0
counts like any other.
"""

from __future__ import annotations

import copy
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from karat.tasks.detection.boxes import Detections, Rules, Truths
    from karat.tasks.detection.evaluate import Evaluated

Record = dict[str, Any]
SHOWN = 8


class COCO:
    """A set of annotations with its indices."""

    def __init__(self, annotation_file: str | Path | None = None) -> None:
        self.dataset: Record = {}
        self.anns: dict[int, Record] = {}
        self.cats: dict[int, Record] = {}
        self.imgs: dict[int, Record] = {}
        self.imgToAnns: dict[int, list[Record]] = defaultdict(list)
        self.catToImgs: dict[int, list[int]] = defaultdict(list)
        if annotation_file is not None:
            dataset = json.loads(Path(annotation_file).read_bytes())
            if not isinstance(dataset, dict):
                raise UsageError(f"annotation file format {type(dataset).__name__} not supported")
            self.dataset = dataset
            self.createIndex()

    def createIndex(self) -> None:  # noqa: N802  # the names are the original's
        """Index the data set by annotation, image and category."""
        self.anns, self.cats, self.imgs = {}, {}, {}
        self.imgToAnns, self.catToImgs = defaultdict(list), defaultdict(list)
        for note in self.dataset.get("annotations", ()):
            self.imgToAnns[note["image_id"]].append(note)
            self.anns[note["id"]] = note
            if "categories" in self.dataset:
                self.catToImgs[note["category_id"]].append(note["image_id"])
        self.imgs = {image["id"]: image for image in self.dataset.get("images", ())}
        self.cats = {category["id"]: category for category in self.dataset.get("categories", ())}

    def getAnnIds(  # noqa: N802
        self,
        imgIds: Any = (),
        catIds: Any = (),
        areaRng: Sequence[float] = (),
        iscrowd: bool | None = None,
    ) -> list[int]:
        """The ids of the annotations that fit all filters; an empty filter lets all pass."""
        images, categories = _listed(imgIds), set(_listed(catIds))
        notes = self.dataset.get("annotations", [])
        if images:
            notes = [n for i in images if i in self.imgToAnns for n in self.imgToAnns[i]]
        if categories:
            notes = [n for n in notes if n["category_id"] in categories]
        if len(areaRng):
            notes = [n for n in notes if areaRng[0] < n["area"] < areaRng[1]]
        if iscrowd is not None:
            notes = [n for n in notes if n["iscrowd"] == iscrowd]
        return [n["id"] for n in notes]

    def getCatIds(self, catNms: Any = (), supNms: Any = (), catIds: Any = ()) -> list[int]:  # noqa: N802
        """The ids of the categories that fit all filters."""
        filters = (("name", catNms), ("supercategory", supNms), ("id", catIds))
        found = list(self.dataset.get("categories", ()))
        for key, wanted in filters:
            values = [wanted] if isinstance(wanted, str) else _listed(wanted)
            if values:
                found = [category for category in found if category.get(key) in values]
        return [category["id"] for category in found]

    def getImgIds(self, imgIds: Any = (), catIds: Any = ()) -> list[int]:  # noqa: N802
        """The ids of the images that fit all filters."""
        images, categories = _listed(imgIds), _listed(catIds)
        if not images and not categories:
            return list(self.imgs)
        found = set(images)
        for place, category in enumerate(categories):
            having = set(self.catToImgs[category])
            found = having if place == 0 and not found else found & having
        return list(found)

    def loadAnns(self, ids: Any = ()) -> list[Record]:  # noqa: N802
        """The annotations of these ids."""
        return [self.anns[i] for i in _listed(ids)]

    def loadCats(self, ids: Any = ()) -> list[Record]:  # noqa: N802
        """The categories of these ids."""
        return [self.cats[i] for i in _listed(ids)]

    def loadImgs(self, ids: Any = ()) -> list[Record]:  # noqa: N802
        """The images of these ids."""
        return [self.imgs[i] for i in _listed(ids)]

    def loadRes(self, resFile: Any) -> COCO:  # noqa: N802
        """The detections of a file, a list of dicts, or an array of rows of seven numbers."""
        if isinstance(resFile, (str, Path)):
            notes = json.loads(Path(resFile).read_bytes())
        elif hasattr(resFile, "shape"):
            notes = self.loadNumpyAnnotations(resFile)
        else:
            notes = resFile
        if not isinstance(notes, list):
            raise AssertionError("results in not an array of objects")
        unknown = sorted({n["image_id"] for n in notes} - set(self.imgs))
        if unknown:
            more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
            shown = ", ".join(map(str, unknown[:SHOWN]))
            raise AssertionError(
                f"Results do not correspond to current coco set: unknown image ids {shown}{more}"
            )
        for place, note in enumerate(notes):
            box = note.get("bbox")
            if not isinstance(box, Iterable):
                raise UsageError("only boxes can be evaluated: a result has no 'bbox'")
            note["area"] = box[2] * box[3]  # type: ignore[index]  # a list, tuple or array of four
            note["id"] = place + 1
            note["iscrowd"] = 0
        result = COCO()
        result.dataset = {
            "images": list(self.dataset.get("images", ())),
            "categories": copy.deepcopy(self.dataset.get("categories", [])),
            "annotations": notes,
        }
        result.createIndex()
        return result

    def loadNumpyAnnotations(self, data: Any) -> list[Record]:  # noqa: N802
        """Dicts of an array of rows: image, x, y, width, height, score, category."""
        if data.ndim != 2 or data.shape[1] != 7:
            raise AssertionError("rows of seven numbers are needed")
        return [
            {
                "image_id": int(row[0]),
                "bbox": row[1:5],
                "score": row[5],
                "category_id": int(row[6]),
            }
            for row in data.tolist()
        ]


def _listed(ids: Any) -> list[Any]:
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    return list(ids) if isinstance(ids, Iterable) and not isinstance(ids, str) else [ids]


class Params:
    """What is evaluated, in the names of the original."""

    def __init__(self, iouType: str = "bbox") -> None:
        import numpy as np

        if iouType != "bbox":
            raise UsageError(f"iouType {iouType!r} is not supported", help="only boxes are: bbox")
        self.iouType = iouType
        self.imgIds: Any = []
        self.catIds: Any = []
        self.iouThrs = np.linspace(0.5, 0.95, 10)
        self.recThrs = np.linspace(0.0, 1.0, 101)
        self.maxDets = [1, 10, 100]
        self.areaRng: list[Any] = [[0, 1e10], [0, 32**2], [32**2, 96**2], [96**2, 1e10]]
        self.areaRngLbl = ["all", "small", "medium", "large"]
        self.useCats = 1


class COCOeval:
    """Evaluates detections against annotations: evaluate, accumulate, summarize."""

    def __init__(
        self, cocoGt: COCO | None = None, cocoDt: COCO | None = None, iouType: str = "bbox"
    ) -> None:
        self.cocoGt, self.cocoDt = cocoGt, cocoDt
        self.params = Params(iouType)
        self.eval: Record = {}
        self.evalImgs: list[Any] = []
        self.stats: Any = []
        self._found: Evaluated | None = None
        if cocoGt is not None:
            self.params.imgIds = sorted(cocoGt.getImgIds())
            self.params.catIds = sorted(cocoGt.getCatIds())

    def evaluate(self) -> None:
        """Match every image and category."""
        import numpy as np

        from karat.tasks.detection.evaluate import evaluate

        p = self.params
        p.imgIds = list(np.unique(p.imgIds))
        if p.useCats:
            p.catIds = list(np.unique(p.catIds))
        p.maxDets = sorted(p.maxDets)
        assert self.cocoGt is not None
        assert self.cocoDt is not None
        images, categories = _places(p.imgIds), _places(p.catIds)
        notes = _chosen(self.cocoGt, images, categories, bool(p.useCats))
        found = _chosen(self.cocoDt, images, categories, bool(p.useCats))
        if not p.useCats:
            categories = dict.fromkeys(categories, 0)
        truths, detections = (
            _truths(notes, images, categories),
            _detections(found, images, categories),
        )
        k = len(p.catIds) if p.useCats else 1
        self._found = evaluate(truths, detections, len(p.imgIds), k, _rules(p))

    def accumulate(self, p: Params | None = None) -> None:
        """Fill `eval` with the arrays of precision, recall and scores."""
        import datetime as dt

        from karat.tasks.detection.evaluate import accumulate

        if self._found is None:
            raise UsageError("please run evaluate() first")
        p = p or self.params
        arrays = accumulate(self._found)
        now = dt.datetime.now()  # noqa: DTZ005  # the original writes local time
        self.eval = {
            "params": p,
            "counts": list(arrays.precision.shape),
            "date": now.strftime("%Y-%m-%d %H:%M:%S"),
            "precision": arrays.precision,
            "recall": arrays.recall,
            "scores": arrays.scores,
        }

    def summarize(self) -> None:
        """Print the twelve lines and keep their numbers in `stats`."""
        import numpy as np

        if not self.eval:
            raise UsageError("please run accumulate() first")
        most = self.params.maxDets
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
            table = table[np.flatnonzero(overlap == p.iouThrs)]
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


def _places(ids: Iterable[Any]) -> dict[Any, int]:
    return {one: place for place, one in enumerate(_listed(list(ids)))}


def _chosen(
    coco: COCO, images: Mapping[Any, int], categories: Mapping[Any, int], apart: bool
) -> list[Record]:
    """The annotations to evaluate; where categories are merged, in the order of these."""
    notes = [
        note
        for note in coco.dataset.get("annotations", ())
        if note["image_id"] in images and note["category_id"] in categories
    ]
    return notes if apart else sorted(notes, key=lambda note: categories[note["category_id"]])


def _codes(
    notes: Sequence[Record], key: str, places: Mapping[Any, int]
) -> np.ndarray[Any, np.dtype[np.int32]]:
    import numpy as np

    return np.fromiter((places[note[key]] for note in notes), np.int32, len(notes))


def _numbers(values: Iterable[Any], n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    import numpy as np

    return np.fromiter(values, np.float64, n)


def _truths(
    notes: list[Record], images: Mapping[Any, int], categories: Mapping[Any, int]
) -> Truths:
    import numpy as np

    from karat.tasks.detection.boxes import Truths

    n = len(notes)
    return Truths(
        _codes(notes, "image_id", images),
        _codes(notes, "category_id", categories),
        np.array([note["bbox"] for note in notes], dtype=np.float64).reshape(n, 4),
        _numbers((note["area"] for note in notes), n),
        np.fromiter((bool(note.get("iscrowd", 0)) for note in notes), bool, n),
        np.arange(n),
    )


def _detections(
    notes: list[Record], images: Mapping[Any, int], categories: Mapping[Any, int]
) -> Detections:
    import numpy as np

    from karat.tasks.detection.boxes import Detections

    n = len(notes)
    return Detections(
        _codes(notes, "image_id", images),
        _codes(notes, "category_id", categories),
        np.array([note["bbox"] for note in notes], dtype=np.float64).reshape(n, 4),
        _numbers((note["area"] for note in notes), n),
        _numbers((note["score"] for note in notes), n),
        np.arange(n),
    )


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
