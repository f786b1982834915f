"""Named entities: typed spans in texts or in tagged tokens."""

from __future__ import annotations

from karat.model.task import Card, Official, Option, Peek

SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")
LIKES = ("conlleval", "seqeval", *(f"seqeval-strict:{s}" for s in SCHEMES), "nervaluate")
ENDS = ("auto", "exclusive", "inclusive")
TAG_KEYS = ("ner_tags", "tags", "labels", "predicted_tags", "pred_tags", "predictions")

OPTIONS = (
    Option("like", "score as another tool does, to the digit", choices=LIKES),
    Option(
        "entity_level",
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


def _recognise(gold: Peek, predictions: Peek | None) -> str | None:
    """What makes it entities."""
    keys = gold.keys
    if "text" in keys and keys & {"entities", "ents", "predicted_entities"}:
        seen = sorted(keys & {"entities", "ents", "predicted_entities"})
        if predictions is None or predictions.keys & {"predicted_entities", "ents", "entities"}:
            return f"text and {', '.join(seen)}"
    return None


CARDS = (
    Card(
        name="entities",
        title="Named entities",
        summary="typed spans in texts or tagged tokens, scored as any school does",
        item="text",
        layout=(
            '{"text": "Ada was in Rome.", "entities": [{"type": "LOC",\n'
            '   "mentions": [{"start_offset": 11, "end_offset": 15}]}]}    one object a line\n'
            '{"predicted_entities": [...]}                                 line i belongs to text i\n'
            "also: spaCy's text and ents; CoNLL columns; brat folders; tokens and tags in JSON"
        ),
        recognise=_recognise,
        module="karat.tasks.entities.task",
        options=OPTIONS,
        computed={
            "text_length": "characters of the text",
            "text_words": "words of the text",
            "gold_entities": "gold entities in the text",
        },
        config_name="Named Entity Recognition",
        official=Official("seqeval", "1.2.2", "equal to the bit with --like"),
        sample=("entities", "gold.jsonl", "predictions.jsonl"),
    ),
)
