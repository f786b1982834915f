"""Spans to token tags, in any of the six schemes."""

from __future__ import annotations

from collections.abc import Sequence

Edges = Sequence[tuple[int, int]]


def encoded(scheme: str, tokens: Edges, spans: Sequence[tuple[int, int, str]]) -> list[str]:
    """The tag of each token. Spans are sorted, do not overlap and start and end with tokens."""
    tags = ["O"] * len(tokens)
    begin = {start: i for i, (start, _) in enumerate(tokens)}
    stop = {end: i for i, (_, end) in enumerate(tokens)}
    last: tuple[int, str] | None = None
    for start, end, kind in spans:
        # A span that starts or ends in white space is taken at its words.
        first = begin.get(start, next((i for i, (a, _) in enumerate(tokens) if a >= start), None))
        final = stop.get(
            end, next((i for i in range(len(tokens) - 1, -1, -1) if tokens[i][1] <= end), None)
        )
        if first is None or final is None or final < first:
            continue
        touches = last is not None and last == (first - 1, kind)
        _fill(tags, scheme, first, final, kind, touches)
        last = (final, kind)
    return tags


def _fill(tags: list[str], scheme: str, first: int, final: int, kind: str, touches: bool) -> None:
    for i in range(first, final + 1):
        tags[i] = f"I-{kind}"
    if scheme == "IOB2" or (scheme == "IOB1" and touches):
        tags[first] = f"B-{kind}"
    elif scheme == "IOE2":
        tags[final] = f"E-{kind}"
    elif scheme == "IOE1" and touches:
        tags[first - 1] = f"E-{kind}"
    elif scheme in ("IOBES", "BILOU"):
        single, end = ("S", "E") if scheme == "IOBES" else ("U", "L")
        tags[first], tags[final] = f"B-{kind}", f"{end}-{kind}"
        if first == final:
            tags[first] = f"{single}-{kind}"
