"""Object detection against peers: COCO files, caches with probability vectors, intervals.

    python benchmarks/detection.py --images 500 --rounds 3

Peers that are not installed are left out with a word. Ratios are of CPU time within one run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import measure
from measure import Peer, Work

CLASSES, BOXES = 80, 100

LIBRARIES = ("hotcoco", "faster_coco_eval", "pycocotools")
"""The first that is installed is the 1 of the ratios."""


def write(folder: Path, images: int) -> None:
    """Seeded data like COCO's: small and large boxes, rare and frequent classes, ties of scores."""
    rng = np.random.default_rng(7)
    shares = 1 / np.arange(1, CLASSES + 1) ** 0.9
    shares /= shares.sum()
    notes: list[Any] = []
    results: list[Any] = []
    with (folder / "gold.jsonl").open("w") as gold, (folder / "pred.jsonl").open("w") as pred:
        for image in range(1, images + 1):
            truths, labels = _truths(rng, shares)
            for box, label in zip(truths.tolist(), labels.tolist(), strict=True):
                note = {"id": len(notes) + 1, "image_id": image, "category_id": label + 1}
                area = round(0.7 * box[2] * box[3], 3)
                notes.append(
                    {**note, "bbox": box, "area": area, "iscrowd": int(rng.random() < 0.01)}
                )
            boxes, classes, scores = _found(rng, truths, labels, shares)
            for box, label, score in zip(
                boxes.tolist(), classes.tolist(), scores.tolist(), strict=True
            ):
                one = {"image_id": image, "category_id": label + 1, "bbox": box, "score": score}
                results.append(one)
            rows = [
                {"class_id": c, **_corners(b)}
                for b, c in zip(truths.tolist(), labels.tolist(), strict=True)
            ]
            size = {"width": 640, "height": 480}
            gold.write(json.dumps({"image_path": f"{image}.jpg", **size, "label": rows}) + "\n")
            vectors = rng.dirichlet(np.full(CLASSES, 0.05), BOXES) * (1 - scores[:, None])
            vectors = np.round(vectors, 4)
            vectors[np.arange(BOXES), classes] = scores
            cells = [
                {**_corners(b), "probabilities": p}
                for b, p in zip(boxes.tolist(), vectors.tolist(), strict=True)
            ]
            pred.write(json.dumps({"predicted_bounding_boxes": cells}) + "\n")
    sizes = [{"id": i, "width": 640, "height": 480} for i in range(1, images + 1)]
    names = [{"id": c, "name": f"c{c}"} for c in range(1, CLASSES + 1)]
    whole = {"images": sizes, "annotations": notes, "categories": names}
    (folder / "gt.json").write_text(json.dumps(whole))
    (folder / "dt.json").write_text(json.dumps(results))


def _truths(rng: np.random.Generator, shares: Any) -> tuple[Any, Any]:
    many = int(rng.poisson(7.3))
    side = np.exp(rng.uniform(np.log(12), np.log(350), many))
    tall = np.exp(rng.normal(0, 0.35, many))
    width, height = np.minimum(side * tall, 638), np.minimum(side / tall, 478)
    x, y = rng.uniform(0, 640 - width), rng.uniform(0, 480 - height)
    return np.round(np.stack([x, y, width, height], axis=1), 2), rng.choice(CLASSES, many, p=shares)


def _found(rng: np.random.Generator, truths: Any, labels: Any, shares: Any) -> tuple[Any, Any, Any]:
    sides = np.exp(rng.uniform(np.log(10), np.log(300), (BOXES, 2)))
    boxes = np.concatenate([rng.uniform(0, 1, (BOXES, 2)) * ([640, 480] - sides), sides], axis=1)
    classes = rng.choice(CLASSES, BOXES, p=0.5 * shares + 0.5 / CLASSES)
    scores = np.round(rng.beta(0.6, 4, BOXES), 4)
    if len(truths):
        near = np.flatnonzero(rng.random(BOXES) < 0.2)
        which = rng.integers(len(truths), size=len(near))
        size = truths[which][:, [2, 3, 2, 3]]
        boxes[near] = truths[which] + rng.normal(0, 0.08, (len(near), 4)) * size
        right = rng.random(len(near)) < 0.85
        classes[near[right]] = labels[which[right]]
        scores[near] = np.round(np.minimum(rng.beta(3, 2, len(near)), 0.9999), 4)
    boxes[:, 2:] = np.maximum(boxes[:, 2:], 2)
    return np.round(boxes, 2), classes, scores


def _corners(box: list[float]) -> dict[str, float]:
    x, y, width, height = box
    return {"x_min": x, "x_max": round(x + width, 2), "y_min": y, "y_max": round(y + height, 2)}


def karat_arrays(folder: Path, gold: str, found: str, scores: bool) -> Work:
    """Read, check, match and fill the official arrays."""
    from karat.model.problem import Problems
    from karat.model.task import Request
    from karat.read.source import Source
    from karat.tasks import card
    from karat.tasks.detection import measure as m
    from karat.tasks.detection import pair
    from karat.tasks.detection.evaluate import accumulate

    def work() -> object:
        request = Request((Source.of(folder / gold),), (Source.of(folder / found),))
        pairs = pair.read(card("object-detection"), request, Problems())
        assert pairs is not None
        return accumulate(m.evaluated(pairs), scores)

    return work


def karat_score(folder: Path, **settings: Any) -> Work:
    """The whole report."""
    import karat

    return lambda: karat.score(str(folder / "gt.json"), str(folder / "dt.json"), **settings)


def peer_arrays(folder: Path, library: str) -> Work:
    """The same by a library that has COCO and COCOeval."""
    module: Any = importlib.import_module(library)
    if library == "pycocotools":
        coco = importlib.import_module("pycocotools.coco").COCO
        evaluator = importlib.import_module("pycocotools.cocoeval").COCOeval
    elif library == "faster_coco_eval":
        coco, evaluator = module.COCO, module.COCOeval_faster
    else:
        coco, evaluator = module.COCO, module.COCOeval

    def work() -> object:
        with contextlib.redirect_stdout(io.StringIO()):
            truth = coco(str(folder / "gt.json"))
            load = getattr(truth, "load_res", None) or truth.loadRes
            run = evaluator(truth, load(str(folder / "dt.json")), "bbox")
            run.evaluate()
            run.accumulate()
        return run

    return work


def peer_vectors(folder: Path) -> Work:
    """orjson, arrays, hotcoco: what a careful user would write for a cache."""
    import orjson
    from hotcoco import COCO, COCOeval

    def work() -> object:
        images, notes, parts = [], [], []
        for i, line in enumerate((folder / "gold.jsonl").open("rb")):
            row = orjson.loads(line)
            images.append({"id": i, "width": row["width"], "height": row["height"]})
            for b in row["label"]:
                w, h = b["x_max"] - b["x_min"], b["y_max"] - b["y_min"]
                note = {"id": len(notes) + 1, "image_id": i, "category_id": b["class_id"]}
                box = [b["x_min"], b["y_min"], w, h]
                notes.append({**note, "bbox": box, "area": w * h, "iscrowd": 0})
        for i, line in enumerate((folder / "pred.jsonl").open("rb")):
            boxes = orjson.loads(line)["predicted_bounding_boxes"]
            p = np.array([b["probabilities"] for b in boxes])
            x = np.array([(b["x_min"], b["y_min"], b["x_max"], b["y_max"]) for b in boxes])
            x[:, 2:] -= x[:, :2]
            top = p.argmax(axis=1)
            every = np.arange(len(boxes))
            parts.append(np.column_stack([np.full(len(boxes), i), x, p[every, top], top]))
        names = [{"id": c, "name": str(c)} for c in range(CLASSES)]
        truth = COCO({"images": images, "annotations": notes, "categories": names})
        run = COCOeval(truth, truth.load_res(np.concatenate(parts)), "bbox")
        run.evaluate()
        run.accumulate()
        return run

    return work


def has(library: str) -> bool:
    """Whether a peer is installed."""
    return importlib.util.find_spec(library) is not None


def peers(draws: int) -> list[Peer]:
    """All contenders that are installed."""
    installed = [library for library in LIBRARIES if has(library)]
    best = f"COCO files: {installed[0]}" if installed else ""
    out = [Peer("COCO files: karat", best, lambda f: karat_arrays(f, "gt.json", "dt.json", True))]
    for library in installed:
        name = f"COCO files: {library}"
        out.append(Peer(name, best, lambda f, library=library: peer_arrays(f, library)))
    cache = "vectors: orjson, arrays, hotcoco"
    out.append(
        Peer("vectors: karat", cache, lambda f: karat_arrays(f, "gold.jsonl", "pred.jsonl", False))
    )
    if has("hotcoco") and has("orjson"):
        out.append(Peer(cache, cache, peer_vectors))
    plain = "report without intervals"
    out.append(Peer(plain, plain, lambda f: karat_score(f, confidence=None)))
    out.append(Peer("report with intervals", plain, karat_score))
    name = f"report with {draws} resamples"
    out.append(Peer(name, plain, lambda f: karat_score(f, bootstrap=draws)))
    return out


def main() -> None:
    """Write the data and race."""
    asked = measure.arguments(images=500, draws=50)
    contenders = peers(asked.draws)
    if asked.peer:
        measure.answer_as_child(contenders, asked.peer, asked.folder)
        return
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        write(folder, asked.images)
        for library in LIBRARIES:
            if not has(library):
                print(f"{library} is not installed, so it is left out")
        print(f"{asked.images} images x {BOXES} boxes, {measure.machine()}")
        measure.race(Path(__file__), measure.chosen(contenders, asked.only), folder, asked.rounds)


if __name__ == "__main__":
    main()
