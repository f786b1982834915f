"""Question answering: SQuAD 2.0 with its unanswerable questions, and SQuAD 1.1."""

from __future__ import annotations

from msgspec.structs import replace

from karat.model.task import Card, Official, Option, Peek

MISSING = Option(
    "missing",
    "questions without a prediction: an error, counted as wrong (zero), or left out (skip)",
    default="error",
    choices=("error", "zero", "skip"),
    signature=False,  # always among the definitions
)
NORMALIZER = Option(
    "normalizer",
    "what two texts must share to be the same: squad is the official form, mlqa also knows other "
    "languages (see --language), chars compares characters",
    default="squad",
    choices=("squad", "mlqa", "chars"),
    signature=False,
)
LANGUAGE = Option(
    "language",
    "language of the answers, for --normalizer mlqa",
    default="en",
    choices=("en", "es", "hi", "vi", "de", "ar", "zh"),
    signature=False,
)
CHANCES = (
    Option(
        "na_probs",
        "JSON file of question id to no-answer probability: adds best thresholds and curves",
        kind="path",
    ),
    Option(
        "na_prob_threshold",
        "above this probability a question counts as answered by silence",
        default=1.0,
        kind="float",
    ),
)

COMPUTED = {
    "article": "the article of the question (default cluster)",
    "paragraph": "the paragraph of the question",
    "question": "the question alone: as a cluster, it says that questions are independent",
    "question_word": "who, what, when, where, why, which, how or other",
    "question_length": "words of the question",
    "answer_length": "words of the first gold answer, 0 where there is none",
    "answerable": "whether there is a gold answer",
    "golds": "number of gold answers",
}

_MARKS_OF_20 = (b'"is_impossible"', b'"plausible_answers"', b'"answers": []', b'"answers":[]')


def _version(gold: Peek) -> str | None:
    """The version of SQuAD that the gold file has, None where it is no SQuAD at all."""
    if gold.shape != "object" or "data" not in gold.keys:
        return None
    if b'"paragraphs"' not in gold.head and gold.first["data"] != []:
        return None
    said = str(gold.first.get("version") or "").lstrip("vV")
    if said.startswith(("1", "2")):
        return "2.0" if said.startswith("2") else "1.1"
    return "2.0" if any(mark in gold.head for mark in _MARKS_OF_20) else "1.1"


def _is20(gold: Peek, _: Peek | None) -> str | None:
    """What makes it SQuAD 2.0."""
    return "SQuAD 2.0: articles of questions" if _version(gold) == "2.0" else None


def _is11(gold: Peek, _: Peek | None) -> str | None:
    """What makes it SQuAD 1.1."""
    return "SQuAD 1.1: articles of questions" if _version(gold) == "1.1" else None


_SQUAD2 = Card(
    name="squad2",
    title="Question answering (SQuAD 2.0)",
    summary="a span of text for a question, or silence where there is no answer",
    item="question",
    layout=(
        '{"version": "v2.0", "data": [{"title": "Lamps", "paragraphs": [{"context": "...",\n'
        '  "qas": [{"id": "q1", "question": "Who?", "answers": [{"text": "a keeper"}]}]}]}]}\n'
        '{"q1": "keeper", "q2": ""}                                  question id to answer'
    ),
    recognise=_is20,
    module="karat.tasks.answers.task",
    options=(*CHANCES, MISSING, NORMALIZER, LANGUAGE),
    computed=COMPUTED,
    official=Official("SQuAD evaluate-v2.0.py", "2021-05-27", "equal as doubles"),
    sample=("squad2", "gold.json", "predictions.json"),
)

CARDS = (
    _SQUAD2,
    replace(
        _SQUAD2,
        name="squad1",
        title="Question answering (SQuAD 1.1)",
        summary="a span of text for a question; every question has an answer",
        layout=(
            '{"version": "1.1", "data": [{"title": "Lamps", "paragraphs": [{"context": "",\n'
            '  "qas": [{"id": "q1", "question": "Who?", "answers": [{"text": "a keeper"}]}]}]}]}\n'
            '{"q1": "keeper"}                                            question id to answer'
        ),
        recognise=_is11,
        attribute="TASK11",
        options=(MISSING, NORMALIZER, LANGUAGE),
        official=Official("SQuAD evaluate-v1.1.py", "1.1", "equal as doubles"),
        sample=("squad1", "gold.json", "predictions.json"),
    ),
)
