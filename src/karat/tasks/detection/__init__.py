"""Object detection: boxes with classes and scores, against boxes."""

from __future__ import annotations

from karat.model.task import Card, Converter, Official, Option, Peek

OPTIONS = (
    Option(
        "boxes",
        "how a probability vector becomes detections: argmax, multilabel:T (one a class with "
        "p >= T), topk:K (the K best of an image)",
        default="argmax",
    ),
    Option(
        "background",
        "which slot of a probability vector is no class",
        default="none",
        choices=("none", "first", "last"),
    ),
    Option(
        "coordinates",
        "what the coordinates of a cache are",
        default="auto",
        choices=("auto", "fractions", "pixels"),
    ),
    Option(
        "convention",
        "which average precision: coco, voc07 (11 points), voc10 (area under the curve)",
        default="coco",
        choices=("coco", "voc07", "voc10"),
    ),
    Option("iou", "thresholds of the overlap, as in 0.5,0.75", default=""),
    Option(
        "areas",
        "ranges of box area, as in small=0:1024,large=1024:; fractions of the image where "
        "written with %, as in tiny=0%:1%",
        default="",
    ),
    Option("max_boxes", "how many boxes of an image and class count", default="1,10,100"),
    Option(
        "score_cut",
        "the score from which a box counts for precision, recall, f1",
        default=0.5,
        kind="float",
    ),
    Option("class_names", "names of the classes in the order of the vector, separated by commas"),
)

CONVERTERS = (
    Converter(
        "voc",
        "coco",
        "karat.tasks.detection.converters",
        "voc",
        "a folder of Pascal VOC's XML files; corners=plain for corners that are not inclusive",
    ),
    Converter(
        "yolo",
        "cache",
        "karat.tasks.detection.converters",
        "yolo_labels",
        "a folder of YOLO's label files",
    ),
    Converter(
        "yolo-predictions",
        "cache",
        "karat.tasks.detection.converters",
        "yolo_predictions",
        "a folder of YOLO's result files with confidences; needs labels=FOLDER, takes classes=N",
    ),
)

CACHE_KEY = "predicted_bounding_boxes"


def _recognise(gold: Peek, predictions: Peek | None) -> str | None:
    """What makes it object detection: a COCO file, or rows with lists of boxes."""
    if gold.shape == "object" and {"images", "annotations"} <= gold.keys:
        return _coco(predictions)
    if gold.shape not in ("lines", "list") or "text" in gold.keys:
        return None
    label = gold.first.get("label") if isinstance(gold.first, dict) else None
    if not (isinstance(label, list) or CACHE_KEY in gold.keys):
        return None
    if predictions is None:
        return f"label boxes, {CACHE_KEY}" if CACHE_KEY in gold.keys else "label boxes"
    return f"label boxes, {CACHE_KEY}" if CACHE_KEY in predictions.keys else None


def _coco(predictions: Peek | None) -> str | None:
    if predictions is None:
        return "COCO annotations"
    if predictions.shape == "list" and (
        predictions.first is None or {"image_id", "bbox"} & predictions.keys
    ):
        return "COCO annotations and results"
    return None


CARDS = (
    Card(
        name="object-detection",
        title="Object detection",
        summary="boxes with a class and a score, against boxes",
        item="image",
        layout=(
            '{"image_path": "a.png", "label": [{"class_id": 1, "x_min": 0.1, "x_max": 0.4, '
            '"y_min": 0.2, "y_max": 0.5}]}\n'
            '{"predicted_bounding_boxes": [{"x_min": 0.1, "x_max": 0.4, "y_min": 0.2, '
            '"y_max": 0.5, "probabilities": [0.1, 0.9]}]}\n'
            "or COCO: annotations.json (images, annotations, categories) and results.json "
            "([{image_id, category_id, bbox, score}])"
        ),
        recognise=_recognise,
        module="karat.tasks.detection.task",
        options=OPTIONS,
        computed={
            "gold_boxes": "boxes that the image has",
            "predicted_boxes": "boxes that were found in the image",
            "gold_classes": "classes that the image has",
            "median_area": "median area of the image's boxes",
        },
        config_name="Object Detection",
        official=Official("pycocotools", "2.0.11", "equal as doubles"),
        sample=("object-detection", "gold.jsonl", "predictions.jsonl"),
        converters=CONVERTERS,
        exemptions={
            "perfect": "AR_1 and AR_10 count so many boxes of an image and class, however many "
            "there are to be found"
        },
    ),
)
