"""Gold and predicted boxes of one image, drawn to scale.

An item shows them where its fields hold `boxes`: a list of objects with `box` (x, y, width,
height), `role` ("gold" or "predicted") and, as wanted, `label` and `score`; `size` (width, height)
of the image may stand beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from karat.model.report import Example
from karat.present.html import svg
from karat.present.html.markup import Safe, element, joined

WIDE, HIGHEST = 320.0, 320.0
MOST_BOXES = 60


def scene(example: Example, image: str | None = None) -> Safe | None:
    """The picture over its image, None where the item has no boxes that can be drawn."""
    given = example.fields.get("boxes")
    if not isinstance(given, list):
        return None
    boxes = [one for one in map(_box, given[:MOST_BOXES]) if one is not None]
    if not boxes:
        return None
    wide, high = _extent(example.fields.get("size"), boxes)
    factor = min(WIDE / wide, HIGHEST / high)
    whole = {"width": wide * factor, "height": high * factor}
    marks = [element("rect", x=0, y=0, class_="sheet", **whole)]
    if image is not None:
        marks.append(element("image", href=image, preserveAspectRatio="none", **whole))
    marks += [_drawn(role, label, box, factor, high * factor) for role, label, box in boxes]
    said = f"{sum(r == 'gold' for r, _, _ in boxes)} gold and "
    said += f"{sum(r != 'gold' for r, _, _ in boxes)} predicted boxes of {example.id}"
    key = element("small", "solid: gold; dashed: predicted", class_="dim")
    return joined(svg.picture(wide * factor, high * factor, said, *marks, kind="scene"), key)


Box = tuple[str, str, tuple[float, float, float, float]]


def _box(given: Any) -> Box | None:
    if not isinstance(given, Mapping):
        return None
    numbers = given.get("box")
    if not isinstance(numbers, list | tuple) or len(numbers) != 4:
        return None
    if not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers):
        return None
    x, y, width, height = map(float, numbers)
    role = "gold" if given.get("role") == "gold" else "predicted"
    score = given.get("score")
    label = str(given.get("label", ""))
    label += f" {score:.2f}" if isinstance(score, float) else ""
    return role, label.strip(), (x, y, max(width, 0.0), max(height, 0.0))


def _extent(size: Any, boxes: list[Box]) -> tuple[float, float]:
    """Width and height of the image, or of what the boxes cover."""
    if isinstance(size, list | tuple) and len(size) == 2:
        wide, high = size
        if isinstance(wide, int | float) and isinstance(high, int | float) and wide > 0 < high:
            return float(wide), float(high)
    wide = max(x + w for _, _, (x, _, w, _) in boxes)
    high = max(y + h for _, _, (_, y, _, h) in boxes)
    return max(wide, 1e-9), max(high, 1e-9)


def _drawn(
    role: str, label: str, box: tuple[float, float, float, float], factor: float, foot: float
) -> Safe:
    """One box; gold has its label above, a prediction below, so that they do not meet."""
    x, y, width, height = (n * factor for n in box)
    title = element("title", f"{role} {label}".strip())
    frame = element("rect", title, x=x, y=y, width=width, height=height, class_=f"box {role}")
    place = max(y - 4, 11) if role == "gold" else min(y + height + 13, foot - 3)
    late = x > WIDE * 0.75
    word = element(
        "text",
        label,
        x=x + width if late else x,
        y=place,
        text_anchor="end" if late else None,
        class_=role,
    )
    return element("g", frame, word if label else None)
