"""A set of annotations with its indices, in the members of pycocotools' COCO."""

from __future__ import annotations

import copy
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.errors import UsageError

Record = dict[str, Any]
SHOWN = 8


class COCO:
    """A set of annotations with its indices; of a file, or of its content as a dict."""

    def __init__(self, annotation_file: str | Path | Record | None = None) -> None:
        self.dataset: Record = {}
        self.anns: dict[int, Record] = {}
        self.cats: dict[int, Record] = {}
        self.imgs: dict[int, Record] = {}
        self.imgToAnns: dict[int, list[Record]] = defaultdict(list)
        self.catToImgs: dict[int, list[int]] = defaultdict(list)
        if annotation_file is not None:
            given = annotation_file
            dataset = given if isinstance(given, Mapping) else _read(given)
            if not isinstance(dataset, dict):
                raise UsageError(f"annotation file format {type(dataset).__name__} not supported")
            self.dataset = dataset
            self.createIndex()

    def createIndex(self) -> None:
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

    def info(self) -> None:
        """Print what the file says about itself."""
        for key, value in self.dataset["info"].items():
            sys.stdout.write(f"{key}: {value}\n")

    def getAnnIds(
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

    def getCatIds(self, catNms: Any = (), supNms: Any = (), catIds: Any = ()) -> list[int]:
        """The ids of the categories that fit all filters."""
        filters = (("name", catNms), ("supercategory", supNms), ("id", catIds))
        found = list(self.dataset.get("categories", ()))
        for key, wanted in filters:
            values = [wanted] if isinstance(wanted, str) else _listed(wanted)
            if values:
                found = [category for category in found if category.get(key) in values]
        return [category["id"] for category in found]

    def getImgIds(self, imgIds: Any = (), catIds: Any = ()) -> list[int]:
        """The ids of the images that fit all filters."""
        images, categories = _listed(imgIds), _listed(catIds)
        if not images and not categories:
            return list(self.imgs)
        found = set(images)
        for place, category in enumerate(categories):
            having = set(self.catToImgs[category])
            found = having if place == 0 and not found else found & having
        return list(found)

    def loadAnns(self, ids: Any = ()) -> list[Record]:
        """The annotations of these ids."""
        return [self.anns[i] for i in _listed(ids)]

    def loadCats(self, ids: Any = ()) -> list[Record]:
        """The categories of these ids."""
        return [self.cats[i] for i in _listed(ids)]

    def loadImgs(self, ids: Any = ()) -> list[Record]:
        """The images of these ids."""
        return [self.imgs[i] for i in _listed(ids)]

    def loadRes(self, resFile: Any) -> COCO:
        """The detections of a file, a list of dicts, or an array of rows of seven numbers."""
        if isinstance(resFile, (str, Path)):
            notes = _read(resFile)
        elif hasattr(resFile, "shape"):
            notes = self.loadNumpyAnnotations(resFile)
        else:
            notes = resFile
        if not isinstance(notes, list):
            raise AssertionError("results in not an array of objects")
        unknown = {n["image_id"] for n in notes} - set(self.imgs)
        if unknown:
            raise AssertionError(
                "Results do not correspond to current coco set: unknown image ids "
                + _shown(unknown)
            )
        foreign = {n["category_id"] for n in notes} - set(self.cats)
        if foreign:
            text = f"detections of unknown categories are left out: {_shown(foreign)}"
            warnings.warn(text, stacklevel=2)
        for place, note in enumerate(notes):
            box = note.get("bbox")
            if not isinstance(box, Iterable):
                raise UsageError("only boxes can be evaluated: a result has no 'bbox'")
            x, y, width, height = box
            right, low = x + width, y + height
            note.setdefault("segmentation", [[x, y, x, low, right, low, right, y]])
            note["area"] = width * height
            note["id"] = place + 1
            note["iscrowd"] = 0
        result = COCO()
        result.dataset = {
            "info": copy.deepcopy(self.dataset.get("info", {})),
            "images": list(self.dataset.get("images", ())),
            "categories": copy.deepcopy(self.dataset.get("categories", [])),
            "annotations": notes,
        }
        result.createIndex()
        return result

    def loadNumpyAnnotations(self, data: Any) -> list[Record]:
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

    def annToRLE(self, ann: Record) -> Any:
        """Refuse: masks are not supported."""
        raise UsageError("masks are not supported", help="load them with pycocotools itself")

    annToMask = annToRLE


def _read(path: str | Path) -> Any:
    return json.loads(Path(path).read_bytes())


def _shown(ids: Iterable[Any]) -> str:
    found = sorted(ids)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(map(str, found[:SHOWN])) + more


def _listed(ids: Any) -> list[Any]:
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    return list(ids) if isinstance(ids, Iterable) and not isinstance(ids, str) else [ids]
