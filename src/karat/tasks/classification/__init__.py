"""Text classification, natural language inference and image classification."""

from __future__ import annotations

from msgspec.structs import replace

from karat.model.task import Card, Official, Option, Peek

OPTIONS = (
    Option(
        "metrics",
        "which metrics: labels, probabilities (log loss, Brier, calibration), "
        "order (AUROC, average precision)",
        choices=("labels", "probabilities", "order"),
        many=True,
        signature=False,
    ),
    Option("class_names", "names of the classes in the order of the vector, separated by commas"),
    Option(
        "top_k", "top-k accuracies to show", default=(3, 5), kind="int", many=True, signature=False
    ),
)

_SAMPLE = ("gold.jsonl", "predictions.jsonl")


def _show(by: str, cluster: str | None, names: str) -> tuple[str, ...]:
    """The flags that show a sample best."""
    clusters = () if cluster is None else ("--cluster", cluster)
    return ("--by", by, *clusters, "--class-names", names)


def _is_probability_row(peek: Peek | None) -> bool:
    return peek is None or "probabilities" in peek.keys


def _label_is_list(peek: Peek) -> bool:
    return isinstance(peek.first, dict) and isinstance(peek.first.get("label"), list)


def _text(gold: Peek, predictions: Peek | None) -> str | None:
    """What makes it text classification."""
    keys = gold.keys
    if "text" not in keys or keys & {"text_pair", "entities", "predicted_entities", "ents"}:
        return None
    if keys & {"tokens", "words"} and not keys & {"label", "probabilities"}:
        return None
    return _with(gold, predictions, "text")


def _nli(gold: Peek, predictions: Peek | None) -> str | None:
    """What makes it natural language inference."""
    if not {"text", "text_pair"} <= gold.keys:
        return None
    return _with(gold, predictions, "text and text_pair")


def _image(gold: Peek, predictions: Peek | None) -> str | None:
    """What makes it image classification."""
    keys = gold.keys
    if "text" in keys or _label_is_list(gold) or not keys & {"label", "probabilities"}:
        return None
    if not any(isinstance(v, str) for k, v in gold.first.items() if k != "timestamp"):
        return None
    return _with(gold, predictions, "an image key")


def _with(gold: Peek, predictions: Peek | None, what: str) -> str | None:
    if not _is_probability_row(predictions):
        return None
    seen = [what] + [key for key in ("label",) if key in gold.keys]
    if predictions is not None or "probabilities" in gold.keys:
        seen.append("probabilities")
    return ", ".join(seen)


_TEXT = Card(
    name="text-classification",
    title="Text classification",
    summary="one label a text, from a vector of class probabilities",
    item="text",
    layout=(
        '{"text": "The lamp came a day early!", "label": 2}   one object a line, or a .json list\n'
        '{"probabilities": [0.02, 0.04, 0.94]}   line i belongs to example i'
    ),
    recognise=_text,
    module="karat.tasks.classification.task",
    options=OPTIONS,
    computed={"text_length": "characters of the text", "text_words": "words of the text"},
    config_name="Text Classification",
    official=Official("scikit-learn", "1.9", "equal to 1e-12"),
    sample=(
        "text-classification",
        *_SAMPLE,
        *_show("meta.channel", "meta.conversation", "delivery,return,product,thanks"),
    ),
)

CARDS = (
    _TEXT,
    replace(
        _TEXT,
        name="nli",
        title="Natural language inference",
        summary="one label a pair of premise and hypothesis",
        item="pair",
        layout=(
            '{"text": "Two dogs run.", "text_pair": "Animals move.", "label": 0}\n'
            '{"probabilities": [0.91, 0.06, 0.03]}   line i belongs to example i'
        ),
        recognise=_nli,
        computed={
            **_TEXT.computed,
            "text_pair_length": "characters of the hypothesis",
            "text_pair_words": "words of the hypothesis",
        },
        config_name="Natural Language Inference",
        sample=(
            "nli",
            *_SAMPLE,
            *_show("meta.genre", "meta.conversation", "entailment,neutral,contradiction"),
        ),
    ),
    replace(
        _TEXT,
        name="image-classification",
        title="Image classification",
        summary="one label an image, from a vector of class probabilities",
        item="image",
        layout=(
            '{"image_path": "images/0001.jpg", "label": 1}   any string key locates the image\n'
            '{"probabilities": [0.05, 0.84, 0.11]}   line i belongs to example i'
        ),
        recognise=_image,
        computed={},
        config_name="Image Classification",
        sample=(
            "image-classification",
            *_SAMPLE,
            *_show("meta.camera", None, "apple,pear,plum,quince,apricot"),
        ),
    ),
)
