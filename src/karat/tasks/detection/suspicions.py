"""What no schema can see: predictions that fit far better when they are read another way."""

from __future__ import annotations

from karat.model.problem import Problems
from karat.tasks.detection.cache import Data, Predicted
from karat.tasks.detection.records import BOXES
from karat.tasks.detection.scene import Found, Scene
from karat.read.checks import report_count


def rows_agree(data: Data, predicted: Predicted) -> bool:
    """Whether every row of data has its row of predictions; what is wrong is reported."""
    rows, others = data.reader.count, predicted.reader.count
    if not rows or not others:
        return False
    if data.reader is not predicted.reader:
        report_count(predicted.reader.place(), others, rows, BOXES)
    usual = predicted.width
    for place in (data.classes >= usual).nonzero()[0].tolist() if usual else []:
        record = int(data.row[place])
        index = place - int((data.row < record).sum())
        text = f"{data.classes[place]} but predictions have {usual} classes (0..{usual - 1})"
        data.reader.place(record).add("label-range", text, f"label[{index}].class_id")
    return rows == others and not predicted.reader.problems.errors


def look(scene: Scene, found: Found, problems: Problems) -> None:
    """Warn of boxes, classes and scores that seem to be meant otherwise."""
