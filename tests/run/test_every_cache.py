"""What all five kinds of caches share is checked alike: the same defect, the same words.

Expected problems were written down from the table of defects in the format's specification.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from karat.model.problem import Problems
from karat.run.configuration import check_configuration

ROWS = 24
Run = dict[str, Any]

NAMES = {
    "text": "Text Classification",
    "nli": "Natural Language Inference",
    "image": "Image Classification",
    "entities": "Named Entity Recognition",
    "boxes": "Object Detection",
}
GOLD = {"entities": "entities"}
PREDICTED = {"entities": "predicted_entities", "boxes": "predicted_bounding_boxes"}
VECTORS = ("text", "nli", "image", "boxes")


def clean(task: str) -> Run:
    """A run without any fault, in which all that can be declared is declared."""
    run: Run = {}
    for side in ("ref", "eval"):
        pairs = [_row(task, side, i) for i in range(ROWS)]
        run[side] = [gold for gold, _ in pairs]
        run[f"{side}_predictions"] = [prediction for _, prediction in pairs]
    profile: dict[str, Any] = {"custom_numeric_metadata": ["size"]}
    if task in VECTORS:
        profile["class_names"] = ["a", "b", "c"]
    run["config"] = {
        "run_name": "clean",
        "model_task": NAMES[task],
        "model_info": None,
        "data_info": {
            "ref_path": "ref.jsonl",
            "eval_path": "eval.jsonl",
            "embeddings": [{"key": "vector"}],
        },
        "prediction_info": {
            "ref_path": "ref_predictions.jsonl",
            "eval_path": "eval_predictions.jsonl",
        },
        "data_profiling_info": profile,
    }
    return run


def _row(task: str, side: str, i: int) -> tuple[dict[str, Any], dict[str, Any]]:
    label = (i * 5 + i // 7) % 3
    vector = [0.1, 0.1, 0.1]
    vector[label] = 0.8
    row: dict[str, Any] = {"timestamp": "2024-05-30", "meta": {"size": i / 2}}
    row["vector"] = [0.5 + i / 100, 0.25, 1]
    if task in ("text", "nli", "entities"):
        row["text"] = f"Anna met Bert, number {i} of {side}."
    else:
        row["image_path"] = f"{side}/{i}.png"
    if task == "nli":
        row["text_pair"] = "They met."
    if task == "entities":
        spans = [{"type": "PER", "mentions": [{"start_offset": 0, "end_offset": 4}]}]
        spans.append({"type": "PER", "mentions": [{"start_offset": 9, "end_offset": 13}]})
        return {**row, "entities": spans}, {"predicted_entities": spans[: 1 + i % 2]}
    if task == "boxes":
        x = 0.02 * i
        corners = {"x_min": x, "x_max": x + 0.3, "y_min": 0.2, "y_max": 0.5}
        found = {**corners, "probabilities": vector}
        row["label"] = [{**corners, "class_id": label}]
        return row, {"predicted_bounding_boxes": [found]}
    return {**row, "label": label}, {"probabilities": vector}


def check(run: Run, folder: Path) -> list[tuple[Any, ...]]:
    """The findings of a run that is written to a folder first."""
    for name, content in run.items():
        if name != "config":
            lines = [r if isinstance(r, str) else json.dumps(r) for r in content]
            (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    path = folder / "config.json"
    path.write_text(json.dumps(run["config"]))
    problems = Problems()
    check_configuration(path, problems)
    return [(p.code, p.severity, p.file, p.line, p.record, p.key, p.message) for p in problems]


def put(file: str, record: int, key: str, value: Any) -> Callable[[Run, str], None]:
    return lambda run, task: run[file][record].__setitem__(key, value)


def meta(value: Any) -> Callable[[Run, str], None]:
    return lambda run, task: run["eval"][3]["meta"].__setitem__("size", value)


def drop(key: str, instead: str | None = None) -> Callable[[Run, str], None]:
    def change(run: Run, task: str) -> None:
        name = GOLD.get(task, "label") if key == "label" else key
        value = run["eval"][3].pop(name)
        if instead:
            run["eval"][3][instead] = value

    return change


def unlabelled(run: Run, task: str) -> None:
    for row in run["eval"]:
        del row[GOLD.get(task, "label")]


def another_prediction(run: Run, task: str) -> None:
    run["eval"][3].update(json.loads(json.dumps(run["eval_predictions"][4])))


def own_predictions(run: Run, task: str) -> None:
    for row, prediction in zip(run["eval"], run["eval_predictions"], strict=True):
        row.update(json.loads(json.dumps(prediction)))


def vectors(of: Callable[[list[float]], list[float]]) -> Callable[[Run, str], None]:
    def change(run: Run, task: str) -> None:
        for row in run["eval_predictions"]:
            for one in row["predicted_bounding_boxes"] if task == "boxes" else [row]:
                one["probabilities"] = of(one["probabilities"])

    return change


NOT_A_DATE = "is not YYYY-MM-DD or YYYY-MM-DD HH:MM:SS"
ONE_SIDE = "labels are present on one side only; performance and label-drift tests are skipped"
COUNT = "row i of this file must belong to row i of the data"

DEFECTS: list[tuple[str, Callable[[Run, str], Any], tuple[Any, ...]]] = [
    (
        "date",
        put("eval", 3, "timestamp", "05/30/2024"),
        ("timestamp-format", "error", "eval", 4, 3, "timestamp", f'"05/30/2024" {NOT_A_DATE}'),
    ),
    (
        "meta is a list",
        put("eval", 3, "meta", [1]),
        ("meta-type", "error", "eval", 4, 3, "meta", "value is a list; an object is required"),
    ),
    (
        "number as text",
        meta("12.50"),
        ("meta-numeric", "error", "eval", 4, 3, "meta.size",
         "\"12.50\" is a string but 'size' is declared numeric"),
    ),
    (
        "meta misspelt",
        drop("meta", "metas"),
        ("key-typo", "warning", "eval", 4, 3, "metas",
         "unknown key 'metas' is ignored; did you mean 'meta'?"),
    ),
    (
        "embedding short",
        put("eval", 3, "vector", [1, 2]),
        ("embedding-length", "error", "eval", 4, 3, "vector", "length 2, but line 1 has 3"),
    ),
    (
        "embedding missing",
        drop("vector"),
        ("embedding-missing", "error", "eval", 4, 3, "vector",
         "embedding 'vector' is configured but missing here"),
    ),
    (
        "embedding zero",
        put("eval", 3, "vector", [0, 0.0, 0]),
        ("embedding-zero", "warning", "eval", 4, 3, "vector",
         "all values are 0; cosine distance is undefined for this row"),
    ),
    (
        "embeddings of two lengths",
        lambda run, task: [row.update(vector=[1, 2]) for row in run["eval"]],
        ("embedding-length", "error", "eval", None, None, "vector",
         "length 2 here, 3 in ref.jsonl"),
    ),
    (
        "metadata absent",
        lambda run, task: run["config"]["data_profiling_info"].update(
            custom_categorical_metadata=["channel"]
        ),
        ("meta-key-missing", "error", "ref", None, None, "meta.channel",
         "metadata 'channel' is configured but no row has it"),
    ),
    (
        "labels on one side",
        unlabelled,
        ("label-one-side", "warning", "eval", None, None, "LABEL", ONE_SIDE),
    ),
    (
        "one prediction short",
        lambda run, task: run["eval_predictions"].pop(),
        ("count-mismatch", "error", "eval_predictions", None, None, "PREDICTED",
         f"23 predictions for 24 data rows; {COUNT}"),
    ),
    (
        "inline differs",
        another_prediction,
        ("prediction-conflict", "error", "eval", 4, 3, "PREDICTED",
         "row carries its own 'PREDICTED' that differs from eval_predictions.jsonl line 4"),
    ),
]  # fmt: skip

OF_VECTORS: list[tuple[str, Callable[[Run, str], Any], tuple[Any, ...]]] = [
    (
        "names one short",
        lambda run, task: run["config"]["data_profiling_info"]["class_names"].pop(),
        ("class-names-length", "error", "config.json", None, None,
         "data_profiling_info.class_names",
         "2 class names but 3 probabilities in ref_predictions.jsonl"),
    ),
    (
        "another number of classes",
        vectors(lambda vector: [*vector, 0.0]),
        ("class-count-mismatch", "error", "eval_predictions", None, None, "PREDICTED",
         "4 classes here, 3 in ref_predictions.jsonl"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("task", NAMES)
def test_a_clean_run_has_no_finding(task: str, tmp_path: Path) -> None:
    assert check(clean(task), tmp_path) == []


@pytest.mark.parametrize("task", NAMES)
def test_own_predictions_may_repeat_the_file(task: str, tmp_path: Path) -> None:
    run = clean(task)
    own_predictions(run, task)
    assert check(run, tmp_path) == []


CASES = [(task, one) for one in DEFECTS for task in NAMES]
CASES += [(task, one) for one in OF_VECTORS for task in VECTORS]


@pytest.mark.parametrize(("task", "defect"), CASES, ids=lambda x: x if isinstance(x, str) else x[0])
def test_the_same_defect_in_every_task(task: str, defect: Any, tmp_path: Path) -> None:
    _, break_, expected = defect
    run = clean(task)
    break_(run, task)
    code, severity, file, line, record, key, message = expected
    names = {"LABEL": GOLD.get(task, "label"), "PREDICTED": PREDICTED.get(task, "probabilities")}
    file = file if file.endswith(".json") else f"{file}.jsonl"
    message = message.replace("PREDICTED", names["PREDICTED"])
    wanted = (code, severity, file, line, record, names.get(key, key), message)
    assert check(run, tmp_path) == [wanted]


@pytest.mark.parametrize("task", NAMES)
def test_errors_of_one_side_hide_none_of_the_other(task: str, tmp_path: Path) -> None:
    run = clean(task)
    for side in ("ref", "eval"):
        run[side][2]["timestamp"] = "now"
        run[f"{side}_predictions"][5] = "{"
    found = check(run, tmp_path)
    assert sorted((p[2], p[0], p[3]) for p in found) == [
        ("eval.jsonl", "timestamp-format", 3),
        ("eval_predictions.jsonl", "json-syntax", 6),
        ("ref.jsonl", "timestamp-format", 3),
        ("ref_predictions.jsonl", "json-syntax", 6),
    ]


@pytest.mark.parametrize("task", NAMES)
def test_own_predictions_are_seen_where_the_first_row_lacks_them(task: str, tmp_path: Path) -> None:
    run = clean(task)
    own_predictions(run, task)
    name = PREDICTED.get(task, "probabilities")
    run["eval"][0][name[:-3]] = run["eval"][0].pop(name)
    del run["config"]["prediction_info"]
    for row, prediction in zip(run["ref"], run["ref_predictions"], strict=True):
        row.update(prediction)
    message = f"required key '{name}' is missing; found '{name[:-3]}'"
    wanted = ("prediction-missing", "error", "eval.jsonl", 1, 0, name, message)
    assert check(run, tmp_path) == [wanted]


PERCENT = "sum is 100; values look like percentages, divide by 100"
LOGITS = (
    "several values lie outside [0, 1] and the sum is 1.64; these look like logits, apply softmax"
)


@pytest.mark.parametrize("task", VECTORS)
@pytest.mark.parametrize(
    ("vector", "code", "message"),
    [
        ([20, 30.5, 49.5], "probabilities-percent", PERCENT),
        ([2.31, -1.2, 0.53], "probabilities-logits", LOGITS),
        ([-0.02, 0.5, 0.52], "probability-range", "-0.02 lies outside [0, 1]"),
        ([0.5, 0.5], "probabilities-length", "2 probabilities here, 3 in most rows"),
    ],
    ids=["percent", "logits", "negative", "short"],
)
@pytest.mark.parametrize("record", [0, 7])
def test_vectors_of_every_task(
    task: str, vector: list[float], code: str, message: str, record: int, tmp_path: Path
) -> None:
    """A broken row behind the first ones makes them a batch of their own."""
    run = clean(task)
    row = run["eval_predictions"][record]
    (row["predicted_bounding_boxes"][0] if task == "boxes" else row)["probabilities"] = vector
    run["eval_predictions"][1] = "{}"
    found = [(p[0], p[4], p[6]) for p in check(run, tmp_path)]
    assert min(found, key=lambda p: p[0] != code) == (code, record, message)
    assert [p[0] for p in found if p[0] != code] == ["prediction-missing"]


@pytest.mark.parametrize(("task", "labels"), [("entities", 48), ("boxes", 24)])
def test_a_model_that_finds_nothing_is_told(task: str, labels: int, tmp_path: Path) -> None:
    run, key = clean(task), PREDICTED[task]
    run["eval_predictions"] = [{key: []} for _ in range(ROWS)]
    message = f"no row has a prediction, but the data has {labels} labels; was the model run?"
    file = "eval_predictions.jsonl"
    wanted = ("predictions-empty", "warning", file, None, None, key, message)
    assert check(run, tmp_path) == [wanted]


def test_the_same_boxes_in_every_row_are_told(tmp_path: Path) -> None:
    run = clean("boxes")
    run["eval_predictions"] = [run["eval_predictions"][12]] * ROWS
    found = [(p[0], p[1], p[5], p[6]) for p in check(run, tmp_path)]
    message = "every row has the same boxes; was the model run?"
    assert ("predictions-constant", "warning", PREDICTED["boxes"], message) in found


@pytest.mark.parametrize("task", VECTORS)
@pytest.mark.parametrize(("least", "hinted"), [(1, True), (0, False)])
def test_labels_that_count_from_one_are_hinted_at(
    task: str, least: int, hinted: bool, tmp_path: Path
) -> None:
    run = clean(task)
    for i, row in enumerate(run["eval"]):
        label = least + i % 3 if i else 3
        if task == "boxes":
            row["label"][0]["class_id"] = label
        else:
            row["label"] = label
    check(run, tmp_path)
    problems = Problems()
    check_configuration(tmp_path / "config.json", problems)
    helps = {p.help for p in problems if p.code == "label-range"}
    assert helps == {"all labels lie in 1..3: if they count from 1, subtract 1" if hinted else ""}
