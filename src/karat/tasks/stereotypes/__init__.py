"""Stereotypes: does a model prefer the stereotype? StereoSet's scores, and CrowS-Pairs' pairs."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.task import Card, Converter, Official, Option, Peek

SECTIONS = ("intrasentence", "intersentence")
_HOME = "karat.tasks.stereotypes.convert"

OPTIONS = (
    Option(
        "intrasentence_df_file",
        "the intrasentence data; GOLD is then left out",
        kind="path",
        signature=False,
        gold=True,
    ),
    Option(
        "intersentence_df_file",
        "the intersentence data; GOLD is then left out",
        kind="path",
        signature=False,
        gold=True,
    ),
    Option("skip_intrasentence", "leave the intrasentence test out", default=False, kind="flag"),
    Option("skip_intersentence", "leave the intersentence test out", default=False, kind="flag"),
    Option(
        "ties",
        "equal scores: strict is lost (as in the original), half is half, drop leaves them out",
        default="strict",
        choices=("strict", "half", "drop"),
    ),
    Option(
        "missing",
        "examples without a score: an error, or skip them and say so",
        default="error",
        choices=("error", "skip"),
    ),
    Option(
        "output_file",
        "add the scores under the model's name to a .json, .xlsx or .xlsm file",
        kind="path",
        signature=False,
        writes="karat.tasks.stereotypes.results:write",
    ),
    Option(
        "plot",
        "draw the scores to an .svg file, with all models of a .json --output-file",
        kind="path",
        signature=False,
        writes="karat.tasks.stereotypes.plot:write",
    ),
)


def _recognise(gold: Peek, predictions: Peek | None) -> str | None:
    """What makes it StereoSet data, or pairs in CrowS-Pairs' style."""
    if predictions is not None and not is_scores(predictions):
        return None
    if gold.shape == "pickle":
        return "a pickled data frame of candidates"
    if gold.shape == "binary":
        known = predictions is not None or b"gold_label" in gold.head
        known = known and gold.head[:4] == b"PAR1"
        return "a parquet table of candidates" if known else None
    keys = gold.keys or frozenset(map(str, gold.first if gold.shape == "table" else ()))
    if {"sent_more", "sent_less"} <= keys:
        return "pairs of sentences"
    if {"bias_type", "c1_id", "c1_gold_label"} <= keys:
        return "candidates c1 to c3 with gold labels"
    if gold.shape == "object" and _is_release(gold):
        return "StereoSet's own release"
    if predictions is None and gold.shape == "object" and is_scores(gold) and keys:
        return "scores of candidates"
    return None


def _is_frame(peek: Peek) -> bool:
    return peek.shape == "pickle"


def _is_rows(peek: Peek) -> bool:
    keys = peek.keys or frozenset(map(str, peek.first if peek.shape == "table" else ()))
    return "c1_id" in keys or (peek.shape == "binary" and peek.head[:4] == b"PAR1")


def _is_release_file(peek: Peek) -> bool:
    return peek.shape == "object" and _is_release(peek)


def _is_release(gold: Peek) -> bool:
    """Whether an object is StereoSet's dev.json."""
    data = gold.first.get("data") if isinstance(gold.first, Mapping) else None
    if isinstance(data, Mapping):
        return bool(set(data) & set(SECTIONS))
    start = gold.head
    return b'"bias_type"' in start and any(f'"{s}"'.encode() in start for s in SECTIONS)


def is_scores(peek: Peek) -> bool:
    """Whether a file may hold scores of candidates."""
    if peek.shape == "object":
        return bool(peek.keys & set(SECTIONS))
    cells = {str(cell).strip() for cell in peek.first} if peek.shape == "table" else peek.keys
    return {"id", "score"} <= cells or "sent_more_score" in cells


CARDS = (
    Card(
        name="stereotypes",
        title="Stereotypes",
        summary="does a language model prefer the stereotype, its opposite or neither?",
        item="example",
        layout=(
            "data: df_intrasentence_xx.pkl and df_intersentence_xx.pkl, dev.json, or rows as\n"
            '{"id": "e1", "target": "nurse", "bias_type": "profession", "context": "A BLANK b",\n'
            ' "c1_id": "k1", "c1_sentence": "...", "c1_gold_label": "stereotype", "c2_id": ...}\n'
            "predictions, higher is preferred:\n"
            '{"intrasentence": [{"id": "k1", "score": -2.5}, ...], "intersentence": [...]}'
        ),
        recognise=_recognise,
        module="karat.tasks.stereotypes.task",
        options=OPTIONS,
        computed={
            "section": "intrasentence or intersentence",
            "target": "the target term that means are taken over",
            "tie": "whether stereotype and anti-stereotype got the same score",
            "blanks": "how many BLANKs the context has",
            "same_words": "whether two candidates are the same text",
            "agreement": "share of annotators that gave the gold labels",
        },
        official=Official(
            "stereotypes-multi evaluation.py", "883f005", "equal as doubles with --ties strict"
        ),
        sample=("stereotypes", "gold.jsonl", "predictions.json"),
        several=("gold",),
        converters=tuple(
            Converter(source, target, _HOME, attribute, said, recognise, extension)
            for source, attribute, recognise, words in (
                ("frame", "from_rows", _is_frame, "a pickled data frame"),
                ("rows", "from_rows", _is_rows, "rows in JSON, CSV or parquet"),
                ("stereoset", "from_release", _is_release_file, "dev.json, words cut at BLANK,"),
            )
            for target, extension in (
                ("jsonl", ".jsonl"),
                ("csv", ".csv"),
                ("parquet", ".parquet"),
                ("frame", ".pkl"),
            )
            for said in (f"{words} as {'a pickled data frame' if target == 'frame' else target}",)
        ),
    ),
)
