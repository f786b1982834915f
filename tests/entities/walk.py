"""conlleval's count of chunks, taken token by token: a slow second opinion.

Both sides are walked at once. A gold and a predicted chunk are the same one if they start
together with one type and nothing sets them apart until both end together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
SILENT, BRACKETS = {"O", "."}, {"[", "]"}


@dataclass
class Counts:
    """Chunks that are right, predicted and in gold, and tokens with equal tags."""

    right: int = 0
    said: int = 0
    true: int = 0
    tokens: int = 0
    same: int = 0
    types: set[str] = field(default_factory=set)


def split(tag: str) -> tuple[str, str]:
    letter, _, rest = tag.partition("-")
    return letter, "" if rest == "0" else rest  # a type of 0 is false to Perl, so none


def ends(before: tuple[str, str], here: tuple[str, str]) -> bool:
    return (
        before[0] + here[0] in ENDS
        or (before[0] not in SILENT and before[1] != here[1])
        or before[0] in BRACKETS
    )


def starts(before: tuple[str, str], here: tuple[str, str]) -> bool:
    return (
        before[0] + here[0] in STARTS
        or (here[0] not in SILENT and before[1] != here[1])
        or here[0] in BRACKETS
    )


def walk(gold: list[list[str]], pred: list[list[str]]) -> Counts:
    """The counts of all sentences."""
    out, together = Counts(), False
    g0 = p0 = ("O", "")
    for a, b in zip(gold, pred, strict=True):
        for gold_tag, pred_tag, real in [
            *((x, y, True) for x, y in zip(a, b, strict=True)),
            ("O", "O", False),
        ]:
            g, p = split(gold_tag), split(pred_tag)
            if together:
                over = ends(g0, g), ends(p0, p)
                if all(over) and g0[1] == p0[1]:
                    out.right, together = out.right + 1, False
                elif over[0] != over[1] or g[1] != p[1]:
                    together = False
            begun = starts(g0, g), starts(p0, p)
            together = together or (all(begun) and g[1] == p[1])
            out.true += begun[0]
            out.said += begun[1]
            out.tokens += real
            out.same += real and g == p
            g0, p0 = g, p
    out.right += together
    return out
