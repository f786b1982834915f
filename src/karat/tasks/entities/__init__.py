"""Named entities: typed spans in texts or in tagged tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from karat.model.task import Card, Converter, Official, Option, Peek

SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")
LIKES = ("conlleval", "seqeval", *(f"seqeval-strict:{s}" for s in SCHEMES), "nervaluate")
ENDS = ("auto", "exclusive", "inclusive")
GOLD_TAGS = ("ner_tags", "tags", "labels", "ner")
"""Where a JSON record may hold the tags of its tokens."""

PREDICTED_TAGS = ("predicted_tags", "pred_tags", "predictions", "predicted_labels")
_TAG = re.compile(rb"O|[BIESLUM]-.+|[BIESLUM]")

OPTIONS = (
    Option("like", "score as another tool does, to the digit", choices=LIKES),
    Option(
        "level",
        "what is compared: mentions, or whole entities (all mentions equal; weak: one is)",
        default="mention",
        choices=("mention", "entity", "weak"),
    ),
    Option("end", "whether an end offset is the last character of a span", "auto", choices=ENDS),
    Option("gold_end", "the same for gold alone", choices=ENDS),
    Option("predictions_end", "the same for predictions alone", choices=ENDS),
    Option(
        "min_overlap",
        "with --like nervaluate: percent of a gold span that an overlap must cover",
        default=1.0,
        kind="float",
    ),
    Option("tag_names", "names of numbered tags in their order, separated by commas"),
)


def looks_tagged(peek: Peek) -> bool:
    """Whether it is text whose lines end in token tags; a few may be broken."""
    return peek.shape in ("text", "table") and tagged_share(peek) >= 0.9


def tagged_share(peek: Peek, column: int = -1) -> float:
    """The share of the first lines that have a token tag in this column, counted from the end."""
    lines = peek.head.replace(b"\r", b"").split(b"\n")[:200]
    cells = [line.split() for line in lines if line.strip()]
    if len(peek.head) >= 1 << 16 and len(lines) < 200:
        cells.pop()
    tagged = sum(len(c) > 1 and _TAG.fullmatch(c[column]) is not None for c in cells)
    return tagged / len(cells) if cells else 0.0


def _listed(peek: Peek, keys: Iterable[str]) -> bool:
    """Whether there are keys of these, and lists under them all."""
    values = [peek.first.get(key) for key in keys if key in peek.keys]
    return bool(values) and all(isinstance(v, (list, type(None))) for v in values)


def has_tags(peek: Peek) -> bool:
    """Whether records hold tokens and a list of tags for them."""
    return bool({"tokens", "words"} & peek.keys) and _listed(peek, (*GOLD_TAGS, *PREDICTED_TAGS))


def _looks_standoff(peek: Peek) -> bool:
    """Whether a folder holds standoff annotations."""
    return peek.shape == "folder" and any(Path(peek.name).rglob("*.ann"))


def _recognise(gold: Peek, predictions: Peek | None) -> str | None:
    """What makes it entities."""
    keys = gold.keys
    said = None if predictions is None else predictions.keys
    if "text" in keys and keys & {"entities", "ents", "predicted_entities"}:
        seen = sorted(keys & {"entities", "ents", "predicted_entities"})
        if said is None or said & {"predicted_entities", "ents", "entities"}:
            return f"text and {', '.join(seen)}"
    if looks_tagged(gold) and (predictions is None or looks_tagged(predictions)):
        return "columns of token tags"
    known = {*GOLD_TAGS, *PREDICTED_TAGS}
    bare = said is not None and "text" not in keys and _listed(gold, GOLD_TAGS)
    if (has_tags(gold) or bare) and (said is None or said & known):
        return f"tokens and {', '.join(sorted(keys & known))}"
    if _looks_standoff(gold) and (predictions is None or predictions.shape == "folder"):
        return "a folder of .ann files"
    return None


def _is(name: str) -> Callable[[Peek], bool]:
    """What tells whether an input is of a format."""

    def recognise(peek: Peek) -> bool:
        if name == "brat":
            return _looks_standoff(peek)
        if name == "conll":
            return looks_tagged(peek)
        if name == "tags":
            return has_tags(peek)
        if name == "spacy":
            return {"text", "ents"} <= peek.keys
        return bool(peek.keys & {"entities", "predicted_entities"})

    return recognise


FORMATS = {
    "cache": "data and prediction caches (text and entities)",
    "spacy": "spaCy's JSON lines (text and ents)",
    "conll": "CoNLL columns with offsets",
    "tags": "JSON lines of tokens and tags",
    "brat": "a folder of brat standoff",
}

REWRITTEN = ("cache", "conll", "tags")
"""Formats that lead to themselves too: with other ends, or in another scheme."""

CONVERTERS = tuple(
    Converter(source, target, f"{__name__}.convert", "convert", f"to {text}", _is(source))
    for source in FORMATS
    for target, text in FORMATS.items()
    if source != target or source in REWRITTEN
)

CARDS = (
    Card(
        name="entities",
        title="Named entities",
        summary="typed spans in texts or tagged tokens, scored as any school does",
        item="text",
        layout=(
            '{"text": "Ada was in Rome.", "entities": [{"type": "LOC",\n'
            '   "mentions": [{"start_offset": 11, "end_offset": 15}]}]}    one object a line\n'
            '{"predicted_entities": [...]}                              line i belongs to text i\n'
            "also: spaCy's text and ents; CoNLL columns; brat folders; tokens and tags in JSON"
        ),
        recognise=_recognise,
        module="karat.tasks.entities.task",
        options=OPTIONS,
        computed={
            "text_length": "characters of the text",
            "text_words": "words of the text",
            "gold_entities": "gold entities in the text",
            "tokens": "tokens of the sentence, where tokens are tagged",
            "document": "the document of a sentence, in columns with document marks",
        },
        config_name="Named Entity Recognition",
        official=Official(
            "seqeval 1.2.2, nervaluate 1.2.1, conlleval.pl",
            "2004-01-26",
            "equal to the bit with --like",
        ),
        sample=(
            "entities",
            "gold.jsonl",
            "predictions.jsonl",
            "--by",
            "meta.desk",
            "--cluster",
            "meta.page",
        ),
        converters=CONVERTERS,
    ),
)
