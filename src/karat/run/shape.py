"""The shape of a run configuration: its keys, their types, and which exclude each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from karat.read.place import Place, printable, show

TASKS = (
    "Text Classification",
    "Natural Language Inference",
    "Named Entity Recognition",
    "Image Classification",
    "Object Detection",
)

Keys = Mapping[str, str]
"""Key -> its type; "?" behind it allows null."""

TOP: Keys = {
    "run_name": "text",
    "model_task": "text",
    "data_info": "object",
    "model_info": "object?",
    "data_profiling_info": "object?",
    "prediction_info": "object?",
    "tests_config": "object?",
    "tests_config_path": "text?",
    "random_seed": "integer?",
    "silent_errors": "boolean?",
    "workspace_name": "text?",
    "continuous_info": "object?",
    "perturbation_info": "object?",
}
REQUIRED = ("model_task", "data_info")

PLAIN: Keys = {
    "type": "text?",
    "ref_path": "text",
    "eval_path": "text",
    "embeddings": "embeddings?",
    "load_path": "text?",
}
CUSTOM: Keys = {
    "type": "text",
    "load_path": "text",
    "loader_kwargs": "object?",
    "loader_kwargs_json": "text?",
    "embeddings": "embeddings?",
}
HUGGINGFACE: Keys = {
    "type": "text",
    "dataset_uri": "text",
    "ref_split": "text?",
    "eval_split": "text?",
    "text_key": "text?",
    "text_pair_key": "text?",
    "label_key": "text?",
    "eval_label_key": "text?",
    "loading_params": "object?",
    "embeddings": "embeddings?",
}
SPLIT: Keys = {"type": "text?", "ref_data_info": "object", "eval_data_info": "object"}
SINGLE: Keys = {
    "type": "text?",
    "file_name": "text?",
    "load_path": "text?",
    "load_func_name": "text?",
    "loader_kwargs": "object?",
    "loader_kwargs_json": "text?",
    "start_time": "number?",
    "end_time": "number?",
    "dataset_uri": "text?",
    "split_name": "text?",
    "text_key": "text?",
    "text_pair_key": "text?",
    "label_key": "text?",
    "loading_params": "object?",
    "prediction_info": "object?",
    "embeddings": "embeddings?",
}
PROFILE: Keys = {
    "class_names": "texts?",
    "ngram_filter_stop_words": "boolean?",
    "ngram_filter_punctuation": "boolean?",
    "custom_numeric_metadata": "texts?",
    "custom_categorical_metadata": "texts?",
}
EMBEDDING: Keys = {"key": "text"}
PREDICTIONS: Keys = {"ref_path": "text?", "eval_path": "text?", "n_samples": "integer?"}
PERTURBATION: Keys = {"eval_path": "text?", "predictions_path": "text"}
ONE_PREDICTION: Keys = {"path": "text?", "n_samples": "integer?"}

SOURCES = {
    "file_name": "default",
    "load_path": "custom",
    "dataset_uri": "huggingface",
    "start_time": "data_collector",
}
"""The key that says where the rows of one side are -> the `type` of that side."""

NAMES = {
    "text": "a string",
    "object": "an object",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "texts": "a list of strings",
    "embeddings": 'a list of objects {"key": ...}',
}


def check_configuration(content: Mapping[str, Any], place: Place) -> None:
    """Report everything that is wrong with the keys and types of a configuration."""
    check_keys(content, TOP, "", place, REQUIRED)
    if content.get("tests_config") is not None and content.get("tests_config_path") is not None:
        message = "give tests_config or tests_config_path, not both"
        place.add("config-exclusive", message, "tests_config")
    profile = content.get("data_profiling_info")
    if isinstance(profile, dict):
        check_keys(profile, PROFILE, "data_profiling_info", place)
    perturbed = content.get("perturbation_info")
    if isinstance(perturbed, dict):
        check_keys(perturbed, PERTURBATION, "perturbation_info", place, ("predictions_path",))
    info, predictions = content.get("data_info"), content.get("prediction_info")
    if isinstance(predictions, dict):
        check_keys(predictions, PREDICTIONS, "prediction_info", place)
        _check_samples(predictions, ("ref_path", "eval_path"), "prediction_info", place)
    if isinstance(info, dict):
        _check_data(info, predictions is not None, place)
    if content.get("model_info") is not None:
        message = "the model is not run; predictions are read from files"
        place.add("config-model", message, "model_info", severity="note")


def check_keys(
    found: Mapping[str, Any],
    keys: Keys,
    inside: str,
    place: Place,
    required: Iterable[str] = (),
) -> None:
    """Report unknown keys, missing ones and values of another type."""
    for key in required:
        if key not in found:
            path = key_path(inside, key)
            place.add("config-missing-key", f"required key '{path}' is missing", path)
    for key, value in found.items():
        path = printable(key_path(inside, key))
        if key not in keys:
            message = f"unknown key '{printable(key)}'"
            close = get_close_matches(key, keys, n=1, cutoff=0.6)
            message += f"; did you mean '{close[0]}'?" if close else ""
            place.add("config-unknown-key", message, path)
            continue
        good = check_type(value, keys[key], path, place)
        if good and keys[key] == "embeddings?":
            for i, one in enumerate(value or ()):
                check_keys(one, EMBEDDING, f"{path}[{i}]", place)


def near(name: str, known: Iterable[str]) -> str:
    """A hint at the closest of the known names."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean {show(close[0])}?" if close else ""


def check_type(value: Any, type_: str, path: str, place: Place) -> bool:
    """Whether a value has its type; if not, that is reported."""
    wanted = type_.removesuffix("?")
    if (value is None and type_ != wanted) or is_a(value, wanted):
        return True
    place.add("config-type", f"{show(value)} is not {NAMES[wanted]}", path)
    return False


def kind_of(info: Mapping[str, Any]) -> str | None:
    """What holds the rows of one side: its `type`, or what its keys say; None if neither does."""
    given = info.get("type")
    return given if given is not None else next((SOURCES[k] for k in _sources(info)), None)


def _sources(info: Mapping[str, Any]) -> list[str]:
    return [key for key in SOURCES if info.get(key) is not None]


def _check_kind(kind: Any, known: Sequence[str], inside: str, place: Place) -> bool:
    """Whether a `type` is one of those known; a wrong one is reported."""
    if kind is None or kind in known or not isinstance(kind, str):
        return True
    message = f"{show(kind)} is not one of {', '.join(known)}"
    place.add("config-value", message, f"{inside}.type", help=near(kind, known))
    return False


def _check_data(info: Mapping[str, Any], predictions: bool, place: Place) -> None:
    kind = info.get("type")
    if not _check_kind(kind, ("default", "custom", "huggingface", "split"), "data_info", place):
        return
    if kind == "custom":
        check_keys(info, CUSTOM, "data_info", place, ("load_path",))
        _check_loader(info, "data_info", place)
    elif kind == "huggingface":
        check_keys(info, HUGGINGFACE, "data_info", place, ("dataset_uri",))
    elif kind == "split" or "ref_data_info" in info or "eval_data_info" in info:
        check_keys(info, SPLIT, "data_info", place, ("ref_data_info", "eval_data_info"))
        for side in ("ref_data_info", "eval_data_info"):
            if isinstance(info.get(side), dict):
                _check_single(info[side], f"data_info.{side}", place)
        if predictions and any(_own_predictions(info.get(s)) for s in SPLIT if s != "type"):
            message = "give prediction_info at the top or inside each side, not both"
            place.add("config-exclusive", message, "prediction_info")
    else:
        check_keys(info, PLAIN, "data_info", place, ("ref_path", "eval_path"))


def _own_predictions(side: Any) -> bool:
    return isinstance(side, dict) and side.get("prediction_info") is not None


def _check_single(info: Mapping[str, Any], inside: str, place: Place) -> None:
    """One side of a split configuration."""
    check_keys(info, SINGLE, inside, place)
    _check_loader(info, inside, place)
    own = info.get("prediction_info")
    if isinstance(own, dict):
        check_keys(own, ONE_PREDICTION, f"{inside}.prediction_info", place)
        _check_samples(own, ("path",), f"{inside}.prediction_info", place)
    kind, ways = info.get("type"), _sources(info)
    if not _check_kind(kind, tuple(SOURCES.values()), inside, place):
        return
    if len(ways) > 1:
        place.add("config-exclusive", f"give {' or '.join(ways)}, not both", inside)
    elif not ways or (kind is not None and SOURCES[ways[0]] != kind):
        wanted = next((key for key, one in SOURCES.items() if one == kind), "file_name")
        path = f"{inside}.{wanted}"
        place.add("config-missing-key", f"required key '{path}' is missing", path)


def _check_loader(info: Mapping[str, Any], inside: str, place: Place) -> None:
    if info.get("loader_kwargs") is not None and info.get("loader_kwargs_json") is not None:
        message = "give loader_kwargs or loader_kwargs_json, not both"
        place.add("config-exclusive", message, f"{inside}.loader_kwargs")
    text = info.get("loader_kwargs_json")
    if isinstance(text, str) and not _is_object(text):
        message = f"{show(text)} is not a JSON object"
        place.add("config-value", message, f"{inside}.loader_kwargs_json")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _check_samples(
    predictions: Mapping[str, Any], paths: Iterable[str], inside: str, place: Place
) -> None:
    given = [predictions.get(path) for path in paths]
    if predictions.get("n_samples") is not None and None not in given:
        files = "both prediction files are" if len(given) > 1 else "a prediction file is"
        message = f"n_samples must be null when {files} given"
        place.add("config-exclusive", message, f"{inside}.n_samples")


def is_a(value: Any, wanted: str) -> bool:
    """Whether a value has a type that does not allow null."""
    if wanted == "text":
        return isinstance(value, str)
    if wanted == "object":
        return isinstance(value, dict)
    if wanted == "boolean":
        return isinstance(value, bool)
    if wanted in ("integer", "number"):
        types = int if wanted == "integer" else (int, float)
        return isinstance(value, types) and not isinstance(value, bool)
    if not isinstance(value, list):
        return False
    if wanted == "texts":
        return all(isinstance(item, str) for item in value)
    return all(isinstance(item, dict) and isinstance(item.get("key"), str) for item in value)


def key_path(inside: str, key: str) -> str:
    """The path of a key inside another one, which is empty at the top."""
    return f"{inside}.{key}" if inside else key
