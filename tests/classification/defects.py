"""A small clean run per task, and every way to break it: what is done, and what must be said.

The expected problems were written down by hand from the table of defects in the format's
specification, not taken from karat.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROWS = 24
Run = dict[str, Any]
"""File name -> rows, bytes, or the configuration."""


class Expected(NamedTuple):
    """One problem, as far as a test may know it."""

    code: str
    severity: str
    file: str
    line: int | None
    record: int | None
    key: str | None
    message: str


class Defect(NamedTuple):
    """One way to break a clean run."""

    task: str
    name: str
    break_: Callable[[Run], None]
    expected: Expected
    also: tuple[str, ...] = ()


def clean(task: str) -> Run:
    """A run without any fault."""
    k = 4 if task == "image" else 3
    run: Run = {}
    for side, turn in (("ref", 0), ("eval", 1)):
        labels = [(i * 5 + i // 7 + turn) % k for i in range(ROWS)]
        run[f"{side}.jsonl"] = [_row(task, side, i, label) for i, label in enumerate(labels)]
        run[f"{side}_predictions.jsonl"] = [
            {"probabilities": _vector(label if i % 6 else (label + 1) % k, k)}
            for i, label in enumerate(labels)
        ]
    run["config.json"] = _config(task, k)
    return run


def write(run: Run, folder: Path) -> Path:
    """The run as files; the path of its configuration."""
    for name, content in run.items():
        if isinstance(content, list):
            lines = [
                r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in content
            ]
            (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        elif isinstance(content, bytes):
            (folder / name).write_bytes(content)
        elif content is not None:
            (folder / name).write_text(json.dumps(content), "utf-8")
    return folder / "config.json"


def _row(task: str, side: str, i: int, label: int) -> dict[str, Any]:
    row: dict[str, Any] = {"text": f"Text number {i} of the {side} side, wörtlich.", "label": label}
    if task == "nli":
        row["text_pair"] = f"There is a text number {i}."
    if task == "image":
        row = {"image_path": f"images/{side}/{i:04d}.jpg", "label": label}
    row["timestamp"] = f"2024-05-{i + 1:02d}" + (" 10:20:30" if i % 2 else "")
    row["meta"] = {"channel": "mail" if i % 3 else "phone", "order_value": 10 + i / 4}
    if task == "text":
        row["vector"] = [round(0.1 * i + 0.3, 4), -0.5, 0.25, 1]
    return row


def _vector(top: int, k: int) -> list[float]:
    rest = round(0.2 / (k - 1), 4)
    vector = [rest] * k
    vector[top] = round(1 - rest * (k - 1), 4)
    return vector


def _config(task: str, k: int) -> dict[str, Any]:
    names = {
        "text": "Text Classification",
        "nli": "Natural Language Inference",
        "image": "Image Classification",
    }
    data: dict[str, Any] = {"ref_path": "ref.jsonl", "eval_path": "eval.jsonl"}
    if task == "text":
        data["embeddings"] = [{"key": "vector"}]
    return {
        "run_name": "clean",
        "model_task": names[task],
        "model_info": None,
        "data_info": data,
        "prediction_info": {
            "ref_path": "ref_predictions.jsonl",
            "eval_path": "eval_predictions.jsonl",
            "n_samples": None,
        },
        "data_profiling_info": {
            "class_names": [f"class {c}" for c in range(k)],
            "custom_numeric_metadata": ["order_value"],
            "custom_categorical_metadata": ["channel"],
        },
        "tests_config": {"label_imbalance": {"run": True, "severity_thresholds": [0.1, 0.2, 0.3]}},
        "random_seed": 42,
    }


# --- small ways to break a run ----------------------------------------------------------------

EVAL, PRED, CONFIG = "eval.jsonl", "eval_predictions.jsonl", "config.json"


def put(file: str, record: int, key: str, value: Any) -> Callable[[Run], None]:
    """Set one field of one record."""

    def change(run: Run) -> None:
        run[file][record][key] = value

    return change


def drop(file: str, record: int, key: str, instead: str | None = None) -> Callable[[Run], None]:
    """Take one field of one record away, or rename it."""

    def change(run: Run) -> None:
        value = run[file][record].pop(key)
        if instead:
            run[file][record][instead] = value

    return change


def line(file: str, record: int, text: Callable[[str], str]) -> Callable[[Run], None]:
    """Change the text of one line."""

    def change(run: Run) -> None:
        run[file][record] = text(json.dumps(run[file][record]))

    return change


def rows(file: str, change_all: Callable[[list[Any]], list[Any]]) -> Callable[[Run], None]:
    """Change all rows of a file."""

    def change(run: Run) -> None:
        run[file] = change_all(run[file])

    return change


def stored(
    file: str, as_name: str, encode: Callable[[list[Any]], bytes | None]
) -> Callable[[Run], None]:
    """Store a file under another name or in another form."""

    def change(run: Run) -> None:
        content = encode(run.pop(file))
        if content is not None:
            run[as_name] = content
        for part in ("data_info", "prediction_info"):
            paths = run[CONFIG][part]
            for key in ("ref_path", "eval_path"):
                paths[key] = as_name if paths[key] == file else paths[key]

    return change


def config(change: Callable[[dict[str, Any]], Any]) -> Callable[[Run], None]:
    """Change the configuration."""

    def apply(run: Run) -> None:
        change(run[CONFIG])

    return apply


def as_lines(content: list[Any]) -> bytes:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in content).encode()


def as_list(content: list[Any]) -> bytes:
    """One JSON list, indented."""
    return json.dumps(content, indent=1).encode()


def moved_vectors(by: int) -> Callable[[list[Any]], list[Any]]:
    """Every vector turned by so many places."""

    def change(content: list[Any]) -> list[Any]:
        vectors = [row["probabilities"] for row in content]
        return [{"probabilities": v[by:] + v[:by]} for v in vectors]

    return change


def _error(
    code: str,
    file: str,
    record: int | None,
    key: str | None,
    message: str,
    line_: int | None = None,
) -> Expected:
    at = line_ if line_ is not None else None if record is None else record + 1
    return Expected(code, "error", file, at, record, key, message)


def _warning(code: str, file: str, record: int | None, key: str | None, message: str) -> Expected:
    return Expected(
        code, "warning", file, None if record is None else record + 1, record, key, message
    )


def _probability(value: Any) -> Callable[[Run], None]:
    return put(PRED, 6, "probabilities", value)


def _vectors(name: str, value: Any, code: str, message: str, at: str = "") -> Defect:
    expected = _error(code, PRED, 6, f"probabilities{at}", message)
    return Defect("text", name, _probability(value), expected)


NOT_A_DATE = "is not YYYY-MM-DD or YYYY-MM-DD HH:MM:SS"
COUNT = "row i of this file must belong to row i of the data"

FILES = [
    Defect(
        "text",
        "file missing",
        stored(PRED, "gone.jsonl", lambda c: None),
        _error("file-missing", "gone.jsonl", None, None, "no such file: gone.jsonl"),
    ),
    Defect(
        "text",
        "file empty",
        stored(PRED, PRED, lambda c: b""),
        _error("file-empty", PRED, None, None, "file holds no records"),
    ),
    Defect(
        "text",
        "only white space",
        stored(PRED, PRED, lambda c: b"\n \n"),
        _error("file-empty", PRED, None, None, "file holds no records"),
    ),
    Defect(
        "text",
        "csv",
        stored(EVAL, "eval.csv", as_lines),
        _error(
            "file-extension",
            "eval.csv",
            None,
            None,
            "unsupported file type; use one of .json, .jsonl, .json.gz, .jsonl.gz",
        ),
    ),
    Defect(
        "text",
        "gz name, plain content",
        stored(EVAL, "eval.jsonl.gz", as_lines),
        _error(
            "gzip-expected",
            "eval.jsonl.gz",
            None,
            None,
            "name ends in .gz but the content is not gzip; rename it or compress it",
        ),
    ),
    Defect(
        "text",
        "gzip content, plain name",
        stored(EVAL, EVAL, lambda c: gzip.compress(as_lines(c))),
        _error(
            "gzip-unexpected", EVAL, None, None, "content is gzip but the name does not end in .gz"
        ),
    ),
    Defect(
        "text",
        "gzip cut short",
        stored(EVAL, "eval.jsonl.gz", lambda c: gzip.compress(as_lines(c))[:-20]),
        _error(
            "gzip-damaged",
            "eval.jsonl.gz",
            None,
            None,
            "gzip stream is damaged or cut short (Compressed file ended before the "
            "end-of-stream marker was reached)",
        ),
    ),
    Defect(
        "text",
        "latin-1 byte",
        stored(EVAL, EVAL, lambda c: as_lines(c).replace(b"number 6 ", b"num\xe9ro 6 ", 1)),
        _error("encoding", EVAL, 6, None, "byte 0xe9 is not UTF-8; re-save the file as UTF-8"),
    ),
    Defect(
        "text",
        "lines named .json",
        stored(EVAL, "eval.json", as_lines),
        _error(
            "json-holds-lines",
            "eval.json",
            None,
            None,
            "file holds one object per line but is named .json; rename it to .jsonl",
            2,
        ),
    ),
    Defect(
        "text",
        "list named .jsonl",
        stored(EVAL, EVAL, as_list),
        _error(
            "jsonl-holds-list",
            EVAL,
            None,
            None,
            "file is one JSON list but is named .jsonl; rename it to .json or write one "
            "object per line",
            1,
        ),
    ),
    Defect(
        "text",
        "list on one line named .jsonl",
        stored(EVAL, EVAL, lambda c: json.dumps(c).encode()),
        _error(
            "jsonl-holds-list",
            EVAL,
            None,
            None,
            "file is one JSON list but is named .jsonl; rename it to .json or write one "
            "object per line",
            1,
        ),
    ),
    Defect(
        "text",
        "top level is an object",
        stored(EVAL, "eval.json", lambda c: json.dumps({"rows": c}).encode()),
        _error(
            "json-not-list",
            "eval.json",
            None,
            None,
            "top level is an object; a .json file must be a list of objects",
            1,
        ),
    ),
]

LINES = [
    Defect(
        "text",
        "truncated line",
        line(PRED, ROWS - 1, lambda t: '{"probabilities": [0.1, '),
        _error(
            "json-syntax",
            PRED,
            ROWS - 1,
            None,
            "not valid JSON: Expecting value at column 25",
        ),
    ),
    Defect(
        "text",
        "Python repr",
        line(PRED, 4, lambda t: t.replace('"', "'")),
        _error(
            "json-syntax",
            PRED,
            4,
            None,
            "not valid JSON: Expecting property name enclosed in double quotes at column 2 "
            "(single quotes: looks like Python repr; use json.dumps)",
        ),
    ),
    Defect(
        "text",
        "line is a list",
        line(PRED, 8, lambda t: "[0.2, 0.3, 0.5]"),
        _error("not-object", PRED, 8, None, "line holds a list; each line must be an object"),
    ),
    Defect(
        "text",
        "first line is a list",
        line(PRED, 0, lambda t: "[0.2, 0.3, 0.5]"),
        _error("not-object", PRED, 0, None, "line holds a list; each line must be an object"),
    ),
    Defect(
        "text",
        "blank line",
        rows(PRED, lambda c: [*c[:10], "", *c[10:]]),
        _error(
            "blank-line",
            PRED,
            None,
            None,
            "blank line inside the file; records are joined to predictions by position, so "
            "remove it",
            11,
        ),
    ),
    Defect(
        "text",
        "NaN",
        line(PRED, 2, lambda t: '{"probabilities": [NaN, 0.5, 0.5]}'),
        _error(
            "nan-literal",
            PRED,
            2,
            None,
            "bare NaN is not JSON; drop the row or write a finite number",
        ),
    ),
    Defect(
        "text",
        "number too large",
        line(PRED, 2, lambda t: '{"probabilities": [1e400, 0, 0]}'),
        _error("number-overflow", PRED, 2, None, "1e400 is too large for a number of 64 bits"),
    ),
    Defect(
        "text",
        "repeated key",
        line(EVAL, 3, lambda t: t.replace('"label":', '"label": 1, "label":')),
        _error(
            "duplicate-key",
            EVAL,
            3,
            "label",
            "key 'label' appears twice in one object; JSON readers keep only the last value",
        ),
    ),
    Defect(
        "text",
        "repeated key inside meta",
        line(EVAL, 3, lambda t: t.replace('"channel":', '"channel": "x", "channel":')),
        _error(
            "duplicate-key",
            EVAL,
            3,
            "meta.channel",
            "key 'channel' appears twice in one object; JSON readers keep only the last value",
        ),
    ),
]

TEXTS = [
    Defect(
        "text",
        "text missing",
        drop(EVAL, 5, "text"),
        _error("text-missing", EVAL, 5, "text", "required key 'text' is missing"),
    ),
    Defect(
        "text",
        "text null",
        put(EVAL, 5, "text", None),
        _error(
            "text-null",
            EVAL,
            5,
            "text",
            "value is null; write an empty string if the text is empty",
        ),
    ),
    Defect(
        "text",
        "text is a number",
        put(EVAL, 5, "text", 7),
        _error("text-type", EVAL, 5, "text", "value is a integer; a string is required"),
    ),
    Defect(
        "nli",
        "text_pair missing",
        drop("ref.jsonl", 11, "text_pair"),
        _error("text-missing", "ref.jsonl", 11, "text_pair", "required key 'text_pair' is missing"),
    ),
    Defect(
        "nli",
        "text_pair misspelt",
        drop(EVAL, 2, "text_pair", "text_pairs"),
        _error(
            "text-missing",
            EVAL,
            2,
            "text_pair",
            "required key 'text_pair' is missing; found 'text_pairs'",
        ),
    ),
    Defect(
        "image",
        "image key missing",
        drop(EVAL, 1, "image_path"),
        _error(
            "image-key-missing",
            EVAL,
            1,
            None,
            "no string key that could locate the image (for example image_path)",
        ),
    ),
    Defect(
        "image",
        "image twice",
        put("ref.jsonl", 1, "image_path", "images/ref/0000.jpg"),
        _warning(
            "image-duplicate",
            "ref.jsonl",
            None,
            "image_path",
            "images/ref/0000.jpg appears 2 times",
        ),
    ),
]

LABELS = [
    Defect(
        "text",
        "label is text",
        put(EVAL, 7, "label", "0"),
        _error(
            "label-type", EVAL, 7, "label", '"0" is a string; an integer class index is required'
        ),
    ),
    Defect(
        "text",
        "label is a float",
        put(EVAL, 7, "label", 0.0),
        _error(
            "label-type", EVAL, 7, "label", "0.0 is a float; an integer class index is required"
        ),
    ),
    Defect(
        "text",
        "label is true",
        put(EVAL, 7, "label", True),
        _error(
            "label-type", EVAL, 7, "label", "true is a boolean; an integer class index is required"
        ),
    ),
    Defect(
        "text",
        "label negative",
        put(EVAL, 7, "label", -1),
        _error("label-range", EVAL, 7, "label", "-1 is negative; labels run from 0"),
    ),
    Defect(
        "image",
        "label one-based",
        put(EVAL, 7, "label", 4),
        _error("label-range", EVAL, 7, "label", "4 but predictions have 4 classes (0..3)"),
    ),
    Defect(
        "text",
        "a label missing",
        drop(EVAL, 12, "label"),
        _warning(
            "label-partial",
            EVAL,
            12,
            "label",
            "1 of 24 rows have no label; label tests use the others only",
        ),
    ),
    Defect(
        "text",
        "label misspelt",
        drop(EVAL, 12, "label", "labels"),
        _warning(
            "key-typo", EVAL, 12, "labels", "unknown key 'labels' is ignored; did you mean 'label'?"
        ),
        ("label-partial",),
    ),
    Defect(
        "text",
        "labels in ref only",
        rows(EVAL, lambda c: [{k: v for k, v in r.items() if k != "label"} for r in c]),
        _warning(
            "label-one-side",
            EVAL,
            None,
            "label",
            "labels are present on one side only; performance and label-drift tests are skipped",
        ),
    ),
]

FIELDS = [
    Defect(
        "text",
        "US date",
        put(EVAL, 1, "timestamp", "05/30/2024"),
        _error("timestamp-format", EVAL, 1, "timestamp", f'"05/30/2024" {NOT_A_DATE}'),
    ),
    Defect(
        "text",
        "impossible date",
        put(EVAL, 1, "timestamp", "2024-02-30"),
        _error("timestamp-value", EVAL, 1, "timestamp", '"2024-02-30" is not a real date or time'),
    ),
    Defect(
        "text",
        "impossible time",
        put(EVAL, 1, "timestamp", "2024-02-28 24:00:00"),
        _error(
            "timestamp-value",
            EVAL,
            1,
            "timestamp",
            '"2024-02-28 24:00:00" is not a real date or time',
        ),
    ),
    Defect(
        "text",
        "ISO date with T",
        put(EVAL, 1, "timestamp", "2024-05-30T10:00:00Z"),
        _error("timestamp-format", EVAL, 1, "timestamp", f'"2024-05-30T10:00:00Z" {NOT_A_DATE}'),
    ),
    Defect(
        "text",
        "date is a number",
        put(EVAL, 1, "timestamp", 20240530),
        _error("timestamp-format", EVAL, 1, "timestamp", f"20240530 {NOT_A_DATE}"),
    ),
    Defect(
        "text",
        "meta is a list",
        put(EVAL, 1, "meta", ["mail"]),
        _error("meta-type", EVAL, 1, "meta", "value is a list; an object is required"),
    ),
    Defect(
        "text",
        "number as text",
        put(EVAL, 1, "meta", {"channel": "mail", "order_value": "12.50"}),
        _error(
            "meta-numeric",
            EVAL,
            1,
            "meta.order_value",
            "\"12.50\" is a string but 'order_value' is declared numeric",
        ),
    ),
    Defect(
        "text",
        "embedding short",
        put(EVAL, 4, "vector", [1, 2, 3]),
        _error("embedding-length", EVAL, 4, "vector", "length 3, but line 1 has 4"),
    ),
    Defect(
        "text",
        "embedding missing",
        drop(EVAL, 4, "vector"),
        _error(
            "embedding-missing",
            EVAL,
            4,
            "vector",
            "embedding 'vector' is configured but missing here",
        ),
    ),
    Defect(
        "text",
        "embedding zero",
        put(EVAL, 4, "vector", [0, 0, 0.0, 0]),
        _warning(
            "embedding-zero",
            EVAL,
            4,
            "vector",
            "all values are 0; cosine distance is undefined for this row",
        ),
    ),
    Defect(
        "text",
        "embedding of text",
        put(EVAL, 4, "vector", [1, "2", 3, 4]),
        _error("embedding-type", EVAL, 4, "vector[1]", '"2" is a string; a number is required'),
    ),
]

PREDICTIONS = [
    Defect(
        "text",
        "one prediction short",
        rows(PRED, lambda c: c[:-1]),
        _error(
            "count-mismatch",
            PRED,
            None,
            "probabilities",
            f"23 predictions for 24 data rows; {COUNT}",
        ),
    ),
    Defect(
        "text",
        "one prediction more",
        rows(PRED, lambda c: [*c, c[0]]),
        _error(
            "count-mismatch",
            PRED,
            None,
            "probabilities",
            f"25 predictions for 24 data rows; {COUNT}",
        ),
    ),
    Defect(
        "text",
        "probabilities missing",
        drop(PRED, 6, "probabilities", "probs"),
        _error(
            "prediction-missing",
            PRED,
            6,
            "probabilities",
            "required key 'probabilities' is missing; found 'probs'",
        ),
    ),
    _vectors(
        "null",
        None,
        "probabilities-null",
        "value is null; a list of class probabilities is required",
    ),
    _vectors(
        "text",
        "[0.2, 0.3, 0.5]",
        "probabilities-type",
        'value is a string ("[0.2, 0.3, 0.5]"); write a JSON list of numbers',
    ),
    _vectors(
        "object",
        {"a": 0.4, "b": 0.6},
        "probabilities-type",
        "value is an object; write a list ordered by class index",
    ),
    _vectors("empty", [], "probabilities-empty", "list is empty"),
    _vectors(
        "text element",
        [0.2, "0.3", 0.5],
        "probability-type",
        '"0.3" is a string; a number is required',
        "[1]",
    ),
    _vectors(
        "boolean element",
        [True, 0, 0],
        "probability-type",
        "true is a boolean; a number is required",
        "[0]",
    ),
    _vectors("above one", [24, 0.01, 0.05], "probability-range", "24 lies outside [0, 1]", "[0]"),
    _vectors(
        "negative", [-0.02, 0.5, 0.52], "probability-range", "-0.02 lies outside [0, 1]", "[0]"
    ),
    _vectors(
        "not normalised",
        [0.4, 0.3, 0.2],
        "probabilities-sum",
        "sum is 0.9; it must be 1 (allowed slack 0.02)",
    ),
    _vectors(
        "nearly normalised",
        [0.3333, 0.3333, 0.335],
        "probabilities-sum",
        "sum is 1.0016; it must be 1 (allowed slack 0.001)",
    ),
    _vectors(
        "logits",
        [2.31, -1.2, 0.53],
        "probabilities-logits",
        "several values lie outside [0, 1] and the sum is 1.64; these look like logits, "
        "apply softmax",
    ),
    _vectors(
        "percent",
        [20, 30.5, 49.5],
        "probabilities-percent",
        "sum is 100; values look like percentages, divide by 100",
    ),
    _vectors(
        "one too many",
        [0.2, 0.3, 0.5, 0.0],
        "probabilities-length",
        "4 probabilities here, 3 in most rows",
    ),
    _vectors(
        "single value",
        [0.9],
        "probabilities-one-class",
        "only one value; for a binary task write [1-p, p]",
    ),
    Defect(
        "image",
        "another number of classes",
        rows(PRED, lambda c: [{"probabilities": [*r["probabilities"], 0.0]} for r in c]),
        _error(
            "class-count-mismatch",
            PRED,
            None,
            "probabilities",
            "5 classes here, 4 in ref_predictions.jsonl",
        ),
    ),
    Defect(
        "text",
        "constant",
        rows(PRED, lambda c: [c[0]] * len(c)),
        _warning(
            "probabilities-constant",
            PRED,
            None,
            "probabilities",
            "every row has the same probabilities; was the model run?",
        ),
    ),
    # Turned, the 20 right rows of 24 are wrong and the 4 wrong ones right: 4 / 24, 20 / 24.
    Defect(
        "image",
        "classes turned",
        rows(PRED, moved_vectors(1)),
        _warning(
            "classes-permuted",
            PRED,
            None,
            "probabilities",
            "accuracy is 0.17, but 0.83 if class indices are renamed "
            "{0: 1, 1: 2, 2: 3, 3: 0}; check the class order",
        ),
    ),
    Defect(
        "text",
        "inline predictions differ",
        put(EVAL, 3, "probabilities", [0.2, 0.2, 0.6]),
        _error(
            "prediction-conflict",
            EVAL,
            3,
            "probabilities",
            f"row carries its own 'probabilities' that differs from {PRED} line 4",
        ),
    ),
]

CONFIGURATION = [
    Defect(
        "image",
        "class names one short",
        config(lambda c: c["data_profiling_info"]["class_names"].pop()),
        _error(
            "class-names-length",
            CONFIG,
            None,
            "data_profiling_info.class_names",
            "3 class names but 4 probabilities in ref_predictions.jsonl",
        ),
    ),
    Defect(
        "text",
        "unknown key",
        config(lambda c: c.update(predictions_info=c.pop("prediction_info"))),
        _error(
            "config-unknown-key",
            CONFIG,
            None,
            "predictions_info",
            "unknown key 'predictions_info'; did you mean 'prediction_info'?",
        ),
    ),
    Defect(
        "text",
        "unknown task",
        config(lambda c: c.update(model_task="Token Classification")),
        _error(
            "config-task",
            CONFIG,
            None,
            "model_task",
            '"Token Classification" is not one of Text Classification, Natural Language '
            "Inference, Named Entity Recognition, Image Classification, Object Detection",
        ),
    ),
    Defect(
        "text",
        "two test configurations",
        config(lambda c: c.update(tests_config_path="tests.json")),
        _error(
            "config-exclusive",
            CONFIG,
            None,
            "tests_config",
            "give tests_config or tests_config_path, not both",
        ),
    ),
    Defect(
        "text",
        "n_samples with both caches",
        config(lambda c: c["prediction_info"].update(n_samples=10)),
        _error(
            "config-exclusive",
            CONFIG,
            None,
            "prediction_info.n_samples",
            "n_samples must be null when both prediction files are given",
        ),
    ),
    Defect(
        "text",
        "no eval_path",
        config(lambda c: c["data_info"].pop("eval_path")),
        _error(
            "config-missing-key",
            CONFIG,
            None,
            "data_info.eval_path",
            "required key 'data_info.eval_path' is missing",
        ),
    ),
    Defect(
        "text",
        "thresholds descend",
        config(
            lambda c: c["tests_config"]["label_imbalance"].update(
                severity_thresholds=[0.3, 0.2, 0.1]
            )
        ),
        _error(
            "config-thresholds",
            CONFIG,
            None,
            "tests_config.label_imbalance.severity_thresholds",
            "thresholds must ascend",
        ),
    ),
    Defect(
        "text",
        "seed is text",
        config(lambda c: c.update(random_seed="42")),
        _error("config-type", CONFIG, None, "random_seed", '"42" is not an integer'),
    ),
    Defect(
        "text",
        "metadata key absent",
        config(lambda c: c["data_profiling_info"].update(custom_numeric_metadata=["basket_size"])),
        _error(
            "meta-key-missing",
            "ref.jsonl",
            None,
            "meta.basket_size",
            "metadata 'basket_size' is configured but no row has it",
        ),
    ),
]

DEFECTS = [*FILES, *LINES, *TEXTS, *LABELS, *FIELDS, *PREDICTIONS, *CONFIGURATION]
