"""Why single questions lost points."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from karat.model.report import Example
from karat.tasks.answers import records
from karat.tasks.answers.kernel import overlap
from karat.tasks.answers.normal import Words, chosen, squad_words
from karat.tasks.answers.pair import AnswerPairs
from karat.tasks.answers.totals import quieted, silenced

SILENT = "said nothing"
SPOKE = "answered the unanswerable"
CUT = "silenced by the threshold"
UNSAID = "no prediction"
NOTHING = "no word in common"
SHORT = "too short"
LONG = "too long"
OTHER = "other words"


def kind_of(words: Sequence[str], gold: Sequence[str] | None, text: str | None) -> str:
    """How an answer missed: `gold` is the best gold answer, None where there is none."""
    if text is None:
        return UNSAID
    if gold is None:
        return SPOKE
    if not words:
        return SILENT
    said, true = Counter(words), Counter(gold)
    if not said & true:
        return NOTHING
    if not said - true:
        return SHORT
    return LONG if not true - said else OTHER


def worst(pairs: AnswerPairs, threshold: float, most: int) -> list[Example]:
    """The questions with the lowest F1, in turn from each way of missing."""
    quiet = quieted(pairs.pred, threshold)
    exact, f1 = silenced(pairs.pred, threshold)
    lost = sorted((i for i in range(pairs.n) if not exact[i]), key=lambda i: f1[i])
    turn: Counter[str] = Counter()
    ranked: list[tuple[float, int, int]] = []
    for i in lost:
        kind = CUT if quiet[i] else _quick_kind(pairs, i)
        turn[kind] += 1
        ranked.append((f1[i], turn[kind], i))
    places = [i for _, _, i in sorted(ranked)[:most]]
    shown = _questions(pairs, places)
    return [_example(pairs, i, f1[i], shown[i], threshold if quiet[i] else None) for i in places]


def _quick_kind(pairs: AnswerPairs, i: int) -> str:
    text = pairs.pred.said[i]
    if text is None:
        return UNSAID
    if not pairs.pred.answerable[i]:
        return SPOKE
    return NOTHING if text else SILENT


def _questions(pairs: AnswerPairs, places: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The question with its article and context, for the few items that are shown."""
    wanted = {int(pairs.gold.places[i]): i for i in places}
    found: dict[int, dict[str, Any]] = {}
    at = 0
    for article in _articles(pairs.gold.request.gold[0].data()):
        for paragraph in article.paragraphs:
            for place, question in enumerate(paragraph.qas, at):
                if place in wanted:
                    shown = {"article": article.title, "context": _plain(paragraph.context)}
                    found[wanted[place]] = _plain(question) | shown
            at += len(paragraph.qas)
    return found


def _articles(data: bytes) -> Sequence[Any]:
    """The articles of a file, their questions and contexts still as they are written."""
    try:
        return msgspec.json.decode(data, type=_sketch(msgspec.Raw)).data  # type: ignore[attr-defined,no-any-return]
    except records.UNDECODABLE:
        # Python's own reader takes a little more, NaN in a field that nobody asked for.
        return msgspec.convert(json.loads(data), _sketch(Any)).data  # type: ignore[attr-defined,no-any-return]


def _sketch(kind: Any) -> type[msgspec.Struct]:
    """The schema of a data set whose questions and contexts are of this type."""
    paragraph: Any = msgspec.defstruct(
        "Paragraph", [("qas", list[kind]), ("context", kind, None)], gc=False
    )
    parts: list[Any] = [("paragraphs", list[paragraph]), ("title", Any, None)]
    article: Any = msgspec.defstruct("Article", parts, gc=False)
    return msgspec.defstruct("Dataset", [("data", list[article])], gc=False)


def _plain(value: Any) -> Any:
    """A value that may still be as it was written."""
    return json.loads(bytes(value)) if isinstance(value, msgspec.Raw) else value


def best_gold(text: str, golds: Sequence[str], words: Words) -> str | None:
    """The gold answer with the largest F1; None where none has words."""
    said = words(text)
    full = [gold for gold in golds if words(gold)]
    return max(full, key=lambda gold: overlap(said, words(gold)), default=None)


def _example(
    pairs: AnswerPairs, i: int, score: float, shown: Mapping[str, Any], cut: float | None
) -> Example:
    """What is shown of one question; `cut` is the threshold that silenced it, if one did."""
    choices, text = pairs.gold.choices, pairs.pred.said[i]
    words = chosen(choices.normalizer, choices.language) or squad_words
    golds = [answer["text"] for answer in shown["answers"]]
    gold = best_gold(text or "", golds, words)
    said, true = words(text or ""), words(gold or "")
    common = list((Counter(said) & Counter(true)).elements())
    kind = kind_of(said, None if gold is None else true, text)
    why = _why(kind, said, true, common)
    if cut is not None:
        chance = (pairs.pred.chances or {}).get(pairs.ids[i], 0)
        kind, why = CUT, f"its no-answer probability {chance:g} is above the threshold {cut:g}"
    fields: dict[str, Any] = {key: shown[key] for key in ("question", "article") if shown.get(key)}
    fields |= {
        "predicted": text,
        "gold": gold if gold is not None else "(no answer)",
        "predicted, normalised": " ".join(said),
        "gold, normalised": " ".join(true),
        "in common": " ".join(common),
    }
    if shown.get("context"):
        fields["context"] = shown["context"]
    return Example(
        id=pairs.ids[i],
        record=int(pairs.gold.places[i]),
        score=100.0 * score,
        why=why,
        kind=kind,
        fields=fields,
    )


def _why(kind: str, said: Sequence[str], true: Sequence[str], common: Sequence[str]) -> str:
    """One sentence."""
    if kind in (SHORT, LONG, OTHER):
        missing = list((Counter(true) - Counter(said)).elements())
        extra = list((Counter(said) - Counter(true)).elements())
        parts = [f"{len(common)} of {len(true)} gold words said"]
        parts += [f"missing: {' '.join(missing)}"] if missing else []
        parts += [f"too much: {' '.join(extra)}"] if extra else []
        return "; ".join(parts)
    return {
        UNSAID: "there is no prediction; it counts as wrong",
        SPOKE: "an answer was given where there is none",
        SILENT: "nothing was said, but there is an answer",
        NOTHING: "no word in common with any gold answer",
    }[kind]
